#pragma once
// Axes: non-negative or negative, which count from the last.

#include <cstdint>
#include <optional>
#include <vector>

#include <xloom_onnx/axes.hpp>

#include "graph.hpp"
#include "text.hpp"

namespace runner {

inline std::size_t axis_of(std::int64_t axis, std::size_t rank)
{
    if (!xloom::is_axis(axis, rank))
        throw runner_error(fmt::format("the axis {} is none of a tensor of rank {}", axis, rank));
    return xloom::wrap_axis(axis, rank);
}

/// Returns a mask of the axes in a list, by axis; throws if one is there twice.
inline std::vector<bool> marked_axes(std::vector<std::int64_t> const& list, std::size_t rank)
{
    std::vector<bool> marks(rank, false);
    for (std::int64_t const each : list) {
        std::size_t const axis = axis_of(each, rank);
        if (marks[axis])
            throw runner_error(fmt::format("the axis {} is given twice", axis));
        marks[axis] = true;
    }
    return marks;
}

/// Returns a node's axes: its attribute `axes`, from an opset on its input 1 instead. std::nullopt if
/// omitted.
inline std::optional<std::vector<std::int64_t>> named_axes(call const& c, std::int64_t input_since)
{
    if (c.opset() >= input_since)
        return c.has(1) ? std::optional(c.integers_at(1)) : std::nullopt;
    return c.has_attribute("axes") ? std::optional(c.integers("axes")) : std::nullopt;
}

/// Returns a shape that a model gives as integers.
inline xloom::shape shape_of(std::vector<std::int64_t> const& numbers)
{
    return xloom_onnx::checked_shape("xloom_onnx", numbers);
}

} // namespace runner
