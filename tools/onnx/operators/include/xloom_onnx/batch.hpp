#pragma once
// SIMD batches as operands of the function objects: a function of floats or doubles takes batches of them,
// too, and gives each item the bits that it gives a number alone.

#include <type_traits>

#include <xloom/kernels.hpp>

namespace xloom_onnx::detail {

namespace kernels = xloom::kernels;

using kernels::batch_item_t;
using kernels::is_batch;
using kernels::is_mask;

template <class V>
concept batch = is_batch<V>;
template <class V>
concept mask = is_mask<V>;

/// The type of an operation on an A and a B: of two types that agree, or a batch and a number of its item
/// type.
template <class A, class B>
struct common {
    static_assert(std::is_same_v<A, B>, "xloom_onnx: both operands must have one element type.");
    using type = A;
};
template <batch A, class B>
    requires std::is_same_v<batch_item_t<A>, B>
struct common<A, B> {
    using type = A;
};
template <class A, batch B>
    requires std::is_same_v<A, batch_item_t<B>>
struct common<A, B> {
    using type = B;
};
template <class A, class B>
using common_t = typename common<A, B>::type;

/// Returns f.at(x) for a batch, a float or a double. A 16-bit number is computed in float; a number of a type
/// with vector units as a batch, so that it has the bits that it has in one.
template <class F, class X>
X call_of(F const& f, X const& x)
{
    if constexpr (is_batch<X>)
        return f.at(x);
    else if constexpr (kernels::is_small_float<X>)
        return X(call_of(f, static_cast<float>(x)));
    else if constexpr (kernels::has_simd<X>)
        return kernels::first_item<X>(f.at(kernels::batch_t<X>(x)));
    else
        return f.at(x);
}

/// A function of one floating-point number: `at`, which takes batches and, without vector units, numbers.
template <class F>
struct float_function {
    F at;

    template <class X>
    X operator()(X const& x) const
    {
        static_assert(is_batch<X> || kernels::is_small_float<X> || std::is_same_v<X, float> ||
                          std::is_same_v<X, double>,
            "xloom_onnx: this is a function of floating-point numbers.");
        return call_of(*this, x);
    }
};
template <class F>
float_function(F) -> float_function<F>;

} // namespace xloom_onnx::detail
