#pragma once
// ONNX's type and shape inference of RNN.

#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/recurrent.hpp>
#include <xloom/infer/recurrent_outputs.hpp>

namespace xloom::inline XLOOM_ABI {

/// The types of RNN's inputs, in ONNX's order; untyped for an input that is omitted or unknown.
struct rnn_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{};
};

/// The types of RNN's outputs.
struct rnn_types {
    partial_type Y{}, Y_h{};
};

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
constexpr rnn_types infer_rnn(rnn_input_types const& inputs, rnn_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_rnn", recurrent::rnn, inputs.X, attributes);
    return {detail::merge_type({"infer_rnn", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_rnn", "Y_h"}, inferred.state, declared.Y_h)};
}

} // namespace xloom::inline XLOOM_ABI
