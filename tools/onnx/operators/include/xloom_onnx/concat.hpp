#pragma once
// Concat and Split.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns the shape of tensors joined along an axis.
///
/// Errors    shape_error: no tensor, or other dimensions that differ. option_error: no axis.
inline xloom::shape concat_shape(std::span<xloom::shape const> parts, std::int64_t axis)
{
    static constexpr std::string_view op = "xloom_onnx::concat";
    if (parts.empty())
        xloom::kernels::fail<xloom::shape_error>(op, ": there is no tensor to join");
    xloom::shape dims = parts[0];
    std::size_t const along = checked_axis(op, axis, dims.size());
    for (xloom::shape const& next : parts.subspan(1)) {
        bool fits = next.size() == dims.size();
        for (std::size_t a = 0; fits && a < dims.size(); ++a)
            fits = a == along || next[a] == dims[a];
        if (!fits)
            xloom::kernels::fail<xloom::shape_error>(
                op, ": it cannot join ", parts[0], " and ", next, " along axis ", along);
        dims[along] += next[along];
    }
    return dims;
}

struct concat_options {
    std::int64_t axis = 0;
};

/// Copies a part to its place in the whole: `begin` is the position of its first slice along the axis.
/// Requires that it has room there, and that the other dimensions agree.
template <class T>
void join_part(
    tensor_view<T const> const& part, std::size_t begin, tensor_view<T> const& whole, std::size_t axis)
{
    axis_view const from = around(part.shape(), axis);
    std::size_t const block = from.length * from.inner, stride = whole.shape()[axis] * from.inner;
    for (std::size_t o = 0; o < from.outer; ++o)
        std::copy_n(part.data() + o * block, block, whole.data() + o * stride + begin * from.inner);
}

/// Copies the slices from `begin` on, as many as the part has, along an axis. Requires that they are there
/// and that the other dimensions agree.
template <class T>
void take_part(
    tensor_view<T const> const& whole, std::size_t begin, tensor_view<T> const& part, std::size_t axis)
{
    axis_view const to = around(part.shape(), axis);
    std::size_t const block = to.length * to.inner, stride = whole.shape()[axis] * to.inner;
    for (std::size_t o = 0; o < to.outer; ++o)
        std::copy_n(whole.data() + o * stride + begin * to.inner, block, part.data() + o * block);
}

/// Joins tensors along an axis: concat_into(std::tie(a, b, c), y, {.axis = 1}).
///
/// Cost      each item is read and written once. Allocates nothing if y has as many items already.
template <class... Xs, class Y>
void concat_into(std::tuple<Xs...> const& parts, Y&& y, concat_options const& options = {})
{
    std::array<xloom::shape, sizeof...(Xs)> dims;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        ((dims[N] = const_view_of<Xs>(std::get<N>(parts)).shape()), ...);
        auto const to = output_view("xloom_onnx::concat_into", y, concat_shape(dims, options.axis));
        using T = typename decltype(to)::value_type;
        std::size_t const axis = xloom::wrap_axis(options.axis, to.rank());
        std::size_t begin = 0;
        ((join_part<T>(const_view_of<Xs>(std::get<N>(parts)), begin, to, axis), begin += dims[N][axis]), ...);
    }(std::make_index_sequence<sizeof...(Xs)>());
}

/// Joins a sequence of tensors.
///
/// Cost      as above; and a list of their shapes is allocated.
template <operand X, class Y>
void concat_into(std::vector<X> const& parts, Y&& y, concat_options const& options = {})
{
    std::vector<xloom::shape> dims;
    for (X const& part : parts)
        dims.push_back(const_view_of<X>(part).shape());
    auto const to = output_view("xloom_onnx::concat_into", y, concat_shape(dims, options.axis));
    std::size_t const axis = xloom::wrap_axis(options.axis, to.rank());
    std::size_t begin = 0;
    for (std::size_t k = 0; k < parts.size(); begin += dims[k++][axis])
        join_part<item_t<X>>(const_view_of<X>(parts[k]), begin, to, axis);
}

struct split_options {
    std::int64_t axis = 0;
    integers split{};   ///< the parts' lengths, at most 32; empty: equal ones, of any number of parts
    bool uneven = true; ///< since opset 18 the last of equal parts may be shorter
};

/// Returns the length of part k of `count` equal parts.
///
/// Errors    shape_error: the axis cannot be split evenly, unless `uneven`.
inline std::size_t equal_part(std::size_t length, std::size_t count, std::size_t k, bool uneven)
{
    if (count == 0 || (!uneven && length % count != 0))
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::split: an axis of ", length, " cannot be split into ", count, " equal parts");
    std::size_t const most = length / count + (length % count != 0 ? 1 : 0),
                      before = (std::min)(length, k * most);
    return (std::min)(most, length - before);
}

/// Throws unless the lengths sum up to that of the axis.
template <class Lengths>
void check_split(std::size_t length, Lengths const& lengths)
{
    std::size_t left = length;
    bool is_possible = true;
    for (std::int64_t const each : lengths) {
        is_possible = is_possible && each >= 0 && std::cmp_less_equal(each, left);
        left -= static_cast<std::size_t>(each);
    }
    if (!is_possible || left != 0)
        xloom::kernels::fail<xloom::shape_error>("xloom_onnx::split: an axis of ", length,
            " cannot be split into these ", lengths.size(), " parts");
}

/// Splits x along an axis: split_into(x, std::tie(a, b), {.axis = 1, .split = {3, 5}}).
///
/// Errors    shape_error: lengths that do not sum up to that of the axis. option_error: no axis, or not one
///           length for each output.
template <operand X, class... Ys>
void split_into(X const& x, std::tuple<Ys...> const& parts, split_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::split_into";
    const_view_of<X> const from(x);
    std::size_t const axis = checked_axis(op, options.axis, from.rank()), length = from.shape()[axis];
    bool const is_equal = options.split.empty();
    if (!is_equal) {
        if (options.split.size() != sizeof...(Ys))
            xloom::kernels::fail<xloom::option_error>(
                op, ": there are ", options.split.size(), " parts for ", sizeof...(Ys), " outputs");
        check_split(length, options.split);
    }
    std::size_t k = 0, begin = 0;
    auto const write = [&](auto& y) {
        xloom::shape dims = from.shape();
        dims[axis] = is_equal ? equal_part(length, sizeof...(Ys), k, options.uneven)
                              : static_cast<std::size_t>(options.split[k]);
        take_part<item_t<X>>(from, begin, output_view(op, y, dims), axis);
        begin += dims[axis];
        ++k;
    };
    std::apply([&](auto&... each) { (write(each), ...); }, parts);
}

} // namespace xloom_onnx
