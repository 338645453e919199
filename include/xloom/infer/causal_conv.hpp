#pragma once
// ONNX's type and shape inference of CausalConvWithState.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

/// The types of the outputs of CausalConvWithState.
struct causal_conv_types {
    partial_type output{}, present_state{};
};

namespace detail {

/// Requires a tensor of a known element type and, if its rank is known, of rank 3.
constexpr void check_conv_operand(std::string_view name, std::string_view layout, partial_type const& type)
{
    if (!type.is_tensor() || type.element() == element_type::undefined)
        fail<type_error>("xloom::infer_causal_conv: ", name,
            " must be a tensor of a known element type, but ", name, " is ", type, ". Give a tensor's type.");
    if (type.shape().has_rank() && type.shape().rank() != 3)
        fail<shape_error>("xloom::infer_causal_conv: ", name, " must have rank 3, but ", name, " is ", type,
            ". Lay it out as ", layout, ".");
}

} // namespace detail

/// Infers the types of the outputs of CausalConvWithState. `declared` has the types that the model declares,
/// untyped where it declares none.
///
///     B, C, L = input.shape
///     k = weight.shape[2]
///     output = merge_type(input, declared.output)
///     present_state = merge_type(input.with_shape([B, C, k - 1]), declared.present_state)
///
/// Shapes    input [B, C, L], weight [C, 1, k]. B and C are unknown if the rank of input is, k - 1 if k has no
///           value. bias and past_state are not read.
/// Errors    type_error: input or weight is not a tensor, or its element type is undefined; kind or element
///           type of a declared output. shape_error: a known rank other than 3; k < 1; C of the two differ;
///           rank or dimension of a declared output.
/// Source    ONNX CausalConvWithState-27.
/// Example
/// ```cpp
/// using element = xloom::element_type;
/// auto const input = xloom::tensor_type(element::float_, {"B", 8, "L"});
/// auto const types = xloom::infer_causal_conv(input, xloom::tensor_type(element::float_, {8, 1, 4}));
/// types.present_state; // = float[B, 8, 3]
/// ```
constexpr causal_conv_types infer_causal_conv(
    partial_type const& input, partial_type const& weight, causal_conv_types const& declared = {})
{
    detail::check_conv_operand("input", "[B, C, L]", input);
    detail::check_conv_operand("weight", "[C, 1, k]", weight);
    bool const has_input = input.shape().has_rank(), has_weight = weight.shape().has_rank();
    dim const k = has_weight ? weight.shape()[2] : unknown;
    if (k.has_value() && k.value() < 1)
        detail::fail<shape_error>(
            "xloom::infer_causal_conv: weight must have at least one tap, k >= 1, but weight is ", weight,
            ". Give it a tap.");
    if (has_input && has_weight && input.shape()[1].has_value() && weight.shape()[0].has_value() &&
        input.shape()[1].value() != weight.shape()[0].value())
        detail::fail<shape_error>(
            "xloom::infer_causal_conv: input and weight must have the same channels, but "
            "input is ",
            input, " and weight is ", weight, ". Give each channel its weights.");
    dim const taken = k.has_value() ? dim(k.value() - 1) : unknown;
    dim const B = has_input ? input.shape()[0] : unknown, C = has_input ? input.shape()[1] : unknown;
    return {detail::merge_type({"infer_causal_conv", "output"}, input, declared.output),
        detail::merge_type(
            {"infer_causal_conv", "present_state"}, input.with_shape({B, C, taken}), declared.present_state)};
}

} // namespace xloom::inline XLOOM_ABI
