// std::vector, std::span and std::mdspan as operands, and as results.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <xloom/control_flow.hpp>
#include <xloom/indexing.hpp>
#include <xloom/parallel.hpp>
#include <xloom/recurrent/lstm.hpp>

#include "support/mdspan.hpp"

namespace std_containers_test {

using namespace xloom;
using std::vector;
using support::make_mdspan;

namespace {

using matrix = xt::xtensor<double, 2>;

/// Adds an element of any type to a state of any type, item by item.
auto const add_element = [](auto state, auto const& x_t) {
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i] += x_t(i);
    return scan_step{state, state};
};

} // namespace

TEST_CASE("what is a tensor")
{
    static_assert(tensor<vector<float>> && tensor<vector<std::string>> && !detail::tensor_view<vector<int>>);
    static_assert(!tensor<vector<bool>> && !tensor<vector<matrix>> && !tensor<vector<vector<float>>> &&
                  !tensor<vector<std::optional<float>>> && !tensor<vector<std::tuple<float, float>>>);
    static_assert(detail::is_sequence<vector<matrix>> && detail::is_sequence<vector<vector<float>>> &&
                  !detail::is_sequence<vector<float>>);
    static_assert(detail::tensor_view<std::span<float const>> && tensor<std::span<int, 3>>);
    using view = decltype(make_mdspan<double, 2>(nullptr, {}, {}));
    static_assert(detail::tensor_view<view> && enable_tensor<view>::rank == 2);
    struct computed : view { // as by std::linalg::scaled
        using reference = double;
    };
    static_assert(!tensor<computed>);
    static_assert(std::is_same_v<detail::owned_t<view>, matrix> &&
                  std::is_same_v<detail::owned_t<std::span<float const>>, vector<float>>);
}

TEST_CASE("vectors are scan inputs, states and outputs")
{
    vector<double> const x = {1, 2, 3, 4};
    auto const add = [](double sum, double x_t) { return scan_step{sum + x_t, sum * x_t}; };
    auto const [total, products] = scan(add, 0.0, x);
    CHECK(total == 10);
    CHECK(vector<double>(products.begin(), products.end()) == vector<double>{0, 2, 9, 24});

    matrix const rows = {{1, 2, 3}, {4, 5, 6}};
    auto const [last, all] = scan(add_element, vector<double>{10, 20, 30}, rows);
    static_assert(std::is_same_v<decltype(last), vector<double> const>);
    static_assert(std::is_same_v<decltype(all), matrix const>);
    CHECK(last == vector<double>{15, 27, 39});
    CHECK(all == matrix{{11, 22, 33}, {15, 27, 39}});

    vector<double> y(4);
    double sum = 0;
    scan_into([](double& s, double x_t, double& y_t) { y_t = s += x_t; }, sum, x, y);
    CHECK(y == vector<double>{1, 3, 6, 10});
    std::span<double> tail = std::span(y).subspan(2);
    scan_into([](double& s, double x_t, double& y_t) { y_t = s -= x_t; }, sum, std::span(x).first(2), tail);
    CHECK(y == vector<double>{1, 3, 9, 7});
    vector<double> state = {1, 1, 1};
    scan_into(
        [](vector<double>& s, auto const& x_t) {
            for (std::size_t i = 0; i < 3; ++i)
                s[i] *= x_t(i);
        },
        state, rows);
    CHECK(state == vector<double>{4, 10, 18});
}

TEST_CASE("no iterations, no items")
{
    vector<float> const none;
    auto const result = scan([](float s, float x_t) { return scan_step{s + x_t, s}; }, 2.0f, none);
    CHECK(result.final_state == 2);
    CHECK(result.scan_outputs.shape(0) == 0);
    CHECK(cumulative_sum(none) == none);
    CHECK(take(vector<int>{1, 2}, vector<int>{}) == vector<int>{});
    auto const view = make_mdspan<float const, 2>(none.data(), {0, 3}, {3, 1});
    CHECK(scan([](float s, auto const& row) { return scan_step{s + row(0)}; }, 1.0f, view).final_state == 1);
}

TEST_CASE("a state that begins as a view ends as a container")
{
    vector<double> const items = {1, 2};
    matrix const rows = {{1, 2}, {3, 4}};
    auto const [last, all] = scan(add_element, std::span(items), rows);
    static_assert(std::is_same_v<decltype(last), vector<double> const>);
    CHECK(last == vector<double>{5, 8});
    CHECK(all == matrix{{2, 4}, {5, 8}});
    auto const sum = [](matrix const& s, auto const& row) { return scan_step{s + row}; };
    auto const view = make_mdspan<double const, 2>(items.data(), {1, 2}, {2, 1});
    auto const ended = scan(sum, std::tuple{view}, rows).final_state;
    static_assert(std::is_same_v<decltype(ended), std::tuple<matrix> const>);
    CHECK(std::get<0>(ended) == matrix{{5, 8}});
    CHECK(scatter_nd(view, xt::xtensor<int, 2>{{0, 0}}, vector<double>{7}) == matrix{{7, 2}});
    CHECK(items[0] == 1);
}

TEST_CASE("a carried vector may grow")
{
    auto const append = [](std::int64_t i, bool, vector<std::int64_t> items) {
        items.push_back(i * i);
        return loop_step{items.size() < 4, items};
    };
    auto const result = loop(append, vector<std::int64_t>{7});
    CHECK(result.final_state == vector<std::int64_t>{7, 0, 1, 4});
    vector<std::int64_t> unchanged = {1, 2};
    CHECK_THROWS_WITH_AS(loop(
                             [](std::int64_t, bool, vector<std::int64_t> const& v) {
                                 return loop_step{v.size() < 4, vector<std::int64_t>(v.size() + 1), v};
                             },
                             unchanged),
        doctest::Contains("[3]"), body_error);
}

TEST_CASE("gathers and scatters return vectors")
{
    vector<float> data = {10, 20, 30, 40};
    xt::xtensor<int, 2> const places = {{3}, {-4}};
    static_assert(std::is_same_v<decltype(gather_nd<1>(data, places)), vector<float>>);
    CHECK(gather_nd(data, places) == vector<float>{40, 10});
    CHECK(gather_nd(std::span(data), places) == vector<float>{40, 10});
    CHECK(gather_nd<2>(data, xt::xtensor<int, 3>{{{1}, {2}}}) == xt::xtensor<float, 2>{{20, 30}});
    CHECK(scatter_nd(reduction::add, data, places, vector<float>{1, 2}) == vector<float>{12, 20, 30, 41});
    float const* const items = data.data();
    vector<float> const moved = scatter_nd(reduction::max, std::move(data), places, vector<float>{50, 0});
    CHECK(moved == vector<float>{10, 20, 30, 50});
    CHECK(moved.data() == items);
    vector<float> into = moved;
    scatter_nd_into(std::span(into), places, vector<float>{5, 6});
    CHECK(into == vector<float>{6, 20, 30, 5});
    CHECK(take(into, vector<int>{0, 0, -1}) == vector<float>{6, 6, 5});
    CHECK(take(into, xt::xtensor<int, 2>{{1}, {2}}) == xt::xtensor<float, 2>{{20}, {30}});
    CHECK(compress(xt::xtensor<bool, 1>{false, true}, into) == vector<float>{20});
    CHECK(gather_elements(into, std::span<int const>(vector<int>{2, 1})) == vector<float>{30, 20});
    CHECK(bincount(vector<int>{2, 0, 2}) == xt::xtensor<std::int64_t, 1>{1, 0, 2});
    CHECK_THROWS_WITH_AS(
        scatter_nd(into, places, vector<float>{1}), doctest::Contains("updates"), shape_error);
    vector<std::string> const words = {"a", "b", "c"};
    CHECK(take(words, vector<int>{2, 0}) == vector<std::string>{"c", "a"});
}

TEST_CASE("parallel scans return vectors")
{
    vector<float> const x = {1, 2, 3, 4};
    CHECK(cumulative_sum(x) == vector<float>{1, 3, 6, 10});
    CHECK(cumulative_sum(std::span(x).last(2)) == vector<float>{3, 7});
    CHECK(linear_recurrence(vector<float>{2, 2, 2, 2}, x, 1.0f) == vector<float>{3, 8, 19, 42});
    vector<float> y(4);
    cumulative_prod_into(x, y);
    CHECK(y == vector<float>{1, 2, 6, 24});
    vector<int> const row_splits = {0, 1, 4};
    CHECK(segment_reduce(std::plus<>(), x, row_splits) == vector<float>{1, 9});
}

TEST_CASE("an mdspan of any strides is read and written where it is")
{
    vector<double> items = {1, 2, 3, 4, 5, 6};
    auto const columns = make_mdspan<double const, 2>(items.data(), {2, 3}, {1, 2}); // [[1, 3, 5], [2, 4, 6]]
    vector<double> out(12, -1);
    auto to = make_mdspan<double, 2>(out.data(), {2, 3}, {1, 4});
    auto const add = [](double& s, auto const& x_t, auto& y_t) {
        s += x_t(0);
        y_t = s * x_t;
    };
    double sum = 0;
    scan_into(add, sum, columns, to);
    CHECK(sum == 3);
    CHECK(out == vector<double>{1, 6, -1, -1, 3, 12, -1, -1, 5, 18, -1, -1});

    auto const [last, rows] = scan(
        [](matrix s, auto const& row) {
            return scan_step{s + row, row};
        },
        matrix{{1, 1, 1}}, make_mdspan<double const, 3>(items.data(), {2, 1, 3}, {1, 0, 2}));
    CHECK(last == matrix{{4, 8, 12}});
    CHECK(rows == xt::xtensor<double, 3>{{{1, 3, 5}}, {{2, 4, 6}}});

    scatter_nd_into(make_mdspan<double, 2>(items.data(), {2, 3}, {1, 2}), xt::xtensor<int, 2>{{1}},
        xt::xtensor<double, 2>{{7, 8, 9}});
    CHECK(items == vector<double>{1, 7, 3, 8, 5, 9});
    CHECK(cumulative_sum(columns) == matrix{{1, 3, 5}, {8, 11, 14}});
    auto const scalar = make_mdspan<double const, 0>(items.data() + 1, {}, {});
    scatter_nd_into(to, xt::xtensor<int, 2>{{0, 0}}, vector<double>{2});
    CHECK(out[0] == 2);
    CHECK(detail::shape_of(scalar) == shape{});
}

TEST_CASE("an LSTM on mdspans and vectors")
{
    vector<float> const x = {1, 3}, w(4, 0.5f), r(4, 0);
    auto const X = make_mdspan<float const, 3>(x.data(), {2, 1, 1}, {1, 1, 1});
    auto const W = make_mdspan<float const, 3>(w.data(), {1, 4, 1}, {4, 1, 1});
    auto const R = make_mdspan<float const, 3>(r.data(), {1, 4, 1}, {4, 1, 1});
    vector<int> const one_step = {1};
    double const gate = 1 / (1 + std::exp(-0.5));
    double const expected = gate * std::tanh(gate * std::tanh(0.5));
    CHECK(lstm(X, {.W = W, .R = R, .sequence_lens = one_step}).Y_h(0, 0, 0) ==
          doctest::Approx(expected).epsilon(1e-6));
}

} // namespace std_containers_test
