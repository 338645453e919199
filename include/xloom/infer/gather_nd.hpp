#pragma once
// ONNX's type and shape inference of GatherND.

#include <cstddef>
#include <cstdint>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of GatherND that the inference reads.
struct gather_nd_attributes {
    std::int64_t opset = latest_opset;
    std::int64_t batch_dims = 0;
};

namespace detail {

constexpr void require_batch_dims(gather_nd_attributes const& attributes)
{
    if (attributes.batch_dims < 0)
        fail<option_error>("xloom::infer_gather_nd: batch_dims must not be negative, but batch_dims is ",
            attributes.batch_dims, ". Count the leading axes that data and indices share.");
    if (operator_version(indexing::gather_nd, attributes.opset) < 12 && attributes.batch_dims != 0)
        fail<option_error>("xloom::infer_gather_nd: before opset 12 there are no batch axes, but opset is ",
            attributes.opset, " and batch_dims is ", attributes.batch_dims, ". Use a newer opset.");
}

/// Rejects scalars, and index tuples longer than the number of axes of data after the batch axes.
constexpr void require_indexable(
    partial_shape const& data, partial_shape const& indices, std::int64_t batch_dims)
{
    if (data.rank() == 0 || indices.rank() == 0)
        fail<shape_error>(
            "xloom::infer_gather_nd: data and indices must have at least one axis, but data is ", data,
            " and indices is ", indices, ". Give each an axis.");
    dim const& k = indices[indices.rank() - 1];
    if (k.has_value() && (k.value() < 0 || k.value() > static_cast<std::int64_t>(data.rank()) - batch_dims))
        fail<shape_error>("xloom::infer_gather_nd: indices' last dimension must be between 0 and data's rank "
                          "less batch_dims, but data is ",
            data, ", indices is ", indices, " and batch_dims is ", batch_dims, ". Index fewer axes.");
}

} // namespace detail

/// Infers the shape of GatherND's output.
///
///     k = indices.shape[-1]
///     output.shape = indices.shape[:-1] ++ data.shape[batch_dims + k:]
///
/// Shapes    an unknown rank if that of data or indices is unknown, or k has no value. The batch axes of the
///           two are not compared.
/// Options   opset (latest_opset).  batch_dims (0): the number of leading batch axes, which data and indices
///           share.
/// Errors    shape_error: data or indices is a scalar; k < 0 or batch_dims + k > r; an output over max_rank.
///           option_error: the opset; batch_dims < 0, or not 0 before opset 12.
/// Differs   from ONNX: negative batch_dims and k are errors; ONNX infers a wrong shape or aborts.
/// Source    ONNX GatherND-11, 12, 13.
/// Example
/// ```cpp
/// xloom::infer_gather_nd(xloom::partial_shape{"N", 3, 4}, xloom::partial_shape{"K", 2}); // = [K, 4]
/// ```
constexpr partial_shape infer_gather_nd(
    partial_shape const& data, partial_shape const& indices, gather_nd_attributes const& attributes = {})
{
    detail::require_batch_dims(attributes);
    if (!data.has_rank() || !indices.has_rank())
        return unknown_rank;
    detail::require_indexable(data, indices, attributes.batch_dims);
    dim const k = indices[indices.rank() - 1];
    if (!k.has_value())
        return unknown_rank;
    partial_shape output = drop_axis(indices, indices.rank() - 1);
    detail::check_rank("xloom::infer_gather_nd", "output",
        output.rank() + data.rank() - static_cast<std::size_t>(attributes.batch_dims + k.value()));
    for (auto axis = static_cast<std::size_t>(attributes.batch_dims + k.value()); axis < data.rank(); ++axis)
        output.insert(output.rank(), data[axis]);
    return output;
}

/// Infers the type of GatherND's output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data.with_shape(infer_gather_nd(data.shape, indices.shape)), declared)
///
/// Shapes    as for partial_shape; only the shape of indices is read.
/// Options   as for partial_shape.
/// Errors    as for partial_shape.  type_error: data is not a tensor, or its element type is undefined; kind
///           or element type of the declared output. shape_error: rank or dimension of the declared output.
/// Differs   as for partial_shape.  Every error is reported; ONNX's default mode suppresses it. The kind of
///           data is checked.
/// Source    ONNX GatherND-11, 12, 13. Element types are not checked; is_allowed checks that of data.
/// Example   tests/infer/gather_nd.test.cpp
constexpr partial_type infer_gather_nd(partial_type const& data, partial_type const& indices,
    partial_type const& declared = untyped, gather_nd_attributes const& attributes = {})
{
    detail::require_data("infer_gather_nd", data);
    partial_type const inferred = data.with_shape(infer_gather_nd(data.shape(), indices.shape(), attributes));
    return detail::merge_type({"infer_gather_nd", "output"}, inferred, declared);
}

} // namespace xloom::inline XLOOM_ABI
