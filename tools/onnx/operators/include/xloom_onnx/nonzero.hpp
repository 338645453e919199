#pragma once
// NonZero.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

namespace detail {

/// True for all items but 0, -0, false and the empty string.
template <class T>
bool is_nonzero(T const& item)
{
    return item != T();
}

} // namespace detail

/// Returns the shape of NonZero: the rank of x, and the number of its items that are not zero.
template <operand X>
xloom::shape nonzero_shape(X const& x)
{
    const_view_of<X> const from(x);
    return {from.rank(),
        static_cast<std::size_t>(std::count_if(from.begin(), from.end(), detail::is_nonzero<item_t<X>>))};
}

/// y[:, k] = the index of item k among those of x that are not zero, in row-major order. NaN is not zero.
///
/// Shapes    y as nonzero_shape: that of a scalar has no rows, unlike NumPy's.
/// Types     x: any type. y: std::int64_t.
/// Errors    shape_error: y has a fixed shape, and another one.
/// Cost      x is read twice. Allocates nothing if y has as many items already.
/// Aliasing  y does not overlap x.
template <operand X, class Y>
void nonzero_into(X const& x, Y&& y)
{
    const_view_of<X> const from(x);
    xloom::shape const dims = nonzero_shape(from);
    auto const to = output_view("xloom_onnx::nonzero_into", y, dims);
    xloom::shape index(from.rank(), 0);
    std::size_t k = 0;
    for (auto const& item : from) {
        if (detail::is_nonzero(item)) {
            for (std::size_t a = 0; a < index.size(); ++a)
                to[a * dims[1] + k] = static_cast<std::int64_t>(index[a]);
            ++k;
        }
        for (std::size_t a = index.size(); a-- > 0;) {
            if (++index[a] < from.shape()[a])
                break;
            index[a] = 0;
        }
    }
}

} // namespace xloom_onnx
