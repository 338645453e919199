// Compares gather_elements_into with hand-written loops after a bounds check, and with ONNX Runtime.

#include <xloom/indexing/gather_elements.hpp>

#include "nd_operands.hpp"

namespace {

using namespace bench;

template <std::size_t Rank>
struct elements_operands {
    xt::xtensor<float, Rank> data;
    xt::xtensor<std::int64_t, Rank> indices;
    xt::xtensor<float, Rank> y;
    std::size_t iterations; ///< items that are gathered
    std::int64_t axis;

    auto const& results() const { return y; }
    void clear() { y.fill(0); }
};

using vectors = elements_operands<1>;
using matrices = elements_operands<2>;

void hand_items(vectors& o)
{
    require_in_range(o.indices, o.data.size());
    for (std::size_t i = 0; i < o.iterations; ++i)
        o.y.data()[i] = o.data.data()[wrapped(o.indices.data()[i], o.data.size())];
}

void hand_last_axis(matrices& o)
{
    std::size_t const rows = o.y.shape(0), columns = o.y.shape(1), length = o.data.shape(1);
    require_in_range(o.indices, length);
    for (std::size_t i = 0; i < rows; ++i) {
        float const* const row = o.data.data() + i * length;
        std::int64_t const* const indices = o.indices.data() + i * columns;
        float* const y = o.y.data() + i * columns;
        for (std::size_t j = 0; j < columns; ++j)
            y[j] = row[wrapped(indices[j], length)];
    }
}

void hand_first_axis(matrices& o)
{
    std::size_t const rows = o.y.shape(0), columns = o.y.shape(1), length = o.data.shape(0);
    require_in_range(o.indices, length);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            o.y.data()[i * columns + j] =
                o.data.data()[static_cast<std::size_t>(wrapped(o.indices.data()[i * columns + j], length)) *
                                  columns +
                              j];
}

template <class Operands>
void xloom_into(Operands& o)
{
    xloom::gather_elements_into(o.data, o.indices, o.y, {.axis = o.axis});
}

template <class Operands>
onnx_graph model(Operands& o)
{
    return model_of({.op = "GatherElements", .attributes = {{"axis", o.axis}}},
        {bound("data", o.data), bound("indices", o.indices)}, {bound("output", o.y)});
}

template <std::size_t Rank>
elements_operands<Rank> make(std::array<std::size_t, Rank> const& dims, std::size_t axis)
{
    elements_operands<Rank> o{made_up<xt::xtensor<float, Rank>>(dims),
        xt::xtensor<std::int64_t, Rank>::from_shape(dims), xt::xtensor<float, Rank>::from_shape(dims), 0,
        static_cast<std::int64_t>(axis)};
    std::mt19937 random(1);
    for (std::int64_t& index : o.indices.storage())
        index = static_cast<std::int64_t>(random() % dims[axis]);
    o.iterations = o.indices.size();
    return o;
}

} // namespace

int main(int argc, char** argv)
{
    add_case(
        "gather_elements/f32/data:1000000", [] { return make<1>({1'000'000}, 0); },
        std::vector<series<vectors>>{{"hand", hand_items}, {"xloom", xloom_into<vectors>},
            {.impl = "onnxruntime", .model = model<vectors>}});
    for (std::size_t const columns : std::initializer_list<std::size_t>{10, 1000})
        for (std::size_t const axis : std::initializer_list<std::size_t>{0, 1}) {
            std::size_t const rows = 1'000'000 / columns;
            add_case(
                "gather_elements/f32/data:" + std::to_string(rows) + "x" + std::to_string(columns) +
                    "/axis:" + std::to_string(axis),
                [=] {
                    return make<2>({rows, columns}, axis);
                },
                std::vector<series<matrices>>{{"hand", axis == 0 ? hand_first_axis : hand_last_axis},
                    {"xloom", xloom_into<matrices>}, {.impl = "onnxruntime", .model = model<matrices>}});
        }
    return run_cases(argc, argv);
}
