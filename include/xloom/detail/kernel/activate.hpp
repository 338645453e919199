#pragma once
// Activation functions, softmax included, over a row.

#include <cstddef>

#include <xloom/detail/kernel/softmax.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Computes y = function(x) over rows of `count` items. y may be x.
template <class T>
void activate(activation_function const& function, T const* x, T* y, std::size_t count) noexcept
{
    if (function.kind == activation::softmax)
        softmax(x, y, count);
    else
        with_activation<T>(function, [x, y, count](auto const& f) { map(x, y, count, f); });
}

} // namespace xloom::inline XLOOM_ABI::kernel
