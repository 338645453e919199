#pragma once
// Shape requirements of NumPy's take_along_axis and put_along_axis.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/elements.hpp>
#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of take_along_axis and put_along_axis.
struct along_axis_options {
    std::int64_t axis = -1; ///< the axis that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The axis that indices name, counted from the front, and the shape of the indexed items.
struct along_axis_shape {
    std::size_t axis;
    shape dims;
};

/// Broadcasts the axes of x and of indices to each other, except the indexed one, which is that of indices.
///
/// Errors    shape_error: rank 0; unequal ranks; an axis out of range; axes of other lengths, none of which
///           is 1; a size that overflows.
/// Source    NumPy, take_along_axis.
[[gnu::noinline]] constexpr along_axis_shape check_along_axis(std::string_view op, shape const& x,
    shape const& indices, along_axis_options const& options, std::size_t item_bytes)
{
    if (x.empty() || indices.size() != x.size())
        fail<shape_error>(op, ": x and indices must have one rank, at least 1, but x is ", x,
            " and indices is ", indices, ". Give each as many axes.");
    along_axis_shape result{check_axis_option(op, "x", x, options.axis), indices};
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (k == result.axis)
            continue;
        if (x[k] != indices[k] && x[k] != 1 && indices[k] != 1)
            fail<shape_error>(op,
                ": x and indices must be equally long along every axis but the indexed one, "
                "or one of them 1, but axis ",
                k, " has ", x[k], " in x ", x, " and ", indices[k], " in indices ", indices,
                " (options.axis ", options.axis, "). Give it one length.");
        result.dims[k] = indices[k] == 1 ? x[k] : indices[k];
    }
    check_result_size(op, "x[indices]", result.dims, item_bytes, "Name fewer items.");
    return result;
}

/// Requires that values can be broadcast to the shape of the indexed items.
///
/// Errors    shape_error.
[[gnu::noinline]] constexpr void check_values(std::string_view op, shape const& values, shape const& dims)
{
    if (!can_broadcast(values, dims))
        fail<shape_error>(op, ": values must broadcast to the shape of x[indices] ", dims, ", but it is ",
            values, ". From the last axis on, give each the length there or 1.");
}

} // namespace xloom::inline XLOOM_ABI::detail
