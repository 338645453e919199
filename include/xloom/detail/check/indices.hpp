#pragma once
// The forms of indices, and the requirements that all operators on indexed slices share.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The form of indices.
enum class index_form : unsigned char {
    tuples, ///< of ScatterND and GatherND: along the last axis, after batch axes, which data shares
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

/// Returns the remedy if indices [n], which is one n-tuple, was meant as n indices; `otherwise` for other
/// ranks.
inline std::string describe_one_tuple(shape const& indices, std::string_view otherwise = "")
{
    return indices.size() == 1 ? concat(" indices ", indices, " is one tuple of ", indices[0],
                                     "; pass xt::view(indices, xt::all(), xt::newaxis()) if it names ",
                                     indices[0], " slices.")
                               : std::string(otherwise);
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

/// Checks the shape and the memory of a gather's output, which must have the shape `gathered`; `shape_rule`
/// says in the error text where it comes from.
///
/// Errors    shape_error: output does not have the gathered shape.  overlap_error: it shares memory with data
///           or indices, or two of its items do with each other.
XLOOM_NOINLINE constexpr void check_gathered_output(std::string_view op, std::string_view shape_rule,
    memory_block const& output, shape const& gathered, memory_block const& data, memory_block const& indices)
{
    if (output.layout.dims != gathered)
        fail<shape_error>(op, ": output must have the shape ", shape_rule, " ", gathered, ", but it is ",
            output.layout.dims, ". Give it that shape.");
    check_written(op, std::array{operand_memory("output", output)},
        std::array<operand_memory, 2>{{{"data", data}, {"indices", indices}}});
}

} // namespace xloom::inline XLOOM_ABI::detail
