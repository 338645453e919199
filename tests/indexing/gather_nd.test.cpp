// GatherND: the text's samples, every rank of data and indices with every number of batch axes, and what the
// options change.

#include <doctest/doctest.h>

#include <limits>

#include <xloom/indexing/gather_nd.hpp>

#include "support/nd_operands.hpp"

namespace gather_nd_test {

using namespace xloom;

namespace {

using tensor_of_int = xt::xarray<int>;
using one_tuple = xt::xtensor<std::int64_t, 1>;
using tuples = xt::xtensor<std::int64_t, 2>;
using rows_of_tuples = xt::xtensor<std::int64_t, 3>;
using indices_of_any_rank = xt::xarray<std::int64_t>;

tensor_of_int const list = {10, 20, 30};
tensor_of_int const square = {{0, 1}, {2, 3}};
tensor_of_int const cube = {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}};

/// One random case against the textbook.
void check_random_case(
    textbook::dims const& data_shape, textbook::dims const& front, std::size_t k, std::size_t b = 0)
{
    std::mt19937 random(static_cast<unsigned>(1000 * data_shape.size() + 100 * front.size() + 10 * k + b));
    auto const data = random_items<int>(random, data_shape);
    auto const indices = random_indices(random, front, data_shape, k, b);
    auto const expected = textbook::gather_nd(data, indices, b);
    auto const result = to_array(gather_nd(to_tensor<tensor_of_int>(data),
        to_tensor<indices_of_any_rank>(indices), {.batch_dims = static_cast<std::int64_t>(b)}));
    CAPTURE(data_shape.size());
    CAPTURE(front.size());
    CAPTURE(k);
    CAPTURE(b);
    CHECK(result.items == expected.items);
    CHECK(result.shape == expected.shape);
}

template <class Indices>
tensor_of_int dropped_from(tensor_of_int const& data, Indices const& indices, std::int64_t batch_dims = 0)
{
    return gather_nd(data, indices, {.batch_dims = batch_dims, .bounds = bounds::drop});
}

template <class Indices>
tensor_of_int clipped_from(tensor_of_int const& data, Indices const& indices, std::int64_t batch_dims = 0)
{
    return gather_nd(data, indices, {.batch_dims = batch_dims, .bounds = bounds::clip});
}

} // namespace

TEST_CASE("ONNX's example 1: single items")
{
    CHECK(gather_nd(square, tuples{{0, 0}, {1, 1}}) == tensor_of_int{0, 3});
}

TEST_CASE("ONNX's example 2: rows")
{
    CHECK(gather_nd(square, tuples{{1}, {0}}) == tensor_of_int{{2, 3}, {0, 1}});
}

TEST_CASE("ONNX's example 3: rows of a tensor of rank 3")
{
    CHECK(gather_nd(cube, tuples{{0, 1}, {1, 0}}) == tensor_of_int{{2, 3}, {4, 5}});
}

TEST_CASE("ONNX's example 4: indices of rank 3")
{
    CHECK(gather_nd(cube, rows_of_tuples{{{0, 1}}, {{1, 0}}}) == tensor_of_int{{{2, 3}}, {{4, 5}}});
}

TEST_CASE("ONNX's example 5: batch_dims = 1")
{
    CHECK(gather_nd(cube, tuples{{1}, {0}}, {.batch_dims = 1}) == tensor_of_int{{2, 3}, {4, 5}});
}

TEST_CASE("gather_nd_shape: the shapes of ONNX's examples")
{
    static_assert(gather_nd_shape({2, 2}, {2, 2}) == shape{2});
    static_assert(gather_nd_shape({2, 2}, {2, 1}) == shape{2, 2});
    static_assert(gather_nd_shape({2, 2, 2}, {2, 2}) == shape{2, 2});
    static_assert(gather_nd_shape({2, 2, 2}, {2, 1, 2}) == shape{2, 1, 2});
    static_assert(gather_nd_shape({2, 2, 2}, {2, 1}, {.batch_dims = 1}) == shape{2, 2});
    CHECK_THROWS_WITH_AS(gather_nd_shape({4, 5}, {7, 3}),
        "xloom::gather_nd: indices' last axis must be no longer than data's rank less batch_dims, but "
        "indices is [7, 3], data is [4, 5] and batch_dims is 0. Index fewer axes.",
        shape_error);
}

TEST_CASE("k from 0 to r, with every number of axes in front")
{
    textbook::dims const shapes[] = {{5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}};
    textbook::dims const fronts[] = {{}, {4}, {2, 3}, {1, 2, 2}};
    for (textbook::dims const& data : shapes)
        for (textbook::dims const& front : fronts)
            for (std::size_t k = 0; k <= data.size(); ++k)
                check_random_case(data, front, k);
}

// The axes in front of the tuples are the batch's, and some after them.
TEST_CASE("batch_dims from 1 to r - 1, k from 0 to r - b, with every number of axes after the batch")
{
    textbook::dims const shapes[] = {{3, 4}, {2, 3, 4}, {2, 3, 2, 4}, {1, 2, 3, 2, 2}};
    textbook::dims const more[] = {{}, {1}, {5}, {2, 3}};
    for (textbook::dims const& data : shapes)
        for (std::size_t b = 1; b < data.size(); ++b)
            for (textbook::dims const& after : more) {
                textbook::dims front(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(b));
                front.insert(front.end(), after.begin(), after.end());
                for (std::size_t k = 0; k <= data.size() - b; ++k)
                    check_random_case(data, front, k, b);
            }
}

TEST_CASE("more tuples than are read at a time, also of one batch entry")
{
    check_random_case({40}, {1000}, 1);
    check_random_case({7, 5, 3}, {333}, 2);
    check_random_case({3, 2, 2, 5}, {200}, 3);
    check_random_case({3, 5, 4}, {3, 129}, 1, 1);
    check_random_case({3, 7, 2, 4}, {3, 7, 50}, 1, 2);
    check_random_case({70, 4}, {70}, 1, 1);
}

TEST_CASE("a single item has rank 0")
{
    tensor_of_int const item = gather_nd(cube, one_tuple{1, 0, -1});
    CHECK(item.dimension() == 0);
    CHECK(item() == 5);
    auto const ranked = gather_nd<0>(cube, one_tuple{1, 0, -1});
    static_assert(std::is_same_v<decltype(ranked), xt::xtensor<int, 0> const>);
    CHECK(ranked() == 5);
}

TEST_CASE("gather_nd<Rank> gives a tensor of that rank")
{
    auto const rows = gather_nd<2>(cube, tuples{{0, 1}, {1, 0}});
    static_assert(std::is_same_v<decltype(rows), xt::xtensor<int, 2> const>);
    CHECK(rows == tensor_of_int{{2, 3}, {4, 5}});
}

TEST_CASE("negative indices count from the end of their own axis")
{
    CHECK(gather_nd(square, tuples{{-1, -2}, {-2, -1}, {1, -1}}) == tensor_of_int{2, 1, 3});
    CHECK(gather_nd(cube, tuples{{-1}, {-2}}, {.batch_dims = 1}) == tensor_of_int{{2, 3}, {4, 5}});
}

TEST_CASE("nothing to gather: empty indices, empty slices, empty data")
{
    auto const shape_of_gathered = [](shape const& data, shape const& indices, std::int64_t batch_dims = 0) {
        indices_of_any_rank ones = enable_tensor<indices_of_any_rank>::make(indices);
        ones.fill(1);
        return detail::shape_of(
            gather_nd(enable_tensor<tensor_of_int>::make(data), ones, {.batch_dims = batch_dims}));
    };
    CHECK(shape_of_gathered({3, 2}, {0, 1}) == shape{0, 2});
    CHECK(shape_of_gathered({3, 2}, {4, 0, 2}) == shape{4, 0});
    CHECK(shape_of_gathered({0, 2}, {0, 1}) == shape{0, 2});
    CHECK(shape_of_gathered({3, 0}, {4, 1}) == shape{4, 0});
    CHECK(shape_of_gathered({0, 5}, {3, 0}) == shape{3, 0, 5});
    CHECK(shape_of_gathered({0, 5, 2}, {0, 7, 1}, 1) == shape{0, 7, 2});
    CHECK(shape_of_gathered({3, 0, 2}, {3, 0, 1}, 1) == shape{3, 0, 2});
}

TEST_CASE("k = 0: every empty tuple names all of its batch entry")
{
    auto const nothing = [](shape const& dims) { return enable_tensor<indices_of_any_rank>::make(dims); };
    CHECK(gather_nd(square, nothing({2, 0})) == tensor_of_int{{{0, 1}, {2, 3}}, {{0, 1}, {2, 3}}});
    CHECK(gather_nd(square, nothing({0})) == square);
    CHECK(gather_nd(square, nothing({2, 0}), {.batch_dims = 1}) == square);
    CHECK(gather_nd(square, nothing({2, 2, 0}), {.batch_dims = 1}) ==
          tensor_of_int{{{0, 1}, {0, 1}}, {{2, 3}, {2, 3}}});
}

TEST_CASE("bounds::drop: an item for which an index is outside is 0")
{
    CHECK(dropped_from(list, tuples{{3}, {0}, {-4}, {-1}}) == tensor_of_int{0, 10, 0, 30});
    CHECK(dropped_from(square, tuples{{0, 2}, {1, 1}, {-3, 0}}) == tensor_of_int{0, 3, 0});
    CHECK(dropped_from(square, tuples{{2}, {1}}) == tensor_of_int{{0, 0}, {2, 3}});
    CHECK(dropped_from(cube, rows_of_tuples{{{2}, {1}}, {{0}, {-3}}}, 1) ==
          tensor_of_int{{{0, 0}, {2, 3}}, {{4, 5}, {0, 0}}});
    CHECK(dropped_from(tensor_of_int::from_shape({0}), tuples{{0}, {-1}}) == tensor_of_int{0, 0});
    CHECK(dropped_from(tensor_of_int::from_shape({0, 3}), tuples{{0}, {-1}}) ==
          tensor_of_int{{0, 0, 0}, {0, 0, 0}});
}

TEST_CASE("bounds::clip: the nearest item that there is")
{
    CHECK(clipped_from(list, tuples{{3}, {0}, {-4}, {-1}}) == tensor_of_int{30, 10, 10, 30});
    CHECK(clipped_from(square, tuples{{0, 2}, {1, 1}, {-3, 0}}) == tensor_of_int{1, 3, 0});
    CHECK(clipped_from(cube, rows_of_tuples{{{2}, {1}}, {{0}, {-3}}}, 1) ==
          tensor_of_int{{{2, 3}, {2, 3}}, {{4, 5}, {4, 5}}});
}

TEST_CASE("bounds: the ends of the widest type")
{
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           largest = std::numeric_limits<std::int64_t>::max();
    CHECK(dropped_from(list, tuples{{least}, {largest}, {1}}) == tensor_of_int{0, 0, 20});
    CHECK(clipped_from(list, tuples{{least}, {largest}, {1}}) == tensor_of_int{10, 30, 20});
}

TEST_CASE("bounds::assume: indices in range give what they name")
{
    CHECK(gather_nd(square, tuples{{1}, {-2}}, {.bounds = bounds::assume}) == tensor_of_int{{2, 3}, {0, 1}});
    CHECK(gather_nd(square, tuples{{1, 0}}, {.bounds = bounds::assume}) == tensor_of_int{2});
}

} // namespace gather_nd_test
