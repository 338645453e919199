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

/// Operands of one name.
struct named_places {
    std::string_view name;
    std::span<placed_operand const> operands;
};

/// Requires that every operand of `written` has memory of its own.
///
/// Errors    overlap_error: two items share memory, or it shares memory with another operand.
inline void check_exclusive(
    std::string_view op, std::span<named_places const> written, std::span<named_places const> read)
{
    fact_list pairs;
    auto const find_shared = [&](std::size_t group, std::size_t i, named_places const& others,
                                 std::size_t first) {
        named_places const& own = written[group];
        for (std::size_t j = first; j < others.operands.size(); ++j)
            if (overlap(own.operands[i].memory, others.operands[j].memory))
                pairs.add(own.name, "[", i, "] overlaps ", others.name, "[", j, "]");
    };
    for (std::size_t group = 0; group < written.size(); ++group)
        for (std::size_t i = 0; i < written[group].operands.size(); ++i) {
            check_unique(op, concat(written[group].name, "[", i, "]"),
                written[group].operands[i].memory.layout, "Copy it first.");
            find_shared(group, i, written[group], i + 1);
            for (std::size_t other = group + 1; other < written.size(); ++other)
                find_shared(group, i, written[other], 0);
            for (named_places const& others : read)
                find_shared(group, i, others, 0);
        }
    if (!pairs.empty())
        fail<overlap_error>(op, ": a cotangent that is written must have exclusive memory, but ", pairs,
            ". Copy one of the two.");
}

} // namespace xloom::inline XLOOM_ABI::detail
