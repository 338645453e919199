#pragma once
// ONNX's type and shape inference of LSTM.

#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/recurrent.hpp>
#include <xloom/infer/recurrent_outputs.hpp>

namespace xloom::inline XLOOM_ABI {

/// The types of LSTM's inputs, in ONNX's order; untyped for an input that is omitted or unknown.
struct lstm_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{}, initial_c{}, P{};
};

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
constexpr lstm_types infer_lstm(lstm_input_types const& inputs, lstm_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_lstm", recurrent::lstm, inputs.X, attributes);
    return {detail::merge_type({"infer_lstm", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_lstm", "Y_h"}, inferred.state, declared.Y_h),
        detail::merge_type({"infer_lstm", "Y_c"}, inferred.state, declared.Y_c)};
}

} // namespace xloom::inline XLOOM_ABI
