#pragma once
// Operations of recurrent cells on a row of units. Rows are padded to whole batches, so that there is no
// remainder; the padding is computed but never read.

#include <cstddef>

#include <xloom/detail/kernel/activations.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

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
