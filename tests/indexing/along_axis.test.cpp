// take_along_axis and put_along_axis: compared with the textbook after everything is written out; errors.

#include <doctest/doctest.h>

#include <xloom/indexing/along_axis.hpp>
#include <xloom/interop/threads.hpp>

#include "support/nd_operands.hpp"
#include "support/textbook_elements.hpp"
#include "support/uniform_int.hpp"
#include "support/xtensor_extras.hpp"

namespace along_axis_test {

using namespace xloom;

namespace {

using matrix = xt::xtensor<int, 2>;
using any_rank = xt::xarray<int>;
using indices_of_any_rank = xt::xarray<std::int64_t>;

struct random_case {
    textbook::array<int> x, values;
    textbook::array<std::int64_t> indices;
    textbook::dims named; ///< the shape of the named items

    random_case(textbook::dims const& shape, textbook::dims const& index_shape,
        textbook::dims const& value_shape, std::size_t axis)
        : named(index_shape)
    {
        std::mt19937 random(static_cast<unsigned>(10 * shape.size() + axis));
        x = random_items<int>(random, shape);
        values = random_items<int>(random, value_shape);
        indices.shape = index_shape;
        auto const end = static_cast<std::int64_t>(shape[axis]);
        for (std::size_t i = 0; i < textbook::size_of(index_shape); ++i)
            indices.items.push_back(uniform_int<std::int64_t>(-end, end - 1)(random));
        for (std::size_t k = 0; k < shape.size(); ++k)
            if (k != axis && named[k] == 1)
                named[k] = shape[k];
    }
};

/// The position in x of each named item: axes of length 1 are repeated.
textbook::dims position_in(
    textbook::array<int> const& x, textbook::dims position, std::int64_t index, std::size_t axis)
{
    position = textbook::element_position(position, index, axis, x.shape);
    for (std::size_t k = 0; k < position.size(); ++k)
        if (x.shape[k] == 1)
            position[k] = 0;
    return position;
}

template <class Data = any_rank, class Policy = serial_policy>
void check_random_case(textbook::dims const& shape, textbook::dims const& index_shape,
    textbook::dims const& value_shape, std::size_t axis, Policy const& policy = {})
{
    random_case const c(shape, index_shape, value_shape, axis);
    auto const all = textbook::broadcast_to(c.indices, c.named);
    auto const values = textbook::broadcast_to(c.values, c.named);
    textbook::array<int> taken{c.named, {}}, put = c.x;
    for (std::size_t i = 0; i < all.items.size(); ++i) {
        std::size_t const at = textbook::flat_of(
            position_in(c.x, textbook::position_of(i, c.named), all.items[i], axis), c.x.shape);
        taken.items.push_back(c.x.items[at]);
        put.items[at] = values.items[i];
    }
    along_axis_options const options{.axis = static_cast<std::int64_t>(axis)};
    auto x = to_tensor<Data>(c.x);
    auto const indices = to_tensor<indices_of_any_rank>(c.indices);
    CAPTURE(shape.size());
    CAPTURE(axis);
    auto const result = to_array(take_along_axis(x, indices, options, policy));
    CHECK(result.shape == taken.shape);
    CHECK(result.items == taken.items);
    put_along_axis(x, indices, to_tensor<any_rank>(c.values), options, policy);
    CHECK(to_array(x).items == put.items);
}

} // namespace

TEST_CASE("every rank and axis; x, indices and values are broadcast")
{
    using columns = xt::xarray<int, xt::layout_type::column_major>;
    check_random_case({5}, {7}, {7}, 0);
    check_random_case({5}, {7}, {}, 0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        check_random_case({3, 4, 5}, {3, 4, 5}, {3, 4, 5}, axis);
        check_random_case({3, 4, 5}, {3, 4, 5}, {4, 1}, axis);
        check_random_case<columns>({3, 4, 5}, {3, 4, 5}, {5}, axis);
        check_random_case({3, 4, 5}, {1, 1, 1}, {1}, axis);
        check_random_case<columns>({3, 4, 5}, {1, 1, 1}, {}, axis);
        check_random_case({1, 1, 1}, {2, 3, 4}, {2, 3, 4}, axis);
        check_random_case({2, 1, 4},
            axis == 0   ? textbook::dims{6, 3, 1}
            : axis == 1 ? textbook::dims{1, 6, 4}
                        : textbook::dims{2, 3, 6},
            {}, axis);
    }
    check_random_case({4, 600}, {4, 600}, {4, 600}, 1);
    check_random_case({600, 4}, {1300, 1}, {1300, 4}, 0);
}

TEST_CASE("threads give the same items")
{
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::size_t const threads : std::initializer_list<std::size_t>{2, 5}) {
            check_random_case<any_rank>({30, 40, 50}, {30, 40, 50}, {40, 1}, axis, thread_policy{threads});
            check_random_case<any_rank>({1, 40, 50}, {30, 40, 50}, {50}, 1, thread_policy{threads});
        }
}

TEST_CASE("the last axis by default; numbers; views")
{
    matrix const x = {{10, 30, 20}, {60, 40, 50}};
    CHECK(take_along_axis(x, matrix{{0, 2, 1}, {1, 2, 0}}) == matrix{{10, 20, 30}, {40, 50, 60}});
    static_assert(std::is_same_v<decltype(take_along_axis(x, matrix{{0}})), matrix>);
    CHECK(take_along_axis(x + 1, matrix{{-1}}) == matrix{{21}, {51}});
    xt::xtensor<float, 2> y = {{1, 2}, {3, 4}};
    put_along_axis(xt::transpose(y), matrix{{1}, {0}}, 9);
    CHECK(y == xt::xtensor<float, 2>{{1, 9}, {9, 4}});
    CHECK_THROWS_AS(put_along_axis(y, matrix{{1}, {0}}, 0.1), type_error);
    put_along_axis(y, matrix{{5}, {0}}, 8, {.bounds = bounds::drop});
    CHECK(y == xt::xtensor<float, 2>{{1, 9}, {8, 4}});
    CHECK(take_along_axis(x, matrix{{5}, {0}}, {.bounds = bounds::clip}) == matrix{{20}, {60}});
}

TEST_CASE("errors, before anything is written")
{
    matrix x = {{1, 2, 3}, {4, 5, 6}};
    matrix const before = x;
    CHECK_THROWS_WITH_AS(take_along_axis(x, xt::xtensor<int, 1>{0}),
        "xloom::take_along_axis: x and indices must have one rank, at least 1, but x is [2, 3] and indices "
        "is "
        "[1]. Give each as many axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(take_along_axis(any_rank(5), indices_of_any_rank(0)),
        "xloom::take_along_axis: x and indices must have one rank, at least 1, but x is [] and indices is "
        "[]. Give each as many axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(take_along_axis(x, matrix{{0}, {0}, {0}}),
        "xloom::take_along_axis: x and indices must be equally long along every axis but the indexed one, or "
        "one of them 1, but axis 0 has 2 in x [2, 3] and 3 in indices [3, 1] (options.axis -1). Give it one "
        "length.",
        shape_error);
    CHECK_THROWS_AS(take_along_axis(x, matrix{{0}}, {.axis = 2}), shape_error);
    CHECK_THROWS_WITH_AS(put_along_axis(x, matrix{{0}, {3}}, 0),
        "xloom::put_along_axis: an index into an axis of length d must be in [-d, d - 1], but indices[1, 0] "
        "is "
        "3 (axis 1 of length 3). Correct it, or choose bounds::drop or bounds::clip.",
        index_error);
    CHECK_THROWS_WITH_AS(put_along_axis(x, matrix{{0}, {1}}, xt::xtensor<int, 1>{1, 2, 3}),
        "xloom::put_along_axis: values must broadcast to the shape of x[indices] [2, 1], but it is [3]. From "
        "the last axis on, give each the length there or 1.",
        shape_error);
    CHECK_THROWS_WITH_AS(put_along_axis(x, x, 0, {.bounds = bounds::drop}),
        "xloom::put_along_axis: an operand that is written must have memory of its own, but x overlaps "
        "indices. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(put_along_axis(x, matrix{{0}, {0}}, 0.5),
        "xloom::put_along_axis: a number that is broadcast must be one of x's element type, but it is 0.5 "
        "and "
        "x holds int32. Convert it first.",
        type_error);
    auto none = matrix::from_shape({2, 0});
    for (std::string const op : {"take", "put"}) {
        auto const text = "xloom::" + op +
                          "_along_axis: an index can be clipped to an axis that has items only, "
                          "but axis 1 of x has length 0. Choose bounds::drop.";
        auto const call = [&] {
            op == "take" ? void(take_along_axis(none, matrix{{0}}, {.bounds = bounds::clip}))
                         : put_along_axis(none, matrix{{0}}, 1, {.bounds = bounds::clip});
        };
        CHECK_THROWS_WITH_AS(call(), text.c_str(), index_error);
    }
    CHECK(x == before);
}

TEST_CASE("put_along_axis: a number that is an item of x")
{
    xt::xtensor<int, 1> x = {1, 2, 3};
    put_along_axis(x, xt::xtensor<int, 1>{1, 2}, x(0));
    CHECK(x == xt::xtensor<int, 1>{1, 1, 1});
}

} // namespace along_axis_test
