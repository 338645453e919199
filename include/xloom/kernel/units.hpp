#pragma once
// What recurrent cells do to a row of units. Rows are padded to whole batches, so that nothing is left over
// at their ends: what stands in the padding is computed too, and read by nobody.

#include <cstddef>

#include <xloom/kernel/activate.hpp>

namespace xloom::kernel {

/// z = function(z). Softmax, over the row, leaves the padding out.
template <class T>
void activate_padded(activation_function const& function, T* z, std::size_t units) noexcept
{
    activate<T>(function, z, z, function.kind == activation::softmax ? units : whole_batches<T>(units));
}

/// z = min(max(z, -limit), limit); NaN stays NaN.
template <class T>
void clip_units(T limit, T* z, std::size_t units) noexcept
{
    map(z, z, whole_batches<T>(units), [limit]<class V>(V const& v) {
        V const most(limit), least(-limit);
        return select(v > most, most, select(v < least, least, v));
    });
}

/// For each batch of units: f(where it begins).
template <class T, class F>
void for_each_batch(std::size_t units, F const& f) noexcept
{
    for (std::size_t j = 0; j < units; j += batch_size<T>)
        f(j);
}

/// z += a * b.
template <class T>
void add_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(units, [=](std::size_t j) {
        store_batch(z + j, multiply_add(load_batch(a + j), load_batch(b + j), load_batch(z + j)));
    });
}

/// z = a * b.
template <class T>
void set_products(T const* a, T const* b, T* z, std::size_t units) noexcept
{
    for_each_batch<T>(
        units, [=](std::size_t j) { store_batch(z + j, load_batch(a + j) * load_batch(b + j)); });
}

/// What turns the sums of a gate into its value.
template <class T>
struct gate {
    activation_function function;
    T clip; ///< the limit of the sums
    bool is_clipped;

    void operator()(T* z, std::size_t units) const noexcept
    {
        if (is_clipped)
            clip_units(clip, z, units);
        activate_padded(function, z, units);
    }
};

} // namespace xloom::kernel
