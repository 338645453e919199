// Every operator in the forms that programs use most, in one file: what g++ inlines, and so warns of, depends
// on the whole of it.

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <xloom/xloom.hpp>

namespace {

double scans()
{
    xt::xtensor<double, 1> const x = {3, 1, 2};
    xt::xarray<double> const rows = {{1, 2}, {3, 4}};
    auto const add = [](double sum, double x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
    auto const [total, running] = xloom::scan(add, 0.0, x);
    auto const backwards = xloom::scan(add, 0.0, x, {.scan_input_directions = {xloom::direction::reverse}});
    auto const columns = [](auto const& sum, auto const& x_t) { return xloom::scan_step{sum + x_t, sum}; };
    auto const over_columns = xloom::scan(columns, xt::xarray<double>(xt::zeros<double>({2})), rows,
        {.scan_input_axes = {1}, .scan_output_axes = {1}});

    double level = 0;
    auto y = xt::xtensor<double, 1>::from_shape({3});
    auto const smooth = [](double& h, double x_t, double& y_t) { y_t = h += 0.5 * (x_t - h); };
    xloom::scan_into(smooth, level, x, y);
    xloom::scan_into(smooth, level, x, y, {.scan_output_directions = {xloom::direction::reverse}});

    xt::xtensor<double, 2> const batch = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<double, 1> const zero = {0, 0};
    xt::xtensor<int, 1> const lens = {3, 1};
    auto const batched = xloom::scan_batched(add, zero, batch, lens);
    return total + running(2) + backwards.final_state + over_columns.final_state(0) + level + y(0) +
           batched.final_state(1);
}

double loops()
{
    auto const halve = [](std::int64_t, bool, double v) { return xloom::loop_step{v / 2 > 1, v / 2, v}; };
    auto const halves = xloom::loop(halve, 6.0, {.max_trip_count = 10});
    double value = 6;
    auto path = xt::xtensor<double, 1>::from_shape({10});
    auto const status =
        xloom::loop_into([](std::int64_t, double& v, double& y_t) { return (v = (y_t = v) / 2) > 1; }, value,
            path, {.max_trip_count = 10});
    auto const chosen = xloom::if_(
        status.stopped, [&] { return path(0); }, [&] { return path(1); });
    return halves.final_state + halves.scan_outputs(0) + value + chosen;
}

double scatters()
{
    xt::xtensor<float, 2> data = {{1, 2}, {3, 4}};
    xt::xarray<double> const doubles = {1, 2, 3};
    xt::xtensor<std::int64_t, 2> const pairs = {{1, 0}, {1, -1}}, items = {{0}, {2}};
    xt::xtensor<float, 1> const updates = {10, 20};
    xt::xarray<double> const others = {10, 20};
    data = xloom::scatter_nd(std::move(data), pairs, updates);
    xloom::scatter_nd_into(xloom::reduce_add, data, pairs, updates);
    auto const mean = xloom::scatter_nd(xloom::reduction::mean, doubles, items, others);
    auto const gathered = xloom::gather_nd(data, pairs);
    auto const item = xloom::gather_nd<1>(doubles, items);
    auto kept = xt::xtensor<float, 1>::from_shape({2});
    xloom::gather_nd_into(data, pairs, kept, {.bounds = xloom::bounds::clip});
    return mean(0) + gathered(0) + item(0) + kept(1);
}

float recurrences()
{
    xt::xtensor<float, 3> const X = {{{1}}, {{3}}};
    xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}, R = xt::zeros<float>({1, 4, 1});
    xt::xtensor<float, 3> const W3 = {{{0.5f}, {0.5f}, {0.5f}}}, R3 = xt::zeros<float>({1, 3, 1});
    xt::xtensor<float, 3> const W1 = {{{0.5f}}}, M = {{{1}, {2}}}, W2 = xt::ones<float>({1, 4, 2});
    xt::xtensor<float, 2> const V = {{1}};
    auto const [Y, Y_h, Y_c] = xloom::lstm(X, {.W = W, .R = R}, {.clip = 3.0});
    auto const gru = xloom::gru(X, {.W = W3, .R = R3}, {.linear_before_reset = true});
    auto const rnn = xloom::rnn(X, {.W = W1, .R = W1});
    auto const attended = xloom::attn_lstm(X, {.W = W2, .R = R, .QW = W1, .MW = W1, .V = V, .M = M});

    xloom::lstm_weights<float> const weights({.W = W, .R = R});
    auto workspace = xloom::recurrent_workspace(weights, {2, 1});
    auto y = xt::xtensor<float, 4>::from_shape({2, 1, 1, 1});
    xloom::lstm_into(X, weights, {}, {.Y = y}, workspace);
    xloom::lstm_cell<float> cell(weights);
    xt::xtensor<float, 1> h = {0}, c = {0};
    cell(h, c, xt::xtensor<float, 1>{1});
    return Y(0) + Y_h(0) + Y_c(0) + gru.Y_h(0) + rnn.Y_h(0) + attended.Y_h(0) + y(0) + h(0);
}

float parallel_scans()
{
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}};
    xt::xtensor<int, 1> const row_splits = {0, 2};
    return xloom::cumulative_sum(x)(1, 0) + xloom::cumulative_prod(x, {.axis = 1})(0, 1) +
           xloom::linear_recurrence(x, x, 0.5f)(1, 1) +
           xloom::segment_reduce(xloom::reduction::add, x, row_splits)(0, 0);
}

double numbers()
{
    std::vector<float> x = {-1, 0, 2};
    xloom::activate(xloom::activation::tanh, x, x);
    xloom::activate(xloom::activation::softmax, x, x);
    std::vector<double> z = {-1, 0, 2};
    xloom::activate(xloom::activation::sigmoid, z, z);
    xt::xtensor<float, 2> const B = {{1, 2, 3}, {4, 5, 6}};
    xloom::packed_matrix<float> const multiply(B);
    float C[3];
    multiply(1, x.data(), 2, C, 3);
    return static_cast<double>(x[0]) + z[0] + static_cast<double>(C[0]) +
           static_cast<double>(float(xloom::float16(1.5f)));
}

} // namespace

int main()
{
    std::printf("%g %g %g %g %g %g\n", scans(), loops(), scatters(), static_cast<double>(parallel_scans()),
        static_cast<double>(recurrences()), numbers());
}
