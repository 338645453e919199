#pragma once
// ONNX's reductions as function objects, for every type for which they are defined.

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/element_types.hpp>

namespace xloom::inline XLOOM_ABI {

/// The values of ONNX's attribute `reduction`, and the mean.
enum class reduction : unsigned char { none, add, mul, max, min, mean };

/// Returns the value of ONNX's attribute, such as "add".
constexpr std::string_view name_of(reduction kind) noexcept
{
    constexpr std::string_view names[] = {"none", "add", "mul", "max", "min", "mean"};
    auto const number = static_cast<std::size_t>(kind);
    return number < std::size(names) ? names[number] : "unknown";
}

namespace detail {

template <class T>
inline constexpr bool is_string = false;
template <class Char, class Traits, class Allocator>
inline constexpr bool is_string<std::basic_string<Char, Traits, Allocator>> = true;

/// A string, vector or matrix: its operators * and <, if any, are not the product and order of numbers.
template <class T>
concept array_like = requires(T const& a) {
    a.size();
    a[0];
};

/// The unsigned type for wrap-around arithmetic on T, at least as wide as int, so that it is not promoted to
/// int.
template <counting_integer T>
using modular_t = std::make_unsigned_t<std::common_type_t<T, int>>;

template <class T>
concept summable = requires(T const& a) { static_cast<T>(a + a); };
template <class T>
concept multipliable = !array_like<T> && requires(T const& a) { static_cast<T>(a * a); };
template <class T>
concept ordered = !array_like<T> && requires(T const& a) {
    static_cast<bool>(a < a);
    static_cast<bool>(a != a);
};

/// True if a compiler may contract a product and a sum of Ts to one instruction: where the processor has it,
/// so that the bits of a result would depend on the target. The x87 unit, which computes long double, has
/// none.
template <class T>
inline constexpr bool may_contract =
#if defined(__FMA__) || defined(__FMA4__) || defined(__AVX512F__)
    !std::same_as<T, long double>;
#elif defined(__x86_64__) || defined(__i386__)
    false;
#else
    true;
#endif

/// Returns the result of an operation, which compilers then do not contract with the operation that uses it.
template <class T>
XLOOM_ALWAYS_INLINE constexpr T uncombined(T result)
{
    if constexpr (may_contract<T>)
        if (!std::is_constant_evaluated())
            forget_value(result);
    return result;
}

/// Returns a product, rounded before it is used.
template <class T>
XLOOM_ALWAYS_INLINE constexpr T rounded_product(T const& a, T const& b)
{
    T const product = a * b;
    return detail::uncombined(product);
}

/// The types of reductions, in a namespace without functions: a caller's unqualified call with a reduction
/// finds no function of detail.
namespace reductions {

struct reduce_none_t {
    template <class T>
    constexpr T operator()(T const&, T const& update) const
    {
        return update;
    }
};

struct reduce_add_t {
    template <summable T>
    constexpr T operator()(T old, T const& update) const
    {
        if constexpr (std::same_as<T, bool>) {
            return old || update;
        } else if constexpr (counting_integer<T>) {
            using modular = modular_t<T>;
            return static_cast<T>(static_cast<modular>(old) + static_cast<modular>(update));
        } else if constexpr (is_string<T>) {
            old += update;
            return old;
        } else {
            return static_cast<T>(old + update);
        }
    }
};

struct reduce_mul_t {
    template <multipliable T>
    constexpr T operator()(T const& old, T const& update) const
    {
        if constexpr (std::same_as<T, bool>) {
            return old && update;
        } else if constexpr (counting_integer<T>) {
            using modular = modular_t<T>;
            return static_cast<T>(static_cast<modular>(old) * static_cast<modular>(update));
        } else {
            return static_cast<T>(old * update);
        }
    }

    template <class T>
    constexpr std::complex<T> operator()(std::complex<T> const& old, std::complex<T> const& update) const
    {
        return {detail::rounded_product(old.real(), update.real()) -
                    detail::rounded_product(old.imag(), update.imag()),
            detail::rounded_product(old.real(), update.imag()) +
                detail::rounded_product(old.imag(), update.real())};
    }
};

struct reduce_max_t {
    template <ordered T>
    constexpr T operator()(T const& old, T const& update) const
    {
        T const larger = old < update ? update : old; // old, if that is NaN
        return update != update ? update : larger;
    }
};

struct reduce_min_t {
    template <ordered T>
    constexpr T operator()(T const& old, T const& update) const
    {
        T const smaller = update < old ? update : old;
        return update != update ? update : smaller;
    }
};

} // namespace reductions

using namespace reductions;

} // namespace detail

/// The reduction none: the update. Every reduction is a function object: new value = reduce(old value,
/// update).
///
/// Integers wrap around. bool: add and max are or, mul and min are and. Strings: add concatenates, the others
/// do not exist. Complex numbers: add and mul only; products by the textbook's formula, so that infinity
/// times 0 is NaN, as in NumPy. max and min return NaN if either value is NaN, and the old value if both are
/// equal (-0 equals 0). Storage types are computed in float or int and rounded once per update.
inline constexpr detail::reduce_none_t reduce_none{};

/// The reduction add: old + update.
inline constexpr detail::reduce_add_t reduce_add{};

/// The reduction mul: old * update.
inline constexpr detail::reduce_mul_t reduce_mul{};

/// The reduction max: the larger of old and update.
inline constexpr detail::reduce_max_t reduce_max{};

/// The reduction min: the smaller of old and update.
inline constexpr detail::reduce_min_t reduce_min{};

namespace detail {

/// The type of the real part of a complex number; T itself for other types.
template <class T>
struct part_of {
    using type = T;
};
template <class T>
    requires requires { typename T::value_type; }
struct part_of<T> {
    using type = typename T::value_type;
};

template <class T>
using part_t = typename part_of<T>::type;

/// True for a user-defined scalar to which N converts without narrowing.
template <class P, class N>
concept made_from = std::is_class_v<P> && std::is_constructible_v<P, N> && requires(N number) { P{number}; };

/// Converts a count to P, through a number from which a user-defined scalar is made without narrowing.
template <class P>
constexpr P part_from(std::size_t count)
{
    if constexpr (made_from<P, double>)
        return P(static_cast<double>(count));
    else if constexpr (made_from<P, std::int64_t>)
        return P(static_cast<std::int64_t>(count));
    else if constexpr (made_from<P, float>)
        return P(static_cast<float>(count));
    else if constexpr (made_from<P, int>)
        return P(static_cast<int>(count));
    else
        return static_cast<P>(count);
}

template <class T>
concept divisible_by_itself =
    requires(T const& sum, std::size_t count) { static_cast<T>(sum / T(static_cast<part_t<T>>(count))); };
template <class T>
concept divisible_by_part =
    requires(T const& sum, std::size_t count) { static_cast<T>(sum / static_cast<part_t<T>>(count)); };

/// The exact sum of at most 2^31 integers, as high * 2^32 + low.
struct wide_sum {
    std::int64_t high = 0;
    std::uint64_t low = 0;

    wide_sum() = default;
    constexpr wide_sum(std::int64_t h, std::uint64_t l) : high(h), low(l) {}
    template <std::integral T>
        requires(sizeof(T) == sizeof(std::int64_t))
    constexpr explicit wide_sum(T value)
        : high(static_cast<std::int64_t>(value >> 32)), low(static_cast<std::uint64_t>(value) & 0xFFFF'FFFF)
    {}

    /// Returns the sum modulo 2^64.
    template <std::integral T>
    constexpr explicit operator T() const
    {
        return static_cast<T>((static_cast<std::uint64_t>(high) << 32) + low);
    }

    friend constexpr wide_sum operator+(wide_sum const& a, wide_sum const& b)
    {
        return {a.high + b.high, a.low + b.low};
    }
};

/// The type in which values are summed for a mean: integers in a wider one, because their sum may overflow
/// while their mean does not.
template <class T>
struct mean_sum {
    using type = T;
};
template <number T>
    requires(std::numeric_limits<T>::is_integer && sizeof(T) < sizeof(std::int64_t) && !std::same_as<T, bool>)
struct mean_sum<T> {
    using type = std::int64_t;
};
template <std::integral T>
    requires(sizeof(T) == sizeof(std::int64_t))
struct mean_sum<T> {
    using type = wide_sum;
};
template <class T>
using mean_sum_t = typename mean_sum<T>::type;

/// The division sum / count; integers are rounded down.
struct divide_by_count {
    constexpr wide_sum operator()(wide_sum const& sum, std::size_t count) const
    {
        std::int64_t const high = sum.high + static_cast<std::int64_t>(sum.low >> 32);
        std::int64_t const quotient = (*this)(high, count);
        auto const rest = static_cast<std::uint64_t>(high - quotient * static_cast<std::int64_t>(count));
        return {quotient, (rest << 32 | (sum.low & 0xFFFF'FFFF)) / count};
    }
    template <summable T>
        requires(!is_string<T> && !std::same_as<T, bool> &&
                 (number<T> || divisible_by_itself<T> || divisible_by_part<T>))
    constexpr T operator()(T const& sum, std::size_t count) const
    {
        if constexpr (std::unsigned_integral<T>) {
            return static_cast<T>(sum / count);
        } else if constexpr (number<T>) {
            if constexpr (std::integral<decltype(+sum)>) {
                auto const all = static_cast<std::int64_t>(+sum), n = static_cast<std::int64_t>(count);
                return static_cast<T>(all / n - (all % n < 0 ? 1 : 0));
            } else {
                return static_cast<T>(+sum / static_cast<decltype(+sum)>(count));
            }
        } else if constexpr (divisible_by_part<T>) { // of complex numbers exact, also beside an infinite part
            return static_cast<T>(sum / part_from<part_t<T>>(count));
        } else {
            return static_cast<T>(sum / T(part_from<part_t<T>>(count)));
        }
    }
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
