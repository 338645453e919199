#pragma once
// Functions of one floating-point number, for numbers and SIMD batches: Sqrt, Exp .. Round, Relu, Tanh ..
// Selu. NaN stays NaN in all of them; 16-bit numbers are computed in float.
//
// Max error in ULP: Sqrt, Reciprocal, Floor, Ceil, Round 0.5; Exp, Log, Elu, Selu 2; Tanh, Softplus, Sin,
// Cos, Erf 3; Sigmoid 4, but 0 below 1e-38 (float) or 1e-307 (double).

#include <cmath>

#include <xloom_onnx/batch.hpp>

namespace xloom_onnx {

namespace detail {

/// exp(x), with subnormal results.
///
/// Why not kernel::exp_of: it is 0 or infinite for results near the ends of the range.
template <class V>
V full_exp(V const& x)
{
    namespace elementary = kernel::detail;
    using namespace kernel; // without vector units it lacks some functions, which a qualified name would need
    if constexpr (elementary::is_float_batch<V>) {
        V const limited = max_nan_second(V(-104), min_nan_second(V(89), x));
        auto const exponent = nearbyint_as_int(limited * V(1.44269504f));
        using ints = std::remove_const_t<decltype(exponent)>;
        ints const half = exponent >> 1; // 2^n = 2^half 2^(n - half), each of which is a normal number
        V const rest = elementary::exp_parts<V>(limited).rest;
        return (V(1) + rest) * elementary::power_of_two<V>(half) *
               elementary::power_of_two<V>(ints(exponent - half));
    } else if constexpr (elementary::is_double_batch<V>) {
        V const limited = max_nan_second(V(-746), min_nan_second(V(710), x));
        V const shift(6755399441055744.0); // as in exp_parts
        V const n = kernel::multiply_add(limited, V(1.4426950408889634), shift) - shift;
        using integers = decltype(nearbyint_as_int(x));
        auto const power = [](V const& shifted) {
            return elementary::bits_as<double, V>(
                (elementary::bits_as<std::int64_t, integers>(shifted) + integers(1023)) << 52);
        };
        V const half = kernel::multiply_add(n, V(0.5), shift);
        V const rest = elementary::exp_parts<V>(limited).rest;
        return (V(1) + rest) * power(half) * power((n - (half - shift)) + shift);
    } else if constexpr (is_batch<V>) {
        return item_by_item([](auto each) { return std::exp(each); }, x);
    } else {
        return std::exp(x);
    }
}

struct sqrt_function : float_function<sqrt_function> {
    template <class V>
    static V of(V const& x)
    {
        using std::sqrt;
        return sqrt(x);
    }
};
struct exp_function : float_function<exp_function> {
    template <class V>
    static V of(V const& x)
    {
        return full_exp(x);
    }
};
struct reciprocal_function : float_function<reciprocal_function> {
    template <class V>
    static V of(V const& x)
    {
        return kernel::divide(V(1), x);
    }
};
struct floor_function : float_function<floor_function> {
    template <class V>
    static V of(V const& x)
    {
        using std::floor;
        return floor(x);
    }
};
struct ceil_function : float_function<ceil_function> {
    template <class V>
    static V of(V const& x)
    {
        using std::ceil;
        return ceil(x);
    }
};
struct round_function : float_function<round_function> {
    template <class V>
    static V of(V const& x)
    {
        using std::nearbyint;
        return nearbyint(x);
    }
};
struct tanh_function : float_function<tanh_function> {
    template <class V>
    static V of(V const& x)
    {
        return kernel::tanh{}(x);
    }
};
struct sigmoid_function : float_function<sigmoid_function> {
    template <class V>
    static V of(V const& x)
    {
        return kernel::sigmoid{}(x);
    }
};
struct softplus_function : float_function<softplus_function> {
    template <class V>
    static V of(V const& x)
    {
        return kernel::softplus{}(x);
    }
};
struct softsign_function : float_function<softsign_function> {
    template <class V>
    static V of(V const& x)
    {
        using std::abs;
        return kernel::divide(x, V(1) + abs(x));
    }
};

/// Returns vector(x) for a batch, unless xsimd's function is wrong for that type; item(x) for a number.
template <bool IsRight, class Vector, class Item, class V>
V by_batch(Vector const& vector, Item const& item, V const& x)
{
    if constexpr (!is_batch<V>)
        return item(x);
    else if constexpr (IsRight && !kernel::detail::is_rounding_cancelled)
        return vector(x);
    else
        return item_by_item(item, x);
}

struct log_function : float_function<log_function> {
    template <class V>
    static V of(V const& x)
    {
        auto const of_batch = [](auto const& v) {
            if constexpr (std::is_same_v<batch_item<V>, float>) {
                return V(log(v));
            } else { // xsimd's log of a subnormal double is another number's
                V const scaled = kernel::select(v < V(0x1p-1022), V(v * V(0x1p54)), v);
                return V(log(scaled) - kernel::select(v < V(0x1p-1022), V(37.42994775023704670), V(0)));
            }
        };
        return by_batch<true>(
            of_batch, [](auto each) { return std::log(each); }, x);
    }
};
struct sin_function : float_function<sin_function> {
    template <class V>
    static V of(V const& x)
    {
        return by_batch<true>(
            [](auto const& v) { return V(sin(v)); }, [](auto each) { return std::sin(each); }, x);
    }
};
struct cos_function : float_function<cos_function> {
    template <class V>
    static V of(V const& x)
    {
        return by_batch<true>(
            [](auto const& v) { return V(cos(v)); }, [](auto each) { return std::cos(each); }, x);
    }
};
struct erf_function : float_function<erf_function> {
    template <class V>
    static V of(V const& x)
    {
        // xsimd's erf of doubles has errors of 68 ULP, and is NaN for the largest.
        return by_batch<std::is_same_v<batch_item<V>, float>>(
            [](auto const& v) { return V(erf(v)); }, [](auto each) { return std::erf(each); }, x);
    }
};

} // namespace detail

inline constexpr detail::sqrt_function sqrt{};
inline constexpr detail::exp_function exp{};
inline constexpr detail::reciprocal_function reciprocal{};
inline constexpr detail::floor_function floor{};
inline constexpr detail::ceil_function ceil{};
/// To the nearest integer, halves to even.
inline constexpr detail::round_function round{};
inline constexpr detail::tanh_function tanh{};
inline constexpr detail::sigmoid_function sigmoid{};
inline constexpr detail::softplus_function softplus{};
inline constexpr detail::softsign_function softsign{};
inline constexpr detail::log_function log{};
inline constexpr detail::sin_function sin{};
inline constexpr detail::cos_function cos{};
inline constexpr detail::erf_function erf{};

/// max(x, 0), of whole numbers too; -0 stays -0.
struct relu_function {
    template <class V>
    V operator()(V const& x) const
    {
        if constexpr (detail::is_batch<V>)
            return detail::kernel::relu{}(x);
        else
            return +x < 0 ? V(0) : x;
    }
};
inline constexpr relu_function relu{};

namespace detail {

/// A function with parameters: derived().at(x) for a batch, a float or a double.
template <class Derived>
struct parametric_function {
    template <class X>
    X operator()(X const& x) const
    {
        auto const& f = static_cast<Derived const&>(*this);
        if constexpr (is_batch<X>)
            return f.at(x);
        else if constexpr (xloom::detail::is_small_float<X>)
            return X((*this)(static_cast<float>(x)));
        else if constexpr (kernel::has_simd<X>)
            return first_item<X>(f.at(kernel::batch_t<X>(x)));
        else
            return f.at(x);
    }

protected:
    /// Returns a parameter as all items of a V.
    template <class V>
    static V of(double parameter)
    {
        return V(static_cast<batch_item<V>>(parameter));
    }
};

/// exp(x) - 1 for x <= 0.
template <class V>
V exp_less_1_below_0(V const& x)
{
    return kernel::detail::exp_less_1(kernel::select(x < V(0), x, V(0)));
}

} // namespace detail

/// alpha (exp(x) - 1) for x < 0, else x.
struct elu : detail::parametric_function<elu> {
    explicit elu(double a = 1) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return detail::kernel::select(x < V(0), of<V>(alpha) * detail::exp_less_1_below_0(x), x);
    }
};

/// alpha x for x < 0, else x.
struct leaky_relu : detail::parametric_function<leaky_relu> {
    explicit leaky_relu(double a = 0.01) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return detail::kernel::select(x < V(0), of<V>(alpha) * x, x);
    }
};

/// x for x > alpha, else 0. NaN stays NaN.
struct thresholded_relu : detail::parametric_function<thresholded_relu> {
    explicit thresholded_relu(double a = 1) : alpha(a) {}
    double alpha;

    template <class V>
    V at(V const& x) const
    {
        return detail::kernel::select(x <= of<V>(alpha), V(0), x);
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
        return detail::kernel::select(y < V(0), V(0), detail::kernel::select(y > V(1), V(1), y));
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
        return of<V>(gamma) * detail::kernel::select(x > V(0), x,
                                  of<V>(alpha) * detail::kernel::detail::exp_less_1(
                                                     detail::kernel::select(x > V(0), V(0), x)));
    }
};

} // namespace xloom_onnx
