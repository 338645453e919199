#pragma once
// TopK.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

struct top_k_options {
    std::int64_t axis = -1;
    bool largest = true; ///< else the smallest items
};

/// Returns the shape of TopK: that of x with k items along `axis`.
///
/// Errors    option_error: no axis, a k that is negative or more than there are items along it.
inline xloom::shape top_k_shape(xloom::shape const& x, std::int64_t k, top_k_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::top_k";
    xloom::shape dims = x;
    std::size_t& length = dims[checked_axis(op, options.axis, x.size())];
    if (k < 0 || std::cmp_greater(k, length))
        xloom::kernels::fail<xloom::option_error>(
            op, ": K must be 0 to ", length, " for the axis ", options.axis, ", but is ", k);
    length = static_cast<std::size_t>(k);
    return dims;
}

namespace detail {

/// True if a is greater than b, as NumPy sorts: NaN is greater than all numbers.
template <class T>
bool is_greater(T const& a, T const& b)
{
    return a > b || (a != a && b == b);
}

} // namespace detail

/// Gives the k largest or smallest items along an axis, and their indices, in descending or ascending order.
/// Of equal items that with the lower index is first. NaN is greater than all numbers.
///
/// Shapes    values and indices as top_k_shape.
/// Types     x: numbers. values: that of x. indices: std::int64_t.
/// Errors    option_error as top_k_shape; shape_error: an output has a fixed shape, and another one.
/// Cost      O(n + k log k) comparisons for n items along the axis. Allocates nothing if the outputs have as
///           many items already and the workspace is large enough.
/// Aliasing  the outputs overlap neither x nor each other.
template <operand X, class Values, class Indices>
void top_k_into(X const& x, std::int64_t k, Values&& values, Indices&& indices, top_k_options const& options,
    workspace& memory)
{
    static constexpr std::string_view op = "xloom_onnx::top_k_into";
    const_view_of<X> const from(x);
    xloom::shape const dims = top_k_shape(from.shape(), k, options);
    auto const items = output_view(op, values, dims);
    auto const places = output_view(op, indices, dims);
    if (items.size() == 0)
        return;
    auto const [outer, length, inner] = around(from.shape(), xloom::wrap_axis(options.axis, dims.size()));
    auto const kept = static_cast<std::size_t>(k);
    auto* const order = memory.take<std::size_t>(length);
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t i = 0; i < inner; ++i) {
            auto const* const row = from.data() + o * length * inner + i;
            auto const precedes = [&, stride = inner](std::size_t a, std::size_t b) {
                auto const &first = row[a * stride], &second = row[b * stride];
                if (detail::is_greater(first, second))
                    return options.largest;
                if (detail::is_greater(second, first))
                    return !options.largest;
                return a < b;
            };
            std::iota(order, order + length, std::size_t{0});
            std::nth_element(order, order + kept, order + length, precedes);
            std::sort(order, order + kept, precedes);
            for (std::size_t j = 0; j < kept; ++j) {
                std::size_t const to = (o * kept + j) * inner + i;
                items[to] = row[order[j] * inner];
                places[to] = static_cast<std::int64_t>(order[j]);
            }
        }
}

} // namespace xloom_onnx
