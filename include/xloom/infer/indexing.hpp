#pragma once
// ONNX's type and shape inference of GatherND, GatherElements, ScatterND and ScatterElements.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Requires, if the rank of data is known, that data has the axis.
constexpr void check_axis(std::string_view function, partial_type const& data, std::int64_t axis)
{
    if (data.shape().has_rank() && !is_axis(axis, data.shape().rank()))
        fail_axis(concat("xloom::", function), "axis is ", axis, " and data is ", data);
}

/// True if ScatterND and ScatterElements, which have the same versions, have this reduction at this opset.
constexpr bool has_reduction(onnx_operator op, std::int64_t opset, reduction kind)
{
    std::int64_t const version = operator_version(op, opset);
    switch (kind) {
    case reduction::none:
        return true;
    case reduction::add:
    case reduction::mul:
        return version >= 16;
    case reduction::max:
    case reduction::min:
        return version >= 18;
    default:
        return false;
    }
}

/// Requires that `op` has the reduction at this opset.
constexpr void check_reduction_at(
    std::string_view function, onnx_operator op, std::int64_t opset, reduction kind)
{
    if (!detail::has_reduction(op, opset, kind))
        fail<option_error>("xloom::", function,
            ": ONNX's reductions are none, from opset 16 on add and mul, from 18 on max and min, but "
            "reduction is ",
            name_of(kind), " and opset is ", opset,
            detail::has_reduction(op, latest_opset, kind) ? ". Use a newer opset." : ". Use one of these.");
}

} // namespace detail

/// The attributes of GatherND that the inference reads.
struct gather_nd_attributes {
    std::int64_t opset = latest_opset;
    std::int64_t batch_dims = 0;
};

namespace detail {

constexpr void check_batch_dims(gather_nd_attributes const& attributes)
{
    if (attributes.batch_dims < 0)
        fail<option_error>("xloom::infer_gather_nd: batch_dims must not be negative, but batch_dims is ",
            attributes.batch_dims, ". Count the leading axes that data and indices share.");
    if (operator_version(onnx_operator::gather_nd, attributes.opset) < 12 && attributes.batch_dims != 0)
        fail<option_error>("xloom::infer_gather_nd: before opset 12 there are no batch axes, but opset is ",
            attributes.opset, " and batch_dims is ", attributes.batch_dims, ". Use a newer opset.");
}

/// Rejects scalars, and index tuples longer than the number of axes of data after the batch axes.
constexpr void check_indexable(
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
    detail::check_batch_dims(attributes);
    if (!data.has_rank() || !indices.has_rank())
        return unknown_rank;
    detail::check_indexable(data, indices, attributes.batch_dims);
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
    detail::check_element({"infer_gather_nd", "data"}, data);
    partial_type const inferred = data.with_shape(infer_gather_nd(data.shape(), indices.shape(), attributes));
    return detail::merge_type({"infer_gather_nd", "output"}, inferred, declared);
}

/// The attributes of GatherElements that the inference reads.
struct gather_elements_attributes {
    std::int64_t opset = latest_opset;
    std::int64_t axis = 0;
};

/// Infers the type of GatherElements' output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data.with_shape(indices.shape), declared)
///
/// Shapes    as indices, whose rank is not compared with data's.
/// Options   opset (latest_opset).  axis (0).
/// Errors    type_error: data is not a tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output; an axis that data, of a
///           known rank, does not have. option_error: the opset.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of data and the
///           axis are checked.
/// Source    ONNX GatherElements-11, 13. Element types are not checked; is_allowed checks that of data.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const data = xloom::tensor_type(element::float_, {"N", 4});
/// xloom::infer_gather_elements(data, xloom::tensor_type(element::int64, {"K", 4})); // = float[K, 4]
/// ```
constexpr partial_type infer_gather_elements(partial_type const& data, partial_type const& indices,
    partial_type const& declared = untyped, gather_elements_attributes const& attributes = {})
{
    static_cast<void>(operator_version(onnx_operator::gather_elements, attributes.opset));
    detail::check_element({"infer_gather_elements", "data"}, data);
    detail::check_axis("infer_gather_elements", data, attributes.axis);
    return detail::merge_type(
        {"infer_gather_elements", "output"}, data.with_shape(indices.shape()), declared);
}

/// The attributes of ScatterND that the inference reads.
struct scatter_nd_attributes {
    std::int64_t opset = latest_opset;
    xloom::reduction reduction = xloom::reduction::none;
};

/// True if ScatterND, and ScatterElements, have this reduction at this opset. ONNX does not have the mean.
///
/// Errors    option_error: the opset is older than ScatterND.
/// Source    ONNX ScatterND-11, 13, 16, 18.
/// Example   tests/infer/scatter_nd.test.cpp
constexpr bool has_reduction(std::int64_t opset, reduction kind)
{
    return detail::has_reduction(onnx_operator::scatter_nd, opset, kind);
}

/// Infers the type of ScatterND's output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data, declared)
///
/// Shapes    as data. indices and updates are not read: their types may be wrong, or have a rank that data
///           does not have.
/// Options   opset (latest_opset).  reduction (none).
/// Errors    type_error: data is not a tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output.  option_error: the
///           opset; a reduction that the opset does not have.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of data and the
///           reduction are checked.
/// Source    ONNX ScatterND-11, 13, 16, 18. Element types are not checked; is_allowed checks that of data.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const data = xloom::tensor_type(element::float_, {"N", 4});
/// auto const updates = xloom::tensor_type(element::float_, {"K", 4});
/// xloom::infer_scatter_nd(data, xloom::tensor_type(element::int64, {"K", 1}), updates); // = float[N, 4]
/// ```
constexpr partial_type infer_scatter_nd(partial_type const& data,
    [[maybe_unused]] partial_type const& indices, [[maybe_unused]] partial_type const& updates,
    partial_type const& declared = untyped, scatter_nd_attributes const& attributes = {})
{
    detail::check_reduction_at(
        "infer_scatter_nd", onnx_operator::scatter_nd, attributes.opset, attributes.reduction);
    detail::check_element({"infer_scatter_nd", "data"}, data);
    return detail::merge_type({"infer_scatter_nd", "output"}, data, declared);
}

/// The attributes of ScatterElements that the inference reads.
struct scatter_elements_attributes {
    std::int64_t opset = latest_opset;
    std::int64_t axis = 0;
    xloom::reduction reduction = xloom::reduction::none;
};

/// Infers the type of ScatterElements' output. `declared` is the type that the model declares, untyped if it
/// declares none.
///
///     output = merge_type(data, declared)
///
/// Shapes    as data. indices and updates are not read: their types may be wrong, or have a rank that data
///           does not have.
/// Options   opset (latest_opset).  axis (0).  reduction (none).
/// Errors    type_error: data is not a tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output; an axis that data, of a
///           known rank, does not have. option_error: the opset; a reduction that the opset does not have.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of data, the
///           axis and the reduction are checked.
/// Source    ONNX ScatterElements-11, 13, 16, 18. Element types are not checked; is_allowed checks that of
///           data.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const data = xloom::tensor_type(element::float_, {"N", 4});
/// auto const indices = xloom::tensor_type(element::int64, {"K", 4});
/// auto const updates = xloom::tensor_type(element::float_, {"K", 4});
/// xloom::infer_scatter_elements(data, indices, updates); // = float[N, 4]
/// ```
constexpr partial_type infer_scatter_elements(partial_type const& data,
    [[maybe_unused]] partial_type const& indices, [[maybe_unused]] partial_type const& updates,
    partial_type const& declared = untyped, scatter_elements_attributes const& attributes = {})
{
    detail::check_reduction_at(
        "infer_scatter_elements", onnx_operator::scatter_elements, attributes.opset, attributes.reduction);
    detail::check_element({"infer_scatter_elements", "data"}, data);
    detail::check_axis("infer_scatter_elements", data, attributes.axis);
    return detail::merge_type({"infer_scatter_elements", "output"}, data, declared);
}

} // namespace xloom::inline XLOOM_ABI
