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

} // namespace

int main(int argc, char** argv)
{
    auto const make = []<std::size_t Rank>(std::array<std::size_t, Rank> const& dims, std::size_t axis) {
        using tensor = xt::xtensor<float, Rank>;
        auto const indices = random_indices<xt::xtensor<std::int64_t, Rank>>(dims, dims[axis]);
        return elements_operands<Rank>{made_up<tensor>(dims), indices, tensor::from_shape(dims),
            indices.size(), static_cast<std::int64_t>(axis)};
    };
    auto const along = [](void (*hand)(matrices&)) {
        return std::vector<series<matrices>>{{"hand", hand}, {"xloom", xloom_into<matrices>},
            {.impl = "onnxruntime", .model = model<matrices>}};
    };
    add_cases_along_axes<vectors, matrices>("gather_elements/f32", make,
        {{"hand", hand_items}, {"xloom", xloom_into<vectors>},
            {.impl = "onnxruntime", .model = model<vectors>}},
        {along(hand_first_axis), along(hand_last_axis)});
    return run_cases(argc, argv);
}
