#pragma once
// The numbers of several sequences, one in each SIMD lane, which the body of scan_lanes computes with.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI {

/// True for the types of numbers that lanes hold: float, double, and integers of 32 and 64 bits.
template <class T>
concept lane_item = std::same_as<T, float> || std::same_as<T, double> ||
                    (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8));

template <lane_item T, std::size_t N>
class lanes;

namespace detail {

/// The least number of lanes: those of a register of 32-bit items, 1 without vector units.
inline constexpr std::size_t fewest_lanes = kernel::lane_count<std::int32_t>;

using kernel::signed_integer;

/// The type of one register of a mask; bool without vector units.
template <std::size_t Bytes>
using mask_part =
    std::conditional_t<kernel::has_lanes<std::int32_t>, kernel::lanes_t<signed_integer<Bytes>>, bool>;

/// Calls f(0), f(1), ..., without a loop.
template <std::size_t Count, class F>
XLOOM_ALWAYS_INLINE inline void for_each_part(F const& f)
{
    [&]<std::size_t... I>(std::index_sequence<I...>)
        XLOOM_ALWAYS_INLINE_LAMBDA { (f(I), ...); }(std::make_index_sequence<Count>());
}

/// Requires a body that does not branch on lanes.
template <class To>
struct no_branch {
    static consteval bool holds()
    {
        static_assert(never<To>,
            "a body of lanes computes with many sequences at once, so that it cannot branch on their values; "
            "write xloom::select(condition, a, b) in place of if and ?:, and & and | in place of && and ||");
        return false;
    }
};

/// Requires that C++ converts a number beside a T to T, in arithmetic and in comparisons.
template <class Number, class T>
struct number_beside_lanes {
    static consteval bool holds()
    {
        using common = std::common_type_t<Number, T>; // maybe long long where T is long
        constexpr bool is_valid = std::floating_point<common> == std::floating_point<T> &&
                                  std::is_signed_v<common> == std::is_signed_v<T> &&
                                  sizeof(common) == sizeof(T);
        static_assert(is_valid, "a number would be rounded or wrapped to the type of the lanes beside it; "
                                "write 0.5f in place of 0.5, or cast it");
        return is_valid;
    }
};

/// Vectors of Ts, of unsigned numbers where T is an integer: their arithmetic wraps around. Lanes that have
/// ended, or have no sequence, compute too.
template <class T>
struct wrapping {
    using type = kernel::lanes_t<T>;
};
template <std::signed_integral T>
struct wrapping<T> {
    using type = kernel::lanes_t<std::make_unsigned_t<T>>;
};
template <class T>
using wrapping_t = typename wrapping<T>::type;

/// Returns -a, which wraps around.
template <class T>
XLOOM_ALWAYS_INLINE inline kernel::lanes_t<T> negated(kernel::lanes_t<T> const& a)
{
    return (kernel::lanes_t<T>)(-(wrapping_t<T>)a);
}

/// Returns the numbers that have a To; of floating-point numbers out of the range of an integer type 0.
template <class To, class From>
XLOOM_ALWAYS_INLINE inline kernel::lanes_t<From> convertible(kernel::lanes_t<From> const& x)
{
    if constexpr (std::integral<To> && std::floating_point<From>) {
        auto const zero = kernel::broadcast(From{0}), end = kernel::broadcast(range_end<To, From>);
        auto const least = std::is_signed_v<To> ? -end : zero;
        auto const below = x < end ? x : zero;
        return below >= least ? below : zero;
    } else {
        return x;
    }
}

/// Returns a / b or a % b of integers, and never traps: lanes that have ended, or have no sequence, divide
/// too. A division by 0 gives any number, one of the least number by -1 the least number.
template <bool IsRemainder, std::integral T>
XLOOM_ALWAYS_INLINE inline kernel::lanes_t<T> divided(
    kernel::lanes_t<T> const& a, kernel::lanes_t<T> const& b)
{
    kernel::lanes_t<T> const one = kernel::broadcast(T(1));
    kernel::lanes_t<T> divisor = b == 0 ? one : b;
    if constexpr (std::is_signed_v<T>)
        divisor = b == -1 ? one : divisor;
    if constexpr (IsRemainder)
        return a % divisor;
    else if constexpr (std::is_signed_v<T>)
        return b == -1 ? detail::negated<T>(a) : a / divisor;
    else
        return a / divisor;
}

} // namespace detail

/// The result of a comparison of N lanes whose items have `Bytes` bytes: what select chooses by.
///
/// It does not convert to bool, because lanes may differ: where a body of scalars has if, ?:, && or ||, one
/// of lanes has select, & and |.
template <std::size_t Bytes, std::size_t N>
class lane_mask {
public:
    using part = detail::mask_part<Bytes>;
    static constexpr std::size_t parts = N / kernel::lane_count<detail::signed_integer<Bytes>>;

    XLOOM_ALWAYS_INLINE part const& operator[](std::size_t i) const { return parts_[i]; }

    template <std::same_as<bool> To>
    operator To() const
    {
        return detail::no_branch<To>::holds();
    }

    XLOOM_ALWAYS_INLINE friend lane_mask operator&(lane_mask const& a, lane_mask const& b)
    {
        return made([&](std::size_t i) {
            part const x = a[i], y = b[i];
            return static_cast<part>(x & y);
        });
    }
    XLOOM_ALWAYS_INLINE friend lane_mask operator|(lane_mask const& a, lane_mask const& b)
    {
        return made([&](std::size_t i) {
            part const x = a[i], y = b[i];
            return static_cast<part>(x | y);
        });
    }
    XLOOM_ALWAYS_INLINE friend lane_mask operator!(lane_mask const& a)
    {
        return made([&](std::size_t i) {
            if constexpr (std::same_as<part, bool>)
                return !a[i];
            else
                return ~a[i];
        });
    }

    /// Returns the mask whose parts are f(0), f(1), ...
    template <class F>
    XLOOM_ALWAYS_INLINE static lane_mask made(F const& f)
    {
        lane_mask mask;
        detail::for_each_part<parts>([&](std::size_t i) { mask.parts_[i] = f(i); });
        return mask;
    }

private:
    part parts_[parts];
};

/// N numbers, each of another sequence, on which all operators work at once; without SIMD units N is 1.
///
/// A number of type T converts to lanes that are all equal. A product is rounded before it is used: no
/// compiler contracts it with a sum, so that a sequence has the same bits in every lane and for every N.
///
/// Types     float, double, and integers of 32 and 64 bits. A number that C++ would not convert to T beside a
///           T is an error, such as a double beside lanes of floats, which would be rounded; write 0.5f. An
///           integer beside lanes of floats is rounded, as in C++. Integers divided by 0 give any number.
template <lane_item T, std::size_t N>
class lanes {
    static_assert(N % detail::fewest_lanes == 0, "N must be a multiple of the lanes of a register");

public:
    using item = T;
    using part = kernel::lanes_t<T>;
    using mask = lane_mask<sizeof(T), N>;

    static constexpr std::size_t size = N, parts = N / kernel::lane_count<T>;

    lanes() = default;
    /// Copies vector by vector: g++ 12 copies an array of them 16 bytes at a time, through the stack.
    XLOOM_ALWAYS_INLINE lanes(lanes const& from)
    {
        detail::for_each_part<parts>([&](std::size_t i) { parts_[i] = from[i]; });
    }
    XLOOM_ALWAYS_INLINE lanes& operator=(lanes const& from)
    {
        detail::for_each_part<parts>([&](std::size_t i) { parts_[i] = from[i]; });
        return *this;
    }
    template <class Number>
        requires std::is_arithmetic_v<Number>
    XLOOM_ALWAYS_INLINE lanes(Number x)
    {
        if constexpr (detail::number_beside_lanes<Number, T>::holds())
            *this = made([&](std::size_t) { return kernel::broadcast(static_cast<T>(x)); });
    }
    /// Converts each number as static_cast does; a floating-point number out of an integer's range to 0.
    template <class From>
    XLOOM_ALWAYS_INLINE explicit lanes(lanes<From, N> const& from)
    {
        if constexpr (sizeof(From) == sizeof(T) && kernel::has_lanes<T>) {
            *this = made([&](std::size_t i) {
                return __builtin_convertvector(detail::convertible<T, From>(from[i]), part);
            });
        } else {
            From items[N];
            T converted[N];
            from.store(items);
            for (std::size_t i = 0; i < N; ++i)
                converted[i] = detail::defined_cast<T>(items[i]);
            *this = load(converted);
        }
    }

    XLOOM_ALWAYS_INLINE static lanes load(T const* from)
    {
        return made([&](std::size_t i) { return kernel::load_lanes(from + i * kernel::lane_count<T>); });
    }
    XLOOM_ALWAYS_INLINE void store(T* to) const
    {
        detail::for_each_part<parts>(
            [&](std::size_t i) { kernel::store_lanes(to + i * kernel::lane_count<T>, parts_[i]); });
    }

    /// One of the vectors that hold the numbers.
    XLOOM_ALWAYS_INLINE part const& operator[](std::size_t i) const { return parts_[i]; }

    /// Returns the lanes whose vectors are f(0), f(1), ...
    template <class F>
    XLOOM_ALWAYS_INLINE static lanes made(F const& f)
    {
        lanes x;
        detail::for_each_part<parts>([&](std::size_t i) { x.parts_[i] = f(i); });
        return x;
    }

    XLOOM_ALWAYS_INLINE friend lanes operator+(lanes const& a, lanes const& b)
    {
        return made([&](std::size_t i) { return (part)((wrapping)a[i] + (wrapping)b[i]); });
    }
    XLOOM_ALWAYS_INLINE friend lanes operator-(lanes const& a, lanes const& b)
    {
        return made([&](std::size_t i) { return (part)((wrapping)a[i] - (wrapping)b[i]); });
    }
    XLOOM_ALWAYS_INLINE friend lanes operator*(lanes const& a, lanes const& b)
    {
        return made([&](std::size_t i) {
            if constexpr (std::floating_point<T>)
                return detail::rounded_product(a[i], b[i]);
            else
                return (part)((wrapping)a[i] * (wrapping)b[i]);
        });
    }
    XLOOM_ALWAYS_INLINE friend lanes operator/(lanes const& a, lanes const& b)
    {
        return made([&](std::size_t i) {
            if constexpr (std::integral<T>)
                return detail::divided<false, T>(a[i], b[i]);
            else
                return a[i] / b[i];
        });
    }
    XLOOM_ALWAYS_INLINE friend lanes operator-(lanes const& a)
    {
        return made([&](std::size_t i) { return detail::negated<T>(a[i]); });
    }
    XLOOM_ALWAYS_INLINE friend lanes operator+(lanes const& a) { return a; }

    XLOOM_ALWAYS_INLINE friend lanes& operator+=(lanes& a, lanes const& b) { return a = a + b; }
    XLOOM_ALWAYS_INLINE friend lanes& operator-=(lanes& a, lanes const& b) { return a = a - b; }
    XLOOM_ALWAYS_INLINE friend lanes& operator*=(lanes& a, lanes const& b) { return a = a * b; }
    XLOOM_ALWAYS_INLINE friend lanes& operator/=(lanes& a, lanes const& b) { return a = a / b; }

#define XLOOM_COMPARISON(op)                                                                                 \
    XLOOM_ALWAYS_INLINE friend mask operator op(lanes const& a, lanes const& b)                              \
    {                                                                                                        \
        return mask::made([&](std::size_t i) { return (typename mask::part)(a[i] op b[i]); });               \
    }
    XLOOM_COMPARISON(<)
    XLOOM_COMPARISON(>)
    XLOOM_COMPARISON(<=)
    XLOOM_COMPARISON(>=)
    XLOOM_COMPARISON(==)
    XLOOM_COMPARISON(!=)
#undef XLOOM_COMPARISON

#define XLOOM_INTEGER_OPERATOR(op)                                                                           \
    XLOOM_ALWAYS_INLINE friend lanes operator op(lanes const& a, lanes const& b)                             \
        requires std::integral<T>                                                                            \
    {                                                                                                        \
        return made([&](std::size_t i) { return a[i] op b[i]; });                                            \
    }
    XLOOM_INTEGER_OPERATOR(&)
    XLOOM_INTEGER_OPERATOR(|)
    XLOOM_INTEGER_OPERATOR(^)
    XLOOM_INTEGER_OPERATOR(<<)
    XLOOM_INTEGER_OPERATOR(>>)
#undef XLOOM_INTEGER_OPERATOR
    XLOOM_ALWAYS_INLINE friend lanes operator%(lanes const& a, lanes const& b)
        requires std::integral<T>
    {
        return made([&](std::size_t i) { return detail::divided<true, T>(a[i], b[i]); });
    }

private:
    using wrapping = detail::wrapping_t<T>;

    part parts_[parts]{};
};

namespace detail {

template <class T>
inline constexpr bool is_lanes = false;
template <class T, std::size_t N>
inline constexpr bool is_lanes<lanes<T, N>> = true;

/// Requires that a condition chooses among numbers of the size of those that were compared.
template <class T, std::size_t Bytes>
struct chosen_by_comparison {
    static consteval bool holds()
    {
        static_assert(sizeof(T) == Bytes,
            "a condition chooses among numbers of the size of those that were compared; cast them");
        return sizeof(T) == Bytes;
    }
};

/// The common type of two values one of which is lanes, the other lanes of the same type or a number.
template <class A, class B>
using either_lanes = std::conditional_t<is_lanes<A>, A, B>;

} // namespace detail

/// Returns a where the condition is true, else b: lane by lane; for a bool one of the two.
template <std::size_t Bytes, std::size_t N, class A, class B>
    requires(detail::is_lanes<A> || detail::is_lanes<B>)
XLOOM_ALWAYS_INLINE inline auto select(lane_mask<Bytes, N> const& condition, A const& a, B const& b)
{
    using result = detail::either_lanes<A, B>;
    if constexpr (detail::chosen_by_comparison<typename result::item, Bytes>::holds()) {
        result const yes = a, no = b;
        return result::made([&](std::size_t i) { return condition[i] ? yes[i] : no[i]; });
    } else {
        return result();
    }
}
/// As above, of numbers that are the same in all lanes.
template <std::size_t Bytes, std::size_t N, lane_item T>
XLOOM_ALWAYS_INLINE inline lanes<T, N> select(lane_mask<Bytes, N> const& condition, T a, T b)
{
    return select(condition, lanes<T, N>(a), lanes<T, N>(b));
}
/// As above, of numbers or of lanes that one condition chooses, in their common type.
template <class A, class B>
constexpr std::common_type_t<A, B> select(bool condition, A const& a, B const& b)
{
    using result = std::common_type_t<A, B>;
    return condition ? static_cast<result>(a) : static_cast<result>(b);
}

/// Returns |x|, without the sign of -0 and NaN.
template <lane_item T, std::size_t N>
XLOOM_ALWAYS_INLINE inline lanes<T, N> abs(lanes<T, N> const& x)
{
    if constexpr (std::integral<T>)
        return select(x < T(0), -x, x);
    else
        return lanes<T, N>::made([&](std::size_t i) { return kernel::magnitude(x[i]); });
}
/// As above, of a number.
template <lane_item T>
T abs(T x)
{
    if constexpr (std::unsigned_integral<T>)
        return x;
    else if constexpr (std::integral<T>)
        return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
    else
        return std::abs(x);
}

/// Returns b if b < a, else a: NaN if a is NaN, or both are.
template <class A, class B>
    requires(detail::is_lanes<A> || detail::is_lanes<B>)
XLOOM_ALWAYS_INLINE inline auto(min)(A const& a, B const& b)
{
    using result = detail::either_lanes<A, B>;
    result const first = a, second = b;
    return select(second < first, second, first);
}
/// Returns b if a < b, else a: NaN if a is NaN, or both are.
template <class A, class B>
    requires(detail::is_lanes<A> || detail::is_lanes<B>)
XLOOM_ALWAYS_INLINE inline auto(max)(A const& a, B const& b)
{
    using result = detail::either_lanes<A, B>;
    result const first = a, second = b;
    return select(first < second, second, first);
}
/// As above, of numbers, in their common type.
template <class A, class B>
    requires(!detail::is_lanes<A> && !detail::is_lanes<B>)
constexpr auto(min)(A const& a, B const& b)
{
    using result = std::common_type_t<A, B>;
    return select(static_cast<result>(b) < static_cast<result>(a), b, a);
}
/// As above, of numbers, in their common type.
template <class A, class B>
    requires(!detail::is_lanes<A> && !detail::is_lanes<B>)
constexpr auto(max)(A const& a, B const& b)
{
    using result = std::common_type_t<A, B>;
    return select(static_cast<result>(a) < static_cast<result>(b), b, a);
}

} // namespace xloom::inline XLOOM_ABI
