// What gathering undoes of scattering, and scattering of gathering, for tuples of every width.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "support/nd_operands.hpp"

namespace property_gather_scatter_test {

using namespace xloom;

namespace {

using items = xt::xarray<int>;
using tuples = xt::xarray<std::int64_t>;

/// Tuples of k indices that name different slices of a tensor of this shape, some of the indices negative; no
/// more than there are.
textbook::array<std::int64_t> different_tuples(
    std::mt19937& random, textbook::dims const& data_shape, std::size_t k, std::size_t most)
{
    textbook::dims const indexed(data_shape.begin(), data_shape.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<std::size_t> slices(textbook::size_of(indexed));
    std::iota(slices.begin(), slices.end(), std::size_t{0});
    std::shuffle(slices.begin(), slices.end(), random);
    slices.resize(std::min(slices.size(), most));
    textbook::array<std::int64_t> indices{{slices.size(), k}, {}};
    for (std::size_t const slice : slices) {
        textbook::dims const position = textbook::position_of(slice, indexed);
        for (std::size_t axis = 0; axis < k; ++axis)
            indices.items.push_back(static_cast<std::int64_t>(position[axis]) -
                                    (random() % 2 == 0 ? 0 : static_cast<std::int64_t>(indexed[axis])));
    }
    return indices;
}

/// A few shapes, each with tuples of every width.
template <class F>
void for_each_case(F const& f)
{
    for (textbook::dims const& shape :
        {textbook::dims{40}, textbook::dims{7, 9}, textbook::dims{4, 3, 5}, textbook::dims{2, 3, 1, 4}})
        for (std::size_t k = 0; k <= shape.size(); ++k) {
            std::mt19937 random(static_cast<unsigned>(10 * shape.size() + k));
            CAPTURE(shape.size());
            CAPTURE(k);
            f(random, shape, k);
        }
}

} // namespace

TEST_CASE("what was scattered to different slices is gathered from them")
{
    for_each_case([](std::mt19937& random, textbook::dims const& shape, std::size_t k) {
        auto const indices = different_tuples(random, shape, k, 30);
        auto const data = to_tensor<items>(random_items<int>(random, shape));
        auto const updates = to_tensor<items>(random_items<int>(random, updates_shape(shape, indices.shape)));
        auto const index_tensor = to_tensor<tuples>(indices);
        CHECK(gather_nd(scatter_nd(data, index_tensor, updates), index_tensor) == updates);
    });
}

TEST_CASE("data stays as it is when what was gathered is scattered back, duplicates too")
{
    for_each_case([](std::mt19937& random, textbook::dims const& shape, std::size_t k) {
        auto const data = to_tensor<items>(random_items<int>(random, shape));
        auto const indices = to_tensor<tuples>(random_indices(random, {3, 40}, shape, k));
        CHECK(scatter_nd(data, indices, gather_nd(data, indices)) == data);
        CHECK(scatter_nd(reduce_max, data, indices, gather_nd(data, indices)) == data);
    });
}

TEST_CASE("what is scattered out of bounds is gathered neither")
{
    items const data = {1, 2, 3};
    xt::xtensor<std::int64_t, 2> const indices = {{1}, {3}, {-4}, {2}};
    items const scattered = scatter_nd(data, indices, items{7, 8, 9, 10}, {.bounds = bounds::drop});
    CHECK(gather_nd(scattered, indices, {.bounds = bounds::drop}) == items{7, 0, 0, 10});
}

} // namespace property_gather_scatter_test
