#pragma once
// The activation functions with their derivatives, for a scalar or a SIMD batch. NaN stays NaN in values and,
// except for affine, in derivatives. At a kink the derivative is PyTorch's.

#include <xloom/detail/kernel/activations.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The value of a function and its derivative.
template <class V>
struct value_and_slope {
    V value, slope;
};

namespace detail {

/// Returns `above` where x > limit, else `otherwise`; NaN stays NaN.
template <class V>
V step_at(V const& limit, V const& x, V const& otherwise, V const& above)
{
    return select(x > limit, above, select(x <= limit, otherwise, x));
}

/// Returns 1 / (1 + e), and e / (1 + e)^2, for e = exp(-size).
template <class V>
value_and_slope<V> logistic_of(V const& e)
{
    V const share = divide(V(1), V(1) + e);
    return {share, e * share * share};
}

} // namespace detail

/// 0 at 0.
template <class V>
value_and_slope<V> differentiate(relu const& f, V const& x)
{
    return {f(x), detail::step_at(V(0), x, V(0), V(1))};
}

/// The derivative is exact for large |x| too, where 1 - tanh(x)^2 would cancel.
template <class V>
value_and_slope<V> differentiate(tanh const&, V const& x)
{
    using detail::abs;
    V const size = abs(x);
    if constexpr (detail::is_float_batch<V>) {
        detail::exp_parts<V> const parts(max_nan_second(V(-88), -(size + size)));
        auto const [share, quarter] = detail::logistic_of(parts.exp());
        return {(-parts.exp_less_1() * share) | bitofsign(x), V(4) * quarter};
    } else
        return {detail::tanh_of(x), V(4) * detail::logistic_of(detail::exp_of(-(size + size))).slope};
}

template <class V>
value_and_slope<V> differentiate(sigmoid const&, V const& x)
{
    using detail::abs;
    V const e = detail::exp_of(-abs(x));
    auto const [share, slope] = detail::logistic_of(e);
    return {select(x < V(0), e * share, share), slope};
}

template <class V>
value_and_slope<V> differentiate(softsign const& f, V const& x)
{
    using detail::abs;
    V const share = divide(V(1), V(1) + abs(x));
    return {f(x), share * share};
}

template <class V>
value_and_slope<V> differentiate(softplus const& f, V const& x)
{
    return {f(x), differentiate(sigmoid(), x).value};
}

template <class T, class V>
value_and_slope<V> differentiate(affine<T> const& f, V const& x)
{
    return {f(x), V(f.alpha)};
}

/// alpha at 0.
template <class T, class V>
value_and_slope<V> differentiate(leaky_relu<T> const& f, V const& x)
{
    return {f(x), detail::step_at(V(0), x, V(f.alpha), V(1))};
}

/// 0 at alpha.
template <class T, class V>
value_and_slope<V> differentiate(thresholded_relu<T> const& f, V const& x)
{
    return {f(x), detail::step_at(V(f.alpha), x, V(0), V(1))};
}

template <class T, class V>
value_and_slope<V> differentiate(scaled_tanh<T> const& f, V const& x)
{
    auto const [value, slope] = differentiate(tanh(), V(f.beta) * x);
    return {V(f.alpha) * value, V(f.alpha) * V(f.beta) * slope};
}

/// 0 at both ends of the slope.
template <class T, class V>
value_and_slope<V> differentiate(hard_sigmoid<T> const& f, V const& x)
{
    V const y = multiply_add(V(f.alpha), x, V(f.beta));
    return {f(x), select(y >= V(1), V(0), detail::step_at(V(0), y, V(0), V(f.alpha)))};
}

/// alpha at 0.
template <class T, class V>
value_and_slope<V> differentiate(elu<T> const& f, V const& x)
{
    return {f(x), select(x > V(0), V(1), V(f.alpha) * detail::exp_of(x))};
}

} // namespace xloom::inline XLOOM_ABI::kernel
