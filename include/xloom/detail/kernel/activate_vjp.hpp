#pragma once
// The derivatives of activation functions, softmax included, over a row.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
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
        return {(-parts.expm1() * share) | bitofsign(x), V(4) * quarter};
    } else
        return {detail::tanh_of(x), V(4) * detail::logistic_of(kernel::exp_of(-(size + size))).slope};
}

template <class V>
value_and_slope<V> differentiate(sigmoid const&, V const& x)
{
    using detail::abs;
    V const e = kernel::exp_of(-abs(x));
    auto const [share, slope] = detail::logistic_of(e);
    return {select(x < V(0), e * share, share), slope};
}

template <class V>
value_and_slope<V> differentiate(silu const& f, V const& x)
{
    auto const [share, slope] = differentiate(sigmoid(), x);
    return {f(x), multiply_add(x, slope, share)};
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
    return {f(x), select(x > V(0), V(1), V(f.alpha) * kernel::exp_of(x))};
}

/// Computes ct = value * (ct - sum(value * ct)), the derivative of softmax, whose values these are.
template <class T>
void softmax_vjp(T const* value, T* ct, std::size_t count) noexcept
{
    T sum(0);
    for (std::size_t i = 0; i < count; ++i)
        sum = multiply_add(value[i], ct[i], sum);
    for (std::size_t i = 0; i < count; ++i)
        ct[i] = value[i] * (ct[i] - sum);
}

/// Computes ct_x[i] = f'(x[i]) * ct_y[i] of an elementwise activation f. ct_x may be x or ct_y.
template <class T, class F>
XLOOM_FLATTEN void map_vjp(T const* x, T const* ct_y, T* ct_x, std::size_t count, F const& f) noexcept
{
    std::size_t i = 0;
    for (; i + batch_size<T> <= count; i += batch_size<T>)
        store_batch(ct_x + i, differentiate(f, load_batch(x + i)).slope * load_batch(ct_y + i));
    if constexpr (has_simd<T>)
        if (i < count)
            store_first(
                differentiate(f, load_first(x + i, count - i)).slope * load_first(ct_y + i, count - i),
                ct_x + i, count - i);
}

/// Computes the values of an activation and its derivatives at x. Rows are padded to whole batches; `value`
/// may be x. The derivatives of softmax, which is not elementwise, are 1.
template <class T>
void differentiate_units(
    activation_function const& function, T const* x, T* value, T* slope, std::size_t units) noexcept
{
    if (function.kind == activation::softmax) {
        softmax(x, value, units);
        std::fill_n(slope, units, T(1));
        return;
    }
    with_activation<T>(function, [=](auto const& f) {
        for_each_batch<T>(units, [=](std::size_t j) {
            auto const at = differentiate(f, load_batch(x + j));
            store_batch(value + j, at.value);
            store_batch(slope + j, at.slope);
        });
    });
}

/// Computes the values of a gate and its derivatives, which are 0 where a sum was clipped; at the limit it is
/// not. NaN stays NaN.
template <class T>
void differentiate_gate(gate<T> const& f, T const* sums, T* value, T* slope, std::size_t units) noexcept
{
    if (!f.is_clipped)
        return differentiate_units(f.function, sums, value, slope, units);
    for_each_batch<T>(units, [=](std::size_t j) { store_batch(value + j, load_batch(sums + j)); });
    clip_units(f.clip, value, units);
    differentiate_units(f.function, value, value, slope, units);
    for_each_batch<T>(units, [=, limit = f.clip](std::size_t j) {
        using V = batch_t<T>;
        V const x = load_batch(sums + j), zero(T(0));
        store_batch(
            slope + j, select(x > V(limit), zero, select(x < V(-limit), zero, load_batch(slope + j))));
    });
}

/// Computes ct = the cotangent of the sums of a gate from ct, that of its values.
template <class T>
void gate_vjp(
    activation_function const& function, T const* value, T const* slope, T* ct, std::size_t units) noexcept
{
    if (function.kind == activation::softmax)
        softmax_vjp(value, ct, units);
    set_products(slope, ct, ct, units);
}

} // namespace xloom::inline XLOOM_ABI::kernel
