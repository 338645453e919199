#pragma once
// ONNX's type and shape inference of GatherElements.

#include <cstdint>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

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
    static_cast<void>(operator_version(indexing::gather_elements, attributes.opset));
    detail::require_data("infer_gather_elements", data);
    detail::require_axis("infer_gather_elements", data, attributes.axis);
    return detail::merge_type(
        {"infer_gather_elements", "output"}, data.with_shape(indices.shape()), declared);
}

} // namespace xloom::inline XLOOM_ABI
