#pragma once
// Shape requirements of GatherElements and ScatterElements.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_elements.
struct gather_elements_options {
    std::int64_t axis = 0; ///< the axis of data that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Requires that `axis`, an option, is an axis of `operand`, and returns it, counted from the front.
///
/// Errors    shape_error: an axis out of range.
constexpr std::size_t check_axis_option(
    std::string_view op, std::string_view operand, shape const& dims, std::int64_t axis)
{
    if (!is_axis(axis, dims.size()))
        fail<shape_error>(op, ": an axis of a tensor of rank r must be in [-r, r - 1], but options.axis is ",
            axis, " and ", operand, " has the shape ", dims, ". Name an axis that the tensor has.");
    return wrap_axis(axis, dims.size());
}

/// Checks the shapes of data and of indices that name an item each, and returns the axis that they index,
/// counted from the front.
///
/// Errors    shape_error: rank 0; unequal ranks; an axis out of range; an axis of indices that exceeds
///           data's, except the indexed one.
/// Source    ONNX GatherElements-13, ScatterElements-18, text.
[[gnu::noinline]] constexpr std::size_t check_elements(
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

/// Checks the operands of GatherElements, whose output has the shape of indices, and returns the axis.
///
/// Errors    of check_elements; shape_error: a size that overflows.
[[gnu::noinline]] constexpr std::size_t check_gather_elements(std::string_view op, shape const& data,
    shape const& indices, gather_elements_options const& options, std::size_t item_bytes = 1)
{
    std::size_t const axis = check_elements(op, data, indices, options.axis);
    check_result_size(op, "the output", indices, item_bytes, "Gather fewer items.");
    return axis;
}

/// Checks the shape and the memory of GatherElements' output.
///
/// Errors    shape_error: output does not have the shape of indices. overlap_error: as check_gather_memory.
[[gnu::noinline]] constexpr void check_gather_elements_output(
    std::string_view op, memory_block const& output, memory_block const& data, memory_block const& indices)
{
    if (output.layout.dims != indices.layout.dims)
        fail<shape_error>(op, ": output must have the shape of indices ", indices.layout.dims, ", but it is ",
            output.layout.dims, ". Give it that shape.");
    check_gather_memory(op, {"output", output}, {"data", data}, {"indices", indices});
}

/// Checks the operands of ScatterElements and returns the axis. `updates_shape` is that of indices, unless
/// they are broadcast.
///
/// Errors    of check_elements; shape_error: another shape of updates, or one that cannot be broadcast; a
///           size that overflows. option_error: options that contradict each other.
[[gnu::noinline]] constexpr std::size_t check_scatter_elements(indexed_names const& op, shape const& data,
    shape const& indices, shape const& updates, bool is_broadcast, std::int64_t axis,
    scatter_rules const& options)
{
    std::size_t const indexed = check_elements(op, data, indices, axis);
    if (is_broadcast && !can_broadcast(updates, indices))
        fail<shape_error>(op, ": updates must broadcast to the shape of indices ", indices, ", but it is ",
            updates, ". From the last axis on, give each the length there or 1.");
    if (!is_broadcast && updates != indices)
        fail<shape_error>(op, ": updates must have the shape of indices ", indices, ", but it is ", updates,
            ". Give updates that shape, or pass broadcast(updates).");
    check_scattered_sizes(op, data, indices);
    check_first_of_duplicates(op, options.duplicates, options.reduction);
    return indexed;
}

} // namespace xloom::inline XLOOM_ABI::detail
