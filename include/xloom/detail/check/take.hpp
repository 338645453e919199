#pragma once
// Shape requirements of NumPy's take and compress.

#include <string_view>

#include <xloom/detail/check/elements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the shape of take's output, x.shape[:axis] ++ indices.shape ++ x.shape[axis + 1:].
///
/// Errors    shape_error: over max_rank; a size that overflows.
[[gnu::noinline]] constexpr shape check_take(
    std::string_view op, shape const& x, shape const& indices, std::size_t axis, std::size_t item_bytes = 1)
{
    check_rank(op, "the output", x.size() - 1 + indices.size());
    shape dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::size_t const dim : indices)
        dims.push_back(dim);
    dims = joined(dims, x, axis + 1);
    check_result_size(op, "the output", dims, item_bytes, "Take fewer items.");
    return dims;
}

} // namespace xloom::inline XLOOM_ABI::detail
