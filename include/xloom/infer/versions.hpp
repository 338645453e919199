#pragma once
// The names of operators, and their versions at a model's opset; those of If, Loop and Scan, and the types of
// their values (V).

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

/// The operators with bodies.
enum class control_flow { if_, loop, scan };

namespace detail {

inline constexpr std::array<std::int64_t, 9> if_versions{1, 11, 13, 16, 19, 21, 23, 24, 25};
inline constexpr std::array<std::int64_t, 9> scan_versions{8, 9, 11, 16, 19, 21, 23, 24, 25};

/// An element type of V, with the version of the three operators that added it. None was ever removed.
struct element_type_since {
    element_type element;
    std::int64_t version;
};
inline constexpr std::array<element_type_since, 26> control_flow_elements{{
    {element_type::uint8, 1},
    {element_type::uint16, 1},
    {element_type::uint32, 1},
    {element_type::uint64, 1},
    {element_type::int8, 1},
    {element_type::int16, 1},
    {element_type::int32, 1},
    {element_type::int64, 1},
    {element_type::float16, 1},
    {element_type::float_, 1},
    {element_type::double_, 1},
    {element_type::string, 1},
    {element_type::bool_, 1},
    {element_type::complex64, 1},
    {element_type::complex128, 1},
    {element_type::bfloat16, 16},
    {element_type::float8_e4m3fn, 19},
    {element_type::float8_e4m3fnuz, 19},
    {element_type::float8_e5m2, 19},
    {element_type::float8_e5m2fnuz, 19},
    {element_type::uint4, 21},
    {element_type::int4, 21},
    {element_type::float4_e2m1, 23},
    {element_type::float8_e8m0, 24},
    {element_type::uint2, 25},
    {element_type::int2, 25},
}};

/// The versions from which on If and Loop (Scan never) accept sequences of tensors, and optional tensors and
/// optional sequences of tensors. Optional sequences have the element types of version 16 in all later
/// versions.
inline constexpr std::int64_t sequences_since = 13;
inline constexpr std::int64_t optionals_since = 16;

template <>
inline constexpr std::array<operator_history, 3> histories<control_flow>{
    {{"If", if_versions}, {"Loop", if_versions}, {"Scan", scan_versions}}};

constexpr bool is_element_at(std::int64_t version, element_type element) noexcept
{
    for (element_type_since const& known : control_flow_elements)
        if (known.element == element)
            return known.version <= version;
    return false;
}

} // namespace detail

/// True if a value of this type may be an input or output V of `op` at this opset. Shapes are ignored.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/type_lists.test.cpp
constexpr bool is_allowed(control_flow op, std::int64_t opset, partial_type const& type)
{
    std::int64_t const version = operator_version(op, opset);
    if (type.is_tensor())
        return detail::is_element_at(version, type.element());
    if (op == control_flow::scan || !type.is_wrapped())
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
