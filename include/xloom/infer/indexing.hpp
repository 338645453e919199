#pragma once
// The versions of ScatterND and GatherND by opset, and the element types T of their data.

#include <array>
#include <cstdint>
#include <string_view>

#include <xloom/core/element_types.hpp>
#include <xloom/core/error.hpp>
#include <xloom/core/partial_type.hpp>
#include <xloom/infer/type_lists.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom {

/// The operators that index slices.
enum class indexing { scatter_nd, gather_nd };

namespace detail {

inline constexpr std::array<std::int64_t, 4> scatter_nd_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 3> gather_nd_versions{11, 12, 13};

template <>
inline constexpr std::array<operator_history, 2> histories<indexing>{
    {{"ScatterND", scatter_nd_versions}, {"GatherND", gather_nd_versions}}};

} // namespace detail

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
