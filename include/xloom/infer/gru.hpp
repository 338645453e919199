#pragma once
// ONNX's type and shape inference of GRU.

#include <xloom/core/partial_type.hpp>
#include <xloom/infer/merge.hpp>
#include <xloom/infer/recurrent.hpp>
#include <xloom/infer/recurrent_outputs.hpp>

namespace xloom {

/// In ONNX's order; untyped where an input is omitted or nothing is known of it.
struct gru_input_types {
    partial_type X{}, W{}, R{}, B{}, sequence_lens{}, initial_h{};
};

/// The types of GRU's outputs.
struct gru_types {
    partial_type Y{}, Y_h{};
};

/// The types of GRU's outputs, also of those that the node leaves out. `declared` is what the model says of
/// them, untyped where it says nothing.
///
///     T, N, I = X.shape
///     Y = merge_type(X.with_shape([T, D, N, H]), declared.Y)
///     Y_h = merge_type(X.with_shape([D, N, H]), declared.Y_h)
///
/// Shapes    layout 1: X [N, T, I] -> Y [N, T, D, H], Y_h [N, D, H]. An X of unknown rank tells neither T nor
///           N. Of the other inputs nothing is read: R may tell an H that hidden_size does not. Before opset
///           7, without output_sequence: unknown ranks. Before opset 3: what is declared, whatever X is.
/// Options   recurrent_attributes.
/// Errors    type_error: X is no tensor, or its element type is undefined; kind or element type of a declared
///           output. shape_error: X's rank; rank or dimension of a declared output. option_error: the opset;
///           a layout other than 0 and 1; a layout or output_sequence at an opset that has none.
/// Differs   from ONNX: every failure comes out; ONNX's default mode drops it. X's kind is checked. An
///           attribute that the version does not have is refused, where ONNX does not read it; so is layout
///           2, which ONNX takes for 1.
/// Source    ONNX GRU-3, 7, 14, 22; GRU-1 has no inference. Element types are not checked; is_allowed has
///           X's.
/// Example   tests/infer/gru.test.cpp
constexpr gru_types infer_gru(gru_input_types const& inputs, gru_types const& declared = {},
    recurrent_attributes const& attributes = {})
{
    auto const inferred = detail::infer_recurrent("infer_gru", recurrent::gru, inputs.X, attributes);
    return {detail::merge_type({"infer_gru", "Y"}, inferred.Y, declared.Y),
        detail::merge_type({"infer_gru", "Y_h"}, inferred.state, declared.Y_h)};
}

} // namespace xloom
