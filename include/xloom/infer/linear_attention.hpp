#pragma once
// ONNX's type and shape inference of LinearAttention and CausalConvWithState.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Requires, if the rank of an operand is known, that it is `rank`.
constexpr void check_axes(
    std::string_view function, std::string_view operand, partial_type const& type, std::size_t rank)
{
    if (type.is_tensor() && type.shape().has_rank() && type.shape().rank() != rank)
        fail<shape_error>("xloom::", function, ": ", operand, " must have rank ", rank, ", but ", operand,
            " is ", type, ". Give it that rank.");
}

/// Returns a dimension of a tensor of a known rank; else unknown.
constexpr dim dim_of(partial_type const& type, std::size_t axis)
{
    if (!type.is_tensor() || !type.shape().has_rank())
        return unknown;
    return type.shape()[axis];
}

/// An operand, and what it says of a size.
struct size_fact {
    std::string_view operand;
    partial_type const* type;
    dim value;
};

/// Returns an operand with one of its dimensions.
constexpr size_fact fact_of(std::string_view operand, partial_type const& type, std::size_t axis)
{
    return {operand, &type, dim_of(type, axis)};
}

/// Throws for operands that contradict each other in a size, and names all that say something of it.
///
/// Errors    shape_error
template <std::size_t Count>
[[noreturn]] void fail_shared_size(
    std::string_view function, std::string_view meaning, std::array<size_fact, Count> const& facts)
{
    fact_list listed;
    for (size_fact const& each : facts)
        if (!each.value.is_unknown())
            listed.add(each.operand, " is ", *each.type);
    fail<shape_error>("xloom::", function, ": the operands must agree on the ", meaning, ", but ", listed,
        ". Correct one of them.");
}

/// Returns a size that operands share: its value, or else the first symbol for it.
///
/// Errors    shape_error
template <std::size_t Count>
constexpr dim shared_size(
    std::string_view function, std::string_view meaning, std::array<size_fact, Count> const& facts)
{
    dim shared = unknown;
    for (size_fact const& each : facts) {
        if (find_conflict(each.value, shared) != conflict::none)
            fail_shared_size(function, meaning, facts);
        shared = merge_dim(each.value, shared);
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

/// Returns the width of `heads` heads together; unknown if that of one is.
///
/// Errors    shape_error: the product overflows.
constexpr dim width_of_all(std::int64_t heads, dim const& width)
{
    using limits = std::numeric_limits<std::int64_t>;
    if (!width.has_value())
        return unknown;
    if (width.value() > (limits::max)() / heads || width.value() < (limits::min)() / heads)
        fail<shape_error>(
            "xloom::infer_linear_attention: the width of all heads must be an int64, but it is ", heads,
            " times ", width.value(), ". Correct one of them.");
    return heads * width.value();
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
/// Shapes    query [B, T, q_num_heads d_k], key [B, T, kv_num_heads d_k], value [B, T, kv_num_heads d_v],
///           past_state [B, kv_num_heads, d_k, d_v], decay and beta [B, T, ...]. A size that no input
///           gives is unknown.
/// Types     present_state has the element type of past_state, without it that of query.
/// Options   linear_attention_attributes.
/// Errors    option_error: a number of heads below 1, or query heads that are no multiple of the others.
///           type_error: query is not a tensor of a known element type; kind or element type of a declared
///           output. shape_error: another rank; a last dimension that heads do not divide; operands that
///           differ in B, T, kv_num_heads, d_k or d_v; a last dimension of decay or beta that is neither
///           reading; rank or dimension of a declared output; a width that overflows.
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
    using namespace detail;
    constexpr std::string_view function = "infer_linear_attention";
    std::int64_t const q_heads = attributes.q_num_heads, kv_heads = attributes.kv_num_heads;
    if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0)
        fail<option_error>("xloom::infer_linear_attention: q_num_heads must be a positive multiple of "
                           "kv_num_heads, but they are ",
            q_heads, " and ", kv_heads, ". Correct them.");
    check_element({function, "query"}, inputs.query);
    auto const& [query, key, value, past_state, decay, beta] = inputs;
    check_axes(function, "query", query, 3);
    check_axes(function, "key", key, 3);
    check_axes(function, "value", value, 3);
    check_axes(function, "past_state", past_state, 4);
    check_axes(function, "decay", decay, 3);
    check_axes(function, "beta", beta, 3);
    dim const B = shared_size(function, "batch size",
        std::array{fact_of("query", query, 0), fact_of("key", key, 0), fact_of("value", value, 0),
            fact_of("past_state", past_state, 0), fact_of("decay", decay, 0), fact_of("beta", beta, 0)});
    dim const T = shared_size(function, "sequence length",
        std::array{fact_of("query", query, 1), fact_of("key", key, 1), fact_of("value", value, 1),
            fact_of("decay", decay, 1), fact_of("beta", beta, 1)});
    if (dim const heads = dim_of(past_state, 1); heads.has_value() && heads != kv_heads)
        fail<shape_error>("xloom::infer_linear_attention: axis 1 of past_state must be kv_num_heads = ",
            kv_heads, ", but past_state is ", past_state, ". Correct one of them.");
    dim const keys =
        shared_size(function, "width of a key, the last dimension divided by the number of heads",
            std::array{size_fact{"query", &query, width_of_heads("query", query, "q_num_heads", q_heads)},
                size_fact{"key", &key, width_of_heads("key", key, "kv_num_heads", kv_heads)},
                fact_of("past_state", past_state, 2)});
    dim const values =
        shared_size(function, "width of a value, the last dimension divided by the number of heads",
            std::array{size_fact{"value", &value, width_of_heads("value", value, "kv_num_heads", kv_heads)},
                fact_of("past_state", past_state, 3)});
    check_last_dim("decay", decay, kv_heads, width_of_all(kv_heads, keys));
    width_of_heads("decay", decay, "kv_num_heads", kv_heads);
    check_last_dim("beta", beta, kv_heads, 1);
    dim const width = width_of_all(q_heads, values);
    bool const has_state = past_state.is_tensor() && past_state.element() != element_type::undefined;
    partial_type const& state = has_state ? past_state : query;
    return {merge_type({function, "output"}, query.with_shape({B, T, width}), declared.output),
        merge_type({function, "present_state"}, state.with_shape({B, kv_heads, keys, values}),
            declared.present_state)};
}

/// The types of CausalConvWithState's outputs.
struct causal_conv_types {
    partial_type output{}, present_state{};
};

/// Infers the types of CausalConvWithState's outputs, including omitted ones. `declared` has the types that
/// the model declares, untyped where it declares none.
///
///     output = merge_type(input.with_shape([B, C, L]), declared.output)
///     present_state = merge_type(input.with_shape([B, C, k - 1]), declared.present_state)
///
/// Shapes    input [B, C, L], weight [C, 1, k], bias [C], past_state [B, C, k - 1]. A size that no input
///           gives is unknown.
/// Errors    type_error: input is not a tensor of a known element type; kind or element type of a declared
///           output. shape_error: another rank; k < 1; operands that differ in B, C or k; rank or
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
    using namespace detail;
    constexpr std::string_view function = "infer_causal_conv";
    check_element({function, "input"}, inputs.input);
    auto const& [input, weight, bias, past_state] = inputs;
    check_axes(function, "input", input, 3);
    check_axes(function, "weight", weight, 3);
    check_axes(function, "bias", bias, 1);
    check_axes(function, "past_state", past_state, 3);
    dim const taps = dim_of(weight, 2), middle = dim_of(weight, 1);
    if (taps.has_value() && taps.value() < 1)
        fail<shape_error>("xloom::infer_causal_conv: weight must have at least one tap, but weight is ",
            weight, ". Give it weights.");
    if (middle.has_value() && middle != 1)
        fail<shape_error>("xloom::infer_causal_conv: weight must have the shape [C, 1, k], but it is ",
            weight, ". Correct it.");
    dim const B = shared_size(
        function, "batch size", std::array{fact_of("input", input, 0), fact_of("past_state", past_state, 0)});
    dim const C = shared_size(function, "number of channels",
        std::array{fact_of("input", input, 1), fact_of("weight", weight, 0), fact_of("bias", bias, 0),
            fact_of("past_state", past_state, 1)});
    dim const state = shared_size(function, "length of past_state, k - 1",
        std::array{size_fact{"weight", &weight, taps.has_value() ? dim(taps.value() - 1) : unknown},
            fact_of("past_state", past_state, 2)});
    return {merge_type({function, "output"}, input.with_shape({B, C, dim_of(input, 2)}), declared.output),
        merge_type({function, "present_state"}, input.with_shape({B, C, state}), declared.present_state)};
}

} // namespace xloom::inline XLOOM_ABI
