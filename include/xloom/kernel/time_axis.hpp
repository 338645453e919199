#pragma once
// How every operator walks along time: one arithmetic, whatever the element type, the layout, the axis or the direction.

#include <xloom/core/layout.hpp>

namespace xloom::kernel {

/// The elements of one operand along its time axis: element t begins `first + t * step` items after the operand's first item.
struct time_axis {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t step = 0;
    strided_layout element{};

    /// Requires axis < rank. In reverse, element 0 is the last of `length`. Elements without items all begin at the operand's first item,
    /// which may be a null pointer.
    constexpr time_axis(strided_layout const& operand, std::size_t axis, std::size_t length, bool reverse)
        : element(drop_axis(operand, axis))
    {
        if (element_count(element.dims) != 0)
            step = operand.steps[axis];
        if (reverse) {
            first = length == 0 ? 0 : static_cast<std::ptrdiff_t>(length - 1) * step;
            step = -step;
        }
    }
};

} // namespace xloom::kernel
