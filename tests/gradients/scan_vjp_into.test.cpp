// scan_forward_into and scan_vjp_into: gradients beside forward mode through plain loops, the same bits
// for every checkpoint, and the number of states and runs that each promises.

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <xloom/gradients/scan_vjp.hpp>

#include "support/recurrence.hpp"

namespace scan_vjp_into_test {

using namespace xloom;
using recurrence::shaped;

namespace {

checkpoint const every_checkpoint[] = {checkpoint::all(), checkpoint::sqrt(), checkpoint::binomial(1),
    checkpoint::binomial(3), checkpoint::binomial(1000), checkpoint::online(1), checkpoint::online(2),
    checkpoint::online(5), checkpoint::online(1000)};

template <class X>
std::vector<double> values_of(X const& tensor)
{
    return {tensor.template begin<xt::layout_type::row_major>(),
        tensor.template end<xt::layout_type::row_major>()};
}

void check_close(std::vector<double> const& actual, std::vector<double> const& expected)
{
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        CHECK(std::abs(actual[i] - expected[i]) <= 1e-12 * (1 + std::abs(expected[i])));
}

/// Gradients by the operators, for operands of the container types State, Matrix.
template <class State, class Matrix>
recurrence::operands<double> gradient_by_scan(recurrence::sizes const& n,
    recurrence::operands<double> const& in, recurrence::cotangents const& ct, checkpoint const& checkpoints)
{
    auto const& [T, H, I] = n;
    auto const x = shaped<Matrix>(in.x, {T, I}), W = shaped<Matrix>(in.W, {H, H}),
               V = shaped<Matrix>(in.V, {H, I});
    auto const u = shaped<xt::xtensor<double, 1>>(in.u, {T});
    State h = shaped<State>(in.h, {H});
    double c = in.c[0];
    Matrix y = enable_tensor<Matrix>::make({T, H});
    auto z = xt::xtensor<double, 1>::from_shape({T});
    scan_residuals<std::tuple<State, double>> residuals(checkpoints);
    scan_forward_into(recurrence::body_into, std::tie(h, c), std::tie(x, u), std::tie(W, V, in.s[0]),
        std::tie(y, z), residuals);

    State const ct_last_h = shaped<State>(ct.h, {H});
    State ct_h = shaped<State>(std::vector<double>(H), {H});
    double ct_c = 0, ct_s = 0;
    Matrix ct_x = shaped<Matrix>(std::vector<double>(T * I), {T, I});
    xt::xtensor<double, 1> ct_u = xt::zeros<double>({T});
    Matrix ct_W = shaped<Matrix>(std::vector<double>(H * H), {H, H}),
           ct_V = shaped<Matrix>(std::vector<double>(H * I), {H, I});
    auto const ct_y = shaped<Matrix>(ct.y, {T, H});
    auto const ct_z = shaped<xt::xtensor<double, 1>>(ct.z, {T});
    scan_vjp_into(recurrence::body_into, recurrence::body_vjp, std::tie(x, u), std::tie(W, V, in.s[0]),
        residuals, cotangents().states(ct_last_h, ct.c[0]).outputs(ct_y, ct_z),
        gradients().init(ct_h, ct_c).scan_inputs(ct_x, ct_u).params(ct_W, ct_V, ct_s));
    return {
        values_of(ct_h), {ct_c}, values_of(ct_x), values_of(ct_u), values_of(ct_W), values_of(ct_V), {ct_s}};
}

template <class State, class Matrix>
void check_all(recurrence::sizes const& n)
{
    CAPTURE(n.T);
    std::mt19937 random(7);
    auto const in = recurrence::random_operands(n, random);
    auto const ct = recurrence::random_cotangents(n, random);
    auto const expected = recurrence::gradient(n, in, ct);
    recurrence::operands<double> const first = gradient_by_scan<State, Matrix>(n, in, ct, checkpoint::all());
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        (check_close(std::get<K>(first.all()), std::get<K>(expected.all())), ...);
    }(std::make_index_sequence<7>{});
    for (checkpoint const& checkpoints : every_checkpoint)
        CHECK(gradient_by_scan<State, Matrix>(n, in, ct, checkpoints).all() == first.all());
}

/// A sum of squares whose body counts its runs: y = h = h + x^2.
struct counted_body {
    std::size_t& runs;
    void operator()(double& h, double x_t) const
    {
        ++runs;
        h += x_t * x_t;
    }
};

struct measured_runs {
    std::size_t runs, vjp_runs, states;
};

/// The runs of the body in both passes, and the states that were allocated.
measured_runs measure(std::size_t T, checkpoint const& checkpoints)
{
    xt::xtensor<double, 1> const x = 2 * xt::ones<double>({T});
    xt::xtensor<double, 1> ct_x = xt::zeros<double>({T});
    std::size_t runs = 0, vjp_runs = 0, expected_t = T;
    counted_body const body{runs};
    auto const body_vjp = [&](double h, double x_t, double ct_next, double& ct_h, double& ct_x_t) {
        ++vjp_runs;
        --expected_t;
        CHECK(h == 4 * static_cast<double>(expected_t));
        ct_h += ct_next;
        ct_x_t += 2 * x_t * ct_next;
    };
    scan_residuals<double> residuals(checkpoints);
    double h = 0;
    scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals);
    CHECK(runs == T);
    auto const backward = [&] {
        scan_vjp_into(body, body_vjp, x, std::tuple(), residuals, cotangents().states(1.0),
            gradients().scan_inputs(ct_x));
    };
    backward();
    CHECK(ct_x == 4.0 * xt::ones<double>({T}));
    measured_runs const result{runs, vjp_runs, residuals.bytes() / sizeof(double)};
    // Once more: the initial state was kept.
    expected_t = T;
    backward();
    CHECK(vjp_runs == 2 * T);
    CHECK(ct_x == 8.0 * xt::ones<double>({T})); // added to
    return result;
}

/// The smallest r with C(states + r, r) >= length.
std::size_t repeats(std::size_t length, std::size_t states)
{
    std::size_t r = 0;
    for (double reach = 1; reach < static_cast<double>(length);
         reach = reach * static_cast<double>(states + r) / static_cast<double>(r))
        ++r;
    return r;
}

/// The fewest repeated iterations that reversing T of them takes with memory for `states` states, by
/// Griewank's closed form: r T - C(states + r, r - 1).
std::size_t fewest_repeated(std::size_t T, std::size_t states)
{
    std::size_t const r = repeats(T, states);
    double saved = r == 0 ? 0 : 1;
    for (std::size_t i = 1; i < r; ++i)
        saved = saved * static_cast<double>(states + 1 + i) / static_cast<double>(i);
    return r * T - static_cast<std::size_t>(saved + 0.5);
}

} // namespace

TEST_CASE("gradients of a recurrence with every kind of operand, for every checkpoint")
{
    for (std::size_t const T : {0u, 1u, 2u, 3u, 7u, 16u, 17u})
        check_all<xt::xtensor<double, 1>, xt::xtensor<double, 2>>({T, 3, 2});
    check_all<xt::xtensor<double, 1>, xt::xtensor<double, 2>>({5, 0, 2});
    check_all<xt::xtensor<double, 1>, xt::xtensor<double, 2>>({5, 2, 0});
}

TEST_CASE("gradients do not depend on the layout of the operands")
{
    check_all<xt::xarray<double>, xt::xtensor<double, 2, xt::layout_type::column_major>>({9, 3, 2});
    check_all<xt::xtensor<double, 1, xt::layout_type::column_major>,
        xt::xarray<double, xt::layout_type::dynamic>>({9, 3, 2});
}

TEST_CASE("each checkpoint keeps as many states and runs the body as often as it promises")
{
    for (std::size_t const T : {1u, 2u, 3u, 10u, 100u, 101u, 1000u}) {
        CAPTURE(T);
        auto const t = static_cast<double>(T);
        measured_runs const all = measure(T, checkpoint::all());
        CHECK(all.states == T);
        CHECK(all.runs == T);
        CHECK(all.vjp_runs == T);
        measured_runs const root = measure(T, checkpoint::sqrt());
        CHECK(static_cast<double>(root.states) <= 2 * std::sqrt(t) + 2);
        CHECK(root.runs <= 2 * T);
        for (std::size_t const count : {1u, 2u, 5u, 20u}) {
            CAPTURE(count);
            measured_runs const binomial = measure(T, checkpoint::binomial(count));
            CHECK(binomial.states == (std::min)(count, T));
            // The forward pass is the first of the repeats, and runs the iterations after its last state too.
            std::size_t const fewest = fewest_repeated(T, (std::min)(count, T));
            CHECK(binomial.runs >= fewest);
            CHECK(binomial.runs <= fewest + T / count + 1);
            CHECK(binomial.runs <= (repeats(T, count) + 1) * T);
            measured_runs const online = measure(T, checkpoint::online(count));
            CHECK(online.states <= count);
            std::size_t const r =
                std::max<std::size_t>(1, repeats((4 * T + count - 1) / count, count / 2 + 1));
            CHECK(online.runs <= (r + 1) * T);
        }
    }
}

TEST_CASE("axes, directions and strided elements")
{
    // y_t = h = h / 2 + x_t, as in ONNX's reverse scans: by hand, element by element.
    std::size_t const T = 5, N = 3;
    auto const body = [](auto& h, auto const& x_t, auto& y_t) {
        for (std::size_t i = 0; i < h.size(); ++i)
            y_t(i) = h(i) = h(i) / 2 + x_t(i) * x_t(i);
    };
    auto const body_vjp = [](auto const&, auto const& x_t, auto const& ct_next, auto const& ct_y, auto& ct_h,
                              auto& ct_x) {
        for (std::size_t i = 0; i < ct_h.size(); ++i) {
            double const ct = ct_next(i) + ct_y(i);
            ct_x(i) += 2 * x_t(i) * ct;
            ct_h(i) += ct / 2;
        }
    };
    std::mt19937 random(3);
    for (bool const input_reverse : {false, true})
        for (bool const output_reverse : {false, true})
            for (checkpoint const& checkpoints : every_checkpoint) {
                xt::xtensor<double, 2> x = xt::zeros<double>({N, T}), ct_y = x; // time is axis 1
                for (double& item : x)
                    item = recurrence::uniform(1, 1, random)[0];
                for (double& item : ct_y)
                    item = recurrence::uniform(1, 1, random)[0];
                xt::xtensor<double, 1> h = xt::zeros<double>({N}), ct_h = h,
                                       ct_last_h = xt::ones<double>({N});
                xt::xtensor<double, 2> y = xt::zeros<double>({N, T}), ct_x = xt::ones<double>({N, T});
                auto const direction = [](bool reverse) {
                    return reverse ? direction::reverse : direction::forward;
                };
                scan_options const options{.scan_input_axes = {1},
                    .scan_output_axes = {-1},
                    .scan_input_directions = {direction(input_reverse)},
                    .scan_output_directions = {direction(output_reverse)}};
                scan_residuals<xt::xtensor<double, 1>> residuals(checkpoints);
                scan_forward_into(body, h, x, std::tuple(), y, residuals, options);
                scan_vjp_into(body, body_vjp, x, std::tuple(), residuals,
                    cotangents().states(ct_last_h).outputs(ct_y), gradients().init(ct_h).scan_inputs(ct_x),
                    options);
                for (std::size_t n = 0; n < N; ++n) {
                    double ct = 1;
                    for (std::size_t t = T; t-- > 0;) {
                        ct += ct_y(n, output_reverse ? T - 1 - t : t);
                        std::size_t const at = input_reverse ? T - 1 - t : t;
                        CHECK(ct_x(n, at) == doctest::Approx(1 + 2 * x(n, at) * ct).epsilon(1e-14));
                        ct /= 2;
                    }
                    CHECK(ct_h(n) == doctest::Approx(ct).epsilon(1e-14));
                }
            }
}

TEST_CASE("the VJP is linear in the cotangents, and that of a scan in pieces is that of the whole")
{
    recurrence::sizes const n{8, 3, 2};
    std::mt19937 random(11);
    auto const in = recurrence::random_operands(n, random);
    auto const a = recurrence::random_cotangents(n, random), b = recurrence::random_cotangents(n, random);
    recurrence::cotangents both = a;
    auto const add = [](std::vector<double>& to, std::vector<double> const& from) {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = 2 * to[i] + from[i];
    };
    add(both.h, b.h), add(both.c, b.c), add(both.y, b.y), add(both.z, b.z);
    using vec = xt::xtensor<double, 1>;
    using mat = xt::xtensor<double, 2>;
    auto of_a = gradient_by_scan<vec, mat>(n, in, a, checkpoint::all());
    auto const of_b = gradient_by_scan<vec, mat>(n, in, b, checkpoint::all());
    auto const of_both = gradient_by_scan<vec, mat>(n, in, both, checkpoint::all());
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        ((add(std::get<K>(of_a.all()), std::get<K>(of_b.all())),
             check_close(std::get<K>(of_a.all()), std::get<K>(of_both.all()))),
            ...);
    }(std::make_index_sequence<7>{});
}

TEST_CASE("an exception of a body propagates, and the residuals serve the next call")
{
    xt::xtensor<double, 1> const x = {1, 2, 3, 4};
    xt::xtensor<double, 1> ct_x = xt::zeros<double>({4});
    double h = 0;
    int left = 2;
    auto const body = [&](double& state, double x_t) {
        if (left-- == 0)
            throw 42;
        state += x_t * x_t;
    };
    auto const body_vjp = [&](double, double x_t, double ct_next, double& ct, double& ct_x_t) {
        if (left-- == 0)
            throw 43;
        ct += ct_next;
        ct_x_t += 2 * x_t * ct_next;
    };
    auto const backward = [&](scan_residuals<double>& residuals) {
        scan_vjp_into(body, body_vjp, x, std::tuple(), residuals, cotangents().states(1.0),
            gradients().scan_inputs(ct_x));
    };
    for (checkpoint const& checkpoints : every_checkpoint) {
        scan_residuals<double> residuals(checkpoints);
        left = 2;
        CHECK_THROWS_AS(scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals), int);
        CHECK_THROWS_AS(backward(residuals), option_error);
        left = 1000;
        h = 0;
        scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals);
        for (int after = 0; after < 4; ++after) {
            left = after;
            CHECK_THROWS_AS(backward(residuals), int);
        }
        left = 1000;
        ct_x.fill(0);
        backward(residuals);
        CHECK(ct_x == xt::xtensor<double, 1>{2, 4, 6, 8});
    }
}

TEST_CASE("scan_vjp_into names itself where a repeated iteration changes the shape of a state")
{
    using vec = xt::xtensor<double, 1>;
    vec const x = {1, 2, 3, 4};
    vec h = {0, 0}, ct_x = {0, 0, 0, 0};
    int runs = 0;
    auto const body = [&](vec& state, double) {
        if (++runs > 4)
            state = vec{1, 2, 3};
    };
    auto const body_vjp = [](vec const&, double, vec const&, vec&, double&) {};
    scan_residuals<vec> residuals(checkpoint::binomial(1));
    scan_forward_into(body, h, x, std::tuple(), std::tuple(), residuals);
    CHECK_THROWS_WITH_AS(scan_vjp_into(body, body_vjp, x, std::tuple(), residuals,
                             cotangents().states(vec{0, 0}), gradients().scan_inputs(ct_x)),
        "xloom::scan_vjp_into: a body that runs an iteration again must do the same, but states[0] was [2] "
        "and the body made it [3]. Return a value of the original shape.",
        body_error);
}

TEST_CASE("errors of scan_vjp_into, before anything is written")
{
    using vec = xt::xtensor<double, 1>;
    using mat = xt::xtensor<double, 2>;
    mat const x = xt::ones<double>({4, 2});
    mat y = x, ct_x = 7 * x;
    vec h = {0, 0}, ct_last = {1, 1}, ct_h = {5, 6};
    vec const w = {1, 2};
    vec ct_w = {8, 9};
    auto const body = [](auto& state, auto const& x_t, auto const& w_, auto& y_t) {
        for (std::size_t i = 0; i < 2; ++i)
            y_t(i) = state(i) += w_(i) * x_t(i);
    };
    auto const body_vjp = [](auto const&, auto const&, auto const&, auto const&, auto const&, auto& ct,
                              auto& ct_x_t, auto& ct_w_) {
        ct.fill(1);
        ct_x_t(0) = ct_w_(0) = 1;
    };
    scan_residuals<vec> residuals;
    auto const backward = [&](auto const& inputs, auto const& ct_y, vec& ct_state, mat& ct_inputs,
                              vec& ct_params) {
        scan_vjp_into(body, body_vjp, inputs, w, residuals, cotangents().states(ct_last).outputs(ct_y),
            gradients().init(ct_state).scan_inputs(ct_inputs).params(ct_params));
    };
    CHECK_THROWS_WITH_AS(backward(x, y, ct_h, ct_x, ct_w),
        "xloom::scan_vjp_into: the residuals must be those of a forward pass, but none has finished "
        "with them. Call xloom::scan_forward_into first.",
        option_error);
    scan_forward_into(body, h, x, w, y, residuals);
    mat const longer = xt::ones<double>({5, 2});
    CHECK_THROWS_WITH_AS(backward(longer, y, ct_h, ct_x, ct_w),
        "xloom::scan_vjp_into: the residuals must be those of a forward pass of the same length, but "
        "scan_inputs have 5 elements and the forward pass had 4 iterations. Give both the same scan inputs.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(x, longer, ct_h, ct_x, ct_w),
        "xloom::scan_vjp_into: a cotangent must have the shape of its value, but ct_outputs[0] is [5, "
        "2] and "
        "scan_outputs[0] is [4, 2]. Give it that shape.",
        shape_error);
    vec three = {1, 2, 3};
    CHECK_THROWS_WITH_AS(backward(x, y, three, ct_x, ct_w),
        "xloom::scan_vjp_into: a cotangent must have the shape of its value, but ct_init[0] is [3] "
        "and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(x, y, ct_h, ct_x, three),
        "xloom::scan_vjp_into: a cotangent must have the shape of its value, but ct_params[0] is [3] "
        "and "
        "params[0] is [2]. Give it that shape.",
        shape_error);
    mat transposed = xt::ones<double>({2, 4});
    CHECK_THROWS_WITH_AS(backward(x, y, ct_h, transposed, ct_w),
        "xloom::scan_vjp_into: a cotangent must have the shape of its value, but ct_scan_inputs[0] is [2, 4] "
        "and "
        "scan_inputs[0] is [4, 2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(x, ct_x, ct_h, ct_x, ct_w),
        "xloom::scan_vjp_into: an operand that is written must have memory of its own, but "
        "ct_scan_inputs[0] overlaps ct_outputs[0]. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(backward(x, y, ct_h, ct_x, ct_h),
        "xloom::scan_vjp_into: an operand that is written must have memory of its own, but ct_init[0] "
        "overlaps ct_params[0]. Copy one of the two.",
        overlap_error);
    vec const long_state = {1, 2, 3};
    CHECK_THROWS_WITH_AS(
        scan_vjp_into(body, body_vjp, x, w, residuals, cotangents().states(long_state).outputs(y),
            gradients().scan_inputs(ct_x).params(ct_w)),
        "xloom::scan_vjp_into: a cotangent must have the shape of its value, but ct_states[0] is [3] and "
        "states[0] is [2]. Give it that shape.",
        shape_error);
    CHECK(ct_h == vec{5, 6});
    CHECK(ct_w == vec{8, 9});
    CHECK(ct_x == 7.0 * xt::ones<double>({4, 2}));
    backward(x, y, ct_h, ct_x, ct_w);
    CHECK(ct_h == vec{6, 7});
}

TEST_CASE("a scan_vjp_into without the axes of the forward pass is refused")
{
    xt::xtensor<double, 1> const x = xt::ones<double>({4});
    xt::xtensor<double, 2> y = xt::zeros<double>({3, 4}); // time is axis 1
    auto const body = [](double& h, double x_t, auto& y_t) { y_t.fill(h += x_t); };
    auto const body_vjp = [](double, double, double, auto const&, double& ct_h, double&) { ct_h += 1; };
    double h = 0, ct_h = 5;
    scan_residuals<double> residuals;
    scan_forward_into(body, h, x, std::tuple(), y, residuals, {.scan_output_axes = {1}});
    xt::xtensor<double, 1> ct_x = xt::zeros<double>({4});
    auto const backward = [&](auto const&... options) {
        scan_vjp_into(body, body_vjp, x, std::tuple(), residuals, cotangents().outputs(y),
            gradients().init(ct_h).scan_inputs(ct_x), options...);
    };
    CHECK_THROWS_WITH_AS(backward(),
        "xloom::scan_vjp_into: every cotangent of a scan output must be as long as the scan, which has 4 "
        "iterations, but ct_outputs[0] has 3 (axis 0 of [3, 4]). Name the axes of the forward pass.",
        shape_error);
    CHECK_THROWS_WITH_AS(backward(scan_options{.scan_output_axes = {5}}),
        "xloom::scan_vjp_into: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] "
        "is 5 for ct_outputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
    CHECK(ct_h == 5);
    backward(scan_options{.scan_output_axes = {-1}});
    CHECK(ct_h == 6);
}

TEST_CASE("states that do not fit in memory are a shape_error")
{
    scan_residuals<xt::xtensor<double, 1>> residuals;
    xt::xtensor<double, 1> h = xt::zeros<double>({1000});
    CHECK_THROWS_WITH_AS(scan_forward_into([](auto&) {}, h, std::tuple(), std::tuple(), std::tuple(),
                             residuals, {.length = std::size_t{1} << 60}),
        "xloom::scan_forward_into: the states that are kept must fit in memory, but there are "
        "1152921504606846976 of the shape [1000]. Keep fewer, for example with checkpoint::sqrt().",
        shape_error);
}

TEST_CASE("residuals of another body are refused")
{
    auto const without = [](double& h, double x, double w) { h = w * h + x; };
    auto const with = [](double& h, double x, double w, double& y) { y = h = w * h + x; };
    auto const with_vjp = [](double, double, double, double, double, double&, double&, double&) {
        FAIL_CHECK("the VJP ran");
    };
    xt::xtensor<double, 1> const x = {1, 2}, ct_y = {1, 1};
    xt::xtensor<double, 1> ct_x = {0, 0};
    double h = 0, ct_w = 0;
    xloom::scan_residuals<double> residuals;
    xloom::scan_forward_into(without, h, x, 0.5, std::tuple(), residuals);
    CHECK_THROWS_WITH_AS(
        xloom::scan_vjp_into(with, with_vjp, x, 0.5, residuals, xloom::cotangents().outputs(ct_y),
            xloom::gradients().scan_inputs(ct_x).params(ct_w)),
        "xloom::scan_vjp_into: the residuals must be those of a forward pass of the same body, but they have "
        "0 "
        "scan_outputs and there are 1 ct_outputs. Pass the residuals of this body.",
        xloom::option_error);
}

TEST_CASE("states that are spans")
{
    auto const body = [](auto& h, auto const& x, double w) {
        for (std::size_t i = 0; i < 2; ++i)
            h[i] = w * h[i] + x(i);
    };
    auto const body_vjp = [](auto const& h, auto const&, double w, auto const& ct_next, auto& ct_h,
                              auto& ct_x, double& ct_w) {
        for (std::size_t i = 0; i < 2; ++i) {
            ct_h[i] += w * ct_next[i];
            ct_x(i) += ct_next[i];
            ct_w += h[i] * ct_next[i];
        }
    };
    std::vector<double> h = {1, 2};
    xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}};
    xloom::scan_residuals<std::vector<double>> residuals;
    std::vector<double> const ct_h = {1, 10};
    for (int run = 0; run < 2; ++run) { // the second one in the memory of the first
        h = {1, 2};
        std::span<double> state(h);
        xloom::scan_forward_into(body, state, x, 0.5, std::tuple(), residuals);
        CHECK(h == std::vector<double>{3.75, 5.5});
        xt::xtensor<double, 2> ct_x = {{0, 0}, {0, 0}};
        double ct_w = 0;
        xloom::scan_vjp_into(body, body_vjp, x, 0.5, residuals, xloom::cotangents().states(ct_h),
            xloom::gradients().scan_inputs(ct_x).params(ct_w));
        CHECK(ct_x == xt::xtensor<double, 2>{{0.5, 5}, {1, 10}});
        CHECK(ct_w == 1.5 + 30 + 0.5 * (1 + 20)); // states 1.5 and 3 before the last iteration
    }
}

} // namespace scan_vjp_into_test
