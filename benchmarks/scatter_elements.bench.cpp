// Compares scatter_elements_into with hand-written loops after a bounds check, and with ONNX Runtime, which
// copies the data first; and at.

#include <xloom/indexing/at.hpp>
#include <xloom/indexing/scatter_elements.hpp>

#include "nd_operands.hpp"

namespace {

using namespace bench;

template <std::size_t Rank>
struct elements_operands {
    xt::xtensor<float, Rank> data;
    xt::xtensor<std::int64_t, Rank> indices;
    xt::xtensor<float, Rank> updates;
    xt::xtensor<float, Rank> y;
    std::size_t iterations; ///< updates
    std::int64_t axis;

    auto const& results() const { return y; }
    void clear() { y = data; }
};

using vectors = elements_operands<1>;
using matrices = elements_operands<2>;

void hand_items(vectors& o)
{
    require_in_range(o.indices, o.y.size());
    for (std::size_t i = 0; i < o.iterations; ++i)
        o.y.data()[wrapped(o.indices.data()[i], o.y.size())] += o.updates.data()[i];
}

void hand_last_axis(matrices& o)
{
    std::size_t const rows = o.y.shape(0), length = o.y.shape(1);
    require_in_range(o.indices, length);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < length; ++j)
            o.y.data()[i * length + static_cast<std::size_t>(wrapped(o.indices.data()[i * length + j],
                                        length))] += o.updates.data()[i * length + j];
}

void hand_first_axis(matrices& o)
{
    std::size_t const rows = o.y.shape(0), columns = o.y.shape(1);
    require_in_range(o.indices, rows);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            o.y.data()[static_cast<std::size_t>(wrapped(o.indices.data()[i * columns + j], rows)) * columns +
                       j] += o.updates.data()[i * columns + j];
}

template <class Operands>
void xloom_in_place(Operands& o)
{
    xloom::scatter_elements_into(xloom::reduce_add, o.y, o.indices, o.updates, {.axis = o.axis});
}

void xloom_at(vectors& o) { xloom::at(xloom::reduce_add, o.y, o.indices, o.updates); }

template <class Operands, void (*InPlace)(Operands&)>
void copying(Operands& o)
{
    std::copy(o.data.storage().begin(), o.data.storage().end(), o.y.storage().begin());
    InPlace(o);
}

template <class Operands>
onnx_graph model(Operands& o)
{
    return model_of(
        {.op = "ScatterElements", .attributes = {{"axis", o.axis}, {"reduction", std::string("add")}}},
        {bound("data", o.data), bound("indices", o.indices), bound("updates", o.updates)},
        {bound("output", o.y)});
}

template <std::size_t Rank>
elements_operands<Rank> make(std::array<std::size_t, Rank> const& dims, std::size_t axis)
{
    using tensor = xt::xtensor<float, Rank>;
    tensor const data = made_up<tensor>(dims);
    elements_operands<Rank> o{data, xt::xtensor<std::int64_t, Rank>::from_shape(dims), made_up<tensor>(dims),
        data, 0, static_cast<std::int64_t>(axis)};
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
        "scatter_elements/add/f32/data:1000000", [] { return make<1>({1'000'000}, 0); },
        std::vector<series<vectors>>{{"hand", copying<vectors, hand_items>},
            {"xloom", copying<vectors, xloom_in_place<vectors>>}, {"xloom_at", copying<vectors, xloom_at>},
            {.impl = "onnxruntime", .model = model<vectors>}});
    for (std::size_t const columns : std::initializer_list<std::size_t>{10, 1000})
        for (std::size_t const axis : std::initializer_list<std::size_t>{0, 1}) {
            std::size_t const rows = 1'000'000 / columns;
            add_case(
                "scatter_elements/add/f32/data:" + std::to_string(rows) + "x" + std::to_string(columns) +
                    "/axis:" + std::to_string(axis),
                [=] {
                    return make<2>({rows, columns}, axis);
                },
                std::vector<series<matrices>>{{"hand", axis == 0 ? copying<matrices, hand_first_axis>
                                                                 : copying<matrices, hand_last_axis>},
                    {"xloom", copying<matrices, xloom_in_place<matrices>>},
                    {.impl = "onnxruntime", .model = model<matrices>}});
        }
    return run_cases(argc, argv);
}
