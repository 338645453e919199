// Compares the gradient of a filter of second order by scan_lanes_vjp with the same body and VJP sequence by
// sequence (impl:rows, scan_forward_into and scan_vjp_into) and with loops by hand (impl:hand), which keep
// the states of all steps too.

#include <algorithm>
#include <utility>
#include <vector>

#include <xloom/gradients/scan_lanes_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

#include "support.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;

using matrix = xt::xtensor<float, 2>;
using vector = xt::xtensor<float, 1>;

/// Signals [T, N], each with a coefficient of its own, and the cotangents of what a filter makes of them.
struct filter_operands {
    matrix x, ct_y, ct_x;
    vector a, ct_a, zero;
    std::size_t iterations;

    std::pair<matrix, vector> results() const { return {ct_x, ct_a}; }
    void clear()
    {
        ct_x.fill(7);
        ct_a.fill(7);
    }
    /// Compilers contract the products of the other two.
    bool is_close_to(std::pair<matrix, vector> const& expected) const
    {
        return is_within(ct_x, expected.first, 1e-4f) && is_within(ct_a, expected.second, 1e-2f);
    }
};

/// y_t = s + x_t; s = r - a y_t; r = x_t - y_t / 2.
constexpr auto body = [](auto const& s, auto const& r, auto const& x, auto const& a) {
    auto const y = s + x;
    return xloom::scan_step{std::tuple(r - a * y, x - 0.5f * y), y};
};
constexpr auto body_vjp = [](auto const& s, auto const&, auto const& x, auto const& a, auto const& ct_next_s,
                              auto const& ct_next_r, auto const& ct_y, auto& ct_s, auto& ct_r, auto& ct_x,
                              auto& ct_a) {
    auto const ct = ct_y - a * ct_next_s - 0.5f * ct_next_r; // of y
    ct_s += ct;
    ct_r += ct_next_s;
    ct_x += ct + ct_next_r;
    ct_a -= ct_next_s * (s + x);
};

template <class... Env>
void by_lanes(filter_operands& o, Env const&... env)
{
    auto ct =
        xloom::scan_lanes_vjp(body, body_vjp, std::tie(o.zero, o.zero), std::tie(o.x, o.a), std::nullopt,
            xloom::cotangents().outputs(o.ct_y), xloom::scan_lanes_options{.batch_axis = 1}, env...);
    std::tie(o.ct_x, o.ct_a) = std::move(ct.scan_inputs);
}

void by_two(filter_operands& o) { by_lanes(o, two_threads()); }

void by_rows(filter_operands& o)
{
    std::size_t const T = o.x.shape(0), N = o.x.shape(1);
    xloom::scan_residuals<std::tuple<float, float>> residuals;
    auto const in_place = [](float& s, float& r, float x, float a, float& y) {
        auto const step = body(s, r, x, a);
        y = step.scan_outputs;
        std::tie(s, r) = step.state;
    };
    vector x = xt::zeros<float>({T}), y = x, ct_y = x, ct_x = x;
    for (std::size_t n = 0; n < N; ++n) {
        for (std::size_t t = 0; t < T; ++t) {
            x(t) = o.x(t, n);
            ct_y(t) = o.ct_y(t, n);
        }
        ct_x.fill(0);
        float s = 0, r = 0, ct_a = 0;
        xloom::scan_forward_into(in_place, std::tie(s, r), x, o.a(n), y, residuals);
        xloom::scan_vjp_into(in_place, body_vjp, x, o.a(n), residuals, xloom::cotangents().outputs(ct_y),
            xloom::gradients().scan_inputs(ct_x).params(ct_a));
        for (std::size_t t = 0; t < T; ++t)
            o.ct_x(t, n) = ct_x(t);
        o.ct_a(n) = ct_a;
    }
}

/// Channels are the inner loop, so that compilers use SIMD.
void hand(filter_operands& o)
{
    std::size_t const T = o.x.shape(0), N = o.x.shape(1);
    float const *const x = o.x.data(), *const ct_y = o.ct_y.data(), *const a = o.a.data();
    float *const ct_x = o.ct_x.data(), *const ct_a = o.ct_a.data();
    std::vector<float> s(T * N + N), r(N), ct_s(N), ct_r(N);
    for (std::size_t t = 0; t < T; ++t)
        for (std::size_t n = 0; n < N; ++n) {
            std::size_t const i = t * N + n;
            float const y = s[i] + x[i];
            s[i + N] = r[n] - a[n] * y;
            r[n] = x[i] - 0.5f * y;
        }
    std::fill_n(ct_a, N, 0.0f);
    for (std::size_t t = T; t-- > 0;)
        for (std::size_t n = 0; n < N; ++n) {
            std::size_t const i = t * N + n;
            float const ct = ct_y[i] - a[n] * ct_s[n] - 0.5f * ct_r[n];
            ct_a[n] -= ct_s[n] * (s[i] + x[i]);
            ct_x[i] = ct + ct_r[n];
            ct_r[n] = ct_s[n];
            ct_s[n] = ct;
        }
}

filter_operands make()
{
    matrix const x = uniform<matrix>({4096, 128}, 1, 1.0);
    vector const a = uniform<vector>({128}, 2, 0.5), zero = xt::zeros<float>({128});
    return {x, uniform<matrix>({4096, 128}, 3, 1.0), x, a, a, zero, x.size()};
}

} // namespace

int main(int argc, char** argv)
{
    std::string const name = "scan_lanes_vjp/section/T:4096/N:128";
    add_case(name, make,
        std::vector<series<filter_operands>>{
            {"hand", hand}, {"rows", by_rows}, {"xloom", [](filter_operands& o) { by_lanes(o); }}});
    add_case(name, make,
        std::vector<series<filter_operands>>{
            {"xloom_serial", [](filter_operands& o) { by_lanes(o); }}, {"xloom", by_two}},
        2);
    return run_cases(argc, argv);
}
