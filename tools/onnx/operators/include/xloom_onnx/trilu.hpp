#pragma once
// Trilu: the upper or lower triangles of matrices.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct trilu_options {
    bool upper = true;
};

/// y[.., i, j] = x[.., i, j] on the diagonal j = i + k and above it (without `upper`: below it), else 0, an
/// empty string or false.
///
/// Types     any.
/// Errors    shape_error: x has no matrices.
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
template <operand X, class Y>
void trilu_into(X const& x, std::int64_t k, Y&& y, trilu_options const& options = {})
{
    const_view_of<X> const from(x);
    if (from.rank() < 2)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::trilu_into: X must have matrices, but has the shape ", from.shape());
    auto const to = output_view("xloom_onnx::trilu_into", y, from.shape());
    if (to.size() == 0)
        return;
    std::size_t const rows = from.shape()[from.rank() - 2], columns = from.shape()[from.rank() - 1];
    // A diagonal outside of the matrices is one beside them.
    auto const shift = std::clamp(k, -static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns));
    for (std::size_t row = 0; row < to.size() / columns; ++row) {
        // The first column that is above the diagonal or on it, or only above it.
        std::int64_t const first = static_cast<std::int64_t>(row % rows) + shift + (options.upper ? 0 : 1);
        auto const split = static_cast<std::ptrdiff_t>(
            std::clamp(first, std::int64_t{0}, static_cast<std::int64_t>(columns)));
        auto const* const begin = from.data() + row * columns;
        auto* const target = to.data() + row * columns;
        auto* const middle = target + split;
        auto* const end = target + columns;
        if (options.upper) {
            std::copy(begin + split, begin + columns, middle);
            std::fill(target, middle, item_t<X>());
        } else {
            std::copy(begin, begin + split, target);
            std::fill(middle, end, item_t<X>());
        }
    }
}

} // namespace xloom_onnx
