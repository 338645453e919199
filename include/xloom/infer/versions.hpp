#pragma once
// The names of operators, and their versions at a model's opset.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

/// The newest known opset, that of ONNX 1.23, which is not released; ONNX 1.22 released 27. Both, and later
/// ones, have the same versions.
inline constexpr std::int64_t latest_opset = 28;

namespace detail {

/// An operator's name as ONNX spells it, and its versions in ascending order.
struct operator_history {
    std::string_view name;
    std::span<std::int64_t const> versions;
};

/// The operators of an enumeration, in the order of its values; specialised beside each.
template <class Op>
inline constexpr std::array<operator_history, 0> histories{};

/// An enumeration of operators: control_flow, indexing, accumulation or recurrent.
template <class Op>
concept operator_kind = histories<Op>.size() > 0;

/// Returns the history of an operator; that of the first one if `op` is not an enumerator.
template <operator_kind Op>
constexpr operator_history const& history_of(Op op) noexcept
{
    auto const number = static_cast<std::size_t>(op);
    return histories<Op>[number < histories<Op>.size() ? number : 0];
}

} // namespace detail

/// Returns the operator's name as ONNX spells it.
template <detail::operator_kind Op>
constexpr std::string_view name_of(Op op) noexcept
{
    return detail::history_of(op).name;
}

/// Returns the version of `op` at this opset: the largest that does not exceed it.
///
/// Types     Op: control_flow, indexing, accumulation or recurrent.
/// Errors    option_error: the opset is older than the operator.
/// Source    ONNX 1.23 before its release (opset 28); a larger opset has the newest version.
/// Example   tests/infer/type_lists.test.cpp
template <detail::operator_kind Op>
constexpr std::int64_t operator_version(Op op, std::int64_t opset)
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

} // namespace xloom::inline XLOOM_ABI
