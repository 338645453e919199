#pragma once
// ONNX's type and shape inference of ScatterND.

#include <cstdint>
#include <string_view>

#include <xloom/core/error.hpp>
#include <xloom/core/partial_type.hpp>
#include <xloom/core/reduction.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom {

/// What the inference of ScatterND asks of a node besides its inputs.
struct scatter_nd_attributes {
    std::int64_t opset = latest_opset;
    xloom::reduction reduction = xloom::reduction::none;
};

/// True if ScatterND has this reduction at this opset. The mean is none of ONNX's.
///
/// Errors    option_error: ScatterND is younger than the opset.
/// Source    ONNX ScatterND-11, 13, 16, 18.
/// Example   tests/infer/scatter_nd.test.cpp
constexpr bool has_reduction(std::int64_t opset, reduction kind)
{
    std::int64_t const version = operator_version(indexing::scatter_nd, opset);
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

namespace detail {

constexpr void require_reduction(scatter_nd_attributes const& attributes)
{
    if (!has_reduction(attributes.opset, attributes.reduction))
        fail<option_error>("xloom::infer_scatter_nd: ONNX's reductions are none, from opset 16 on add and "
                           "mul, from 18 on max and min, but "
                           "reduction is ",
            name_of(attributes.reduction), " and opset is ", attributes.opset,
            has_reduction(latest_opset, attributes.reduction) ? ". Use a newer opset."
                                                              : ". Use one of these.");
}

} // namespace detail

/// The type of ScatterND's output. `declared` is what the model says of it, untyped where it says nothing.
///
///     output = merge_type(data, declared)
///
/// Shapes    as data. Nothing is read of indices and updates: theirs may be wrong, or tell a rank that data
///           does not.
/// Options   opset (latest_opset).  reduction (none).
/// Errors    type_error: data is no tensor, or its element type is undefined; kind or element type of the
///           declared output. shape_error: rank or dimension of the declared output.  option_error: the
///           opset; a reduction that it does not have.
/// Differs   from ONNX: every failure comes out; ONNX's default mode drops it. Data's kind and the reduction
///           are checked.
/// Source    ONNX ScatterND-11, 13, 16, 18. Element types are not checked; is_allowed has data's.
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
    detail::require_reduction(attributes);
    detail::require_data("infer_scatter_nd", data);
    return detail::merge_type({"infer_scatter_nd", "output"}, data, declared);
}

} // namespace xloom
