#pragma once
// Affine maps h -> a h + b, whose composition makes a linear recurrence a scan.

#include <complex>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/lane_transpose.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns a b + c, whose product and sum are rounded one by one. Complex numbers by the textbook's formula,
/// without the rules of C for infinities.
template <class V>
XLOOM_ALWAYS_INLINE inline V product_plus(V const& a, V const& b, V const& c)
{
    if constexpr (std::is_class_v<V>)
        return static_cast<V>(a * b + c);
    else
        return xloom::detail::rounded_product(a, b) + c;
}
template <class T>
XLOOM_ALWAYS_INLINE inline std::complex<T> product_plus(
    std::complex<T> const& a, std::complex<T> const& b, std::complex<T> const& c)
{
    return reduce_mul(a, b) + c;
}

/// The map h -> a h + b. V is a number, or a vector of lanes.
template <class V>
struct affine_map {
    V a, b;
};

/// The largest |a| of which the product of a block does not overflow: its 256th power is at most 2^44 for
/// float, else 2^256.
template <class T>
inline constexpr T largest_decay = safe_exponent<T> < 256 ? T(1.125) : T(2);

/// True, for each lane, if |a| <= largest_decay.
template <class V>
XLOOM_ALWAYS_INLINE inline auto is_decay(V const& a)
{
    return kernel::magnitude(a) <= largest_decay<scalar_of<V>>;
}
template <class T>
XLOOM_ALWAYS_INLINE inline bool is_decay(std::complex<T> const& a)
{
    return xloom::detail::rounded_product(a.real(), a.real()) +
               xloom::detail::rounded_product(a.imag(), a.imag()) <=
           largest_decay<T> * largest_decay<T>;
}

/// The composition of affine maps: `first`, then `second`; and where a scan may form it in any grouping.
///
/// While |a| <= largest_decay in a block, no product of a overflows, and one that underflows does not become
/// large again. With |b| and the state before the block up to 2^safe_exponent, no state overflows.
struct compose {
    template <class V>
    XLOOM_ALWAYS_INLINE affine_map<V> operator()(
        affine_map<V> const& first, affine_map<V> const& second) const
    {
        return {reduce_mul(second.a, first.a), kernel::product_plus(second.a, first.b, second.b)};
    }

    /// True if a scan may begin with a value, and may have an element.
    template <rounded_number V>
    XLOOM_ALWAYS_INLINE static auto is_safe_start(affine_map<V> const& before)
    {
        return kernel::is_at_most<safe_exponent<scalar_of<V>>>(before.b);
    }
    template <rounded_number V>
    XLOOM_ALWAYS_INLINE static auto is_safe(affine_map<V> const& x, affine_map<V> const&)
    {
        return kernel::both(kernel::is_decay(x.a), kernel::is_at_most<safe_exponent<scalar_of<V>>>(x.b));
    }

    /// True if the value before a block, or an element, is clear: if it is safe, as results do not matter.
    template <rounded_number V>
    XLOOM_ALWAYS_INLINE static auto is_clear_start(affine_map<V> const& before)
    {
        return is_safe_start(before);
    }
    template <rounded_number V>
    XLOOM_ALWAYS_INLINE static auto is_clear(affine_map<V> const& x)
    {
        return is_safe(x, x);
    }

    /// Returns a total that is_clear_total rejects, of elements that are not all clear.
    template <rounded_number V>
    static affine_map<V> unclear(affine_map<V> const&)
    {
        return {V{} + limit_of<scalar_of<V>, safe_exponent<scalar_of<V>> + 1>, V{}};
    }
    template <rounded_number V>
    static auto is_clear_total(affine_map<V> const& total)
    {
        return kernel::is_at_most<safe_exponent<scalar_of<V>>>(total.a);
    }
};

/// Returns a where the comparison is true, else b.
template <class Mask, class V>
XLOOM_ALWAYS_INLINE inline affine_map<V> choose(
    Mask const& is_true, affine_map<V> const& a, affine_map<V> const& b)
{
    return {kernel::choose(is_true, a.a, b.a), kernel::choose(is_true, a.b, b.b)};
}

/// The composition of affine maps, lane by lane.
template <class T>
    requires has_lanes<T>
struct lane_compose {
    using value_type = affine_map<T>;
    using lanes = affine_map<lanes_t<T>>;

    static constexpr std::size_t lane_count = kernel::lane_count<T>;

    /// The operator on elements, and its rule on lanes.
    using element = compose;

    XLOOM_ALWAYS_INLINE lanes operator()(lanes const& first, lanes const& second) const
    {
        return compose{}(first, second);
    }

    XLOOM_ALWAYS_INLINE static lanes broadcast(affine_map<T> const& x)
    {
        return {kernel::broadcast(x.a), kernel::broadcast(x.b)};
    }
    XLOOM_ALWAYS_INLINE static lanes last(lanes const& x) { return {last_lane<T>(x.a), last_lane<T>(x.b)}; }
    XLOOM_ALWAYS_INLINE static affine_map<T> first_lane(lanes const& x) { return {x.a[0], x.b[0]}; }
    /// Combines lane 0 with 1, 2 with 3, ..., of a and then of b.
    XLOOM_ALWAYS_INLINE lanes combine_pairs(lanes const& a, lanes const& b) const
    {
        return (*this)({even_lanes<T>(a.a, b.a), even_lanes<T>(a.b, b.b)},
            {odd_lanes<T>(a.a, b.a), odd_lanes<T>(a.b, b.b)});
    }
    /// Exchanges lane j of vector i with lane i of vector j.
    XLOOM_ALWAYS_INLINE static void transpose(lanes (&rows)[lane_count])
    {
        lanes_t<T> a[lane_count], b[lane_count];
        for (std::size_t i = 0; i < lane_count; ++i) {
            a[i] = rows[i].a;
            b[i] = rows[i].b;
        }
        transpose_lanes<T>(a);
        transpose_lanes<T>(b);
        for (std::size_t i = 0; i < lane_count; ++i)
            rows[i] = {a[i], b[i]};
    }

    static affine_map<T> get(lanes const& x, std::size_t lane) { return {x.a[lane], x.b[lane]}; }
    static void set(lanes& x, std::size_t lane, affine_map<T> const& value)
    {
        x.a[lane] = value.a;
        x.b[lane] = value.b;
    }

    /// Combines the last lane of every lower half with the upper half after it.
    template <std::size_t Half>
    XLOOM_ALWAYS_INLINE lanes combine_halves(lanes const& x) const
    {
        lanes const combined = (*this)(
            {spread_lanes<T, Half>(x.a, kernel::broadcast(T{1})), spread_lanes<T, Half>(x.b, x.b)}, x);
        return {combined.a, merge_halves<T, Half>(x.b, combined.b)};
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
