#pragma once
// The activation functions as function objects for a scalar or a SIMD batch, and over a row, softmax
// included. NaN stays NaN in all of them. Rows of units are padded to whole batches, so that there is no
// remainder; the padding is computed but never read.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/activation.hpp>
#include <xloom/detail/kernel/elementary.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

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
        return divide(V(1), V(1) + kernel::exp_of(-x));
    }
};

/// x / (1 + exp(-x)).
struct silu {
    template <class V>
    V operator()(V const& x) const
    {
        return divide(x, V(1) + kernel::exp_of(-x));
    }
};

/// Returns sigmoid(x) * tanh(y). For floats, one division serves both: max error 6 ULP, possibly 0 where the
/// sigmoid is below 1e-29.
template <class V>
V sigmoid_times_tanh(V const& x, V const& y)
{
    if constexpr (detail::is_float_batch<V>) {
        using detail::abs;
        V const size = min_nan_second(V(10), abs(y)); // tanh(10) rounds to 1
        detail::exp_parts<V> const e(size + size);
        return divide(e.expm1(), (V(1) + kernel::exp_of(-x)) * e.exp_plus_1()) | bitofsign(y);
    } else
        return sigmoid{}(x)*tanh{}(y);
}

/// x / (1 + |x|), with its limit at infinity.
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

/// log(1 + exp(x)), without overflow.
struct softplus {
    template <class V>
    V operator()(V const& x) const
    {
        using detail::abs;
        return select(x < V(0), V(0), x) + detail::log_of_1_plus(kernel::exp_of(-abs(x)));
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

/// alpha * x for x < 0, else x.
template <class T>
struct leaky_relu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * x, x);
    }
};

/// 0 for x < alpha, else x.
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

/// alpha * x + beta, clamped to [0, 1].
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

/// alpha * (exp(x) - 1) for x < 0, else x.
template <class T>
struct elu {
    T alpha;

    template <class V>
    V operator()(V const& x) const
    {
        return select(x < V(0), V(alpha) * kernel::expm1_of(x), x);
    }
};

/// Calls f with the activation's function object, its parameters converted to T. Does nothing for softmax,
/// which is not elementwise.
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

/// Returns the largest of x, ignoring NaN; NaN if all are NaN. Requires count > 0.
template <class T>
T largest_of(T const* x, std::size_t count) noexcept
{
    // Not a != a: for NaN that is false with xsimd 8 on AVX.
    auto const larger = []<class V>(
                            V const& a, V const& b) { return select(a == a, select(b > a, b, a), b); };
    T largest = x[0];
    std::size_t i = 0;
    if constexpr (has_simd<T>)
        if (count >= batch_size<T>) {
            batch_t<T> all = load_batch(x);
            for (i = batch_size<T>; i + batch_size<T> <= count; i += batch_size<T>)
                all = larger(all, load_batch(x + i));
            T items[batch_size<T>];
            store_batch(items, all);
            for (std::size_t width = batch_size<T> / 2; width != 0; width /= 2)
                for (std::size_t j = 0; j < width; ++j)
                    items[j] = larger(items[j], items[j + width]);
            largest = items[0];
        }
    for (; i < count; ++i)
        largest = larger(largest, x[i]);
    return largest;
}

/// Kahan's summation of batches: the rounding error of each addition is taken from the next one. Callers add
/// sums of at most `at_once` items, so that errors do not grow with the number of items.
template <class T>
struct compensated_sum {
    using V = batch_t<T>;
    static constexpr std::size_t at_once = 8 * batch_size<T>;

    V sum = V(T(0)), lost = V(T(0)), plain = V(T(0));

    void add(V const& value)
    {
        V const more = value - lost, total = sum + more;
        lost = (total - sum) - more;
        sum = total;
        plain = plain + value;
    }

    /// Returns the sum of all items: the plain one where it is infinite, as its error is NaN then.
    T total() const
    {
        if constexpr (std::is_floating_point_v<T>)
            if (T const result = sum_of<T>(sum); result == result)
                return result;
        return sum_of<T>(plain);
    }
};

/// Computes y = exp(x - max(x)) / sum(exp(x - max(x))) over all of x. y is NaN if one of x is NaN or
/// +infinity, or all are -infinity.
template <class T>
void softmax(T const* x, T* y, std::size_t count) noexcept
{
    if (count == 0)
        return;
    T const largest = largest_of(x, count);
    map(x, y, count, [largest]<class V>(V const& v) { return kernel::exp_of(v - V(largest)); });
    compensated_sum<T> sum;
    for (std::size_t begin = 0; begin < count; begin += sum.at_once) {
        std::size_t const end = (std::min)(begin + sum.at_once, count);
        batch_t<T> part(T(0));
        std::size_t i = begin;
        for (; i + batch_size<T> <= end; i += batch_size<T>)
            part = part + load_batch(y + i);
        if constexpr (has_simd<T>)
            if (i < end)
                part = part + load_first(y + i, end - i);
        sum.add(part);
    }
    T const scale = T(1) / sum.total();
    map(y, y, count, [scale]<class V>(V const& v) { return v * V(scale); });
}

/// Computes y = function(x) over rows of `count` items. y may be x.
template <class T>
void activate(activation_function const& function, T const* x, T* y, std::size_t count) noexcept
{
    if (function.kind == activation::softmax)
        softmax(x, y, count);
    else
        with_activation<T>(function, [x, y, count](auto const& f) { map(x, y, count, f); });
}

/// Computes z = function(z). Softmax, which is over the row, excludes the padding.
template <class T>
void activate_padded(activation_function const& function, T* z, std::size_t units) noexcept
{
    activate<T>(function, z, z, function.kind == activation::softmax ? units : whole_batches<T>(units));
}

/// Computes z = min(max(z, -limit), limit); NaN stays NaN.
template <class T>
void clip_units(T limit, T* z, std::size_t units) noexcept
{
    map(z, z, whole_batches<T>(units), [limit]<class V>(V const& v) {
        V const most(limit), least(-limit);
        return select(v > most, most, select(v < least, least, v));
    });
}

/// Calls f(position of the first unit) for each batch of units.
template <class T, class F>
void for_each_batch(std::size_t units, F const& f) noexcept
{
    for (std::size_t j = 0; j < units; j += batch_size<T>)
        f(j);
}

/// Computes z += a * b.
template <class T>
void add_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(units, [=](std::size_t j) {
        store_batch(z + j, multiply_add(load_batch(a + j), load_batch(b + j), load_batch(z + j)));
    });
}

/// Computes z = a * b.
template <class T>
void set_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(
        units, [=](std::size_t j) { store_batch(z + j, load_batch(a + j) * load_batch(b + j)); });
}

/// The activation of a gate, with optional clipping of its sums.
template <class T>
struct gate {
    activation_function function;
    T clip; ///< the limit of the sums
    bool is_clipped;

    friend bool operator==(gate const&, gate const&) = default;

    void operator()(T* z, std::size_t units) const noexcept
    {
        if (is_clipped)
            clip_units(clip, z, units);
        activate_padded(function, z, units);
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
