#pragma once
// Reshape, Squeeze, Unsqueeze, Flatten and contiguous slices as views of the same items, which must outlive
// them.

#include <cstddef>
#include <cstdint>

#include <xloom/kernels.hpp>
#include <xloom_onnx/reshape.hpp>
#include <xloom_onnx/slice.hpp>
#include <xloom_onnx/view.hpp>

namespace xloom_onnx {

/// A view of the items of an operand, of another rank.
template <operand X, std::size_t Rank>
using view_of_rank = xloom::element_view<item_t<X> const, Rank>;

/// Returns a view of as many items.
///
/// Errors    shape_error: as check_size; another rank.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> viewed(X const& x, xloom::shape const& dims, std::ptrdiff_t first = 0)
{
    check_size("xloom_onnx", dims, sizeof(item_t<X>));
    if (dims.size() != Rank)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx: a value of rank ", Rank, " is needed, but its shape is ", dims);
    return {const_view_of<X>(x).data() + first, dims};
}

/// Errors    as reshape_shape; shape_error: another rank.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> reshaped(X const& x, integers const& shape, reshape_options const& options = {})
{
    return viewed<Rank>(x, reshape_shape(const_view_of<X>(x).shape(), shape, options));
}

/// Errors    as squeeze_shape; shape_error: another rank.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> squeezed(X const& x)
{
    return viewed<Rank>(x, squeeze_shape(const_view_of<X>(x).shape()));
}
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> squeezed(X const& x, integers const& axes)
{
    return viewed<Rank>(x, squeeze_shape(const_view_of<X>(x).shape(), axes));
}

/// Errors    as unsqueeze_shape; shape_error: another rank.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> unsqueezed(X const& x, integers const& axes)
{
    return viewed<Rank>(x, unsqueeze_shape(const_view_of<X>(x).shape(), axes));
}

/// Errors    as flatten_shape.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> flattened(X const& x, std::int64_t axis = 1)
{
    return viewed<Rank>(x, flatten_shape(const_view_of<X>(x).shape(), axis));
}

/// Returns a slice whose items are contiguous in x: one axis is sliced, with step 1, and those before it have
/// the length 1.
///
/// Errors    as layout_of_slice; shape_error: another rank.
template <std::size_t Rank, operand X>
view_of_rank<X, Rank> sliced(X const& x, slice_options const& options)
{
    slice_layout const slice = layout_of_slice(const_view_of<X>(x).shape(), options);
    return viewed<Rank>(x, slice.dims, slice.first);
}

} // namespace xloom_onnx
