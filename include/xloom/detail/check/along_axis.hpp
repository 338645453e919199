#pragma once
// Shape requirements of what is indexed along one axis: GatherElements and ScatterElements, NumPy's
// take_along_axis and put_along_axis, take, compress and ufunc.at.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/compiler.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_elements.
struct gather_elements_options {
    std::int64_t axis = 0; ///< the axis of data that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

/// Options of take_along_axis and put_along_axis.
struct along_axis_options {
    std::int64_t axis = -1; ///< the axis that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the shapes of data and of indices that name an item each, and returns the axis that they index,
/// counted from the front.
///
/// Errors    shape_error: rank 0; unequal ranks; an axis out of range; an axis of indices that exceeds
///           data's, except the indexed one.
/// Source    ONNX GatherElements-13, ScatterElements-18, text.
XLOOM_NOINLINE constexpr std::size_t check_elements(
    std::string_view op, shape const& data, shape const& indices, std::int64_t axis)
{
    check_not_scalar(op, "data", data);
    check_not_scalar(op, "indices", indices);
    if (indices.size() != data.size())
        fail<shape_error>(op, ": indices must have data's rank, but indices is ", indices, " and data is ",
            data, ". Reshape one of the two.");
    std::size_t const indexed = check_axis_option(op, "data", data, axis);
    for (std::size_t k = 0; k < data.size(); ++k)
        if (k != indexed && indices[k] > data[k])
            fail<shape_error>(op,
                ": indices must be no longer than data along every axis but the indexed "
                "one, but axis ",
                k, " has ", indices[k], " in indices ", indices, " and ", data[k], " in data ", data,
                " (options.axis ", axis, "). Shorten indices.");
    return indexed;
}

/// Checks the operands of GatherElements, whose output has the shape of indices.
///
/// Errors    of check_elements; shape_error: a size that overflows.
XLOOM_NOINLINE constexpr indexed_shape check_gather_elements(std::string_view op, shape const& data,
    shape const& indices, gather_elements_options const& options, std::size_t item_bytes = 1)
{
    std::size_t const axis = check_elements(op, data, indices, options.axis);
    check_result_size(op, "the output", indices, item_bytes, "Gather fewer items.");
    return {index_form::items, axis, axis + 1, indices};
}

/// Checks the operands of ScatterElements. Updates have the shape of indices, unless they are broadcast.
///
/// Errors    of check_elements; shape_error: another shape of updates, or one that cannot be broadcast; a
///           size that overflows. option_error: as check_duplicates.
XLOOM_NOINLINE constexpr indexed_shape check_scatter_elements(std::string_view op, shape const& data,
    shape const& indices, shape const& updates, scatter_rules const& options, bool is_broadcast)
{
    std::size_t const indexed = check_elements(op, data, indices, options.axis);
    if (is_broadcast && !can_broadcast(updates, indices))
        fail<shape_error>(op, ": updates must broadcast to the shape of indices ", indices, ", but it is ",
            updates, ". From the last axis on, give each the length there or 1.");
    if (!is_broadcast && updates != indices)
        fail<shape_error>(op, ": updates must have the shape of indices ", indices, ", but it is ", updates,
            ". Give updates that shape, or pass broadcast(updates).");
    check_scattered_sizes(op, data, indices);
    check_duplicates(op, options.duplicates, options.reduction);
    return {index_form::items, indexed, indexed + 1, indices};
}

/// Broadcasts the axes of x and of indices to each other, except the indexed one, which is that of indices.
///
/// Errors    shape_error: rank 0; unequal ranks; an axis out of range; axes of other lengths, none of which
///           is 1; a size that overflows.
/// Source    NumPy, take_along_axis.
XLOOM_NOINLINE constexpr indexed_shape check_along_axis(std::string_view op, shape const& x,
    shape const& indices, along_axis_options const& options, std::size_t item_bytes)
{
    if (x.empty() || indices.size() != x.size())
        fail<shape_error>(op, ": x and indices must have one rank, at least 1, but x is ", x,
            " and indices is ", indices, ". Give each as many axes.");
    std::size_t const axis = check_axis_option(op, "x", x, options.axis);
    indexed_shape result{index_form::items, axis, axis + 1, indices};
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (k == axis)
            continue;
        if (x[k] != indices[k] && x[k] != 1 && indices[k] != 1)
            fail<shape_error>(op,
                ": x and indices must be equally long along every axis but the indexed one, "
                "or one of them 1, but axis ",
                k, " has ", x[k], " in x ", x, " and ", indices[k], " in indices ", indices,
                " (options.axis ", options.axis, "). Give it one length.");
        result.values[k] = indices[k] == 1 ? x[k] : indices[k];
    }
    check_result_size(op, "x[indices]", result.values, item_bytes, "Name fewer items.");
    return result;
}

/// Requires that values can be broadcast to the shape of the indexed items.
///
/// Errors    shape_error.
XLOOM_NOINLINE constexpr void check_values(std::string_view op, shape const& values, shape const& dims)
{
    if (!can_broadcast(values, dims))
        fail<shape_error>(op, ": values must broadcast to the shape of x[indices] ", dims, ", but it is ",
            values, ". From the last axis on, give each the length there or 1.");
}

/// Checks the operands of take, whose output has the shape x.shape[:axis] ++ indices.shape ++ x.shape[axis +
/// 1:].
///
/// Errors    shape_error: over max_rank; a size that overflows.
XLOOM_NOINLINE constexpr indexed_shape check_take(
    std::string_view op, shape const& x, shape const& indices, std::size_t axis, std::size_t item_bytes = 1)
{
    check_rank(op, "the output", x.size() - 1 + indices.size());
    shape dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::size_t const dim : indices)
        dims.push_back(dim);
    dims = joined(dims, x, axis + 1);
    check_result_size(op, "the output", dims, item_bytes, "Take fewer items.");
    return {index_form::slices, axis, axis + 1, dims};
}

/// Checks the shapes and options of ufunc.at, whose updates are broadcast to indices.shape ++ x.shape[1:].
///
/// Errors    shape_error: x has rank 0; over max_rank; updates cannot be broadcast to that shape; a size that
///           overflows. option_error: as check_duplicates.
/// Source    NumPy, ufunc.at.
XLOOM_NOINLINE constexpr indexed_shape check_at(std::string_view op, shape const& x, shape const& indices,
    shape const& updates, scatter_rules const& options, bool /* is_broadcast */)
{
    if (x.empty())
        fail<shape_error>(
            op, ": x must have at least one axis, but it has the shape []. Give it an axis of length 1.");
    check_rank(op, "x[indices]", indices.size() + x.size() - 1);
    shape const expected = joined(indices, x, 1);
    if (!can_broadcast(updates, expected))
        fail<shape_error>(op,
            ": updates must broadcast to the shape indices.shape ++ x.shape[1:] = ", expected, ", but it is ",
            updates, " (x ", x, ", indices ", indices,
            "). From the last axis on, give each the length there or 1.");
    check_scattered_sizes({op, "x"}, x, expected);
    check_duplicates(op, options.duplicates, options.reduction);
    return {index_form::slices, 0, 1, expected};
}

} // namespace xloom::inline XLOOM_ABI::detail
