// Callers whose namespace declares functions with names that the library uses itself: it calls its own.

#include <doctest/doctest.h>

#include <vector>

#include <xloom/xloom.hpp>

#include "support/grid.hpp"

namespace user {

// Better matches than a template, for a tensor type whose layout is column-major.
using matrix = grid<double, 2>;
void layout_of(matrix const&) = delete;
void memory_of(matrix const&) = delete;
void shape_of(matrix const&) = delete;
void rank_of(matrix const&) = delete;
void copy_of(std::string_view, matrix const&) = delete;
void copy_items(matrix const&, matrix&) = delete;
void is_copied(matrix const&, matrix const&) = delete;
void fill_with_zeros(matrix&) = delete;
void gradient_items(matrix&) = delete;
void lane_items_of(matrix const&, std::size_t) = delete;
void lane_items_of(matrix&, std::size_t) = delete;
void items_of_state(matrix const&, std::size_t) = delete;

} // namespace user

namespace hostile_namespace_test {

namespace hostile {

/// A scalar, so that every tensor of it brings this namespace into the lookup of unqualified calls.
struct number {
    double value = 0;

    number() = default;
    number(double v) : value(v) {}
    friend number operator+(number a, number b) { return {a.value + b.value}; }
    friend number operator*(number a, number b) { return {a.value * b.value}; }
    friend number operator/(number a, number b) { return {a.value / b.value}; }
    friend bool operator<(number a, number b) { return a.value < b.value; }
    friend bool operator==(number, number) = default;
};

struct no_answer {};

// Better matches than templates of the library that take a value, a tuple or several.
#define HOSTILE(name)                                                                                        \
    template <class... Ts>                                                                                   \
    no_answer name(Ts&&...) = delete;
HOSTILE(leaves)
HOSTILE(shape_of)
HOSTILE(poison)
HOSTILE(iterate)
HOSTILE(layout_of)
HOSTILE(for_each_leaf)
HOSTILE(assign_carried)
HOSTILE(require_room)
HOSTILE(fail_reshaped)
HOSTILE(enter_all)
HOSTILE(leave_all)
HOSTILE(call_body)
HOSTILE(copy_items)
HOSTILE(have_same_shape)
HOSTILE(shapes_of)
HOSTILE(traversals_of)
HOSTILE(traversals_in_time)
HOSTILE(memory_of)
HOSTILE(evaluated_inputs)
HOSTILE(input_elements)
HOSTILE(output_elements)
HOSTILE(const_leaves)
HOSTILE(run_bodies)
HOSTILE(share_element)
HOSTILE(first_item)
HOSTILE(sized)
HOSTILE(make_shape)
HOSTILE(is_shaped_like)
HOSTILE(load_row)
HOSTILE(store_row)
HOSTILE(row_of)
HOSTILE(fail_if_own)
HOSTILE(sequence_lengths)
HOSTILE(run_scan)
HOSTILE(run_scan_into)
HOSTILE(run_scan_batched)
HOSTILE(run_scan_batched_into)
HOSTILE(run_scan_lanes)
HOSTILE(run_scan_lanes_into)
HOSTILE(run_lanes)
HOSTILE(run_iteration)
HOSTILE(run_loop)
HOSTILE(run_loop_into)
HOSTILE(extents_of)
HOSTILE(is_same_memory)
HOSTILE(join_in_place)
HOSTILE(stacked_shape)
HOSTILE(run_scatter)
HOSTILE(gather_slices)
HOSTILE(with_updates)
HOSTILE(items_in)
HOSTILE(scattered_copy)
HOSTILE(copy_row)
HOSTILE(for_each_block)
HOSTILE(prefetch_slice)
HOSTILE(are_in_range)
HOSTILE(are_indices)
HOSTILE(make_output)
HOSTILE(gather_to)
HOSTILE(for_each_indexed)
HOSTILE(with_reduction)
HOSTILE(run_uncounted)
HOSTILE(run_fused)
HOSTILE(replaces)
HOSTILE(add_row)
HOSTILE(activate)
HOSTILE(scan_into)
HOSTILE(scan)
HOSTILE(loop)
HOSTILE(scatter_nd)
HOSTILE(gather_nd)
HOSTILE(set_to_zero)
HOSTILE(zeros_like)
HOSTILE(zero_cotangents)
HOSTILE(hold)
HOSTILE(record_of)
HOSTILE(reversed)
HOSTILE(run_scan_backward)
HOSTILE(check_scan_backward)
HOSTILE(run_loop_backward)
HOSTILE(start_loop)
HOSTILE(check_loop_cotangents)
HOSTILE(check_loop_gradients)
HOSTILE(recording)
HOSTILE(check_finished)
HOSTILE(final_cotangents)
HOSTILE(add_all)
HOSTILE(add_to)
HOSTILE(set_to_zero_of)
HOSTILE(check_cotangent_kept)
HOSTILE(copied_as)
HOSTILE(grouped)
HOSTILE(shapes_if_tensors)
HOSTILE(vjp_of)
HOSTILE(for_each_item)
HOSTILE(shaped_like)
HOSTILE(run_scatter_vjp)
HOSTILE(run_gather_vjp)
HOSTILE(gradient_items)
HOSTILE(make_gradient)
HOSTILE(check_vjp)
#undef HOSTILE

/// A range of this namespace, as an operand of a cell.
struct room : std::vector<float> {
    using std::vector<float>::vector;
};

/// Bodies of this namespace bring it in too.
struct sum {
    template <class State, class Element>
    auto operator()(State const& state, Element const& x_t) const
    {
        return xloom::scan_step{number{state + x_t}, number{state + x_t}};
    }
};
struct add_in_place {
    void operator()(number& state, number const& x_t, number& y_t) const { y_t = state = state + x_t; }
};
struct sum_vjp {
    template <class State, class Element>
    void operator()(State const&, Element const&, number ct_next, number& ct_state, number& ct_x) const
    {
        ct_state = ct_state + ct_next;
        ct_x = ct_x + ct_next;
    }
};
struct add_in_place_vjp {
    void operator()(number, number, number ct_next, number ct_y, number& ct_state, number& ct_x) const
    {
        ct_state = ct_state + ct_next + ct_y;
        ct_x = ct_x + ct_next + ct_y;
    }
};
struct sum_of_lanes {
    template <class State, class Element>
    auto operator()(State const& state, Element const& x_t) const
    {
        return xloom::scan_step{state + x_t, state + x_t};
    }
};
struct add_lanes_in_place {
    template <class Lanes>
    void operator()(Lanes& state, Lanes const& x_t, Lanes& y_t) const
    {
        y_t = state = state + x_t;
    }
};
struct twice_vjp {
    void operator()(std::int64_t, number, number ct_next, number ct_y, number& ct_v) const
    {
        ct_v = ct_v + ct_next + ct_next + ct_y;
    }
};
struct twice {
    auto operator()(std::int64_t, bool, number v) const { return xloom::loop_step{true, v + v, v}; }
};

} // namespace hostile

TEST_CASE("a caller's functions do not replace the library's")
{
    using hostile::number;
    xt::xtensor<number, 1> const x = {number{1}, number{2}, number{3}};
    auto const [total, running] = xloom::scan(hostile::sum(), number{0}, x);
    CHECK(total == number{6});
    CHECK(running(1) == number{3});

    number state{0};
    xt::xtensor<number, 1> y = x;
    xloom::scan_into(hostile::add_in_place(), state, x, y);
    CHECK(state == number{6});
    CHECK(y(2) == number{6});

    auto const doubled = xloom::loop(hostile::twice(), number{1}, {.max_trip_count = 3});
    CHECK(doubled.final_state == number{8});
    CHECK(doubled.scan_outputs(2) == number{4});

    xt::xtensor<number, 2> const rows = {{number{1}, number{2}}, {number{3}, number{4}}};
    xt::xtensor<number, 1> const zeros = {number{0}, number{0}};
    CHECK(xloom::scan_batched(hostile::sum(), zeros, rows).final_state(1) == number{7});

    xt::xtensor<number, 1> row_sums = zeros;
    xt::xtensor<number, 2> sums_so_far = rows;
    xt::xtensor<int, 1> const row_lengths = {2, 1};
    xloom::scan_batched_into(hostile::add_in_place(), row_sums, rows, row_lengths, sums_so_far);
    CHECK(sums_so_far(0, 1) == number{3});
    CHECK(sums_so_far(1, 1) == number{0});

    xt::xtensor<float, 2> const items = {{1, 2}, {3, 4}};
    xt::xtensor<float, 1> item_sums = {0, 0};
    xt::xtensor<float, 2> items_so_far = items;
    xloom::scan_lanes_into(hostile::add_lanes_in_place(), item_sums, items, row_lengths, items_so_far);
    CHECK(items_so_far(0, 1) == 3);
    CHECK(items_so_far(1, 1) == 0);
    CHECK(xloom::scan_lanes(hostile::sum_of_lanes(), item_sums, items).final_state(1) == 10);

    xt::xtensor<number, 2, xt::layout_type::column_major> columns = rows;
    auto const add_rows = [](xt::xtensor<number, 1>& h, auto const& x_t, auto& y_t) {
        for (std::size_t i = 0; i < 2; ++i)
            y_t(i) = h(i) = h(i) + x_t(i);
    };
    xt::xtensor<number, 1> sums = zeros;
    xloom::scan_into(add_rows, sums, columns, columns);
    CHECK(columns(1, 1) == number{6});

    xt::xtensor<number, 1> powers = zeros;
    number power{1};
    auto const double_up = [](std::int64_t, number& v, number& y_t) {
        y_t = v = v + v;
        return true;
    };
    xloom::loop_into(double_up, power, powers, {.max_trip_count = 2});
    CHECK(powers(1) == number{4});

    xt::xtensor<int, 2> const indices = {{2}, {0}};
    CHECK(xloom::gather_nd<1>(x, indices)(0) == number{3});
    xt::xtensor<number, 1> const updates = {number{7}, number{8}};
    CHECK(xloom::scatter_nd(x, indices, updates)(2) == number{7});
}

TEST_CASE("nor in derivatives")
{
    using hostile::number;
    xt::xtensor<number, 1> const x = {number{1}, number{2}, number{3}};
    auto const body = [](number h, number const& x_t) { return xloom::scan_step{h + x_t}; };
    auto result =
        xloom::scan_vjp(body, hostile::sum_vjp(), number{0}, x, std::tuple(), xloom::checkpoint::sqrt());
    CHECK(result.pullback(number{2}, std::tuple()).scan_inputs(0) == number{2});

    xloom::scan_residuals<number> residuals;
    number state{0}, ct_state{0};
    xt::xtensor<number, 1> y = x, ct_x = {number{0}, number{0}, number{0}};
    xloom::scan_forward_into(hostile::add_in_place(), state, x, std::tuple(), y, residuals);
    xloom::scan_vjp_into(hostile::add_in_place(), hostile::add_in_place_vjp(), x, std::tuple(), residuals,
        xloom::cotangents().states(number{1}).outputs(y),
        xloom::gradients().init(ct_state).scan_inputs(ct_x));
    CHECK(ct_x(2) == number{7});

    auto doubled = xloom::loop_vjp(hostile::twice(), hostile::twice_vjp(), number{1}, std::tuple(),
        {.max_trip_count = 3}, xloom::checkpoint::online(2));
    CHECK(doubled.pullback(number{1}, xt::xtensor<number, 1>(doubled.scan_outputs)).init ==
          number{8 + 1 + 4 + 16});

    auto const same = [](number v) { return v; };
    auto const same_vjp = [](number, number ct, number& ct_v) { ct_v = ct; };
    CHECK(xloom::if_vjp(true, same, same_vjp, same, same_vjp, number{3}).pullback(number{4}) == number{4});

    xt::xtensor<int, 2> const indices = {{2}, {0}};
    xt::xtensor<number, 1> const updates = {number{7}, number{8}};
    CHECK(xloom::scatter_nd_vjp(x, indices, updates, x).updates(0) == number{3});
    CHECK(xloom::gather_nd_vjp<1>(x.shape(), indices, updates)(0) == number{8});
}

TEST_CASE("nor do functions of a caller's tensor type")
{
    user::matrix x({2, 2}), rows({1, 2});
    auto const item = [](user::matrix const& of, int row, int column) {
        return of.items[static_cast<std::size_t>(row + of.extents[0] * column)];
    };
    x.items[2] = 5;
    rows.items[1] = 7;
    xt::xtensor<int, 2> const indices = {{1}};
    xt::xtensor<int, 2> const columns = {{1, 0}};
    CHECK(item(xloom::scatter_nd(x, indices, rows), 1, 1) == 7);
    xloom::scatter_nd_into(xloom::reduce_add, x, indices, rows, {.include_self = false});
    CHECK(item(x, 1, 1) == 7);
    CHECK(item(xloom::gather_nd<2>(x, indices), 0, 1) == 7);
    CHECK(item(xloom::gather_elements(x, columns, {.axis = 1}), 0, 0) == 5);
    CHECK(item(xloom::scatter_elements(x, columns, rows, {.axis = 1}), 0, 0) == 7);
    CHECK(item(xloom::take_along_axis(x, columns), 0, 0) == 5);
    CHECK(item(xloom::take<2>(x, xt::xtensor<int, 1>{1}, {.axis = 0}), 0, 1) == 7);
    xloom::put_along_axis(x, columns, rows);
    CHECK(item(x, 1, 0) == 7);
    xloom::at(xloom::reduce_add, x, 1, 1.0);
    CHECK(item(x, 1, 0) == 8);
    CHECK(item(xloom::gather_nd_vjp<2>(xloom::shape{2, 2}, indices, rows), 1, 1) == 7);
    auto const before = item(x, 1, 1);
    CHECK(item(xloom::scatter_nd_vjp(x, indices, rows, x).updates, 0, 1) == before);
    xloom::gather_nd_vjp_into(indices, rows, x);
    CHECK(item(x, 1, 1) == before + 7);

    user::matrix sums({2, 1}), items({2, 2}), items_so_far({2, 2});
    items.items = {1, 3, 2, 4};
    auto const add = [](auto& s, auto const& x_t, auto& y_t) { y_t = s[0] = s[0] + x_t; };
    xloom::scan_lanes_into(add, sums, items, std::nullopt, items_so_far);
    CHECK(item(items_so_far, 1, 1) == 7);
    CHECK(item(sums, 0, 0) == 3);
}

TEST_CASE("nor do they where an operand of a cell is a range of a caller's own")
{
    xt::xtensor<float, 3> zeros = xt::xtensor<float, 3>::from_shape({1, 4, 1});
    zeros.fill(0);
    hostile::room h = {1}, c = {0}, x_t = {1}, y_t = {5};
    xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = zeros, .R = zeros}));
    cell(h, c, x_t, y_t);
    CHECK(y_t[0] == 0);
    CHECK(h[0] == 0);
}

// Nor do the library's functions come into a caller's unqualified calls with its public types.
template <class... Ts>
concept finds_a_function_of_detail = requires(Ts&... values) { leaves(values...); } ||
                                     requires(Ts&... values) { is_reverse(values..., std::size_t{0}); };
static_assert(!finds_a_function_of_detail<decltype(xloom::reduce_add)> &&
              !finds_a_function_of_detail<decltype(xloom::reduce_max)> &&
              !finds_a_function_of_detail<xloom::directions> && !finds_a_function_of_detail<xloom::axes>);

} // namespace hostile_namespace_test
