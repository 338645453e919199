// exp, expm1, log1p and tanh: how exact they are where the kernels call them, and what they do at the edges.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <xloom/detail/kernel/activations.hpp>

#include "support/larger_error.hpp"
#include "support/special_numbers.hpp"
#include "support/ulp.hpp"

namespace kernel_elementary_test {

using namespace xloom::kernel;

namespace {

constexpr auto exp_of = []<class V>(V const& x) { return xloom::kernel::exp_of(x); };
constexpr auto expm1_of = []<class V>(V const& x) { return xloom::kernel::expm1_of(x); };
constexpr auto log_of_1_plus = []<class V>(V const& x) { return xloom::kernel::detail::log_of_1_plus(x); };
constexpr auto tanh_of = []<class V>(V const& x) { return xloom::kernel::detail::tanh_of(x); };

template <class T, class F>
std::vector<T> all(F const& f, std::vector<T> const& x)
{
    std::vector<T> y(x.size());
    map(x.data(), y.data(), x.size(), f);
    return y;
}

template <class T, class F, class Exact>
void check_ulps(F const& f, Exact const& exact, std::vector<T> const& x, long double most)
{
    auto const y = all(f, x);
    long double worst = 0;
    T where = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (long double const ulps = ulps_between(y[i], exact(static_cast<long double>(x[i])));
            is_larger_error(ulps, worst)) {
            worst = ulps;
            where = x[i];
        }
    CAPTURE(where);
    CHECK(worst <= most);
    CHECK(worst > 0);
}

/// sigmoid_times_tanh of every pair.
template <class T>
T both(T x, T y)
{
    return all<T>([y]<class V>(V const& v) { return sigmoid_times_tanh(v, V(y)); }, {x})[0];
}

} // namespace

TEST_CASE_TEMPLATE("no further from the true value than this", T, float, double)
{
    T const lowest = std::is_same_v<T, float> ? T(-87) : T(-708),
            highest = std::is_same_v<T, float> ? T(88) : T(709);
    check_ulps<T>(
        exp_of, [](long double x) { return std::exp(x); }, arguments<T>(lowest, highest), 1.5L);
    check_ulps<T>(
        expm1_of, [](long double x) { return std::expm1(x); }, arguments<T>(-infinity<T>, highest), 2);
    check_ulps<T>(
        log_of_1_plus, [](long double x) { return std::log1p(x); }, arguments<T>(0, 1), 1.5L);
    check_ulps<T>(
        tanh_of, [](long double x) { return std::tanh(x); }, arguments<T>(-infinity<T>),
        has_simd<T> ? 1.5L : 2.5L);
}

TEST_CASE_TEMPLATE("edges", T, float, double)
{
    constexpr T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max(),
                inf = infinity<T>;
    CHECK(all<T>(exp_of, {-inf, -huge, -1000, -tiny, 0, tiny, 1000, huge, inf}) ==
          std::vector<T>{0, 0, 0, 1, 1, 1, inf, inf, inf});
    CHECK(
        all<T>(expm1_of, {-inf, -huge, -1000, -tiny, 0, tiny}) == std::vector<T>{-1, -1, -1, -tiny, 0, tiny});
    CHECK(all<T>(log_of_1_plus, {0, tiny}) == std::vector<T>{0, tiny});
    CHECK(all<T>(tanh_of, {-inf, -huge, -tiny, 0, tiny, huge, inf}) ==
          std::vector<T>{-1, -1, -tiny, 0, tiny, 1, 1});
    CHECK(std::signbit(all<T>(tanh_of, {T(-0.0)})[0]));
}

TEST_CASE_TEMPLATE("NaN stays NaN, wherever it stands, and leaves its neighbours alone", T, float, double)
{
    auto const check = [](auto const& f) {
        for (std::size_t i = 0; i < batch_size<T>; ++i) {
            std::vector<T> x(batch_size<T>, T(0.5));
            x[i] = not_a_number<T>;
            auto const y = all(f, x);
            for (std::size_t j = 0; j < batch_size<T>; ++j)
                REQUIRE((i == j ? std::isnan(y[j]) : y[j] == all<T>(f, {T(0.5)})[0]));
        }
    };
    check(exp_of);
    check(expm1_of);
    check(log_of_1_plus);
    check(tanh_of);
    check([]<class V>(V const& x) { return sigmoid_times_tanh(x, V(T(0.5))); });
    check([]<class V>(V const& x) { return sigmoid_times_tanh(V(T(0.5)), x); });
}

TEST_CASE_TEMPLATE("sigmoid_times_tanh", T, float, double)
{
    for (T const x :
        {T(-60), T(-16.5), T(-0x1.5ba82ep+1), T(-0.7), T(-0x1.6b4dp-3), T(-0.0), T(0.2), T(2), T(20), T(300)})
        check_ulps<T>([x]<class V>(V const& y) { return sigmoid_times_tanh(V(x), y); },
            [x](long double y) { return std::tanh(y) / (1 + std::exp(-static_cast<long double>(x))); },
            arguments<T>(-infinity<T>), 5);
    for (T const y : {T(-30), T(-1), T(-0.05), T(0.001), T(0.4), T(4)})
        check_ulps<T>([y]<class V>(V const& x) { return sigmoid_times_tanh(x, V(y)); },
            [y](long double x) { return std::tanh(static_cast<long double>(y)) / (1 + std::exp(-x)); },
            arguments<T>(-66), 5);
    constexpr T inf = infinity<T>;
    CHECK(both<T>(inf, inf) == 1);
    CHECK(both<T>(inf, -inf) == -1);
    CHECK(both<T>(0, inf) == T(0.5));
    CHECK(both<T>(-inf, inf) == 0);
    CHECK(both<T>(-1000, -1000) == 0);
    CHECK(both<T>(-80, 20) >= 0);
    CHECK(both<T>(-80, 20) < T(2e-35));
    CHECK(both<T>(1, 0) == 0);
    CHECK(!std::signbit(both<T>(1, 0)));
    CHECK(std::signbit(both<T>(1, T(-0.0))));
}

} // namespace kernel_elementary_test
