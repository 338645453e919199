#pragma once
// The strided layout of a tensor in memory.

#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A shape and, for each axis, the stride in elements (any sign, 0 allowed).
struct strided_layout {
    shape dims{};
    xloom::strides strides{};
};

/// True if the elements are contiguous in row-major order.
constexpr bool is_row_major(strided_layout const& layout)
{
    std::ptrdiff_t step = 1;
    for (std::size_t axis = layout.dims.size(); axis-- > 0;) {
        if (layout.dims[axis] == 0)
            return true;
        if (layout.dims[axis] != 1 && layout.strides[axis] != step)
            return false;
        step *= static_cast<std::ptrdiff_t>(layout.dims[axis]);
    }
    return true;
}

/// Returns the layout of one slice across `axis`.
constexpr strided_layout drop_axis(strided_layout const& layout, std::size_t axis)
{
    return {drop_axis(layout.dims, axis), drop_axis(layout.strides, axis)};
}

} // namespace xloom::inline XLOOM_ABI::detail
