#pragma once
// SIMD batches as operands of the function objects: a function of floats or doubles takes batches of them,
// too, and gives each item the bits that it gives a number alone.

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/simd.hpp>

namespace xloom_onnx::detail {

namespace kernel = xloom::kernel;

template <class V>
inline constexpr bool is_batch = false;
/// True for the result of a comparison of batches.
template <class V>
inline constexpr bool is_mask = false;
#ifndef XLOOM_NO_SIMD
template <class T, class Arch>
inline constexpr bool is_batch<xsimd::batch<T, Arch>> = true;
template <class T, class Arch>
inline constexpr bool is_mask<xsimd::batch_bool<T, Arch>> = true;
#endif

template <class V>
concept batch = is_batch<V>;
template <class V>
concept mask = is_mask<V>;

template <class V>
struct item_of_batch {
    using type = V;
};
#ifndef XLOOM_NO_SIMD
template <class T, class Arch>
struct item_of_batch<xsimd::batch<T, Arch>> {
    using type = T;
};
template <class T, class Arch>
struct item_of_batch<xsimd::batch_bool<T, Arch>> {
    using type = T;
};
#endif

/// The item type of a batch or mask; of a number its own type.
template <class V>
using batch_item = typename item_of_batch<V>::type;

/// The type of an operation on an A and a B: of two types that agree, or a batch and a number of its item
/// type.
template <class A, class B>
struct common {
    static_assert(std::is_same_v<A, B>, "xloom_onnx: both operands must have one element type.");
    using type = A;
};
template <batch A, class B>
    requires std::is_same_v<batch_item<A>, B>
struct common<A, B> {
    using type = A;
};
template <class A, batch B>
    requires std::is_same_v<A, batch_item<B>>
struct common<A, B> {
    using type = B;
};
template <class A, class B>
using common_t = typename common<A, B>::type;

template <class T>
T first_item(kernel::batch_t<T> const& all)
{
    T items[kernel::batch_size<T>];
    kernel::store_batch(items, all);
    return items[0];
}

/// Returns f of the items of batches, one by one.
template <batch V, class F, class... Vs>
V item_by_item(F const& f, V const& first, Vs const&... others)
{
    using T = batch_item<V>;
    constexpr std::size_t size = V::size;
    T x[1 + sizeof...(Vs)][size];
    kernel::store_batch(x[0], first);
    std::size_t n = 1;
    (kernel::store_batch(x[n++], others), ...);
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (sizeof...(Vs) == 0)
            x[0][i] = f(x[0][i]);
        else
            x[0][i] = f(x[0][i], x[1][i]);
    }
    return kernel::load_batch(x[0]);
}

/// A function of one floating-point number, F::of(x), which F defines for batches and for the numbers without
/// vector units. 16-bit numbers are computed in float.
template <class F>
struct float_function {
    template <class X>
    X operator()(X const& x) const
    {
        if constexpr (is_batch<X>) {
            return F::of(x);
        } else if constexpr (xloom::detail::is_small_float<X>) {
            return X((*this)(static_cast<float>(x)));
        } else {
            static_assert(std::is_same_v<X, float> || std::is_same_v<X, double>,
                "xloom_onnx: this is a function of floating-point numbers.");
            if constexpr (kernel::has_simd<X>)
                return first_item<X>(F::of(kernel::batch_t<X>(x)));
            else
                return F::of(x);
        }
    }
};

} // namespace xloom_onnx::detail
