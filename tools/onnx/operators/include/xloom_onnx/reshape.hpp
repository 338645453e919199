#pragma once
// Reshape, Squeeze, Unsqueeze, Flatten: the same items in another shape. Shape and Size.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct reshape_options {
    bool allowzero = false; ///< 0 is a dimension 0; else it keeps the dimension of x
};

/// Returns the shape of Reshape: -1 is what remains.
///
/// Errors    shape_error: another number of items.
inline xloom::shape reshape_shape(
    xloom::shape const& x, integers const& wanted, reshape_options const& options = {})
{
    auto const fail = [&] {
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::reshape: a tensor of the shape ", x, " cannot be reshaped to ", wanted);
    };
    if (wanted.size() > xloom::max_rank)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::reshape: a rank above ", xloom::max_rank, " is not possible");
    std::size_t unknown = wanted.size();
    xloom::shape dims;
    for (std::size_t a = 0; a < wanted.size(); ++a) {
        bool const keeps = wanted[a] == 0 && !options.allowzero;
        if (wanted[a] < -1 || (wanted[a] == -1 && unknown != wanted.size()) || (keeps && a >= x.size()) ||
            (wanted[a] != -1 && !std::in_range<std::size_t>(wanted[a])))
            fail();
        if (wanted[a] == -1)
            unknown = a;
        dims.push_back(wanted[a] == -1 ? 1 : keeps ? x[a] : static_cast<std::size_t>(wanted[a]));
    }
    if (!xloom::is_countable(dims))
        fail();
    std::size_t const known = xloom::element_count(dims), size = xloom::element_count(x);
    if (unknown == wanted.size()) {
        if (known != size)
            fail();
    } else {
        if (known == 0 || size % known != 0)
            fail();
        dims[unknown] = size / known;
    }
    return dims;
}

/// Returns the shape of Squeeze without axes: all dimensions but those of 1.
inline xloom::shape squeeze_shape(xloom::shape const& x)
{
    xloom::shape dims;
    for (std::size_t const dim : x)
        if (dim != 1)
            dims.push_back(dim);
    return dims;
}

/// Returns the shape without the given axes.
///
/// Errors    option_error: no axis, or twice the same. shape_error: an axis whose dimension is not 1.
inline xloom::shape squeeze_shape(xloom::shape const& x, integers const& axes)
{
    axis_set const set = checked_axes("xloom_onnx::squeeze", axes, x.size());
    xloom::shape dims;
    for (std::size_t a = 0; a < x.size(); ++a)
        if (!set[a])
            dims.push_back(x[a]);
        else if (x[a] != 1)
            xloom::kernels::fail<xloom::shape_error>(
                "xloom_onnx::squeeze: the axis ", a, " of the shape ", x, " is not 1");
    return dims;
}

/// Returns the shape with axes of length 1, counted in the result.
///
/// Errors    option_error: no axis, or twice the same. shape_error: a rank above max_rank.
inline xloom::shape unsqueeze_shape(xloom::shape const& x, integers const& axes)
{
    std::size_t const rank = x.size() + axes.size();
    if (rank > xloom::max_rank)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::unsqueeze: a rank above ", xloom::max_rank, " is not possible");
    axis_set const set = checked_axes("xloom_onnx::unsqueeze", axes, rank);
    xloom::shape dims;
    std::size_t next = 0;
    for (std::size_t a = 0; a < rank; ++a)
        dims.push_back(set[a] ? 1 : x[next++]);
    return dims;
}

/// Returns the shape of a matrix whose rows are the axes before `axis`, which may be the rank.
///
/// Errors    option_error: no axis.
inline xloom::shape flatten_shape(xloom::shape const& x, std::int64_t axis = 1)
{
    std::size_t const split = axis == static_cast<std::int64_t>(x.size())
                                  ? x.size()
                                  : checked_axis("xloom_onnx::flatten", axis, x.size());
    xloom::shape dims{1, 1};
    for (std::size_t a = 0; a < x.size(); ++a)
        dims[a < split ? 0 : 1] *= x[a];
    return dims;
}

/// Copies the items of x to y, which gets a shape of as many items.
template <operand X, class Y>
void copy_into(X const& x, xloom::shape const& dims, Y&& y)
{
    const_view_of<X> const from(x);
    auto const to = output_view("xloom_onnx::copy_into", y, dims);
    std::copy_n(from.data(), from.size(), to.data());
}

template <operand X, class Y>
void reshape_into(X const& x, integers const& shape, Y&& y, reshape_options const& options = {})
{
    copy_into(x, reshape_shape(const_view_of<X>(x).shape(), shape, options), y);
}

template <operand X, class Y>
void squeeze_into(X const& x, Y&& y)
{
    copy_into(x, squeeze_shape(const_view_of<X>(x).shape()), y);
}
template <operand X, class Y>
void squeeze_into(X const& x, integers const& axes, Y&& y)
{
    copy_into(x, squeeze_shape(const_view_of<X>(x).shape(), axes), y);
}

template <operand X, class Y>
void unsqueeze_into(X const& x, integers const& axes, Y&& y)
{
    copy_into(x, unsqueeze_shape(const_view_of<X>(x).shape(), axes), y);
}

template <operand X, class Y>
void flatten_into(X const& x, Y&& y, std::int64_t axis = 1)
{
    copy_into(x, flatten_shape(const_view_of<X>(x).shape(), axis), y);
}

struct shape_options {
    std::int64_t start = 0,
                 end = static_cast<std::int64_t>(xloom::max_rank); ///< negative: from the last axis
};

/// Returns the dimensions [start, end), both clamped.
inline xloom::shape dims_in(xloom::shape const& x, shape_options const& options = {})
{
    auto const rank = static_cast<std::int64_t>(x.size());
    auto const bound = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    std::int64_t const start = bound(options.start), end = (std::max)(start, bound(options.end));
    return {x.begin() + start, x.begin() + end};
}

/// y = the dimensions of x as int64.
template <operand X, class Y>
void shape_into(X const& x, Y&& y, shape_options const& options = {})
{
    xloom::shape const dims = dims_in(const_view_of<X>(x).shape(), options);
    auto const to = output_view("xloom_onnx::shape_into", y, xloom::shape{dims.size()});
    std::transform(
        dims.begin(), dims.end(), to.begin(), [](std::size_t dim) { return static_cast<std::int64_t>(dim); });
}

/// Returns the number of items as int64.
template <operand X>
std::int64_t size_of(X const& x)
{
    return static_cast<std::int64_t>(const_view_of<X>(x).size());
}

} // namespace xloom_onnx
