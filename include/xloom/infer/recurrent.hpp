#pragma once
// The versions of RNN, GRU and LSTM by opset, and the element types T of their tensors.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/core/element_types.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom {

/// The recurrent operators of ONNX itself.
enum class recurrent { rnn, gru, lstm };

/// Returns the operator's name as ONNX spells it.
constexpr std::string_view name_of(recurrent op) noexcept
{
    return op == recurrent::lstm ? "LSTM" : op == recurrent::gru ? "GRU" : "RNN";
}

namespace detail {

inline constexpr std::array<std::int64_t, 4> rnn_versions{1, 7, 14, 22};
inline constexpr std::array<std::int64_t, 5> gru_versions{1, 3, 7, 14, 22};
inline constexpr std::array<std::int64_t, 4> lstm_versions = rnn_versions;

/// Returns the versions of `op` in ascending order.
constexpr std::span<std::int64_t const> versions_of(recurrent op) noexcept
{
    if (op == recurrent::gru)
        return gru_versions;
    return op == recurrent::lstm ? lstm_versions : rnn_versions;
}

} // namespace detail

/// Returns the version of `op` at this opset: the largest that does not exceed it.
///
/// Errors    option_error: an opset below 1.
/// Source    ONNX 1.23 (opset 28); a larger opset has the newest version.
/// Example   tests/infer/recurrent.test.cpp
constexpr std::int64_t operator_version(recurrent op, std::int64_t opset)
{
    return detail::find_version(name_of(op), detail::versions_of(op), opset);
}

/// True if `op` accepts and returns tensors of this element type at this opset: float16, float and double,
/// and from version 22 on bfloat16. sequence_lens is int32 in every version.
///
/// Errors    option_error: an opset below 1.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/recurrent.test.cpp
constexpr bool is_allowed(recurrent op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    switch (element) {
    case element_type::float16:
    case element_type::float_:
    case element_type::double_:
        return true;
    case element_type::bfloat16:
        return version >= 22;
    default:
        return false;
    }
}

} // namespace xloom
