#pragma once
// ONNX's type and shape inference of RNN, GRU, LSTM, and of com.microsoft's AttnLSTM.

#include <cstdint>
#include <optional>
#include <string_view>

#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The attributes of RNN, GRU and LSTM that determine the shapes of their outputs.
///
/// Options   direction (forward): determines D; std::nullopt, for a name that ONNX does not define, leaves D
///           unknown. hidden_size (absent): H; unknown unless it is positive. layout (0), from opset
///           14 on: 0 for X [T, N, I], 1 for X [N, T, I]. output_sequence (false), before opset 7: without it
///           no output has a shape, since it is not known which outputs exist.
struct recurrent_attributes {
    std::int64_t opset = latest_opset;
    std::optional<xloom::direction> direction = xloom::direction::forward;
    std::optional<std::int64_t> hidden_size{};
    std::int64_t layout = 0;
    bool output_sequence = false;
};

namespace detail {

/// The types of an operator's inputs, in its order; untyped for an input that is omitted or unknown.
struct rnn_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{};
};
struct lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{};
};
struct attn_lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{}, QW{}, MW{}, V{}, M{},
        memory_seq_lens{}, AW{};
};

/// The type of Y, and the common type of Y_h and Y_c.
struct recurrent_outputs {
    partial_type Y{};
    partial_type state{};
};

constexpr void check_attributes(
    std::string_view function, std::int64_t version, recurrent_attributes const& attributes)
{
    if (attributes.layout != 0 && attributes.layout != 1)
        fail<option_error>("xloom::", function, ": layout must be 0 or 1, but layout is ", attributes.layout,
            ". Use 0 for [T, N, I] or 1 for [N, T, I].");
    if (version < 14 && attributes.layout != 0)
        fail<option_error>("xloom::", function, ": before opset 14 there is only layout 0, but opset is ",
            attributes.opset, " and layout is ", attributes.layout, ". Use a newer opset.");
    if (version >= 7 && attributes.output_sequence)
        fail<option_error>("xloom::", function,
            ": from opset 7 on there is no output_sequence, but opset is ", attributes.opset,
            " and output_sequence is true. Omit it.");
}

/// Rejects an X whose element type is unknown, and one whose rank is known and not 3.
constexpr void check_sequences(std::string_view function, partial_type const& X, bool is_batch_first)
{
    check_element({function, "X"}, X);
    if (X.shape().has_rank() && X.shape().rank() != 3)
        fail<shape_error>("xloom::", function, ": X must have rank 3, but X is ", X, ". Lay it out as ",
            is_batch_first ? "[N, T, I]" : "[T, N, I]", ".");
}

/// Infers the outputs by the rule of the newest version, which reads X and three attributes only.
constexpr recurrent_outputs infer_recurrent(std::string_view function, partial_type const& X,
    std::optional<direction> const& dir, std::optional<std::int64_t> const& hidden_size, bool is_batch_first)
{
    check_sequences(function, X, is_batch_first);
    dim const D = dir ? dim(direction_count(*dir)) : unknown;
    dim const H = hidden_size.value_or(0) > 0 ? dim(*hidden_size) : unknown;
    bool const is_known = X.shape().has_rank();
    dim const T = is_known ? X.shape()[is_batch_first ? 1 : 0] : unknown;
    dim const N = is_known ? X.shape()[is_batch_first ? 0 : 1] : unknown;
    if (is_batch_first)
        return {X.with_shape({N, T, D, H}), X.with_shape({N, D, H})};
    return {X.with_shape({T, D, N, H}), X.with_shape({D, N, H})};
}

/// Infers the outputs by the rule of the version at this opset. GRU-1 has no rule: its outputs are untyped.
constexpr recurrent_outputs infer_recurrent(std::string_view function, onnx_operator op,
    partial_type const& X, recurrent_attributes const& attributes)
{
    std::int64_t const version = operator_version(op, attributes.opset);
    check_attributes(function, version, attributes);
    if (op == onnx_operator::gru && version == 1)
        return {};
    recurrent_outputs const outputs =
        infer_recurrent(function, X, attributes.direction, attributes.hidden_size, attributes.layout == 1);
    if (version < 7 && !attributes.output_sequence)
        return {outputs.Y.with_shape(unknown_rank), outputs.state.with_shape(unknown_rank)};
    return outputs;
}

} // namespace detail

/// The types of RNN's and GRU's outputs.
struct rnn_types {
    partial_type Y{}, Y_h{};
};
using gru_types = rnn_types;

namespace detail {

constexpr rnn_types infer_single_state(std::string_view function, onnx_operator op, partial_type const& X,
    rnn_types const& declared, recurrent_attributes const& attributes)
{
    auto const inferred = infer_recurrent(function, op, X, attributes);
    return {merge_type({function, "Y"}, inferred.Y, declared.Y),
        merge_type({function, "Y_h"}, inferred.state, declared.Y_h)};
}

} // namespace detail

/// Infers the types of RNN's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h [N, D, H]. T and N are unknown if the rank of X is.
///           The other inputs are not read: without hidden_size, H is unknown even if R has it. Before opset
///           7, without output_sequence: unknown ranks.
/// Options   recurrent_attributes.
/// Errors    type_error: X is not a tensor, or its element type is undefined; kind or element type of a
///           declared output. shape_error: X's rank; rank or dimension of a declared output. option_error:
///           the opset; a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of X is checked.
///           An attribute that the version does not have is an error; ONNX ignores it. Layout 2 is an error;
///           ONNX treats it as 1.
/// Source    ONNX RNN-1, 7, 14, 22. Element types are not checked; is_allowed checks that of X.
/// Example   tests/infer/rnn.test.cpp
constexpr rnn_types infer_rnn(detail::rnn_input_types const& inputs, rnn_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    return detail::infer_single_state("infer_rnn", onnx_operator::rnn, inputs.X, declared, attributes);
}

/// Infers the types of GRU's outputs by the rule of infer_rnn, with its errors.
///
/// Shapes    those of RNN. Before opset 3: the declared types, whatever X is.
/// Source    ONNX GRU-3, 7, 14, 22; GRU-1 has no inference.
/// Example   tests/infer/gru.test.cpp
constexpr gru_types infer_gru(detail::rnn_input_types const& inputs, gru_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    return detail::infer_single_state("infer_gru", onnx_operator::gru, inputs.X, declared, attributes);
}

/// The types of LSTM's outputs.
struct lstm_types {
    partial_type Y{}, Y_h{}, Y_c{};
};

/// Infers the types of LSTM's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///     Y_c = merge_type(X.with_shape([D, N, H]), declared.Y_c)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h and Y_c [N, D, H]. T and N are unknown if the rank
///           of X is. The other inputs are not read: without hidden_size, H is unknown even if R has it.
///           Before opset 7, without output_sequence: unknown ranks.
/// Options   recurrent_attributes.
/// Errors    type_error: X is not a tensor, or its element type is undefined; kind or element type of a
///           declared output. shape_error: X's rank; rank or dimension of a declared output. option_error:
///           the opset; a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every error is reported; ONNX's default mode suppresses it. The kind of X is checked.
///           An attribute that the version does not have is an error; ONNX ignores it. Layout 2 is an error;
///           ONNX treats it as 1.
/// Source    ONNX LSTM-1, 7, 14, 22. Element types are not checked; is_allowed checks that of X.
/// Example
/// ```cpp
/// auto const X = xloom::tensor_type(xloom::element_type::float_, {"T", "N", 8});
/// auto const types = xloom::infer_lstm({.X = X}, {}, {.hidden_size = 16});
/// types.Y; // = float[T, 1, N, 16]
/// types.Y_h; // = float[1, N, 16]
/// ```
constexpr lstm_types infer_lstm(detail::lstm_input_types const& inputs, lstm_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_lstm", onnx_operator::lstm, inputs.X, attributes);
    return {detail::merge_type({"infer_lstm", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_lstm", "Y_h"}, inferred.state, declared.Y_h),
        detail::merge_type({"infer_lstm", "Y_c"}, inferred.state, declared.Y_c)};
}

/// The types of AttnLSTM's outputs.
struct attn_lstm_types {
    partial_type Y{}, Y_h{}, Y_c{}, alignments{};
};

/// The attributes of AttnLSTM that the inference reads. The operator has no layout, and one version.
///
/// Options   direction (forward): determines D; std::nullopt, for a name that ONNX does not define, leaves D
///           unknown. hidden_size (absent): H; unknown unless it is positive.
struct attn_lstm_attributes {
    std::optional<xloom::direction> direction = xloom::direction::forward;
    std::optional<std::int64_t> hidden_size{};
};

namespace detail {

/// Returns S of the memory M [N, S, E].
constexpr dim memory_steps(partial_type const& M)
{
    if (!M.is_untyped() && !M.is_tensor())
        fail<type_error>(
            "xloom::infer_attn_lstm: M must be a tensor, but M is ", M, ". Give a tensor's type.");
    if (!M.shape().has_rank())
        return unknown;
    if (M.shape().rank() != 3)
        fail<shape_error>(
            "xloom::infer_attn_lstm: M must have rank 3, but M is ", M, ". Lay it out as [N, S, E].");
    return M.shape()[1];
}

} // namespace detail

/// Infers the types of AttnLSTM's outputs, including omitted ones. `declared` has the types that the model
/// declares, untyped where it declares none.
///
///     T, N, I = X.shape
///     N, S, E = M.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///     Y_c = merge_type(X.with_shape([D, N, H]), declared.Y_c)
///     alignments = merge_type(X.with_shape([T, D, N, S]), declared.alignments)
///
/// Shapes    T and N are unknown if the rank of X is, S if M is omitted or of unknown rank. N is that of X;
///           that of M is not compared. The other inputs are not read.
/// Options   attn_lstm_attributes.
/// Errors    type_error: X or M is not a tensor, or X's element type is undefined; kind or element type of a
///           declared output. shape_error: rank of X or M; rank or dimension of a declared output.
/// Differs   from ONNX Runtime, which infers element types only: Y, Y_h and Y_c follow ONNX's rule for LSTM.
///           ONNX Runtime does not have the output alignments.
/// Source    com.microsoft AttnLSTM 1; ONNX LSTM-22, layout 0. Element types are not checked.
/// Example   tests/infer/attn_lstm.test.cpp
constexpr attn_lstm_types infer_attn_lstm(detail::attn_lstm_input_types const& inputs,
    attn_lstm_types const& declared = {}, attn_lstm_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent(
        "infer_attn_lstm", inputs.X, attributes.direction, attributes.hidden_size, /*is_batch_first*/ false);
    partial_shape alignments = inferred.Y.shape();
    alignments[3] = detail::memory_steps(inputs.M);
    return {detail::merge_type({"infer_attn_lstm", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_attn_lstm", "Y_h"}, inferred.state, declared.Y_h),
        detail::merge_type({"infer_attn_lstm", "Y_c"}, inferred.state, declared.Y_c),
        detail::merge_type(
            {"infer_attn_lstm", "alignments"}, inputs.X.with_shape(alignments), declared.alignments)};
}

} // namespace xloom::inline XLOOM_ABI
