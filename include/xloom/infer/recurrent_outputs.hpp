#pragma once
// The inference that the recurrent operators share: attributes, and the types of Y and the final states.

#include <cstdint>
#include <optional>
#include <string_view>

#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/infer/recurrent.hpp>
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

/// The type of Y, and the common type of Y_h and Y_c.
struct recurrent_outputs {
    partial_type Y{};
    partial_type state{};
};

constexpr void require_attributes(
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
constexpr void require_sequences(std::string_view function, partial_type const& X, bool is_batch_first)
{
    if (!X.is_tensor() || X.element() == element_type::undefined)
        fail<type_error>("xloom::", function, ": X must be a tensor of a known element type, but X is ", X,
            ". Give a tensor's type.");
    if (X.shape().has_rank() && X.shape().rank() != 3)
        fail<shape_error>("xloom::", function, ": X must have rank 3, but X is ", X, ". Lay it out as ",
            is_batch_first ? "[N, T, I]" : "[T, N, I]", ".");
}

/// Infers the outputs by the rule of the newest version, which reads X and three attributes only.
constexpr recurrent_outputs infer_recurrent(std::string_view function, partial_type const& X,
    std::optional<direction> const& walked, std::optional<std::int64_t> const& hidden_size,
    bool is_batch_first)
{
    require_sequences(function, X, is_batch_first);
    dim const D = walked ? dim(direction_count(*walked)) : unknown;
    dim const H = hidden_size && *hidden_size > 0 ? dim(*hidden_size) : unknown;
    bool const is_known = X.shape().has_rank();
    dim const T = is_known ? X.shape()[is_batch_first ? 1 : 0] : unknown;
    dim const N = is_known ? X.shape()[is_batch_first ? 0 : 1] : unknown;
    if (is_batch_first)
        return {X.with_shape({N, T, D, H}), X.with_shape({N, D, H})};
    return {X.with_shape({T, D, N, H}), X.with_shape({D, N, H})};
}

/// Infers the outputs by the rule of the version at this opset. GRU-1 has no rule: its outputs are untyped.
constexpr recurrent_outputs infer_recurrent(
    std::string_view function, recurrent op, partial_type const& X, recurrent_attributes const& attributes)
{
    std::int64_t const version = operator_version(op, attributes.opset);
    require_attributes(function, version, attributes);
    if (op == recurrent::gru && version == 1)
        return {};
    recurrent_outputs const outputs =
        infer_recurrent(function, X, attributes.direction, attributes.hidden_size, attributes.layout == 1);
    if (version < 7 && !attributes.output_sequence)
        return {outputs.Y.with_shape(unknown_rank), outputs.state.with_shape(unknown_rank)};
    return outputs;
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
