#pragma once
// Requirements of derivatives on cotangents, and on what a forward pass keeps.

#include <span>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Requires a cotangent for each value, which has its shape.
///
/// Errors    option_error: the residuals are of another body. shape_error
inline void check_cotangents(std::string_view op, std::string_view cotangents, std::span<shape const> actual,
    std::string_view values, std::span<shape const> expected)
{
    if (actual.size() != expected.size())
        fail<option_error>(op,
            ": the residuals must be those of a forward pass of the same body, but they have ",
            expected.size(), " ", values, " and there are ", actual.size(), " ", cotangents,
            ". Pass the residuals of this body.");
    fact_list wrong;
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (actual[i] != expected[i])
            wrong.add(cotangents, "[", i, "] is ", actual[i], " and ", values, "[", i, "] is ", expected[i]);
    if (!wrong.empty())
        fail<shape_error>(
            op, ": a cotangent must have the shape of its value, but ", wrong, ". Give it that shape.");
}

/// As above, where the cotangents may be omitted all together.
inline void check_optional_cotangents(std::string_view op, std::string_view cotangents,
    std::span<shape const> actual, std::string_view values, std::span<shape const> expected)
{
    if (!actual.empty())
        check_cotangents(op, cotangents, actual, values, expected);
}

/// Requires that `count` states of one shape, which a forward pass keeps, fit in memory.
///
/// Errors    shape_error.
inline void check_kept_states(std::string_view op, std::size_t count, shape const& dims,
    std::size_t item_bytes, std::string_view remedy)
{
    if (!has_strides({count, element_count(dims)}, item_bytes))
        fail<shape_error>(op, ": the states that are kept must fit in memory, but there are ", count,
            " of the shape ", dims, ". ", remedy, ".");
}

/// Requires that a forward pass has finished with the residuals: NAME_forward_into, if `op` is NAME_vjp_into.
///
/// Errors    option_error.
inline void check_finished(std::string_view op, bool is_finished)
{
    if (!is_finished)
        fail<option_error>(op,
            ": the residuals must be those of a forward pass, but none has finished with them. Call ",
            op.substr(0, op.rfind("_vjp_into")), "_forward_into first.");
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
