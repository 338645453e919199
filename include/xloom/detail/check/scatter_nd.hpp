#pragma once
// Shape requirements of ScatterND, and the options that all scatters have.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of scatter_nd.
struct scatter_nd_options {
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last; ///< `error` is valid with every reduction
    bool include_self = true;         ///< false: the first update of a slice replaces its old value
    bool accumulate_in_float = false; ///< storage floats are rounded once, at the end, not after each update
    bool unique = false;              ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;              ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The options of a scatter, with the reduction if it is chosen at run time, and with the axis that items are
/// indexed along.
struct scatter_rules : scatter_nd_options {
    xloom::reduction reduction = xloom::reduction::none;
    std::int64_t axis = 0;
};

/// Returns the options of a scatter, or of a derivative, with a reduction. What an operator has no option for
/// has the default.
template <class Options>
constexpr scatter_rules rules_of(Options const& options, reduction kind = reduction::none)
{
    scatter_rules rules{{.bounds = options.bounds, .unique = options.unique, .sorted = options.sorted}, kind};
    if constexpr (requires { options.duplicates; })
        rules.duplicates = options.duplicates;
    if constexpr (requires { options.include_self; })
        rules.include_self = options.include_self;
    if constexpr (requires { options.accumulate_in_float; })
        rules.accumulate_in_float = options.accumulate_in_float;
    if constexpr (requires { options.axis; })
        rules.axis = options.axis;
    return rules;
}

/// Returns the shape of updates, indices.shape[:-1] ++ data.shape[k:]: the k = indices.shape[-1] leading axes
/// of data are indexed.
///
/// Errors    shape_error: rank 0; over max_rank; k > r.
constexpr shape shape_of_updates(std::string_view op, shape const& data, shape const& indices)
{
    check_not_scalar(op, "data", data);
    check_not_scalar(op, "indices", indices);
    std::size_t const k = indices.back();
    if (k > data.size())
        fail<shape_error>(op, ": indices' last axis must be no longer than data's rank, but indices is ",
            indices, " and data is ", data, ".", describe_one_tuple(indices, " Index fewer axes."));
    shape const front = drop_axis(indices, indices.size() - 1);
    check_rank(op, "updates", front.size() + data.size() - k);
    return joined(front, data, k);
}

/// Requires that the sizes of data and of updates, as broadcast, do not overflow.
///
/// Errors    shape_error.
constexpr void check_scattered_sizes(indexed_names const& op, shape const& data, shape const& updates)
{
    if (!has_strides(data) || !has_strides(updates))
        fail<shape_error>(op, ": the size of a tensor must fit in memory, its strides too, but ", op.data,
            " is ", data, " and ", op.updates, " is ", updates, ". Reduce a dimension.");
}

/// Checks the shapes and options of ScatterND. The values have the shape of updates, or the one to which
/// these are broadcast.
///
/// Errors    shape_error: of shape_of_updates; updates of another shape, or one that cannot be broadcast; a
///           size that overflows.  option_error: as check_duplicates.
/// Source    ONNX ScatterND-18, text; its inference reads neither indices nor updates. NumPy, "Broadcasting".
XLOOM_NOINLINE constexpr indexed_shape check_scatter_nd(std::string_view op, shape const& data,
    shape const& indices, shape const& updates, scatter_rules const& options, bool is_broadcast = false)
{
    shape const expected = shape_of_updates(op, data, indices);
    if (is_broadcast && !can_broadcast(updates, expected))
        fail<shape_error>(op, ": updates must broadcast to the shape indices.shape[:-1] ++ data.shape[",
            indices.back(), ":] = ", expected, ", but it is ", updates, " (data ", data, ", indices ",
            indices, "). From the last axis on, give each the length there or 1.",
            describe_one_tuple(indices));
    if (!is_broadcast && updates != expected)
        fail<shape_error>(op, ": updates must have the shape indices.shape[:-1] ++ data.shape[",
            indices.back(), ":] = ", expected, ", but it is ", updates, " (data ", data, ", indices ",
            indices, "). Give updates that shape.", describe_one_tuple(indices));
    check_scattered_sizes(op, data, expected);
    check_duplicates(op, options.duplicates, options.reduction);
    return {index_form::tuples, 0, indices.back(), expected};
}

/// Requires that neither indices nor updates share memory with data, and that no two items of data do.
///
/// Errors    overlap_error.
constexpr void check_scatter_overlap(indexed_names const& op, memory_block const& data,
    memory_block const& indices, memory_block const& updates)
{
    check_written(op, std::array{operand_memory(op.data, data)},
        std::array<operand_memory, 2>{{{"indices", indices}, {op.updates, updates}}});
}

} // namespace xloom::inline XLOOM_ABI::detail
