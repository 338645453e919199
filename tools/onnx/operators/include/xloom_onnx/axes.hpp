#pragma once
// Axes and lists of integers, as attributes and operands give them.

#include <bitset>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// A list of up to 32 integers: axes, starts, pads, a shape. Made from numbers in braces, or from a tensor or
/// another range of integers.
///
/// Errors    option_error: more than 32.
class integers : public xloom::static_vector<std::int64_t, 2 * xloom::max_rank> {
    using base = xloom::static_vector<std::int64_t, 2 * xloom::max_rank>;

public:
    integers() = default;
    integers(std::initializer_list<std::int64_t> list) : base(list) {}

    template <class X>
        requires(operand<X> && std::integral<item_t<X>>)
    integers(X const& x)
    {
        tensor_view<item_t<X> const> const view(x);
        this->assign(view.begin(), view.end());
    }
    template <class Range>
        requires(!operand<Range> && !std::is_same_v<Range, integers> &&
                 requires(Range const& r) {
                     {
                         *r.begin()
                     } -> std::convertible_to<std::int64_t>;
                 })
    integers(Range const& range)
    {
        this->assign(range.begin(), range.end());
    }
};

/// A set of the axes of a tensor.
using axis_set = std::bitset<xloom::max_rank>;

/// Returns an axis counted from the front.
///
/// Errors    option_error: no axis of a tensor of this rank.
inline std::size_t checked_axis(std::string_view op, std::int64_t axis, std::size_t rank)
{
    if (!xloom::is_axis(axis, rank))
        xloom::kernels::fail<xloom::option_error>(
            op, ": the axis ", axis, " is none of a tensor of rank ", rank);
    return xloom::wrap_axis(axis, rank);
}

/// Returns the set of axes in a list.
///
/// Errors    option_error: no axis of a tensor of this rank, or one that is listed twice.
inline axis_set checked_axes(std::string_view op, integers const& list, std::size_t rank)
{
    axis_set set;
    for (std::int64_t const each : list) {
        std::size_t const axis = checked_axis(op, each, rank);
        if (set[axis])
            xloom::kernels::fail<xloom::option_error>(op, ": the axis ", axis, " is given twice");
        set[axis] = true;
    }
    return set;
}

/// A tensor [outer, length, inner] around one axis. Of an empty tensor outer is 0, so that loops end at once.
struct axis_view {
    std::size_t outer, length, inner;
};

inline axis_view around(xloom::shape const& dims, std::size_t axis)
{
    if (xloom::element_count(dims) == 0)
        return {0, dims[axis], 0};
    axis_view view{1, dims[axis], 1};
    for (std::size_t a = 0; a < axis; ++a)
        view.outer *= dims[a];
    for (std::size_t a = axis + 1; a < dims.size(); ++a)
        view.inner *= dims[a];
    return view;
}

/// Returns a shape that integers give.
///
/// Errors    shape_error: a dimension that is negative or no std::size_t, or more than max_rank.
inline xloom::shape checked_shape(std::string_view op, integers const& numbers)
{
    if (numbers.size() > xloom::max_rank)
        xloom::kernels::fail<xloom::shape_error>(
            op, ": a shape of rank ", numbers.size(), " is given, more than ", xloom::max_rank);
    xloom::shape dims;
    for (std::int64_t const number : numbers) {
        if (number < 0)
            xloom::kernels::fail<xloom::shape_error>(
                op, ": a dimension of the shape ", numbers, " is negative");
        if (!std::in_range<std::size_t>(number))
            xloom::kernels::fail<xloom::shape_error>(
                op, ": a dimension of the shape ", numbers, " is too large");
        dims.push_back(static_cast<std::size_t>(number));
    }
    return dims;
}

} // namespace xloom_onnx
