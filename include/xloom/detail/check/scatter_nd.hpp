#pragma once
// Shape requirements of ScatterND.

#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/bounds.hpp>
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

/// The options of a scatter, with the reduction if it is chosen at run time.
struct scatter_rules {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    bool accumulate_in_float = false;
    bool unique = false;
    bool sorted = false;
};

/// Returns options, of ScatterND or of ScatterElements, with a reduction.
template <class Options>
constexpr scatter_rules rules_of(Options const& options, reduction kind = reduction::none)
{
    return {.reduction = kind,
        .bounds = options.bounds,
        .duplicates = options.duplicates,
        .include_self = options.include_self,
        .accumulate_in_float = options.accumulate_in_float,
        .unique = options.unique,
        .sorted = options.sorted};
}

constexpr void check_not_scalar(std::string_view op, std::string_view operand, shape const& dims)
{
    if (dims.empty())
        fail<shape_error>(op, ": data and indices must have at least one axis, but ", operand,
            " has the shape ", dims, ". Give it an axis of length 1.");
}

/// Returns `front` followed by the dimensions of `dims` from axis `first` on.
constexpr shape joined(shape const& front, shape const& dims, std::size_t first)
{
    shape all = front;
    for (std::size_t axis = first; axis < dims.size(); ++axis)
        all.push_back(dims[axis]);
    return all;
}

/// Returns the remedy if indices [n], which is one n-tuple, was meant as n indices; empty for other ranks.
inline std::string describe_one_tuple(shape const& indices)
{
    return indices.size() == 1 ? concat(" indices ", indices, " is one tuple of ", indices[0],
                                     "; pass xt::view(indices, xt::all(), xt::newaxis()) if it names ",
                                     indices[0], " slices.")
                               : std::string();
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
            indices, " and data is ", data, ".",
            indices.size() == 1 ? describe_one_tuple(indices) : std::string(" Index fewer axes."));
    shape const front = drop_axis(indices, indices.size() - 1);
    check_rank(op, "updates", front.size() + data.size() - k);
    return joined(front, data, k);
}

/// True if NumPy broadcasts `from` to `to`.
constexpr bool can_broadcast(shape const& from, shape const& to)
{
    if (from.size() > to.size())
        return false;
    for (std::size_t axis = 1; axis <= from.size(); ++axis)
        if (from[from.size() - axis] != 1 && from[from.size() - axis] != to[to.size() - axis])
            return false;
    return true;
}

/// Returns the shape to which updates are broadcast.
///
/// Errors    shape_error: of shape_of_updates; updates cannot be broadcast to that shape.
/// Source    NumPy, "Broadcasting".
[[gnu::noinline]] constexpr shape broadcast_shape(
    std::string_view op, shape const& data, shape const& indices, shape const& updates)
{
    shape const expected = shape_of_updates(op, data, indices);
    if (!can_broadcast(updates, expected))
        fail<shape_error>(op, ": updates must broadcast to the shape indices.shape[:-1] ++ data.shape[",
            indices.back(), ":] = ", expected, ", but it is ", updates, " (data ", data, ", indices ",
            indices, "). From the last axis on, give each the length there or 1.",
            describe_one_tuple(indices));
    return expected;
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

/// Requires that duplicates::first goes with updates that replace values.
///
/// Errors    option_error.
constexpr void check_first_of_duplicates(std::string_view op, duplicates rule, reduction kind)
{
    if (rule == duplicates::first && kind != reduction::none)
        fail<option_error>(op, ": duplicates::first requires reduction::none, but reduction is ",
            name_of(kind), ". Choose duplicates::last, with which every update counts.");
}

/// Checks the shapes and options of ScatterND.
///
/// Errors    shape_error: of shape_of_updates; another shape of updates; a size that overflows.
///           option_error: options that contradict each other.
/// Source    ONNX ScatterND-18, text; its inference reads neither indices nor updates.
[[gnu::noinline]] constexpr void check_scatter_nd(std::string_view op, shape const& data,
    shape const& indices, shape const& updates, scatter_rules const& options)
{
    shape const expected = shape_of_updates(op, data, indices);
    if (updates != expected)
        fail<shape_error>(op, ": updates must have the shape indices.shape[:-1] ++ data.shape[",
            indices.back(), ":] = ", expected, ", but it is ", updates, " (data ", data, ", indices ",
            indices, "). Give updates that shape.", describe_one_tuple(indices));
    check_scattered_sizes(op, data, updates);
    check_first_of_duplicates(op, options.duplicates, options.reduction);
}

/// Requires that neither indices nor updates share memory with data, and that no two items of data do.
///
/// Errors    overlap_error.
constexpr void check_scatter_overlap(indexed_names const& op, memory_block const& data,
    memory_block const& indices, memory_block const& updates)
{
    check_written_memory(op, {op.data, data}, {"indices", indices}, {op.updates, updates},
        "Copy one of the two.", "Copy it first.");
}

} // namespace xloom::inline XLOOM_ABI::detail
