#pragma once
// Expand and Tile: repeated items.

#include <algorithm>

#include <xloom/kernels.hpp>
#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// Returns the shape of Expand: that of x broadcast with the given one.
inline xloom::shape expand_shape(xloom::shape const& x, integers const& shape)
{
    return broadcast_shape(x, checked_shape("xloom_onnx::expand", shape));
}

template <operand X, class Y>
void expand_into(X const& x, integers const& shape, Y&& y)
{
    const_view_of<X> const from(x);
    xloom::shape const dims = expand_shape(from.shape(), shape);
    auto const to = output_view("xloom_onnx::expand_into", y, dims);
    xloom::kernels::strided_copy(dims, broadcast_strides(from.shape(), dims), xloom::row_major_strides(dims))(
        from.data(), to.data());
}

/// Returns the shape of Tile.
///
/// Errors    shape_error: not one number for each axis; a negative one; too large.
inline xloom::shape tile_shape(xloom::shape const& x, integers const& repeats)
{
    xloom::shape dims = checked_shape("xloom_onnx::tile", repeats);
    if (dims.size() != x.size())
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::tile: the repeats ", repeats, " are not one for each of ", x.size(), " axes");
    for (std::size_t a = 0; a < x.size(); ++a) {
        if (!xloom::is_countable({x[a], dims[a]}))
            xloom::kernels::fail<xloom::shape_error>(
                "xloom_onnx::tile: an axis of ", x[a], " cannot be repeated ", dims[a], " times");
        dims[a] *= x[a];
    }
    return dims;
}

/// Repeats x along each axis.
template <operand X, class Y>
void tile_into(X const& x, integers const& repeats, Y&& y)
{
    const_view_of<X> const from(x);
    xloom::shape const& dims = from.shape();
    auto const to = output_view("xloom_onnx::tile_into", y, tile_shape(dims, repeats));
    if (to.size() == 0)
        return;
    xloom::strides const steps = xloom::row_major_strides(to.shape());
    xloom::kernels::strided_copy(dims, xloom::row_major_strides(dims), steps)(from.data(), to.data());
    // From the last axis on: the items of an axis and those after it are one block, whose copies follow it.
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (repeats[axis] == 1)
            continue;
        auto const block = dims[axis] * static_cast<std::size_t>(steps[axis]);
        std::size_t const whole = block * static_cast<std::size_t>(repeats[axis]);
        xloom::shape const outer(dims.begin(), dims.begin() + axis);
        for (std::size_t o = 0, count = xloom::element_count(outer); o < count; ++o) {
            std::ptrdiff_t offset = 0;
            xloom::shape const position = xloom::unravel(o, outer);
            for (std::size_t a = 0; a < axis; ++a)
                offset += static_cast<std::ptrdiff_t>(position[a]) * steps[a];
            auto* const start = to.data() + offset;
            for (std::size_t done = block; done < whole; done += (std::min)(done, whole - done))
                std::copy_n(start, (std::min)(done, whole - done), start + done);
        }
    }
}

} // namespace xloom_onnx
