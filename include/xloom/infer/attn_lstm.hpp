#pragma once
// Type and shape inference of com.microsoft's AttnLSTM.

#include <cstdint>
#include <optional>

#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/recurrent_outputs.hpp>

namespace xloom::inline XLOOM_ABI {

/// The types of AttnLSTM's inputs, in the operator's order; untyped for an input that is omitted or unknown.
struct attn_lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{}, QW{}, MW{}, V{}, M{},
        memory_seq_lens{}, AW{};
};

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
constexpr attn_lstm_types infer_attn_lstm(attn_lstm_input_types const& inputs,
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
