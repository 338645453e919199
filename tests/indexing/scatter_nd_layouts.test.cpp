// ScatterND on operands of every layout, at run time one case of each mixture.

#include <doctest/doctest.h>

#include <xloom/indexing/scatter_nd.hpp>

#include "support/nd_operands.hpp"

namespace scatter_nd_layouts_test {

using namespace xloom;

namespace {

/// Slices of every width against the textbook, in containers of the given kinds.
template <class Data, class Indices, class Updates>
void check_layouts()
{
    textbook::dims const data_shape{4, 3, 5}, front{2, 3};
    for (std::size_t k = 0; k <= 3; ++k) {
        std::mt19937 random(static_cast<unsigned>(k));
        auto const data = random_items<double>(random, data_shape);
        auto const indices = random_indices(random, front, data_shape, k);
        auto const updates = random_items<double>(random, updates_shape(data_shape, indices.shape));
        auto const expected = textbook::scatter_nd(
            data, indices, updates, [](double old, double update) { return old - update; });

        auto tensor = to_tensor<Data>(data);
        auto const index_tensor = to_tensor<Indices>(indices);
        auto const update_tensor = to_tensor<Updates>(updates);
        scatter_nd_into(
            [](double old, double update) { return old - update; }, tensor, index_tensor, update_tensor);
        CAPTURE(k);
        CHECK(to_array(tensor).items == expected.items);

        // Slices whose updates are counted go through a copy where data is not row-major.
        textbook::array<double> const hundreds{data_shape, std::vector<double>(data.items.size(), 100.0)};
        auto const first = textbook::scatter_nd(hundreds, indices, updates,
            [](double old, double update) { return old == 100.0 ? update : old; });
        auto hundred = to_tensor<Data>(hundreds);
        scatter_nd_into(hundred, index_tensor, update_tensor, {.duplicates = duplicates::first});
        CHECK(to_array(hundred).items == first.items);
    }
}

using rows = xt::xtensor<double, 3>;
using columns = xt::xtensor<double, 3, xt::layout_type::column_major>;
using dynamic = xt::xarray<double, xt::layout_type::dynamic>;

} // namespace

TEST_CASE("row-major data")
{
    check_layouts<rows, xt::xarray<std::int32_t, xt::layout_type::column_major>, xt::xarray<double>>();
}

TEST_CASE("column-major data")
{
    check_layouts<columns, xt::xarray<std::int64_t>, xt::xarray<double, xt::layout_type::column_major>>();
}

TEST_CASE("data of a layout that is known at run time only")
{
    check_layouts<dynamic, xt::xarray<std::int64_t>, dynamic>();
}

} // namespace scatter_nd_layouts_test
