// at: ufunc.at compared with loops over positions, with broadcast updates, callables, options and threads.

#include <doctest/doctest.h>

#include <xloom/indexing/at.hpp>
#include <xloom/interop/threads.hpp>

#include "support/nd_operands.hpp"
#include "support/textbook_elements.hpp"
#include "support/xtensor_extras.hpp"

namespace at_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<int, 1>;
using matrix = xt::xtensor<int, 2>;
using any_rank = xt::xarray<int>;
using indices_of_any_rank = xt::xarray<std::int64_t>;

template <class Data, class Op, class Policy = serial_policy>
void check_random_case(textbook::dims const& shape, textbook::dims const& index_shape,
    textbook::dims const& update_shape, Op const& op, int (*expected_op)(int, int), Policy const& policy = {})
{
    std::mt19937 random(static_cast<unsigned>(shape.size() + 10 * index_shape.size()));
    auto const data = random_items<int>(random, shape);
    auto const updates = random_items<int>(random, update_shape);
    textbook::array<std::int64_t> indices = random_indices(random, index_shape, shape, 1);
    textbook::dims all = index_shape;
    all.insert(all.end(), shape.begin() + 1, shape.end());
    auto const expected =
        textbook::scatter_nd(data, indices, textbook::broadcast_to(updates, all), expected_op);
    indices.shape.pop_back();
    auto x = to_tensor<Data>(data);
    at(op, x, to_tensor<indices_of_any_rank>(indices), to_tensor<any_rank>(updates), {}, policy);
    CHECK(to_array(x).items == expected.items);
}

int add(int old, int update) { return old + update; }
int update_minus_old(int old, int update) { return update - old; }

} // namespace

TEST_CASE("every rank of x and indices, updates that broadcast")
{
    using columns = xt::xarray<int, xt::layout_type::column_major>;
    for (textbook::dims const& indices : {textbook::dims{}, {1}, {9}, {3, 4}}) {
        for (textbook::dims const& updates : {textbook::dims{}, indices})
            check_random_case<any_rank>({5}, indices, updates, reduction::add, add);
        textbook::dims full = indices;
        full.insert(full.end(), {3, 2});
        for (textbook::dims const& updates : {textbook::dims{}, {2}, {3, 1}, full}) {
            check_random_case<any_rank>({5, 3, 2}, indices, updates, reduce_add, add);
            check_random_case<columns>({5, 3, 2}, indices, updates, reduction::add, add);
            check_random_case<any_rank>({5, 3, 2}, indices, updates, update_minus_old, update_minus_old);
        }
    }
}

TEST_CASE("threads give the same items")
{
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 5}) {
        check_random_case<any_rank>({5000}, {60'000}, {}, reduction::add, add, thread_policy{threads});
        check_random_case<any_rank>(
            {50, 40}, {3000}, {3000, 1}, update_minus_old, update_minus_old, thread_policy{threads});
    }
}

TEST_CASE("numbers, names, options")
{
    vector x = {1, 2, 3};
    at(reduce_mul, x, vector{0, 0, 2}, 10);
    CHECK(x == vector{100, 2, 30});
    at(reduction::max, x, -1, 31);
    CHECK(x == vector{100, 2, 31});
    at(reduction::none, x, vector{1, 1}, vector{5, 6});
    CHECK(x == vector{100, 6, 31});
    at(reduce_add, x, vector{0, 7}, 1, {.bounds = bounds::drop});
    CHECK(x == vector{101, 6, 31});
    matrix y = {{1, 2}, {3, 4}};
    at(reduce_add, xt::transpose(y), 1, vector{10, 20});
    CHECK(y == matrix{{1, 12}, {3, 24}});
    xt::xtensor<double, 1> z = {1, 2};
    at(reduce_add, z, vector{0, 0}, 2);
    CHECK(z == xt::xtensor<double, 1>{5, 2});
}

TEST_CASE("errors, before anything is written")
{
    matrix x = {{1, 2, 3}, {4, 5, 6}};
    matrix const before = x;
    CHECK_THROWS_WITH_AS(at(reduce_add, x, vector{0, 1}, vector{1, 2}),
        "xloom::at: updates must broadcast to the shape indices.shape ++ x.shape[1:] = [2, 3], but it is [2] "
        "(x "
        "[2, 3], indices [2]). From the last axis on, give each the length there or 1.",
        shape_error);
    CHECK_THROWS_WITH_AS(at(reduce_add, x, vector{0, 2}, 1),
        "xloom::at: an index into an axis of length d must be in [-d, d - 1], but indices[1] is 2 (axis 0 of "
        "length 2). Correct it, or choose bounds::drop or bounds::clip.",
        index_error);
    CHECK_THROWS_WITH_AS(at(reduce_add, x, 0, 0.5),
        "xloom::at: a number that is broadcast must be one of x's element type, but it is 0.5 and x holds "
        "int32. Convert it first.",
        type_error);
    xt::xtensor<float, 1> floats = {1, 2};
    CHECK_THROWS_WITH_AS(at(reduce_add, floats, 0, 1.0000000000000002),
        doctest::Contains("but it is 1.0000000000000002 and x holds float"), type_error);
    CHECK_THROWS_WITH_AS(
        at(reduce_add, floats, 0, 0.1), doctest::Contains("but it is 0.1 and x holds float"), type_error);
    CHECK_THROWS_WITH_AS(at(reduce_add, x, x, 1, {.bounds = bounds::drop}),
        "xloom::at: an operand that is written must have memory of its own, but x overlaps indices. Copy "
        "one of the two.",
        overlap_error);
    xt::xtensor<bool, 1> bits = {true, false};
    CHECK_THROWS_WITH_AS(at(reduction::mean, bits, 0, true),
        "xloom::at: a reduction must be defined for x's elements, but reduction is mean and x holds bool. "
        "Choose another.",
        option_error);
    auto none = matrix::from_shape({0, 3});
    CHECK_THROWS_WITH_AS(at(reduce_add, none, 0, 1, {.bounds = bounds::clip}),
        "xloom::at: an index can be clipped to an axis that has items only, but axis 0 of x has length 0. "
        "Choose bounds::drop.",
        index_error);
    xt::xtensor<int, 0> scalar(1);
    CHECK_THROWS_WITH_AS(at(reduce_add, scalar, 0, 1),
        "xloom::at: x must have at least one axis, but it has the shape []. Give it an axis of length 1.",
        shape_error);
    CHECK(x == before);
}

} // namespace at_test
