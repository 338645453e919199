#pragma once
// The rules and forms of indices, which all operators on indexed slices have, and the shape requirements of
// ScatterND.

#include <cstdint>
#include <string_view>

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

/// The form of indices.
enum class index_form : unsigned char {
    tuples, ///< of ScatterND and GatherND: along the last axis, behind batch axes, which data shares
    items,  ///< of ScatterElements and GatherElements: one for each item; the other axes keep their positions
    slices  ///< of NumPy's take and ufunc.at: one for each slice, along one axis
};

/// The axes of data that are indexed, and the shape of the values: of the updates or the output.
struct indexed_shape {
    index_form form;
    std::size_t first; ///< the indexed axes are first .. last - 1
    std::size_t last;
    shape values;
};

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

/// Requires that the sizes of data and of updates, as broadcast, do not overflow.
///
/// Errors    shape_error.
constexpr void check_scattered_sizes(indexed_names const& op, shape const& data, shape const& updates)
{
    if (!has_strides(data) || !has_strides(updates))
        fail<shape_error>(op, ": the size of a tensor must fit in memory, its strides too, but ", op.data,
            " is ", data, " and ", op.updates, " is ", updates, ". Reduce a dimension.");
}

/// Requires a rule that is an enumerator.
///
/// Errors    option_error.
constexpr void check_bounds(std::string_view op, bounds rule)
{
    if (rule > bounds::clip)
        fail<option_error>(op, ": options.bounds must be check, assume, drop or clip, but it is number ",
            static_cast<int>(rule), ". Choose one.");
}

/// Requires a rule that is an enumerator, and that duplicates::first goes with updates that replace values.
///
/// Errors    option_error.
constexpr void check_duplicates(std::string_view op, duplicates rule, reduction kind)
{
    if (rule > duplicates::error)
        fail<option_error>(op, ": options.duplicates must be last, first or error, but it is number ",
            static_cast<int>(rule), ". Choose one.");
    if (rule == duplicates::first && kind != reduction::none)
        fail<option_error>(op, ": duplicates::first requires reduction::none, but reduction is ",
            name_of(kind), ". Choose duplicates::last, with which every update counts.");
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
