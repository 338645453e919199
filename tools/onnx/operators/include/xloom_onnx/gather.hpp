#pragma once
// Gather: slices of an axis by their indices.

#include <algorithm>
#include <cstdint>

#include <xloom_onnx/axes.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

struct gather_options {
    std::int64_t axis = 0;
};

/// Returns the shape of Gather: data[:axis] ++ indices ++ data[axis + 1:].
inline xloom::shape gather_shape(
    xloom::shape const& data, xloom::shape const& indices, gather_options const& options = {})
{
    std::size_t const axis = checked_axis("xloom_onnx::gather", options.axis, data.size());
    if (data.size() - 1 + indices.size() > xloom::max_rank)
        xloom::kernels::fail<xloom::shape_error>("xloom_onnx::gather: data of the shape ", data,
            " and indices of the shape ", indices, " give more than ", xloom::max_rank, " axes");
    xloom::shape dims(data.begin(), data.begin() + axis);
    for (std::size_t const dim : indices)
        dims.push_back(dim);
    for (std::size_t a = axis + 1; a < data.size(); ++a)
        dims.push_back(data[a]);
    return dims;
}

/// Computes y[outer, i, inner] = data[outer, indices[i], inner]; negative indices count from the end.
///
/// Errors    index_error, before anything is written; shape_error; option_error: no axis.
/// Cost      what is gathered is read and written once. Allocates nothing if y has as many items already.
template <operand Data, operand Indices, class Y>
void gather_into(Data const& data, Indices const& indices, Y&& y, gather_options const& options = {})
{
    const_view_of<Data> const from(data);
    const_view_of<Indices> const at(indices);
    xloom::shape const dims = gather_shape(from.shape(), at.shape(), options);
    std::size_t const axis = xloom::wrap_axis(options.axis, from.rank());
    for (auto const index : at)
        if (!xloom::is_axis(static_cast<std::int64_t>(index), from.shape()[axis]))
            xloom::kernels::fail<xloom::index_error>(
                "xloom_onnx::gather: an index into an axis of length ", from.shape()[axis], " is ", index);
    auto const to = output_view("xloom_onnx::gather_into", y, dims);
    auto const [outer, length, inner] = around(from.shape(), axis);
    auto* next = to.data();
    for (std::size_t o = 0; o < outer; ++o)
        for (auto const index : at) {
            std::size_t const i = xloom::wrap_axis(static_cast<std::int64_t>(index), length);
            next = std::copy_n(from.data() + (o * length + i) * inner, inner, next);
        }
}

} // namespace xloom_onnx
