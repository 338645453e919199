#pragma once
// Parallel scans as their law on bits has them: groups of 16, blocks of 256, recursive trees. The textbook's
// sequences are vectors, and nothing is done in place.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace textbook {

/// Combines items first .. last - 1, of which there is at least one.
template <class T, class Op>
T tree(std::vector<T> const& items, std::size_t first, std::size_t last, Op const& op)
{
    std::size_t const count = last - first;
    if (count == 1)
        return items[first];
    std::size_t half = 1;
    while (2 * half < count)
        half *= 2;
    return op(tree(items, first, first + half, op), tree(items, first + half, last, op));
}

/// Combines what there is of two values.
template <class T, class Op>
std::optional<T> joined(std::optional<T> const& a, std::optional<T> const& b, Op const& op)
{
    if (a && b)
        return op(*a, *b);
    return a ? a : b;
}

/// Scans a sequence; it is exclusive if there is an identity.
template <class T, class Op>
std::vector<T> associative_scan(std::vector<T> const& x, Op const& op, std::optional<T> const& identity = {})
{
    std::vector<T> y;
    std::optional<T> block = identity;
    for (std::size_t b = 0; b < x.size(); b += 256) {
        std::size_t const block_end = std::min(b + 256, x.size());
        std::optional<T> groups;
        for (std::size_t g = b; g < block_end; g += 16) {
            std::size_t const group_end = std::min(g + 16, block_end);
            std::optional<T> const base = joined(block, groups, op);
            for (std::size_t i = g; i < group_end; ++i) {
                std::size_t const end = identity ? i : i + 1;
                std::optional<T> const prefix =
                    end == g ? std::optional<T>() : std::optional<T>(tree(x, g, end, op));
                y.push_back(*joined(base, prefix, op));
            }
            groups = joined(groups, std::optional<T>(tree(x, g, group_end, op)), op);
        }
        block = joined(block, groups, op);
    }
    return y;
}

} // namespace textbook
