#pragma once
// Shape requirements of NumPy's ufunc.at.

#include <string_view>

#include <xloom/detail/check/scatter_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the shapes and options of ufunc.at, and returns the shape to which updates are broadcast:
/// indices.shape ++ x.shape[1:].
///
/// Errors    shape_error: x has rank 0; over max_rank; updates cannot be broadcast to that shape; a size that
///           overflows. option_error: options that contradict each other.
/// Source    NumPy, ufunc.at.
[[gnu::noinline]] constexpr shape check_at(std::string_view op, shape const& x, shape const& indices,
    shape const& updates, scatter_rules const& options)
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
    check_first_of_duplicates(op, options.duplicates, options.reduction);
    return expected;
}

} // namespace xloom::inline XLOOM_ABI::detail
