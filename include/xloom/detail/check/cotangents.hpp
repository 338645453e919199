#pragma once
// Requirements of derivatives on cotangents: shapes, and memory of their own.

#include <span>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires that every cotangent has the shape of its value.
///
/// Errors    shape_error.
inline void check_cotangents(std::string_view op, std::string_view cotangents, std::span<shape const> actual,
    std::string_view values, std::span<shape const> expected)
{
    fact_list wrong;
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (actual[i] != expected[i])
            wrong.add(cotangents, "[", i, "] is ", actual[i], " and ", values, "[", i, "] is ", expected[i]);
    if (!wrong.empty())
        fail<shape_error>(
            op, ": a cotangent must have the shape of its value, but ", wrong, ". Give it that shape.");
}

/// Requires that a pullback has what its forward pass left.
///
/// Errors    option_error.
inline void check_pullback(std::string_view op, bool has_residuals)
{
    if (!has_residuals)
        fail<option_error>(op,
            ": a pullback can be called until it is moved from, but this one has been. Call "
            "the one that it was moved to.");
}

} // namespace xloom::inline XLOOM_ABI::detail
