#pragma once
// Any activation of a row.

#include <cstddef>

#include <xloom/kernel/softmax.hpp>

namespace xloom::kernel {

/// y = function(x), x and y rows of `count` items. y may be x.
template <class T>
void activate(activation_function const& function, T const* x, T* y, std::size_t count) noexcept
{
    if (function.kind == activation::softmax)
        softmax(x, y, count);
    else
        with_activation<T>(function, [x, y, count](auto const& f) { map(x, y, count, f); });
}

} // namespace xloom::kernel
