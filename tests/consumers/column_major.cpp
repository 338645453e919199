// Containers of xtensor that are column-major unless their types say otherwise. All files of a program must
// agree on that, so that this one is a program of its own.

#define XTENSOR_DEFAULT_LAYOUT ::xt::layout_type::column_major

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <tuple>

#include <xloom/control_flow.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/indexing.hpp>
#include <xloom/parallel.hpp>
#include <xloom/recurrent/lstm.hpp>

#if __has_include(<Sacado_trad.hpp>) && __has_include(<Kokkos_Macros.hpp>)
#include <xloom/interop/sacado.hpp>
#define XLOOM_TEST_TAPE
#endif

#include "support/xtensor_extras.hpp"

namespace column_major_test {

using namespace xloom;

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using matrices = xt::xtensor<double, 3>;

static_assert(matrix::static_layout == xt::layout_type::column_major);

namespace {

/// Two elements [2, 3].
matrices elements() { return {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}; }

} // namespace

TEST_CASE("an element that is written is row-major")
{
    matrices const x = elements();
    matrices y = xt::zeros<double>({2, 2, 3});
    double sum = 0;
    scan_into(
        [](double& s, auto const& x_t, auto& y_t) {
            s += x_t(0, 1);
            y_t = 2 * x_t; // by a temporary
        },
        sum, x, y);
    CHECK(sum == 10);
    CHECK(y == matrices(2 * x));

    xt::xarray<double> const any = x;
    xt::xarray<double> z = 0 * any;
    scan_into([](auto const& x_t, auto& z_t) { z_t = x_t + 1; }, std::tuple(), any, z);
    CHECK(z == xt::xarray<double>(any + 1));
}

TEST_CASE("states, and the outputs that are stacked")
{
    matrices const x = elements();
    auto const add = [](auto const& s, auto const& x_t) { return scan_step{s + x_t, 2 * x_t}; };
    matrix const zero = xt::zeros<double>({2, 3});
    auto const [sum, doubled] = scan(add, zero, x);
    CHECK(sum == matrix{{8, 10, 12}, {14, 16, 18}});
    CHECK(doubled == matrices(2 * x));

    auto const evaluate = [](matrix const& s, auto const& x_t) {
        return scan_step{matrix(s + x_t), matrix(2 * x_t)};
    };
    auto const evaluated = scan(evaluate, zero, x);
    CHECK(evaluated.final_state == sum);
    CHECK(evaluated.scan_outputs == doubled);

    xt::xtensor_fixed<double, xt::fixed_shape<2, 3>> const fixed = zero;
    auto const of_fixed = scan(add, fixed, x);
    CHECK(of_fixed.final_state == sum);
    CHECK(of_fixed.scan_outputs == doubled);

    xt::xtensor<double, 4> batch = xt::zeros<double>({2, 2, 2, 3});
    xt::view(batch, 0) = x;
    xt::view(batch, 1) = x;
    matrices const zeros = xt::zeros<double>({2, 2, 3});
    auto const rows = scan_batched(add, zeros, batch, xt::xtensor<int, 1>{2, 1});
    CHECK(rows.final_state == matrices{{{8, 10, 12}, {14, 16, 18}}, {{1, 2, 3}, {4, 5, 6}}});
    CHECK(matrices(xt::view(rows.scan_outputs, 0)) == doubled);
    CHECK(matrices(xt::view(rows.scan_outputs, 1)) ==
          matrices{{{2, 4, 6}, {8, 10, 12}}, {{0, 0, 0}, {0, 0, 0}}});

    auto const looped = loop(
        [](std::int64_t, bool, auto const& v) {
            return loop_step{true, 2 * v, v + 1};
        },
        matrix{{1, 2, 3}, {4, 5, 6}}, {.max_trip_count = 2});
    CHECK(looped.final_state == matrix{{4, 8, 12}, {16, 20, 24}});
    CHECK(looped.scan_outputs == matrices{{{2, 3, 4}, {5, 6, 7}}, {{3, 5, 7}, {9, 11, 13}}});
}

TEST_CASE("the gradients of a body")
{
    // h = h w + x: h1 = w + x0, h2 = w^2 + x0 w + x1 for the initial h = 1.
    matrices const x = elements();
    matrix const ones = xt::ones<double>({2, 3}), w = {{0, 1, 2}, {3, 4, 5}};
    matrix const by_w = {{1, 4, 7}, {10, 13, 16}}; // 2 w + x0
    auto const body = [](auto const& h, auto const& x_t, auto const& by) { return scan_step{h * by + x_t}; };
    auto const vjp = [](auto const& h, auto const&, auto const& by, auto const& ct, auto& ct_h, auto& ct_x,
                         auto& ct_by) {
        ct_h += ct * by;
        ct_x += ct;
        ct_by += ct * h;
    };
    auto const check = [&](auto const& body_vjp) {
        auto result = scan_vjp(body, body_vjp, ones, x, w);
        CHECK(result.final_state == matrix{{7, 11, 19}, {31, 47, 67}});
        auto const gradient = result.pullback(ones, std::tuple());
        CHECK(gradient.init == matrix{{0, 1, 4}, {9, 16, 25}});
        CHECK(gradient.params == by_w);
        CHECK(gradient.scan_inputs == matrices{{{0, 1, 2}, {3, 4, 5}}, {{1, 1, 1}, {1, 1, 1}}});
    };
    check(vjp);
#ifdef XLOOM_TEST_TAPE
    check(recorded_with<sacado_tape>());
#endif
}

TEST_CASE("what is gathered, scattered and summed")
{
    matrix const data = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<int, 2> const indices = {{1}, {0}};
    CHECK(gather_nd<2>(data, indices) == matrix{{4, 5, 6}, {1, 2, 3}});
    CHECK(gather_nd(data, indices) == xt::xarray<double>{{4, 5, 6}, {1, 2, 3}});
    CHECK(take<2>(data, xt::xtensor<int, 1>{2, 0}, {.axis = 1}) == matrix{{3, 1}, {6, 4}});
    matrix const updates = {{10, 20, 30}, {40, 50, 60}};
    CHECK(scatter_nd(reduce_add, data, indices, updates) == matrix{{41, 52, 63}, {14, 25, 36}});
    auto const view = xt::view(data, xt::all(), xt::range(1, 3));
    CHECK(scatter_nd(view, xt::xtensor<int, 2>{{0}}, matrix{{8, 9}}) == matrix{{8, 9}, {5, 6}});
    CHECK(cumulative_sum(data) == matrix{{1, 2, 3}, {5, 7, 9}});
    CHECK(cumulative_sum(data + 1.0, {.axis = 1}) == matrix{{2, 5, 9}, {5, 11, 18}});
    CHECK(segment_reduce(reduce_add, data, xt::xtensor<int, 1>{0, 2}) == matrix{{5, 7, 9}});
}

TEST_CASE("an LSTM of two units")
{
    // Gates i, o, f, c; i and o are open, nothing is recurrent: c is the sum of tanh(x w), h is tanh(c).
    matrices W = xt::zeros<double>({1, 8, 1});
    W(0, 6, 0) = 1;
    W(0, 7, 0) = 2;
    matrices const R = xt::zeros<double>({1, 8, 2}), X = {{{0.5}}, {{0.25}}};
    matrix B = xt::zeros<double>({1, 16});
    for (std::size_t i = 0; i < 6; ++i)
        B(0, i) = 1000;
    auto const [Y, Y_h, Y_c] = lstm(X, {.W = W, .R = R, .B = B});
    for (std::size_t unit = 0; unit < 2; ++unit) {
        double const w = W(0, 6 + unit, 0), first = std::tanh(0.5 * w), second = first + std::tanh(0.25 * w);
        CHECK(Y(0, 0, 0, unit) == doctest::Approx(std::tanh(first)));
        CHECK(Y(1, 0, 0, unit) == doctest::Approx(std::tanh(second)));
        CHECK(Y_h(0, 0, unit) == doctest::Approx(std::tanh(second)));
        CHECK(Y_c(0, 0, unit) == doctest::Approx(second));
    }
}

} // namespace column_major_test
