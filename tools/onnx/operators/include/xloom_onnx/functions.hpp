#pragma once
// Functions of one floating-point number, for numbers and SIMD batches: Sqrt, Exp .. Round, Relu, Tanh ..
// Selu. NaN stays NaN in all of them; 16-bit numbers are computed in float.
//
// Max error in ULP: Sqrt, Reciprocal, Floor, Ceil, Round 0.5; Exp, Log, Elu, Selu 2; Tanh, Softplus, Sin,
// Cos, Erf 3; Sigmoid 4, but 0 below 1e-38 (float) or 1e-307 (double). Gelu and Swish are ONNX's formulas of
// these: the error of Gelu's normal distribution is absolute, 3 ULP of 1.

#include <cmath>

#include <xloom_onnx/batch.hpp>

namespace xloom_onnx {

inline constexpr detail::float_function sqrt{[](auto const& x) {
    using std::sqrt;
    return sqrt(x);
}};
inline constexpr detail::float_function exp{[](auto const& x) { return xloom::kernels::full_exp(x); }};
inline constexpr detail::float_function reciprocal{
    []<class V>(V const& x) { return xloom::kernels::divide(V(1), x); }};
// Without an instruction for them Floor and Ceil are made from the nearest integer: those of xsimd 8.1 lose
// the sign of -0 then, and convert NaN and doubles out of range to integers.
#ifdef __SSE4_1__
inline constexpr detail::float_function floor{[](auto const& x) {
    using std::floor;
    return floor(x);
}};
inline constexpr detail::float_function ceil{[](auto const& x) {
    using std::ceil;
    return ceil(x);
}};
#else
inline constexpr detail::float_function floor{[]<class V>(V const& x) {
    using std::copysign;
    using std::nearbyint;
    V const nearest = nearbyint(x);
    return V(copysign(xloom::kernels::select(nearest > x, V(nearest - V(1)), nearest), x));
}};
inline constexpr detail::float_function ceil{[]<class V>(V const& x) {
    using std::copysign;
    using std::nearbyint;
    V const nearest = nearbyint(x);
    return V(copysign(xloom::kernels::select(nearest < x, V(nearest + V(1)), nearest), x));
}};
#endif
/// To the nearest integer, halves to even.
inline constexpr detail::float_function round{[](auto const& x) {
    using std::nearbyint;
    return nearbyint(x);
}};
inline constexpr detail::float_function tanh{[](auto const& x) { return xloom::kernels::tanh{}(x); }};
inline constexpr detail::float_function sigmoid{[](auto const& x) { return xloom::kernels::sigmoid{}(x); }};
inline constexpr detail::float_function softplus{[](auto const& x) { return xloom::kernels::softplus{}(x); }};
inline constexpr detail::float_function softsign{[]<class V>(V const& x) {
    using std::abs;
    return xloom::kernels::divide(x, V(1) + abs(x));
}};
/// x times x / 6 + 0.5, clamped to [0, 1].
inline constexpr detail::float_function hard_swish{[]<class V>(V const& x) {
    using T = detail::batch_item_t<V>;
    V const factor = x * V(static_cast<T>(1.0 / 6)) + V(T(0.5));
    return V(
        x * xloom::kernels::select(factor < V(0), V(0), xloom::kernels::select(factor > V(1), V(1), factor)));
}};
/// x times the normal distribution function of x: x (1 + erf(x / sqrt(2))) / 2.
inline constexpr detail::float_function gelu{[]<class V>(V const& x) {
    using T = detail::batch_item_t<V>;
    V const scaled = x * V(static_cast<T>(0.70710678118654752440));
    return V(V(T(0.5)) * x * (V(T(1)) + xloom::kernels::erf_of(scaled)));
}};
/// Gelu by an approximation: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, which is a product of x and a
/// sigmoid.
inline constexpr detail::float_function gelu_tanh{[]<class V>(V const& x) {
    using T = detail::batch_item_t<V>;
    constexpr double slope = 1.59576912160573071176; // 2 sqrt(2 / pi)
    V const factor = V(static_cast<T>(slope)) + V(static_cast<T>(0.044715 * slope)) * x * x;
    return V(x * xloom::kernels::sigmoid{}(V(x * factor)));
}};
inline constexpr detail::float_function log{[](auto const& x) { return xloom::kernels::log_of(x); }};
inline constexpr detail::float_function sin{[](auto const& x) { return xloom::kernels::sin_of(x); }};
inline constexpr detail::float_function cos{[](auto const& x) { return xloom::kernels::cos_of(x); }};
inline constexpr detail::float_function erf{[](auto const& x) { return xloom::kernels::erf_of(x); }};

/// max(x, 0), of whole numbers too; -0 stays -0.
struct relu_function {
    template <class V>
    V operator()(V const& x) const
    {
        if constexpr (detail::is_batch<V>)
            return xloom::kernels::relu{}(x);
        else
            return +x < 0 ? V(0) : x;
    }
};
inline constexpr relu_function relu{};

namespace detail {

/// A function with parameters: Derived::at(x) for a batch, a float or a double.
template <class Derived>
struct parametric_function {
    template <class X>
    X operator()(X const& x) const
    {
        return call_of(static_cast<Derived const&>(*this), x);
    }

protected:
    /// Returns a parameter as all items of a V.
    template <class V>
    static V of(double parameter)
    {
        return V(static_cast<batch_item_t<V>>(parameter));
    }
};

/// exp(x) - 1 for x <= 0.
template <class V>
V expm1_below_0(V const& x)
{
    return kernels::expm1_of(kernels::select(x < V(0), x, V(0)));
}

} // namespace detail

/// alpha (exp(x) - 1) for x < 0, else x.
struct elu : detail::parametric_function<elu> {
    explicit elu(double a = 1) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return xloom::kernels::select(x < V(0), of<V>(alpha) * detail::expm1_below_0(x), x);
    }
};

/// alpha x for x < 0, else x.
struct leaky_relu : detail::parametric_function<leaky_relu> {
    explicit leaky_relu(double a = 0.01) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return xloom::kernels::select(x < V(0), of<V>(alpha) * x, x);
    }
};

/// x sigmoid(alpha x).
struct swish : detail::parametric_function<swish> {
    explicit swish(double a = 1) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return x * xloom::kernels::sigmoid{}(V(of<V>(alpha) * x));
    }
};

/// x for x > alpha, else 0. NaN stays NaN.
struct thresholded_relu : detail::parametric_function<thresholded_relu> {
    explicit thresholded_relu(double a = 1) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return xloom::kernels::select(x <= of<V>(alpha), V(0), x);
    }
};

/// alpha x + beta, clamped to [0, 1].
struct hard_sigmoid : detail::parametric_function<hard_sigmoid> {
    explicit hard_sigmoid(double a = 0.2, double b = 0.5) : alpha(a), beta(b) {}
    double alpha, beta;

    template <class V>
    V at(V const& x) const
    {
        V const y = of<V>(alpha) * x + of<V>(beta);
        return xloom::kernels::select(y < V(0), V(0), xloom::kernels::select(y > V(1), V(1), y));
    }
};

/// gamma x for x > 0, else gamma alpha (exp(x) - 1).
struct selu : detail::parametric_function<selu> {
    explicit selu(double a = 1.67326319217681884765625, double g = 1.05070102214813232421875)
        : alpha(a), gamma(g)
    {}
    double alpha, gamma;

    template <class V>
    V at(V const& x) const
    {
        return of<V>(gamma) *
               xloom::kernels::select(x > V(0), x,
                   of<V>(alpha) * xloom::kernels::expm1_of(xloom::kernels::select(x > V(0), V(0), x)));
    }
};

} // namespace xloom_onnx
