#pragma once
// OneHot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/cast.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct one_hot_options {
    std::int64_t axis = -1;     ///< of the result: where the new one is
    bool wraps_negative = true; ///< negative indices count from the end; false before opset 11
};

/// Returns the shape of OneHot: that of indices with a new axis of length `depth`.
///
/// Errors    option_error: no axis, a depth that is negative or no std::size_t. shape_error: too many axes.
inline xloom::shape one_hot_shape(
    xloom::shape const& indices, std::int64_t depth, one_hot_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::one_hot";
    if (indices.size() >= xloom::max_rank)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": indices of the shape ", indices, " leave no room for another axis");
    std::size_t const axis = checked_axis(op, options.axis, indices.size() + 1);
    if (depth < 0)
        xloom::kernels::fail<xloom::option_error>(op, ": the depth ", depth, " is negative");
    if (!std::in_range<std::size_t>(depth))
        xloom::kernels::fail<xloom::option_error>(op, ": the depth ", depth, " is too large");
    return xloom::insert_axis(indices, axis, static_cast<std::size_t>(depth));
}

namespace detail {

/// Returns the position of an index, which may count from the end if negative; `depth` if it is out of range.
template <class Index>
std::size_t one_hot_position(Index index, std::size_t depth, bool wraps)
{
    if constexpr (!std::is_integral_v<Index>) {
        // Beyond 2^62 nothing is in range, nor is NaN.
        auto const number = static_cast<double>(index);
        return number > -0x1p62 && number < 0x1p62
                   ? one_hot_position(static_cast<std::int64_t>(number), depth, wraps)
                   : depth;
    } else if constexpr (std::is_signed_v<Index>) {
        auto const number = static_cast<std::int64_t>(index);
        if (number >= 0)
            return std::cmp_less(number, depth) ? static_cast<std::size_t>(number) : depth;
        // Its magnitude, also of the lowest number.
        std::uint64_t const back = 0 - static_cast<std::uint64_t>(number);
        return wraps && back <= depth ? depth - static_cast<std::size_t>(back) : depth;
    } else {
        return static_cast<std::size_t>((std::min<std::uint64_t>)(index, depth));
    }
}

} // namespace detail

/// y[outer, k, inner] = values[1] where k is indices[outer, inner], else values[0]. Indices in [-depth, -1]
/// count from the end; those out of range give values[0] alone. Indices that are no integers are truncated.
///
/// Types     indices: numbers. values, y: any type.
/// Errors    shape_error: `values` does not have two items. option_error: no axis, a negative depth.
/// Cost      each item of y is written once. Allocates nothing if y has as many items already.
template <operand Indices, operand Values, class Y>
void one_hot_into(Indices const& indices, std::int64_t depth, Values const& values, Y&& y,
    one_hot_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::one_hot_into";
    const_view_of<Indices> const at(indices);
    const_view_of<Values> const items(values);
    if (items.shape() != xloom::shape{2})
        xloom::kernels::fail<xloom::shape_error>(
            op, ": values must have the shape [2], but have the shape ", items.shape());
    xloom::shape const dims = one_hot_shape(at.shape(), depth, options);
    auto const to = output_view(op, y, dims);
    auto const [outer, length, inner] = around(dims, xloom::wrap_axis(options.axis, dims.size()));
    std::fill(to.begin(), to.end(), items[0]);
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t i = 0; i < inner; ++i) {
            std::size_t const k = detail::one_hot_position(at[o * inner + i], length, options.wraps_negative);
            if (k < length)
                to[(o * length + k) * inner + i] = items[1];
        }
}

} // namespace xloom_onnx
