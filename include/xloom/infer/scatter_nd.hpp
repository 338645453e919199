#pragma once
// ONNX's type and shape inference of ScatterND.

#include <cstdint>
#include <string_view>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

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
    return detail::has_reduction(indexing::scatter_nd, opset, kind);
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
    detail::require_reduction(
        "infer_scatter_nd", indexing::scatter_nd, attributes.opset, attributes.reduction);
    detail::require_data("infer_scatter_nd", data);
    return detail::merge_type({"infer_scatter_nd", "output"}, data, declared);
}

} // namespace xloom::inline XLOOM_ABI
