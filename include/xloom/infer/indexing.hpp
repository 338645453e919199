#pragma once
// The versions of ScatterND, GatherND, ScatterElements and GatherElements by opset, and the element types T
// of their data.

#include <array>
#include <cstdint>
#include <string_view>

#include <xloom/detail/core/element_types.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/partial_type.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/infer/type_lists.hpp>
#include <xloom/infer/versions.hpp>

namespace xloom::inline XLOOM_ABI {

/// The operators that index slices or items.
enum class indexing { scatter_nd, gather_nd, scatter_elements, gather_elements };

namespace detail {

inline constexpr std::array<std::int64_t, 4> scatter_nd_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 3> gather_nd_versions{11, 12, 13};
inline constexpr std::array<std::int64_t, 4> scatter_elements_versions{11, 13, 16, 18};
inline constexpr std::array<std::int64_t, 2> gather_elements_versions{11, 13};

template <>
inline constexpr std::array<operator_history, 4> histories<indexing>{
    {{"ScatterND", scatter_nd_versions}, {"GatherND", gather_nd_versions},
        {"ScatterElements", scatter_elements_versions}, {"GatherElements", gather_elements_versions}}};

} // namespace detail

/// True if `op` accepts data (and updates) of this element type at this opset: the types of the first
/// versions of If and Loop, and from version 13 on bfloat16. Later types were not added. The indices are
/// int64 in every version, of ScatterElements and GatherElements also int32.
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

/// Requires, if the rank of data is known, that data has the axis.
constexpr void require_axis(std::string_view function, partial_type const& data, std::int64_t axis)
{
    if (data.shape().has_rank() && !is_axis(axis, data.shape().rank()))
        fail<shape_error>("xloom::", function,
            ": an axis of a tensor of rank r must be in [-r, r - 1], but axis is ", axis, " and data is ",
            data, ". Name an axis that the tensor has.");
}

/// True if ScatterND and ScatterElements, which have the same versions, have this reduction at this opset.
constexpr bool has_reduction(indexing op, std::int64_t opset, reduction kind)
{
    std::int64_t const version = operator_version(op, opset);
    switch (kind) {
    case reduction::none:
        return true;
    case reduction::add:
    case reduction::mul:
        return version >= 16;
    case reduction::max:
    case reduction::min:
        return version >= 18;
    default:
        return false;
    }
}

/// Requires that `op` has the reduction at this opset.
constexpr void require_reduction(std::string_view function, indexing op, std::int64_t opset, reduction kind)
{
    if (!detail::has_reduction(op, opset, kind))
        fail<option_error>("xloom::", function,
            ": ONNX's reductions are none, from opset 16 on add and mul, from 18 on max and min, but "
            "reduction is ",
            name_of(kind), " and opset is ", opset,
            detail::has_reduction(op, latest_opset, kind) ? ". Use a newer opset." : ". Use one of these.");
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
