#pragma once
// The updates of a scatter: contiguous in row-major order, or broadcast where they are.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/indexed/requirements.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns a number as text: of 15 digits or, if they are those of another number, of 17.
template <std::floating_point Float>
std::string describe_number(Float value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", static_cast<double>(value));
    if (static_cast<Float>(std::strtod(text, nullptr)) != value)
        std::snprintf(text, sizeof text, "%.17g", static_cast<double>(value));
    return text;
}
template <std::integral Int>
std::string describe_number(Int value)
{
    return concat(value);
}

/// Returns updates without the mark of broadcast(), a number that is broadcast as a T.
///
/// Errors    type_error: no T has the value of that number.
template <class T, class Updates>
decltype(auto) operand_of([[maybe_unused]] indexed_names const& op, Updates const& updates)
{
    if constexpr (!is_converted<Updates, T>) {
        return detail::unmarked(updates);
    } else {
        std::optional<T> const converted = exact_cast<T>(updates.operand);
        if (!converted)
            fail<type_error>(op, ": a number that is broadcast must be one of ", op.data,
                "'s element type, but it is ", detail::describe_number(+updates.operand), " and ", op.data,
                " holds ", element_name<T>(), ". Convert it first.");
        return T(*converted);
    }
}

/// Returns the layout of an operand, a tensor or a scalar, that is broadcast: axes that are repeated have
/// stride 0. Requires that NumPy's rule allows it.
template <class X>
strided_layout broadcast_layout(X const& operand, shape const& dims)
{
    strided_layout broadcast{dims, strides(dims.size(), 0)};
    strided_layout const own = detail::layout_of_operand(operand);
    std::size_t const added = dims.size() - own.dims.size();
    for (std::size_t axis = 0; axis < own.dims.size(); ++axis)
        if (own.dims[axis] != 1)
            broadcast.strides[added + axis] = own.strides[axis];
    return broadcast;
}

/// The updates of a scatter as its loops read them. Values is T const*, for contiguous items in row-major
/// order, or kernel::broadcast_updates<T>: loops that need not map positions are faster.
template <class Values>
struct update_values {
    Values values;
    strides of_items;    ///< the strides of the items of one update
    bool are_contiguous; ///< the items of each update are contiguous, or all the same one
};

/// Returns updates that are contiguous in row-major order; one has the shape `slice`.
template <class T>
update_values<T const*> row_major_updates(T const* updates, shape const& slice)
{
    return {updates, row_major_strides(slice), true};
}

/// Returns updates that are broadcast to the shape `dims`, whose first `front` axes number the updates.
template <class X>
update_values<kernel::broadcast_updates<item_t<X>>> broadcast_updates(
    X const& operand, shape const& dims, std::size_t front)
{
    strided_layout const layout = detail::broadcast_layout(operand, dims);
    strided_layout const slice = axes_of(layout, front, dims.size());
    kernel::broadcast_updates<item_t<X>> const values(
        detail::first_of_items(operand), axes_of(layout, 0, front), slice);
    return {values, slice.strides, values.has_one_item() || values.has_contiguous_items()};
}

/// Calls f(update_values) with updates of the shape `dims`, whose first `front` axes number the updates.
/// Updates of another shape are broadcast, if IsBroadcast.
template <bool IsBroadcast, class X, class F>
decltype(auto) with_updates(X const& updates, shape const& dims, std::size_t front, F const& f)
{
    if constexpr (IsBroadcast && !tensor<X>) {
        return f(detail::broadcast_updates(updates, dims, front));
    } else {
        if constexpr (IsBroadcast)
            if (!detail::is_row_major_of(updates, dims))
                return f(detail::broadcast_updates(updates, dims, front));
        row_major_items<item_t<X>> const items(updates);
        return f(detail::row_major_updates(items.data(), shape(dims.begin() + front, dims.end())));
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
