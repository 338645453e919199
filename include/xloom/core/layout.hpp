#pragma once
// The places of a tensor's elements in memory.

#include <xloom/core/shape.hpp>

namespace xloom {

/// A shape and, for each axis, the distance in elements between neighbours along it (any sign, 0 allowed).
struct strided_layout {
    shape dims{};
    xloom::strides strides{};
};

/// The strides of a row-major tensor without gaps.
constexpr strides row_major_strides(shape const& dims)
{
    strides result(dims.size(), 0);
    std::ptrdiff_t step = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        result[axis] = step;
        step *= static_cast<std::ptrdiff_t>(dims[axis]);
    }
    return result;
}

/// True if the elements, read in row-major order, are contiguous.
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

/// The layout of one slice across `axis`.
constexpr strided_layout drop_axis(strided_layout const& layout, std::size_t axis)
{
    return {drop_axis(layout.dims, axis), drop_axis(layout.strides, axis)};
}

} // namespace xloom
