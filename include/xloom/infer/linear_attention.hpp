#pragma once
// ONNX's type and shape inference of LinearAttention and CausalConvWithState.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of LinearAttention that determine the shapes of its outputs; both are required.
struct linear_attention_attributes {
    std::int64_t q_num_heads = 0;
    std::int64_t kv_num_heads = 0;
};

namespace detail {

/// The types of an operator's inputs, in its order; untyped for an input that is omitted or unknown.
struct linear_attention_input_types {
    partial_type query{}, key{}, value{}, past_state{}, decay{}, beta{};
};
struct causal_conv_input_types {
    partial_type input{}, weight{}, bias{}, past_state{};
};

/// Requires, if the rank of an operand is known, that it has three axes.
constexpr void check_three_axes(std::string_view function, std::string_view operand, partial_type const& type)
{
    if (type.is_tensor() && type.shape().has_rank() && type.shape().rank() != 3)
        fail<shape_error>("xloom::", function, ": ", operand, " must have rank 3, but ", operand, " is ",
            type, ". Give it three axes.");
}

/// Returns a dimension of a tensor of a known rank; else unknown.
constexpr dim dim_of(partial_type const& type, std::size_t axis)
{
    if (!type.is_tensor() || !type.shape().has_rank())
        return unknown;
    return type.shape()[axis];
}

/// Merges what query, key and value say of an axis that they have in common.
constexpr dim merge_axis(
    linear_attention_input_types const& inputs, std::size_t axis, std::string_view meaning)
{
    dim shared = unknown;
    for (partial_type const* type : {&inputs.query, &inputs.key, &inputs.value}) {
        dim const size = dim_of(*type, axis);
        if (find_conflict(shared, size) != conflict::none)
            fail<shape_error>("xloom::infer_linear_attention: query, key and value must agree on the ",
                meaning, ", but query is ", inputs.query, ", key is ", inputs.key, " and value is ",
                inputs.value, ". Give operands of one ", meaning, ".");
        shared = merge_dim(shared, size);
    }
    return shared;
}

/// Returns the width of each of `heads` heads in the last dimension of an operand.
constexpr dim width_of_heads(
    std::string_view operand, partial_type const& type, std::string_view attribute, std::int64_t heads)
{
    dim const width = dim_of(type, 2);
    if (!width.has_value())
        return unknown;
    if (width.value() % heads != 0)
        fail<shape_error>("xloom::infer_linear_attention: the last dimension of ", operand,
            " must be a multiple of ", attribute, " = ", heads, ", but ", operand, " is ", type,
            ". Correct one of them.");
    return width.value() / heads;
}

/// Returns d_k, the width of the heads of query and key.
constexpr dim merge_key_width(
    linear_attention_input_types const& inputs, std::int64_t q_heads, std::int64_t kv_heads)
{
    dim const of_query = width_of_heads("query", inputs.query, "q_num_heads", q_heads);
    dim const of_key = width_of_heads("key", inputs.key, "kv_num_heads", kv_heads);
    if (find_conflict(of_query, of_key) != conflict::none)
        fail<shape_error>(
            "xloom::infer_linear_attention: the heads of query and key must have one width, but query is ",
            inputs.query, " with q_num_heads = ", q_heads, " and key is ", inputs.key,
            " with kv_num_heads = ", kv_heads, ". Correct one of them.");
    return merge_dim(of_query, of_key);
}

/// Returns C, the number of channels of input and weight.
constexpr dim merge_channels(causal_conv_input_types const& inputs)
{
    dim const of_input = dim_of(inputs.input, 1), of_weight = dim_of(inputs.weight, 0);
    if (find_conflict(of_input, of_weight) != conflict::none)
        fail<shape_error>(
            "xloom::infer_causal_conv: weight must have a row for each channel of input, but input is ",
            inputs.input, " and weight is ", inputs.weight, ". Correct one of them.");
    return merge_dim(of_input, of_weight);
}

/// Requires that the last dimension of decay or beta is one of two numbers, if all are known.
constexpr void check_last_dim(
    std::string_view operand, partial_type const& type, std::int64_t one, dim const& other)
{
    dim const last = dim_of(type, 2);
    if (last.has_value() && other.has_value() && last != one && last != other)
        fail<shape_error>("xloom::infer_linear_attention: the last dimension of ", operand, " must be ", one,
            " or ", other, ", but ", operand, " is ", type, ". Correct it.");
}

} // namespace detail

/// The types of LinearAttention's outputs.
struct linear_attention_types {
    partial_type output{}, present_state{};
};

/// Infers the types of LinearAttention's outputs, including omitted ones. `declared` has the types that the
/// model declares, untyped where it declares none.
///
///     d_k = query.shape[2] / q_num_heads, d_v = value.shape[2] / kv_num_heads
///     output = merge_type(query.with_shape([B, T, q_num_heads d_v]), declared.output)
///     present_state = merge_type(past_state.with_shape([B, kv_num_heads, d_k, d_v]), declared.present_state)
///
/// Shapes    query [B, T, q_num_heads d_k], key [B, T, kv_num_heads d_k], value [B, T, kv_num_heads d_v]. A
///           size that no input gives is unknown.
/// Types     present_state has the element type of past_state, without it that of query.
/// Options   linear_attention_attributes.
/// Errors    option_error: a number of heads below 1, or query heads that are no multiple of the others.
///           type_error: query is not a tensor of a known element type; kind or element type of a declared
///           output. shape_error: a rank other than 3; a last dimension that heads do not divide; B, T or
///           d_k of query, key and value that differ; a last dimension of decay or beta that is neither
///           reading; rank or dimension of a declared output.
/// Source    ONNX LinearAttention-27.
/// Example
/// ```cpp
/// auto const query = xloom::tensor_type(xloom::element_type::float_, {"B", "T", 64});
/// auto const types = xloom::infer_linear_attention(
///     {.query = query, .key = query, .value = query}, {}, {.q_num_heads = 4, .kv_num_heads = 4});
/// types.present_state.shape(); // = [B, 4, 16, 16]
/// ```
constexpr linear_attention_types infer_linear_attention(detail::linear_attention_input_types const& inputs,
    linear_attention_types const& declared = {}, linear_attention_attributes const& attributes = {})
{
    constexpr std::string_view function = "infer_linear_attention";
    std::int64_t const q_heads = attributes.q_num_heads, kv_heads = attributes.kv_num_heads;
    if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0)
        detail::fail<option_error>("xloom::infer_linear_attention: q_num_heads must be a positive multiple "
                                   "of kv_num_heads, but they "
                                   "are ",
            q_heads, " and ", kv_heads, ". Correct them.");
    detail::check_element({function, "query"}, inputs.query);
    detail::check_three_axes(function, "query", inputs.query);
    detail::check_three_axes(function, "key", inputs.key);
    detail::check_three_axes(function, "value", inputs.value);
    detail::check_three_axes(function, "decay", inputs.decay);
    detail::check_three_axes(function, "beta", inputs.beta);
    dim const keys = detail::merge_key_width(inputs, q_heads, kv_heads);
    dim const values = detail::width_of_heads("value", inputs.value, "kv_num_heads", kv_heads);
    detail::check_last_dim(
        "decay", inputs.decay, kv_heads, keys.has_value() ? dim(kv_heads * keys.value()) : unknown);
    detail::check_last_dim("beta", inputs.beta, kv_heads, 1);
    dim const B = detail::merge_axis(inputs, 0, "batch size"),
              T = detail::merge_axis(inputs, 1, "sequence length"),
              width = values.has_value() ? dim(q_heads * values.value()) : unknown;
    bool const has_state =
        inputs.past_state.is_tensor() && inputs.past_state.element() != element_type::undefined;
    partial_type const& state = has_state ? inputs.past_state : inputs.query;
    return {detail::merge_type({function, "output"}, inputs.query.with_shape({B, T, width}), declared.output),
        detail::merge_type({function, "present_state"}, state.with_shape({B, kv_heads, keys, values}),
            declared.present_state)};
}

/// The types of CausalConvWithState's outputs.
struct causal_conv_types {
    partial_type output{}, present_state{};
};

/// Infers the types of CausalConvWithState's outputs, including omitted ones. `declared` has the types that
/// the model declares, untyped where it declares none.
///
///     output = merge_type(input, declared.output)
///     present_state = merge_type(input.with_shape([B, C, k - 1]), declared.present_state)
///
/// Shapes    input [B, C, L], weight [C, 1, k]. A size that no input gives is unknown.
/// Errors    type_error: input is not a tensor of a known element type; kind or element type of a declared
///           output. shape_error: a rank other than 3; k < 1; C of input and weight that differ; rank or
///           dimension of a declared output.
/// Source    ONNX CausalConvWithState-27.
/// Example
/// ```cpp
/// auto const input = xloom::tensor_type(xloom::element_type::float_, {2, 8, "L"});
/// auto const weight = xloom::tensor_type(xloom::element_type::float_, {8, 1, 4});
/// xloom::infer_causal_conv({.input = input, .weight = weight}).present_state.shape(); // = [2, 8, 3]
/// ```
constexpr causal_conv_types infer_causal_conv(
    detail::causal_conv_input_types const& inputs, causal_conv_types const& declared = {})
{
    constexpr std::string_view function = "infer_causal_conv";
    detail::check_element({function, "input"}, inputs.input);
    detail::check_three_axes(function, "input", inputs.input);
    detail::check_three_axes(function, "weight", inputs.weight);
    dim const taps = detail::dim_of(inputs.weight, 2);
    if (taps.has_value() && taps.value() < 1)
        detail::fail<shape_error>(
            "xloom::infer_causal_conv: weight must have at least one tap, but weight is ", inputs.weight,
            ". Give it weights.");
    dim const C = detail::merge_channels(inputs),
              state = taps.has_value() ? dim(taps.value() - 1) : detail::dim_of(inputs.past_state, 2);
    dim const B = detail::dim_of(inputs.input, 0), L = detail::dim_of(inputs.input, 2);
    return {detail::merge_type({function, "output"}, inputs.input.with_shape({B, C, L}), declared.output),
        detail::merge_type(
            {function, "present_state"}, inputs.input.with_shape({B, C, state}), declared.present_state)};
}

} // namespace xloom::inline XLOOM_ABI
