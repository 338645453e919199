#pragma once
// The versions of ScatterND and GatherND by opset, and the element types T of their data.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <xloom/core/element_types.hpp>
#include <xloom/core/error.hpp>
#include <xloom/core/partial_type.hpp>
#include <xloom/infer/type_lists.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom {

/// The operators that index slices.
enum class indexing { scatter_nd, gather_nd };

/// Returns the operator's name as ONNX spells it.
constexpr std::string_view name_of(indexing op) noexcept
{
    return op == indexing::scatter_nd ? "ScatterND" : "GatherND";
}

namespace detail {

inline constexpr std::array<std::int64_t, 4> scatter_nd_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 3> gather_nd_versions{11, 12, 13};

/// Returns the versions of `op` in ascending order.
constexpr std::span<std::int64_t const> versions_of(indexing op) noexcept
{
    if (op == indexing::scatter_nd)
        return scatter_nd_versions;
    return gather_nd_versions;
}

} // namespace detail

/// Returns the version of `op` at this opset: the largest that does not exceed it.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    ONNX 1.23 (opset 28); a larger opset has the newest version.
/// Example   tests/infer/indexing.test.cpp
constexpr std::int64_t operator_version(indexing op, std::int64_t opset)
{
    return detail::find_version(name_of(op), detail::versions_of(op), opset);
}

/// True if `op` accepts data (and ScatterND updates) of this element type at this opset: the types of the
/// first versions of If and Loop, and from version 13 on bfloat16. Later types were not added. The indices
/// are int64 in every version.
///
/// Errors    option_error: the opset is older than the operator.
/// Source    the schemas of ONNX 1.23.
/// Example   tests/infer/indexing.test.cpp
constexpr bool is_allowed(indexing op, std::int64_t opset, element_type element)
{
    std::int64_t const version = operator_version(op, opset);
    if (element == element_type::bfloat16)
        return version >= 13;
    return detail::is_element_at(detail::if_versions.front(), element);
}

namespace detail {

/// Requires that data is a tensor of a known element type.
constexpr void require_data(std::string_view function, partial_type const& data)
{
    if (!data.is_tensor() || data.element() == element_type::undefined)
        fail<type_error>("xloom::", function, ": data must be a tensor of a known element type, but data is ",
            data, ". Give a tensor's type.");
}

} // namespace detail
} // namespace xloom
