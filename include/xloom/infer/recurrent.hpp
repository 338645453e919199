#pragma once
// The versions of RNN, GRU and LSTM by opset, and the element types T of their tensors.

#include <array>
#include <cstdint>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The recurrent operators of ONNX itself.
enum class recurrent { rnn, gru, lstm };

namespace detail {

inline constexpr std::array<std::int64_t, 4> rnn_versions{1, 7, 14, 22};
inline constexpr std::array<std::int64_t, 5> gru_versions{1, 3, 7, 14, 22};

template <>
inline constexpr std::array<operator_history, 3> histories<recurrent>{
    {{"RNN", rnn_versions}, {"GRU", gru_versions}, {"LSTM", rnn_versions}}};

} // namespace detail

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

} // namespace xloom::inline XLOOM_ABI
