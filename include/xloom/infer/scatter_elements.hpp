#pragma once
// ONNX's type and shape inference of ScatterElements.

#include <cstdint>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

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
    detail::require_reduction(
        "infer_scatter_elements", indexing::scatter_elements, attributes.opset, attributes.reduction);
    detail::require_data("infer_scatter_elements", data);
    detail::require_axis("infer_scatter_elements", data, attributes.axis);
    return detail::merge_type({"infer_scatter_elements", "output"}, data, declared);
}

} // namespace xloom::inline XLOOM_ABI
