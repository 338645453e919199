// The elementary functions of lanes: how exact they are, what they do at the edges, and that the bits of an
// item are its own.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <xloom/detail/kernel/functions.hpp>

#ifdef __MINGW32__
#include <boost/multiprecision/cpp_bin_float.hpp>
#endif

#include "support/larger_error.hpp"
#include "support/special_numbers.hpp"
#include "support/ulp.hpp"
#include "support/wide_float.hpp"

namespace kernel_functions_test {

using namespace xloom::kernel;

namespace {

constexpr auto exp_function = []<class V>(V const& x) { return lane_exp(x); };
constexpr auto log_function = []<class V>(V const& x) { return lane_log(x); };
constexpr auto sin_function = []<class V>(V const& x) { return lane_sin(x); };
constexpr auto cos_function = []<class V>(V const& x) { return lane_cos(x); };
constexpr auto tanh_function = []<class V>(V const& x) { return lane_tanh(x); };
constexpr auto sqrt_function = []<class V>(V const& x) { return lane_sqrt(x); };
constexpr auto sigmoid_function = []<class V>(V const& x) { return lane_sigmoid(x); };

/// Calls check(f) for every function of one argument.
template <class Check>
void for_each_function(Check const& check)
{
    check(exp_function);
    check(log_function);
    check(sin_function);
    check(cos_function);
    check(tanh_function);
    check(sqrt_function);
    check(sigmoid_function);
}

template <class T>
using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The bits of a number, the same for every NaN.
template <class T>
word<T> bits_of(T x)
{
    return std::bit_cast<word<T>>(std::isnan(x) ? not_a_number<T> : x);
}

template <class T>
std::vector<word<T>> bits_of(std::vector<T> const& x)
{
    std::vector<word<T>> bits;
    for (T const each : x)
        bits.push_back(bits_of(each));
    return bits;
}

template <class T, class F>
std::vector<T> all(F const& f, std::vector<T> const& x)
{
    std::vector<T> y(x.size());
    map(x.data(), y.data(), x.size(), f);
    return y;
}

/// Numbers with patterns of bits that are spread over all, those of arguments(), and evenly spaced ones where
/// exp is neither 0 nor infinite.
template <class T>
std::vector<T> numbers()
{
    constexpr word<T> count = 25'000;
    constexpr word<T> step = std::numeric_limits<word<T>>::max() / count;
    std::vector<T> x = arguments<T>(-infinity<T>);
    for (int i = -8'000; i <= 8'000; ++i)
        x.push_back(static_cast<T>(i) * T(0.0903));
    for (word<T> i = 0; i < count; ++i)
        x.push_back(std::bit_cast<T>(static_cast<word<T>>(i * step + i * i * 7919)));
    return x;
}

template <class T>
std::vector<T> numbers_where(bool (*is_wanted)(T))
{
    auto x = numbers<T>();
    std::erase_if(x, [is_wanted](T each) { return !is_wanted(each); });
    return x;
}

#ifdef __MINGW32__
/// The C library has wrong sines and cosines of large arguments: x87 knows 66 bits of pi. The reference
/// knows 256.
constexpr bool library_is_exact = false;
using sine_float = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<256, boost::multiprecision::digit_base_2>>;
#else
constexpr bool library_is_exact = true;
using sine_float = long double;
#endif

/// Numbers of which the reference has the sine.
///
/// Why not all: a type of several doubles, which is the reference of doubles where long double is one, loses
/// places with the argument. So does the one below with arguments beyond those that lanes reduce themselves.
template <class T>
std::vector<T> angles()
{
    if constexpr (!library_is_exact)
        return numbers_where<T>(
            [](T x) { return std::fabs(x) < (std::is_same_v<T, float> ? T(3e3) : T(8e5)); });
    else if constexpr (std::is_floating_point_v<wide_float<T>>)
        return numbers_where<T>([](T x) { return std::isfinite(x); });
    else
        return numbers_where<T>([](T x) { return std::fabs(x) < 4; });
}

constexpr auto exact_sin = []<class W>(W const& x) {
    using std::sin;
    if constexpr (library_is_exact)
        return sin(x);
    else
        return static_cast<W>(sin(static_cast<sine_float>(x)));
};
constexpr auto exact_cos = []<class W>(W const& x) {
    using std::cos;
    if constexpr (library_is_exact)
        return cos(x);
    else
        return static_cast<W>(cos(static_cast<sine_float>(x)));
};

/// Multiples of pi / 2 and their neighbours.
template <class T>
std::vector<T> near_multiples()
{
    std::vector<T> x;
    for (int i = 1; i < 3'000; ++i) {
        T const each = static_cast<T>(i * 1.57079632679489661923L);
        for (T const neighbour : {std::nextafter(each, T(0)), each, std::nextafter(each, infinity<T>)}) {
            x.push_back(neighbour);
            x.push_back(-neighbour);
        }
    }
    return x;
}

/// Checks that y is no further from `exact` of x than `most` ULP: an infinity only where the exact value is
/// beyond all numbers.
template <class T, class Exact>
void check_ulps(std::vector<T> const& x, std::vector<T> const& y, Exact const& exact, long double most)
{
    using std::fabs;
    using wide = wide_float<T>;
    long double worst = 0;
    T where = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        wide const expected = exact(static_cast<wide>(x[i]));
        bool const is_beyond =
            fabs(expected) > static_cast<wide>(std::numeric_limits<T>::max()) && std::isinf(y[i]);
        long double const ulps = is_beyond ? 0 : ulps_between(y[i], expected);
        if (is_larger_error(ulps, worst)) {
            worst = ulps;
            where = x[i];
        }
    }
    CAPTURE(where);
    CAPTURE(worst);
    CHECK(worst <= most);
}

template <class T, class F, class Exact>
void check_ulps(F const& f, Exact const& exact, std::vector<T> const& x, long double most)
{
    check_ulps(x, all(f, x), exact, most);
}

template <class T>
constexpr T tiny = std::numeric_limits<T>::denorm_min();
template <class T>
constexpr T smallest = std::numeric_limits<T>::min();
template <class T>
constexpr T largest = std::numeric_limits<T>::max();

} // namespace

TEST_CASE_TEMPLATE("no further from the true value than this", T, float, double)
{
    using std::exp, std::log, std::tanh, std::sqrt;
    auto const finite = numbers_where<T>([](T x) { return std::isfinite(x); });
    check_ulps<T>(
        exp_function, [](auto const& x) { return exp(x); },
        numbers_where<T>([](T x) { return std::fabs(x) < 1000; }), 1.2L);
    check_ulps<T>(
        log_function, [](auto const& x) { return log(x); },
        numbers_where<T>([](T x) { return x > 0 && std::isfinite(x); }), 1);
    check_ulps<T>(sin_function, exact_sin, angles<T>(), 1);
    check_ulps<T>(cos_function, exact_cos, angles<T>(), 1);
    check_ulps<T>(
        tanh_function, [](auto const& x) { return tanh(x); }, finite, has_simd<T> ? 1.5L : 2.5L);
    check_ulps<T>(
        sqrt_function, [](auto const& x) { return sqrt(x); },
        numbers_where<T>([](T x) { return x >= 0 && std::isfinite(x); }), 0.5L);
    check_ulps<T>(
        sigmoid_function, [](auto const& x) { return 1 / (1 + exp(-x)); },
        numbers_where<T>([](T x) { return x > (std::is_same_v<T, float> ? -87 : -708) && x < 1000; }), 2.5L);
}

TEST_CASE_TEMPLATE("sin and cos near multiples of pi / 2", T, float, double)
{
    if constexpr (std::is_floating_point_v<wide_float<T>>) {
        check_ulps<T>(sin_function, exact_sin, near_multiples<T>(), 1);
        check_ulps<T>(cos_function, exact_cos, near_multiples<T>(), 1);
    }
}

TEST_CASE_TEMPLATE("pow is no further from the true value than this", T, float, double)
{
    std::mt19937 bits(43);
    std::uniform_real_distribution<double> exponent_of_x(-50, 50), logarithm(-1, 1);
    T const range = std::is_same_v<T, float> ? T(104) : T(745);
    std::vector<T> x, y, found;
    for (int i = 0; i < 15'000; ++i) {
        x.push_back(static_cast<T>(std::exp2(exponent_of_x(bits) * (i % 3 == 0 ? 0.01 : 1))));
        y.push_back(static_cast<T>(logarithm(bits)) * range / std::log(x.back()));
        found.push_back(lane_pow(x.back(), y.back()));
    }
    std::size_t i = 0;
    using std::pow;
    check_ulps(
        x, found, [&](auto const& each) { return pow(each, static_cast<wide_float<T>>(y[i++])); }, 1.5L);
}

TEST_CASE_TEMPLATE("edges", T, float, double)
{
    constexpr T inf = infinity<T>, nan = not_a_number<T>;
    auto const check = [](auto const& f, std::vector<T> const& x, std::vector<T> const& expected) {
        CHECK(bits_of(all(f, x)) == bits_of(expected));
    };
    check(exp_function, {-inf, -largest<T>, -1000, -tiny<T>, T(-0.0), 0, tiny<T>, 1000, largest<T>, inf, nan},
        {0, 0, 0, 1, 1, 1, 1, inf, inf, inf, nan});
    check(log_function, {-inf, -largest<T>, -1, -tiny<T>, T(-0.0), 0, 1, inf, nan},
        {nan, nan, nan, nan, -inf, -inf, 0, inf, nan});
    check(sin_function, {-inf, -smallest<T>, -tiny<T>, T(-0.0), 0, tiny<T>, smallest<T>, inf, nan},
        {nan, -smallest<T>, -tiny<T>, T(-0.0), 0, tiny<T>, smallest<T>, nan, nan});
    check(cos_function, {-inf, -tiny<T>, T(-0.0), 0, tiny<T>, inf, nan}, {nan, 1, 1, 1, 1, nan, nan});
    check(tanh_function, {-inf, -largest<T>, -tiny<T>, T(-0.0), 0, tiny<T>, largest<T>, inf, nan},
        {-1, -1, -tiny<T>, T(-0.0), 0, tiny<T>, 1, 1, nan});
    check(
        sqrt_function, {-inf, -tiny<T>, T(-0.0), 0, 1, 4, inf, nan}, {nan, nan, T(-0.0), 0, 1, 2, inf, nan});
    check(sigmoid_function, {-inf, -largest<T>, T(-0.0), 0, largest<T>, inf, nan},
        {0, 0, T(0.5), T(0.5), 1, 1, nan});
}

TEST_CASE("sin and cos of huge numbers" * doctest::skip(!library_is_exact))
{
    CHECK(lane_sin(1e30f) == doctest::Approx(-0.791163438521983668).epsilon(1e-7));
    CHECK(lane_cos(1e30f) == doctest::Approx(-0.611604785417896619).epsilon(1e-7));
    CHECK(lane_sin(-1e300) == doctest::Approx(0.817881912115908597).epsilon(1e-15));
    CHECK(lane_cos(-1e300) == doctest::Approx(-0.575386111957549047).epsilon(1e-15));
}

TEST_CASE_TEMPLATE("pow has the special values of <cmath>", T, float, double)
{
    std::vector<T> x{
        0, tiny<T>, smallest<T>, T(0.5), 1, T(1.5), 2, 3, 10, largest<T>, infinity<T>, not_a_number<T>};
    // From which on all floats and doubles are whole, and even.
    for (int const digits : {23, 24, 52, 53})
        for (T const step : {T(-1), T(-0.5), T(0), T(1)})
            x.push_back(std::ldexp(T(1), digits) + step);
    for (std::size_t i = x.size(); i-- > 0;)
        x.push_back(-x[i]);
    for (T const base : x)
        for (T const exponent : x) {
            T const found = lane_pow(base, exponent), expected = std::pow(base, exponent);
            CAPTURE(base);
            CAPTURE(exponent);
            REQUIRE(std::isnan(found) == std::isnan(expected));
            if (!std::isnan(expected)) {
                REQUIRE(std::signbit(found) == std::signbit(expected));
                REQUIRE((found == expected || ulps_between(found, static_cast<long double>(expected)) <= 2));
            }
        }
}

TEST_CASE_TEMPLATE("an item has its bits wherever it stands, and beside any neighbours", T, float, double)
{
    std::vector<T> const values{
        0, tiny<T>, T(-0.3), T(0.7), 2, T(-30), 500, T(-1e6), T(1e30), infinity<T>, not_a_number<T>};
    auto const check = [](auto const& f, T x, T neighbour, std::size_t place) {
        std::vector<T> row(batch_size<T>, neighbour), expected(batch_size<T>, f(neighbour));
        row[place] = x;
        expected[place] = f(x);
        store_batch(row.data(), f(load_batch(row.data())));
        REQUIRE(bits_of(row) == bits_of(expected));
    };
    for (T const x : values)
        for (T const neighbour : values)
            for (std::size_t place = 0; place < batch_size<T>; ++place) {
                for_each_function([&](auto const& f) { check(f, x, neighbour, place); });
                for (T const y : {T(-3), T(0.4)})
                    check([y]<class V>(V const& v) { return lane_pow(v, V(y)); }, x, neighbour, place);
            }
    for (std::size_t i = 0; i < 2'000; ++i)
        for_each_function([i, check](auto const& f) {
            check(f, static_cast<T>(i) * T(0.0157), T(1e30), i % batch_size<T>);
        });
}

namespace {

template <class F, class V>
[[gnu::noinline]] V alone(F const& f, V const& x)
{
    return f(x);
}

/// A number beside which a subnormal one loses its last bits, so that a sum tells if it was rounded before.
template <class T>
constexpr T addend = 8 * std::numeric_limits<T>::min();

constexpr auto product = []<class V>(V const& x) { return x * V(0.7f); };
constexpr auto sum = []<class V>(V const& x) { return x + V(addend<batch_item_t<V>>); };

} // namespace

TEST_CASE_TEMPLATE("the bits of a call that is inlined between a product and a sum", T, float, double)
{
    auto const x = numbers<T>();
    auto const check = [&](auto const& f) {
        auto const inlined = [f]<class V>(V const& v) { return sum(f(product(v))); };
        auto const called = [f]<class V>(V const& v) { return alone(sum, alone(f, alone(product, v))); };
        CHECK(bits_of(all(inlined, x)) == bits_of(all(called, x)));
    };
    for_each_function(check);
    check([]<class V>(V const& v) { return lane_pow(v, V(2.25f)); });
}

} // namespace kernel_functions_test
