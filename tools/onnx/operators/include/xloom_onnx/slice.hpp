#pragma once
// Slice.

#include <algorithm>
#include <cstdint>

#include <xloom/kernels.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct slice_options {
    integers starts{}, ends{};
    integers axes{}; ///< omitted: 0, 1 ..
    bool has_axes = false;
    integers steps{}; ///< omitted: 1 for each
    bool has_steps = false;
};

/// One axis of a slice: `count` positions from `first` on, at `step`.
struct axis_slice {
    std::int64_t first = 0;
    std::size_t count = 0;
    std::int64_t step = 1;
};

/// Returns the positions of start:end:step, as NumPy reads it but for a negative step from a start before the
/// axis: that is the first item, as ONNX's Slice clamps it.
///
/// Errors    option_error: the step is 0.
inline axis_slice slice_of(std::size_t dim, std::int64_t start, std::int64_t end, std::int64_t step)
{
    auto const length = static_cast<std::int64_t>(dim);
    if (step == 0)
        xloom::kernels::fail<xloom::option_error>("xloom_onnx::slice: a step is 0");
    if (dim == 0)
        return {};
    start += start < 0 ? length : 0;
    end += end < 0 ? length : 0;
    std::size_t count = 0;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, length);
        end = std::clamp<std::int64_t>(end, start, (std::max)(start, length));
        count = end == start ? 0 : static_cast<std::size_t>((end - start - 1) / step + 1);
    } else {
        start = std::clamp<std::int64_t>(start, 0, length - 1);
        end = std::clamp<std::int64_t>(end, -1, start);
        // Below -length it is as good as -length, and can be negated.
        step = (std::max)(step, -length);
        count = end == start ? 0 : static_cast<std::size_t>((start - end - 1) / -step + 1);
    }
    return {start, count, count > 1 ? step : 0};
}

/// Returns the positions along each axis of a tensor of the shape x.
///
/// Errors    option_error: an axis that is none or is given twice, a step of 0, lists of different lengths.
inline xloom::static_vector<axis_slice, xloom::max_rank> slices_of(
    xloom::shape const& x, slice_options const& options)
{
    static constexpr std::string_view op = "xloom_onnx::slice";
    auto const& [starts, ends, axes, has_axes, steps, has_steps] = options;
    std::size_t const count = starts.size();
    auto const is_wrong = [count](integers const& list, bool is_given) {
        return (is_given || !list.empty()) && list.size() != count;
    };
    if (ends.size() != count || is_wrong(axes, has_axes) || is_wrong(steps, has_steps))
        xloom::kernels::fail<xloom::option_error>(op, ": starts, ends, axes and steps have ", count, ", ",
            ends.size(), ", ", axes.size(), " and ", steps.size(), " items");
    xloom::static_vector<axis_slice, xloom::max_rank> slices;
    for (std::size_t const dim : x)
        slices.push_back({0, dim, 1});
    axis_set seen;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const axis =
            checked_axis(op, axes.empty() ? static_cast<std::int64_t>(i) : axes[i], x.size());
        if (seen[axis])
            xloom::kernels::fail<xloom::option_error>(op, ": the axis ", axis, " is given twice");
        seen[axis] = true;
        slices[axis] = slice_of(x[axis], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
    }
    return slices;
}

/// Errors    as slices_of.
inline xloom::shape slice_shape(xloom::shape const& x, slice_options const& options)
{
    xloom::shape dims;
    for (axis_slice const& slice : slices_of(x, options))
        dims.push_back(slice.count);
    return dims;
}

/// A slice of a tensor: its shape, and where its items are.
struct slice_layout {
    xloom::shape dims{};
    xloom::strides strides{};
    std::ptrdiff_t first = 0;
};

/// Requires  that a tensor of the shape x has strides (xloom::has_strides).
/// Errors    as slices_of.
inline slice_layout layout_of_slice(xloom::shape const& x, slice_options const& options)
{
    slice_layout result{{}, xloom::row_major_strides(x), 0};
    std::size_t axis = 0;
    for (axis_slice const& slice : slices_of(x, options)) {
        result.dims.push_back(slice.count);
        // What is not 0 is smaller than a dimension.
        result.first +=
            slice.count == 0 ? 0 : static_cast<std::ptrdiff_t>(slice.first) * result.strides[axis];
        result.strides[axis] *= slice.count <= 1 ? 1 : static_cast<std::ptrdiff_t>(slice.step);
        ++axis;
    }
    if (xloom::element_count(result.dims) == 0)
        result.first = 0;
    return result;
}

/// Copies a slice of x to y: start:end:step along each axis, as slice_of reads it.
///
/// Errors    as slices_of; shape_error.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
template <operand X, class Y>
void slice_into(X const& x, Y&& y, slice_options const& options)
{
    const_view_of<X> const from(x);
    slice_layout const slice = layout_of_slice(from.shape(), options);
    auto const to = output_view("xloom_onnx::slice_into", y, slice.dims);
    if (to.size() != 0)
        xloom::kernels::strided_copy(slice.dims, slice.strides, xloom::row_major_strides(slice.dims))(
            from.data() + slice.first, to.data());
}

} // namespace xloom_onnx
