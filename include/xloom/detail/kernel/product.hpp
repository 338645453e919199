#pragma once
// Products of numbers, and the numbers for which a parallel scan may form them in any grouping.

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/kernel/lanes.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

template <class V>
struct scalar_of {
    using type = void;
};
template <std::floating_point T>
struct scalar_of<T> {
    using type = T;
};
template <std::floating_point T>
struct scalar_of<std::complex<T>> {
    using type = T;
};
template <class T>
    requires xloom::detail::is_small_float<T>
struct scalar_of<T> {
    using type = std::conditional_t<std::numeric_limits<T>::has_quiet_NaN, T, void>;
};
template <class V>
    requires(has_lanes<float> && (std::same_as<V, lanes_t<float>> || std::same_as<V, lanes_t<double>>))
struct scalar_of<V> {
    using type = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
};

} // namespace detail

/// The floating-point numbers that a number, a complex number or a vector of lanes consists of; void for
/// other types.
template <class V>
using scalar_of = typename detail::scalar_of<V>::type;

/// True for numbers whose products overflow and underflow.
template <class V>
concept rounded_number = !std::is_void_v<scalar_of<V>>;

/// A power of two e for which products up to 2^(2 e), and their reciprocals, are far from the largest and the
/// smallest normal number of type T: 60 for float, 508 for double.
template <class T>
inline constexpr int safe_exponent = (1 - std::numeric_limits<T>::min_exponent) / 2 - 3;

namespace detail {

/// Returns 2^exponent.
template <class T>
constexpr T power_of_two(int exponent)
{
    T power{1};
    for (; exponent > 0; --exponent)
        power = power * T{2};
    for (; exponent < 0; ++exponent)
        power = power / T{2};
    return power;
}

} // namespace detail

/// 2^exponent, as a number with which numbers of type T are compared.
template <class T, int Exponent>
inline constexpr auto limit_of = detail::power_of_two<xloom::detail::compute_t<T>>(Exponent);

/// Returns |x|; of a complex number, |real| + |imag|.
template <std::floating_point T>
XLOOM_ALWAYS_INLINE inline T magnitude(T x)
{
    return std::abs(x);
}
template <class T>
    requires xloom::detail::is_small_float<T>
inline float magnitude(T x)
{
    return std::abs(static_cast<float>(x));
}
template <class T>
inline T magnitude(std::complex<T> const& x)
{
    return std::abs(x.real()) + std::abs(x.imag());
}
template <rounded_number V>
    requires(!std::is_class_v<V> && !std::is_arithmetic_v<V>)
XLOOM_ALWAYS_INLINE inline V magnitude(V const& x)
{
    using bits = signed_integer<sizeof(scalar_of<V>)>;
    using lanes = lanes_t<bits>;
    return reinterpret_cast<V>(
        reinterpret_cast<lanes>(x) & kernel::broadcast((std::numeric_limits<bits>::max)()));
}

/// Returns a and b, for each lane.
XLOOM_ALWAYS_INLINE inline bool both(bool a, bool b) { return a && b; }
template <class Mask>
    requires(!std::is_arithmetic_v<Mask>)
XLOOM_ALWAYS_INLINE inline Mask both(Mask const& a, Mask const& b)
{
    return a & b;
}

/// True if a condition is true for all lanes.
XLOOM_ALWAYS_INLINE inline bool all_of(bool is_true) { return is_true; }
template <class Mask>
    requires(!std::is_arithmetic_v<Mask>)
XLOOM_ALWAYS_INLINE inline bool all_of(Mask const& are_true)
{
    return kernel::all_lanes(are_true);
}

/// Returns a where a condition is true, else b.
template <class Mask, class V>
XLOOM_ALWAYS_INLINE inline V choose(Mask const& is_true, V const& a, V const& b)
{
    return is_true ? a : b;
}

/// True, for each lane, if magnitude(x) <= 2^High.
template <int High, class V>
XLOOM_ALWAYS_INLINE inline auto is_at_most(V const& x)
{
    return kernel::magnitude(x) <= limit_of<scalar_of<V>, High>;
}
/// True, for each lane, if 2^Low <= magnitude(x) <= 2^High.
template <int Low, int High, class V>
XLOOM_ALWAYS_INLINE inline auto is_within(V const& x)
{
    auto const size = kernel::magnitude(x);
    return kernel::both(size >= limit_of<scalar_of<V>, Low>, size <= limit_of<scalar_of<V>, High>);
}

/// The products of numbers of type T, and where a scan may form them in any grouping.
///
/// While the running product stays in [2^-e, 2^e], with e = safe_exponent, all products of consecutive
/// elements are in [2^-2e, 2^2e], so that none overflows and none loses digits. The rule is also that of
/// vectors of lanes.
template <rounded_number T>
struct ordered_product {
    static constexpr int e = safe_exponent<scalar_of<T>>;

    T operator()(T const& a, T const& b) const { return reduce_mul(a, b); }

    /// True if a scan may begin with a value, and may have a result after an element.
    template <class V>
    XLOOM_ALWAYS_INLINE static auto is_safe_start(V const& before)
    {
        return kernel::is_within<-e, e>(before);
    }
    template <class V>
    XLOOM_ALWAYS_INLINE static auto is_safe(V const&, V const& result)
    {
        return kernel::is_within<-e, e>(result);
    }

    /// True if a number is clear: within half of the safe exponents. The product of two clear numbers is
    /// safe: that of the value before a block and of a result that the block has alone.
    template <class V>
    XLOOM_ALWAYS_INLINE static auto is_clear_start(V const& before)
    {
        return kernel::is_within<1 - e / 2, e / 2 - 1>(before);
    }
    template <class V>
    XLOOM_ALWAYS_INLINE static auto is_clear(V const&, V const& result)
    {
        return is_clear_start(result);
    }

    /// Returns the element that changes no other one.
    template <class V>
    static V neutral()
    {
        return V{} + scalar_of<V>{1};
    }

    /// Returns a total that is_clear_total rejects, of results that are not all clear.
    template <class V>
    static V unclear(V const&)
    {
        return V{};
    }
    template <class V>
    static auto is_clear_total(V const& total)
    {
        return is_clear_start(total);
    }
};

namespace detail {

template <class Op>
struct element_of {
    using type = Op;
};
template <class Op>
    requires requires { typename Op::element; }
struct element_of<Op> {
    using type = typename Op::element;
};

template <class T, class Reduce>
struct scanned_by {
    using type = Reduce;
};
template <rounded_number T>
struct scanned_by<T, reduce_mul_t> {
    using type = ordered_product<T>;
};

} // namespace detail

/// The operator on elements of an operator on lanes; of others, itself. It has the rule on where a scan may
/// be computed in any grouping, if there is one.
template <class Op>
using element_of = typename detail::element_of<Op>::type;

/// True if an operator's rule tells from the elements alone whether results are clear.
template <class Rule, class V>
inline constexpr bool is_clear_by_elements = requires(V const& x) { Rule::is_clear(x); };

/// True, for each lane, if the result after element x is clear by an operator's rule.
template <class Rule, class V>
XLOOM_ALWAYS_INLINE inline auto is_clear(V const& x, V const& result)
{
    if constexpr (is_clear_by_elements<Rule, V>)
        return Rule::is_clear(x);
    else
        return Rule::is_clear(x, result);
}

/// The operator by which a reduction scans Ts.
template <class T, class Reduce>
using scanned_by = typename detail::scanned_by<T, Reduce>::type;

/// The order of a scan of Vs by an operator: is_ordered, if it is computed in order where the operator's rule
/// says so, and the type of the rule's conditions.
template <class Op, class V>
struct order_rule {
    static constexpr bool is_ordered = false;
    using condition = bool;
};
template <class Op, class V>
    requires requires(V const& x) { element_of<Op>::is_safe(x, x); }
struct order_rule<Op, V> {
    static constexpr bool is_ordered = true;
    using condition = decltype(element_of<Op>::is_safe(std::declval<V const&>(), std::declval<V const&>()));
};

} // namespace xloom::inline XLOOM_ABI::kernel
