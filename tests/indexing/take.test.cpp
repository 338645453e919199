// take and compress: compared with the textbook for every rank and axis, flattened, with layouts, masks and
// threads.

#include <doctest/doctest.h>

#include <string>

#include <xloom/indexing/take.hpp>
#include <xloom/interop/threads.hpp>

#include "support/nd_operands.hpp"
#include "support/textbook_elements.hpp"
#include "support/uniform_int.hpp"
#include "support/xtensor_extras.hpp"

namespace take_test {

using namespace xloom;

namespace {

using any_rank = xt::xarray<int>;
using indices_of_any_rank = xt::xarray<std::int64_t>;
using index_vector = xt::xtensor<std::int64_t, 1>;
using mask_of = xt::xtensor<bool, 1>;

template <class Data = any_rank, class Policy = serial_policy>
void check_random_case(textbook::dims const& shape, textbook::dims const& index_shape, std::size_t axis,
    Policy const& policy = {})
{
    std::mt19937 random(static_cast<unsigned>(10 * shape.size() + axis));
    auto const data = random_items<int>(random, shape);
    textbook::array<std::int64_t> indices{index_shape, {}};
    auto const end = static_cast<std::int64_t>(shape[axis]);
    for (std::size_t i = 0; i < textbook::size_of(index_shape); ++i)
        indices.items.push_back(uniform_int<std::int64_t>(-end, end - 1)(random));
    auto const expected = textbook::take(data, indices, axis);
    auto const x = to_tensor<Data>(data);
    auto const index_tensor = to_tensor<indices_of_any_rank>(indices);
    CAPTURE(shape.size());
    CAPTURE(axis);
    auto const named = static_cast<std::int64_t>(axis);
    for (std::int64_t const each : {named, named - static_cast<std::int64_t>(shape.size())}) {
        auto const result = to_array(take(x, index_tensor, {.axis = each}, policy));
        CHECK(result.shape == expected.shape);
        CHECK(result.items == expected.items);
    }
    textbook::array<int> const flat{{data.items.size()}, data.items};
    auto const taken = to_array(take(x, index_tensor, {}, policy));
    CHECK(taken.items == textbook::take(flat, indices, 0).items);
    CHECK(taken.shape == index_shape);
}

xt::xtensor<int, 2> const x = {{1, 2, 3}, {4, 5, 6}};

} // namespace

TEST_CASE("take: every rank of x and of indices, every axis, flattened")
{
    textbook::dims const shapes[] = {{5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}};
    for (textbook::dims const& shape : shapes)
        for (textbook::dims const& indices : {textbook::dims{}, {1}, {7}, {2, 3}, {2, 1, 2}})
            for (std::size_t axis = 0; axis < shape.size(); ++axis) {
                check_random_case(shape, indices, axis);
                check_random_case<xt::xarray<int, xt::layout_type::column_major>>(shape, indices, axis);
            }
    check_random_case({3, 700, 2}, {1100}, 1);
    check_random_case({300, 4}, {3}, 1);
}

TEST_CASE("take: threads give the same items")
{
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t const threads : std::initializer_list<std::size_t>{2, 5})
            check_random_case<any_rank>({40, 50, 30}, {60}, axis, thread_policy{threads});
}

TEST_CASE("take: numbers as indices, static ranks, other types, lazy operands")
{
    CHECK(take(x, 4)() == 5);
    CHECK(take<1>(x, std::uint8_t{1}, {.axis = 0}) == xt::xtensor<int, 1>{4, 5, 6});
    CHECK(take<1>(x + 1, index_vector{0, 0} + 1, {.axis = {}}) == xt::xtensor<int, 1>{3, 3});
    xt::xtensor<std::string, 1> const words = {"a", "b"};
    CHECK(take<1>(words, index_vector{-1})(0) == "b");
    CHECK(take(xt::xtensor<int, 0>(7), 0)() == 7);
}

TEST_CASE("take: indices out of range")
{
    index_vector const outside = {3, 0, -4};
    CHECK(take(x, outside, {.axis = 1, .bounds = bounds::clip}) == any_rank{{3, 1, 1}, {6, 4, 4}});
    CHECK(take(x, outside, {.axis = 1, .bounds = bounds::drop}) == any_rank{{0, 1, 0}, {0, 4, 0}});
    CHECK_THROWS_WITH_AS(take(x, outside, {.axis = 1}),
        "xloom::take: an index into an axis of length d must be in [-d, d - 1], but indices[0] is 3 (axis 1 "
        "of "
        "length 3) and indices[2] is -4 (axis 1 of length 3). Correct it, or choose bounds::drop or "
        "bounds::clip.",
        index_error);
    CHECK_THROWS_WITH_AS(
        take(xt::xtensor<int, 2>::from_shape({2, 0}), 0, {.axis = 1, .bounds = bounds::clip}),
        "xloom::take: an index can be clipped to an axis that has items only, but axis 1 of x has length 0. "
        "Choose bounds::drop.",
        index_error);
    CHECK_THROWS_WITH_AS(take(x, 0, {.axis = 2}),
        "xloom::take: an axis of a tensor of rank r must be in [-r, r - 1], but options.axis is 2 and x has "
        "the shape [2, 3]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(take<2>(x, 0, {.axis = 1}),
        "xloom::take: the output must have the requested rank, but its shape is [2] and the requested rank "
        "is "
        "2. Request 1.",
        shape_error);
    auto const empty = xt::xtensor<int, 2>::from_shape({2, 0});
    CHECK(take(empty, index_vector::from_shape({0}), {.axis = 1}).size() == 0);
    CHECK_THROWS_AS(take(empty, 0, {.axis = 1}), index_error);
}

TEST_CASE("compress: an axis, flattened, masks of other lengths")
{
    CHECK(compress(mask_of{false, true, true}, x, {.axis = 1}) == any_rank{{2, 3}, {5, 6}});
    CHECK(compress<2>(mask_of{false, true}, x, {.axis = 0}) == xt::xtensor<int, 2>{{4, 5, 6}});
    CHECK(compress(mask_of{true, false, false, true}, x) == any_rank{1, 4});
    CHECK(compress<2>(mask_of{true}, x, {.axis = -1}) == xt::xtensor<int, 2>{{1}, {4}});
    CHECK(compress(mask_of{true, true, true, false}, x, {.axis = 1}) == any_rank{{1, 2, 3}, {4, 5, 6}});
    CHECK(compress<1>(mask_of{false, false}, x).size() == 0);
    CHECK(compress<1>(xt::strided_view(mask_of{true, false, true}, {xt::range(0, 3, 2)}), x) ==
          xt::xtensor<int, 1>{1, 2});
    xt::xtensor<int, 1> const scores = {1, 9, 3};
    CHECK(compress(scores < 5, x, {.axis = 1}) == any_rank{{1, 3}, {4, 6}});
}

TEST_CASE("compress: several threads, and both layouts")
{
    xt::xtensor<int, 2> wide = xt::arange<int>(200 * 300).reshape({200, 300});
    xt::xtensor<bool, 1> const mask = xt::equal(xt::arange<int>(300) % 7, 3);
    xt::xtensor<int, 2> expected = xt::xtensor<int, 2>::from_shape({200, 43});
    for (std::size_t i = 0; i < 200; ++i)
        for (std::size_t j = 0; j < 43; ++j)
            expected(i, j) = static_cast<int>(300 * i + 7 * j + 3);
    xt::xtensor<int, 2, xt::layout_type::column_major> const columns = wide;
    CHECK(compress(mask, wide, {.axis = 1}, thread_policy(3)) == expected);
    CHECK(compress(mask, columns, {.axis = 1}, thread_policy(3)) == expected);
}

TEST_CASE("compress: errors")
{
    CHECK_THROWS_WITH_AS(compress(mask_of{true, false, false, true}, x, {.axis = 1}),
        "xloom::compress: mask must be false beyond the end of the axis, but mask[3] is true and the axis "
        "has "
        "the length 3. Shorten it.",
        index_error);
    CHECK_THROWS_WITH_AS(compress(xt::xtensor<bool, 2>{{true}}, x),
        "xloom::compress: mask must have one axis, but its shape is [1, 1]. Flatten it.", shape_error);
    CHECK_THROWS_AS(compress(mask_of{true}, x, {.axis = 2}), shape_error);
}

} // namespace take_test
