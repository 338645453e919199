// The reductions as function objects: for which types they exist, and what they do at the edges.

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include <xloom/detail/core/reduction.hpp>

namespace core_reduction_test {

using namespace xloom;

namespace {

template <class Reduce, class T>
constexpr bool exists = std::is_invocable_r_v<T, Reduce const&, T, T const&>;
template <class T>
constexpr bool has_mean = std::is_invocable_r_v<T, detail::divide_by_count const&, T const&, std::size_t>;

template <class T>
constexpr T least = std::numeric_limits<T>::min();
template <class T>
constexpr T largest = std::numeric_limits<T>::max();

/// As an update of type T is combined with an old value of type T, not int with int.
template <class T>
constexpr T add(T old, T update)
{
    return reduce_add(old, update);
}
template <class T>
constexpr T mul(T old, T update)
{
    return reduce_mul(old, update);
}

constexpr bool integers_wrap()
{
    return add<std::int8_t>(127, 1) == -128 && add<std::uint8_t>(255, 1) == 0 &&
           add<std::int16_t>(-32768, -1) == 32767 && add(largest<std::int32_t>, 1) == least<std::int32_t> &&
           add(least<std::int64_t>, std::int64_t{-1}) == largest<std::int64_t> &&
           mul<std::int8_t>(-128, -1) == -128 && mul<std::uint16_t>(65535, 65535) == 1 &&
           mul<std::int16_t>(-32768, -1) == -32768 && mul(least<std::int32_t>, -1) == least<std::int32_t> &&
           mul(65537, 65537) == 131073 && mul(largest<std::int64_t>, std::int64_t{2}) == -2 &&
           mul(largest<std::uint64_t>, largest<std::uint64_t>) == 1;
}

constexpr bool integers_are_compared_with_their_sign()
{
    return reduce_max(-1, 1) == 1 && reduce_min(-1, 1) == -1 &&
           reduce_max(1u, largest<unsigned>) == largest<unsigned> &&
           reduce_min(least<std::int64_t>, largest<std::int64_t>) == least<std::int64_t> &&
           reduce_none(3, 4) == 4;
}

constexpr bool bools_are_or_and_and()
{
    bool holds = true;
    for (bool const a : {false, true})
        for (bool const b : {false, true})
            holds = holds && reduce_none(a, b) == b && reduce_add(a, b) == (a || b) &&
                    reduce_mul(a, b) == (a && b) && reduce_max(a, b) == (a || b) &&
                    reduce_min(a, b) == (a && b);
    return holds;
}

template <class T>
constexpr bool is_nan(T x)
{
    return x != x;
}

template <class T>
constexpr bool nan_wins()
{
    constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    return is_nan(reduce_max(nan, T(1))) && is_nan(reduce_max(T(1), nan)) && is_nan(reduce_min(nan, T(1))) &&
           is_nan(reduce_min(T(1), nan)) && is_nan(reduce_max(nan, infinity)) &&
           is_nan(reduce_min(-infinity, nan)) && is_nan(reduce_max(nan, nan)) &&
           !is_nan(reduce_none(nan, T(1))) && is_nan(reduce_none(T(1), nan)) &&
           reduce_max(-infinity, infinity) == infinity && reduce_min(-infinity, infinity) == -infinity;
}

constexpr bool is_minus_zero(double x) { return __builtin_copysign(1.0, x) < 0 && x == 0; }

constexpr bool zeros_keep_their_sign()
{
    return is_minus_zero(reduce_add(-0.0, -0.0)) && !is_minus_zero(reduce_add(-0.0, 0.0)) &&
           is_minus_zero(reduce_mul(-0.0, 1.0)) && !is_minus_zero(reduce_mul(-0.0, -1.0)) &&
           is_minus_zero(reduce_none(0.0, -0.0));
}

/// Equal values: the one that stands there stays, and so do its bits.
constexpr bool of_two_zeros_the_old_one_stays()
{
    return is_minus_zero(reduce_max(-0.0, 0.0)) && !is_minus_zero(reduce_max(0.0, -0.0)) &&
           is_minus_zero(reduce_min(-0.0, 0.0)) && !is_minus_zero(reduce_min(0.0, -0.0));
}

constexpr bool integers_are_divided_rounding_down()
{
    constexpr detail::divide_by_count divide{};
    return divide(7, 2) == 3 && divide(-7, 2) == -4 && divide(-6, 2) == -3 && divide(-1, 3) == -1 &&
           divide(0, 5) == 0 && divide(std::int8_t{-128}, 1) == -128 && divide(std::int8_t{-128}, 3) == -43 &&
           divide(least<std::int64_t>, 1) == least<std::int64_t> &&
           divide(least<std::int64_t>, 2) == least<std::int64_t> / 2 && divide(7u, 2) == 3u &&
           divide(largest<std::uint64_t>, 2) == largest<std::uint64_t> / 2 &&
           divide(std::uint8_t{255}, 1000) == 0;
}

constexpr bool floats_are_divided()
{
    constexpr detail::divide_by_count divide{};
    return divide(-7.0, 2) == -3.5 && divide(1.0f, 3) == 1.0f / 3.0f;
}

} // namespace

TEST_CASE("reductions exist where they mean something")
{
    using complex = std::complex<float>;
    static_assert(exists<detail::reduce_none_t, std::string> && exists<detail::reduce_none_t, complex> &&
                  exists<detail::reduce_none_t, bool>);
    static_assert(exists<detail::reduce_add_t, std::string> && exists<detail::reduce_add_t, std::u16string> &&
                  exists<detail::reduce_add_t, complex>);
    static_assert(!exists<detail::reduce_mul_t, std::string> && !exists<detail::reduce_max_t, std::string> &&
                  !exists<detail::reduce_min_t, std::string>);
    static_assert(exists<detail::reduce_mul_t, complex> && !exists<detail::reduce_max_t, complex> &&
                  !exists<detail::reduce_min_t, complex>);
    static_assert(exists<detail::reduce_max_t, bool> && exists<detail::reduce_min_t, bool> &&
                  exists<detail::reduce_max_t, std::uint8_t>);
    static_assert(
        has_mean<float> && has_mean<int> && has_mean<complex> && !has_mean<bool> && !has_mean<std::string>);
}

TEST_CASE("reductions of integers wrap, and compare with the sign")
{
    static_assert(integers_wrap());
    CHECK(integers_wrap());
    static_assert(integers_are_compared_with_their_sign());
    CHECK(integers_are_compared_with_their_sign());
}

TEST_CASE("the product of complex numbers is the textbook's")
{
    using complex = std::complex<double>;
    constexpr double inf = std::numeric_limits<double>::infinity();
    static_assert(xloom::reduce_mul(complex(1, 2), complex(3, -4)) == complex(11, 2));
    complex const product = xloom::reduce_mul(complex(inf, inf), complex(1, 0));
    CHECK(std::isnan(product.real()));
    CHECK(std::isnan(product.imag()));
}

TEST_CASE("reductions of bool: add and max are or, mul and min are and")
{
    static_assert(bools_are_or_and_and());
    CHECK(bools_are_or_and_and());
}

TEST_CASE("reductions of floats: NaN wins in max and min, zeros have signs")
{
    static_assert(nan_wins<float>() && nan_wins<double>());
    CHECK(nan_wins<float>());
    CHECK(nan_wins<double>());
    CHECK(nan_wins<long double>());
    static_assert(zeros_keep_their_sign());
    CHECK(zeros_keep_their_sign());
    static_assert(of_two_zeros_the_old_one_stays());
    CHECK(of_two_zeros_the_old_one_stays());
}

TEST_CASE("the NaN that stands there stays, bit for bit")
{
    double const quiet = std::numeric_limits<double>::quiet_NaN();
    double const old = __builtin_nan("0x123");
    double const kept = reduce_max(old, 1.0);
    CHECK(std::memcmp(&kept, &old, sizeof(double)) == 0);
    CHECK(std::memcmp(&kept, &quiet, sizeof(double)) != 0);
}

TEST_CASE("strings are joined, the update after the old value")
{
    CHECK(reduce_add(std::string("old, "), std::string("new")) == "old, new");
    CHECK(reduce_none(std::string("old"), std::string("new")) == "new");
}

TEST_CASE("complex numbers are added and multiplied")
{
    using complex = std::complex<double>;
    CHECK(reduce_add(complex(1, 2), complex(3, -5)) == complex(4, -3));
    CHECK(reduce_mul(complex(1, 2), complex(3, -5)) == complex(13, 1)); // 3 - 5i + 6i + 10
}

TEST_CASE("a mean divides by the count: integers round down")
{
    static_assert(integers_are_divided_rounding_down());
    CHECK(integers_are_divided_rounding_down());
    static_assert(floats_are_divided());
    CHECK(floats_are_divided());
    CHECK(detail::divide_by_count{}(std::complex<double>(3, -5), 2) == std::complex<double>(1.5, -2.5));
}

constexpr bool wide_sums_are_exact()
{
    constexpr auto mean = []<class T>(std::initializer_list<T> values) {
        detail::wide_sum sum(T(0));
        for (T const value : values)
            sum = reduce_add(sum, detail::wide_sum(value));
        return static_cast<T>(detail::divide_by_count{}(sum, values.size()));
    };
    using s = std::numeric_limits<std::int64_t>;
    using u = std::numeric_limits<std::uint64_t>;
    return mean({s::max(), s::max(), s::max()}) == s::max() && mean({s::min(), s::min()}) == s::min() &&
           mean({s::max(), s::min()}) == -1 && mean({s::max(), s::max() - 1}) == s::max() - 1 &&
           mean({s::min(), s::min() + 1}) == s::min() && mean({std::int64_t(-3), std::int64_t(-4)}) == -4 &&
           mean({std::int64_t(-7), std::int64_t(0), std::int64_t(0)}) == -3 &&
           mean({u::max(), u::max(), u::max() - 1}) == u::max() - 1 &&
           mean({std::uint64_t(0xFFFF'FFFF), std::uint64_t(0xFFFF'FFFF), std::uint64_t(0x1'0000'0002)}) ==
               0x1'0000'0000 && // the sum is 3 * 2^32
           mean({u::max(), std::uint64_t(0)}) == u::max() / 2;
}

TEST_CASE("the mean of the largest integers")
{
    static_assert(wide_sums_are_exact());
    CHECK(wide_sums_are_exact());
}

TEST_CASE("reductions have ONNX's names")
{
    static_assert(name_of(reduction::none) == "none" && name_of(reduction::add) == "add" &&
                  name_of(reduction::mul) == "mul");
    static_assert(name_of(reduction::max) == "max" && name_of(reduction::min) == "min" &&
                  name_of(reduction::mean) == "mean");
    static_assert(
        name_of(static_cast<reduction>(6)) == "unknown" && name_of(static_cast<reduction>(255)) == "unknown");
    CHECK(name_of(reduction::mean) == "mean");
}

} // namespace core_reduction_test
