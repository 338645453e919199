#pragma once
// The activation functions on one number or on a batch of them: the same text for both. NaN stays NaN in all
// of them.

#include <xloom/core/activation.hpp>
#include <xloom/kernel/elementary.hpp>

namespace xloom::kernel {

/// max(x, 0). -0 stays -0.
struct relu {
    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(0), x);
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
        return divide(V(1), V(1) + detail::exp_of(-x));
    }
};

/// sigmoid(x) * tanh(y), of floats with one division for both: max error 5 ULP; maybe 0 where the sigmoid is
/// below 1e-29.
template <class V>
V sigmoid_times_tanh(V const& x, V const& y)
{
    if constexpr (detail::is_float_batch<V>) {
        using detail::abs;
        V const size = min_nan_second(V(10), abs(y)); // whose tanh is 1
        V const e = detail::exp_parts<V>(size + size).exp_less_1();
        return divide(e, (V(1) + detail::exp_of(-x)) * (V(2) + e)) | bitofsign(y);
    } else
        return sigmoid{}(x)*tanh{}(y);
}

/// x / (1 + |x|), and at infinity its limit.
struct softsign {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        V const size = abs(x);
        V const sign = select(x < V(0), V(-1), V(1));
        return select(V(1) + size == size, sign, divide(x, V(1) + size));
    }
};

/// log(1 + exp(x)), written so that nothing overflows.
struct softplus {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        return select(x < V(0), V(0), x) + detail::log_of_1_plus(detail::exp_of(-abs(x)));
    }
};

/// alpha * x + beta.
template <class T>
struct affine {
    T alpha, beta;

    template <class V>
    V operator()(V const& x) const
    {
        return multiply_add(V(alpha), x, V(beta));
    }
};

/// x, below 0 alpha * x.
template <class T>
struct leaky_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * x, x);
    }
};

/// x, below alpha 0.
template <class T>
struct thresholded_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(alpha), V(0), x);
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
        V const y = multiply_add(V(alpha), x, V(beta));
        return select(y < V(0), V(0), select(y > V(1), V(1), y));
    }
};

/// x, below 0 alpha * (exp(x) - 1).
template <class T>
struct elu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * detail::exp_less_1(x), x);
    }
};

/// Calls f(function object) with the activation, its parameters converted to T. Softmax, which is none of one
/// number, is left out.
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
