#pragma once
// The activation functions on one number or on a batch of them: the same text for both. NaN stays NaN in all of them.

#include <cmath>
#include <type_traits>

#include <xloom/core/activation.hpp>
#include <xloom/kernel/simd.hpp>

namespace xloom::kernel {

namespace detail {

using std::abs, std::exp, std::expm1, std::log, std::log1p, std::tanh;

/// f(x) for a function that has reached its limits at +-800.
///
/// Why not with other arguments: without AVX-512, xsimd turns doubles into integers by C++'s own conversion, which is undefined for NaN
/// and for what is too large.
template <class V, class F>
V within_limits(V const& x, F const& f)
{
    if constexpr (has_simd<double> && std::is_same_v<V, batch_t<double>>) {
        auto const is_number = x == x;
        V const limited = choose(x > V(800), V(800), choose(x < V(-800), V(-800), x));
        return choose(is_number, f(choose(is_number, limited, V(0))), x);
    } else
        return f(x);
}

template <class V>
V exp_of(V const& x)
{
    return within_limits(x, [](V const& v) { return exp(v); });
}
template <class V>
V tanh_of(V const& x)
{
    return within_limits(x, [](V const& v) { return tanh(v); });
}

/// exp(x) - 1, without loss near 0 where the scalar has expm1.
template <class V>
V exp_less_1(V const& x)
{
    if constexpr (requires { expm1(x); })
        return within_limits(x, [](V const& v) { return expm1(v); });
    else
        return exp(x) - V(1);
}

/// log(1 + x), likewise. Requires 0 <= x <= 1, or NaN.
template <class V>
V log_of_1_plus(V const& x)
{
    if constexpr (requires { log1p(x); })
        return within_limits(x, [](V const& v) { return log1p(v); });
    else
        return log(V(1) + x);
}

} // namespace detail

/// max(x, 0). -0 stays -0.
struct relu {
    template <class V>
    V operator()(V const& x) const
    {
        return choose(x < V(0), V(0), x);
    }
};

struct tanh {
    template <class V>
    V operator()(V const& x) const
    {
        return detail::tanh_of(x);
    }
};

/// 1 / (1 + exp(-x)).
struct sigmoid {
    template <class V>
    V operator()(V const& x) const
    {
        return V(1) / (V(1) + detail::exp_of(-x));
    }
};

/// x / (1 + |x|), and at infinity its limit.
struct softsign {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        V const size = abs(x);
        V const sign = choose(x < V(0), V(-1), V(1));
        return choose(V(1) + size == size, sign, x / (V(1) + size));
    }
};

/// log(1 + exp(x)), written so that nothing overflows.
struct softplus {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        return choose(x < V(0), V(0), x) + detail::log_of_1_plus(detail::exp_of(-abs(x)));
    }
};

/// alpha * x + beta.
template <class T>
struct affine {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        return V(alpha) * x + V(beta);
    }
};

/// x, below 0 alpha * x.
template <class T>
struct leaky_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return choose(x < V(0), V(alpha) * x, x);
    }
};

/// x, below alpha 0.
template <class T>
struct thresholded_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return choose(x < V(alpha), V(0), x);
    }
};

/// alpha * tanh(beta * x).
template <class T>
struct scaled_tanh {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        return V(alpha) * tanh{}(V(beta) * x);
    }
};

/// alpha * x + beta, but no less than 0 and no more than 1.
template <class T>
struct hard_sigmoid {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        V const y = V(alpha) * x + V(beta);
        return choose(y < V(0), V(0), choose(y > V(1), V(1), y));
    }
};

/// x, below 0 alpha * (exp(x) - 1).
template <class T>
struct elu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return choose(x < V(0), V(alpha) * detail::exp_less_1(x), x);
    }
};

/// Calls f(function object) with the activation, its parameters converted to T. Softmax, which is none of one number, is left out.
template <class T, class F>
void with_activation(activation_function const& function, F const& f)
{
    T const alpha = static_cast<T>(function.alpha), beta = static_cast<T>(function.beta);
    switch (function.kind) {
    case activation::relu:
        return f(relu{});
    case activation::tanh:
        return f(tanh{});
    case activation::sigmoid:
        return f(sigmoid{});
    case activation::affine:
        return f(affine<T>{alpha, beta});
    case activation::leaky_relu:
        return f(leaky_relu<T>{alpha});
    case activation::thresholded_relu:
        return f(thresholded_relu<T>{alpha});
    case activation::scaled_tanh:
        return f(scaled_tanh<T>{alpha, beta});
    case activation::hard_sigmoid:
        return f(hard_sigmoid<T>{alpha, beta});
    case activation::elu:
        return f(elu<T>{alpha});
    case activation::softsign:
        return f(softsign{});
    case activation::softplus:
        return f(softplus{});
    case activation::softmax:
        return;
    }
}

} // namespace xloom::kernel
