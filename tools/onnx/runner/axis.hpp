#pragma once
// Axes: non-negative or negative (counted from the last), and a tensor viewed as [outer, length, inner]
// around one.

#include <cstdint>
#include <optional>
#include <vector>

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

/// Returns the product of the dimensions first .. last - 1.
inline std::size_t items_between(xloom::shape const& dims, std::size_t first, std::size_t last)
{
    xloom::shape const part(dims.begin() + first, dims.begin() + last);
    if (!xloom::is_countable(part))
        throw runner_error(fmt::format("the dimensions {} are too large together", part));
    return xloom::element_count(part);
}

/// Returns a shape that a model gives as integers.
inline xloom::shape shape_of(std::vector<std::int64_t> const& numbers)
{
    if (numbers.size() > xloom::max_rank)
        throw runner_error(
            fmt::format("a shape of rank {} is given, more than {}", numbers.size(), xloom::max_rank));
    xloom::shape dims;
    for (std::int64_t const number : numbers) {
        if (number < 0)
            throw runner_error(fmt::format("a dimension of the shape {} is negative", numbers));
        dims.push_back(static_cast<std::size_t>(number));
    }
    return dims;
}

struct axis_view {
    std::size_t outer, length, inner;
};

/// Of an empty tensor: `outer` is 0, so that loops end at once.
inline axis_view around(xloom::shape const& dims, std::size_t axis)
{
    if (xloom::element_count(dims) == 0)
        return {0, dims[axis], 0};
    return {items_between(dims, 0, axis), dims[axis], items_between(dims, axis + 1, dims.size())};
}

} // namespace runner
