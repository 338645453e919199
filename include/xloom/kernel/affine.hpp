#pragma once
// Affine maps h -> a h + b, whose composition makes a linear recurrence a scan.

#include <complex>
#include <type_traits>

#include <xloom/kernel/lanes.hpp>

namespace xloom::kernel {

/// Returns a product, rounded before it is used.
///
/// Why the empty asm: a compiler contracts a product and a sum to one instruction where the processor has it,
/// so that the bits of a result would depend on the target.
template <class V>
[[gnu::always_inline]] inline V rounded_product(V const& a, V const& b)
{
    V product = a * b;
#if defined(__FMA__)
    asm("" : "+v"(product));
#elif defined(__aarch64__)
    asm("" : "+w"(product));
#elif !defined(__x86_64__) && !defined(__i386__)
    asm("" : "+m"(product));
#endif
    return product;
}

/// Returns a b + c, whose product and sum are rounded one by one. Complex numbers by the textbook's formula,
/// without the rules of C for infinities.
template <class V>
[[gnu::always_inline]] inline V product_plus(V const& a, V const& b, V const& c)
{
    if constexpr (std::is_class_v<V>)
        return static_cast<V>(a * b + c);
    else
        return kernel::rounded_product(a, b) + c;
}
template <class T>
[[gnu::always_inline]] inline std::complex<T> product_plus(
    std::complex<T> const& a, std::complex<T> const& b, std::complex<T> const& c)
{
    T const real = kernel::rounded_product(a.real(), b.real()) - kernel::rounded_product(a.imag(), b.imag());
    T const imag = kernel::rounded_product(a.real(), b.imag()) + kernel::rounded_product(a.imag(), b.real());
    return {real + c.real(), imag + c.imag()};
}

template <class V>
[[gnu::always_inline]] inline V product(V const& a, V const& b)
{
    return static_cast<V>(a * b);
}
template <class T>
[[gnu::always_inline]] inline std::complex<T> product(std::complex<T> const& a, std::complex<T> const& b)
{
    return {kernel::rounded_product(a.real(), b.real()) - kernel::rounded_product(a.imag(), b.imag()),
        kernel::rounded_product(a.real(), b.imag()) + kernel::rounded_product(a.imag(), b.real())};
}

/// The map h -> a h + b. V is a number, or a vector of lanes.
template <class V>
struct affine_map {
    V a, b;
};

/// The composition of affine maps: `first`, then `second`.
struct compose {
    template <class V>
    [[gnu::always_inline]] affine_map<V> operator()(
        affine_map<V> const& first, affine_map<V> const& second) const
    {
        return {kernel::product(first.a, second.a), kernel::product_plus(second.a, first.b, second.b)};
    }
};

/// The composition of affine maps, lane by lane.
template <class T>
    requires has_lanes<T>
struct lane_compose {
    using value_type = affine_map<T>;
    using lanes = affine_map<lanes_t<T>>;

    static constexpr std::size_t lane_count = kernel::lane_count<T>;

    [[gnu::always_inline]] lanes operator()(lanes const& first, lanes const& second) const
    {
        return compose{}(first, second);
    }

    [[gnu::always_inline]] static lanes broadcast(affine_map<T> const& x)
    {
        return {kernel::broadcast(x.a), kernel::broadcast(x.b)};
    }
    [[gnu::always_inline]] static lanes last(lanes const& x)
    {
        return {last_lane<T>(x.a), last_lane<T>(x.b)};
    }
    [[gnu::always_inline]] static affine_map<T> first_lane(lanes const& x) { return {x.a[0], x.b[0]}; }

    /// Combines the last lane of every lower half with the upper half after it.
    template <std::size_t Half>
    [[gnu::always_inline]] lanes combine_halves(lanes const& x) const
    {
        lanes const combined = (*this)(
            {spread_lanes<T, Half>(x.a, kernel::broadcast(T{1})), spread_lanes<T, Half>(x.b, x.b)}, x);
        return {combined.a, merge_halves<T, Half>(x.b, combined.b)};
    }
};

} // namespace xloom::kernel
