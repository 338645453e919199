#pragma once
// The names of operators, their versions at a model's opset, and the types of their values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>

namespace xloom::inline XLOOM_ABI {

/// The newest known opset, that of ONNX 1.23, which is not released; ONNX 1.22 released 27. Both, and later
/// ones, have the same versions.
inline constexpr std::int64_t latest_opset = 28;

/// The operators whose types xloom infers, and whose versions it knows.
enum class onnx_operator {
    if_,
    loop,
    scan,
    gather_nd,
    gather_elements,
    scatter_nd,
    scatter_elements,
    cumsum,
    rnn,
    gru,
    lstm,
    linear_attention,
    causal_conv_with_state,
    tensor_scatter
};

namespace detail {

/// An operator's name as ONNX spells it, and its versions in ascending order.
struct operator_history {
    std::string_view name;
    std::span<std::int64_t const> versions;
};

inline constexpr std::array<std::int64_t, 9> if_versions{1, 11, 13, 16, 19, 21, 23, 24, 25};
inline constexpr std::array<std::int64_t, 9> scan_versions{8, 9, 11, 16, 19, 21, 23, 24, 25};
inline constexpr std::array<std::int64_t, 3> gather_nd_versions{11, 12, 13};
inline constexpr std::array<std::int64_t, 2> gather_elements_versions{11, 13};
inline constexpr std::array<std::int64_t, 4> scatter_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 2> cumsum_versions{11, 14};
inline constexpr std::array<std::int64_t, 4> rnn_versions{1, 7, 14, 22};
inline constexpr std::array<std::int64_t, 5> gru_versions{1, 3, 7, 14, 22};
inline constexpr std::array<std::int64_t, 1> linear_attention_versions{27};
inline constexpr std::array<std::int64_t, 1> tensor_scatter_versions{24};

/// In the order of the enumerators.
inline constexpr std::array<operator_history, 14> operator_histories{
    {{"If", if_versions}, {"Loop", if_versions}, {"Scan", scan_versions}, {"GatherND", gather_nd_versions},
        {"GatherElements", gather_elements_versions}, {"ScatterND", scatter_versions},
        {"ScatterElements", scatter_versions}, {"CumSum", cumsum_versions}, {"RNN", rnn_versions},
        {"GRU", gru_versions}, {"LSTM", rnn_versions}, {"LinearAttention", linear_attention_versions},
        {"CausalConvWithState", linear_attention_versions}, {"TensorScatter", tensor_scatter_versions}}};

/// Returns the history of an operator; that of If if `op` is not an enumerator.
constexpr operator_history const& history_of(onnx_operator op) noexcept
{
    auto const number = static_cast<std::size_t>(op);
    return operator_histories[number < operator_histories.size() ? number : 0];
}

} // namespace detail

/// Returns the operator's name as ONNX spells it.
constexpr std::string_view name_of(onnx_operator op) noexcept { return detail::history_of(op).name; }

/// Returns the version of `op` at this opset: the largest that does not exceed it.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    ONNX 1.23 before its release (opset 28); a larger opset has the newest version.
/// Example   tests/infer/type_lists.test.cpp
constexpr std::int64_t operator_version(onnx_operator op, std::int64_t opset)
{
    auto const& [name, versions] = detail::history_of(op);
    if (opset < versions.front())
        detail::fail<option_error>("xloom::operator_version: ", name, " begins with opset ", versions.front(),
            ", but opset is ", opset, ". Give a newer opset.");
    std::int64_t version = 0;
    for (std::int64_t const candidate : versions)
        if (candidate <= opset)
            version = candidate;
    return version;
}

namespace detail {

/// The version of If, Loop and Scan since which a value may have an element type, by its number in ONNX; 0:
/// never.
inline constexpr std::array<std::int64_t, element_type_count> control_flow_since{
    0,                                           // undefined
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // float to complex128
    16,                                          // bfloat16
    19, 19, 19, 19,                              // float8
    21, 21, 23, 24, 25, 25                       // uint4, int4, float4_e2m1, float8_e8m0, uint2, int2
};

/// The versions from which on If and Loop (Scan never) accept sequences of tensors, and optional tensors and
/// optional sequences of tensors. Optional sequences have the element types of version 16 in all later
/// versions.
inline constexpr std::int64_t sequences_since = 13;
inline constexpr std::int64_t optionals_since = 16;

constexpr bool is_element_at(std::int64_t version, element_type element) noexcept
{
    auto const number = static_cast<std::size_t>(element);
    return number < element_type_count && control_flow_since[number] != 0 &&
           control_flow_since[number] <= version;
}

/// CumSum's element types: numbers of 32 and 64 bits, from version 14 on float16 and bfloat16.
constexpr bool is_summed_at(std::int64_t version, element_type element) noexcept
{
    switch (element) {
    case element_type::uint32:
    case element_type::uint64:
    case element_type::int32:
    case element_type::int64:
    case element_type::float_:
    case element_type::double_:
        return true;
    case element_type::float16:
    case element_type::bfloat16:
        return version >= 14;
    default:
        return false;
    }
}

/// The element types of RNN, GRU and LSTM: float16, float and double, from version 22 on bfloat16.
constexpr bool is_recurrent_at(std::int64_t version, element_type element) noexcept
{
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

} // namespace detail

/// True if `op` accepts tensors of this element type at this opset: If, Loop and Scan as V, the indexing
/// operators as data (and updates), CumSum as x, RNN, GRU and LSTM as X, LinearAttention as query,
/// CausalConvWithState as input, and TensorScatter as past_cache.
///
/// Types     GatherND, GatherElements, ScatterND and ScatterElements: those of the first If, and from version
///           13 on bfloat16; their indices are int64 in every version, of GatherElements and ScatterElements
///           also int32. CumSum: its axis is int32 or int64 in every version. RNN, GRU and LSTM:
///           sequence_lens is int32 in every version. LinearAttention's past_state has one of the types of
///           query, not always the same; the write_indices of TensorScatter are int64.
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/type_lists.test.cpp
constexpr bool is_allowed(onnx_operator op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    switch (op) {
    case onnx_operator::gather_nd:
    case onnx_operator::gather_elements:
    case onnx_operator::scatter_nd:
    case onnx_operator::scatter_elements:
        return element == element_type::bfloat16
                   ? version >= 13
                   : detail::is_element_at(detail::if_versions.front(), element);
    case onnx_operator::cumsum:
        return detail::is_summed_at(version, element);
    case onnx_operator::rnn:
    case onnx_operator::gru:
    case onnx_operator::lstm:
        return detail::is_recurrent_at(version, element);
    case onnx_operator::linear_attention:
    case onnx_operator::causal_conv_with_state:
        return element == element_type::float16 || element == element_type::bfloat16 ||
               element == element_type::float_;
    default:
        return detail::is_element_at(version, element);
    }
}

/// True if a value of this type may be such an operand of `op` at this opset: a tensor of an allowed element
/// type; of If and Loop also a sequence or an optional. Shapes are ignored.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/type_lists.test.cpp
constexpr bool is_allowed(onnx_operator op, std::int64_t opset, partial_type const& type)
{
    if (type.is_tensor())
        return is_allowed(op, opset, type.element());
    std::int64_t const version = operator_version(op, opset);
    if ((op != onnx_operator::if_ && op != onnx_operator::loop) || !type.is_wrapped())
        return false;
    partial_type const content = type.inner();
    if (type.kind() == type_kind::sequence)
        return version >= detail::sequences_since && content.is_tensor() &&
               detail::is_element_at(version, content.element());
    if (version < detail::optionals_since)
        return false;
    if (content.is_tensor())
        return detail::is_element_at(version, content.element());
    return content.kind() == type_kind::sequence && content.inner().is_tensor() &&
           detail::is_element_at(detail::optionals_since, content.element());
}

} // namespace xloom::inline XLOOM_ABI
