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

template <class Operands>
onnx_graph model(Operands& o)
{
    return model_of(
        {.op = "ScatterElements", .attributes = {{"axis", o.axis}, {"reduction", std::string("add")}}},
        {bound("data", o.data), bound("indices", o.indices), bound("updates", o.updates)},
        {bound("output", o.y)});
}

} // namespace

int main(int argc, char** argv)
{
    auto const make = []<std::size_t Rank>(std::array<std::size_t, Rank> const& dims, std::size_t axis) {
        using tensor = xt::xtensor<float, Rank>;
        tensor const data = made_up<tensor>(dims);
        auto const indices = random_indices<xt::xtensor<std::int64_t, Rank>>(dims, dims[axis]);
        return elements_operands<Rank>{
            data, indices, made_up<tensor>(dims), data, indices.size(), static_cast<std::int64_t>(axis)};
    };
    auto const along = [](void (*hand)(matrices&)) {
        return std::vector<series<matrices>>{{"hand", hand},
            {"xloom", copying<matrices, xloom_in_place<matrices>>},
            {.impl = "onnxruntime", .model = model<matrices>}};
    };
    add_cases_along_axes<vectors, matrices>("scatter_elements/add/f32", make,
        {{"hand", copying<vectors, hand_items>}, {"xloom", copying<vectors, xloom_in_place<vectors>>},
            {"xloom_at", copying<vectors, xloom_at>}, {.impl = "onnxruntime", .model = model<vectors>}},
        {along(copying<matrices, hand_first_axis>), along(copying<matrices, hand_last_axis>)});
    return run_cases(argc, argv);
}
