#pragma once
// Shape requirements of scans over the segments of ragged rows.

#include <algorithm>
#include <span>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

inline fact_list describe_other_segments(
    std::string_view name, std::span<shape const> states, std::size_t segments)
{
    fact_list wrong;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].empty() || states[i][0] != segments)
            wrong.add(name, "[", i, "] has the shape ", states[i]);
    return wrong;
}

/// Requires that every state has one row for each segment.
///
/// Errors    shape_error
inline void check_segment_states(
    std::string_view op, std::string_view name, std::span<shape const> states, std::size_t segments)
{
    if (!std::all_of(states.begin(), states.end(),
            [&](shape const& dims) { return !dims.empty() && dims[0] == segments; }))
        fail<shape_error>(op, ": axis 0 of a state must be the segments, of which row_splits has ", segments,
            ", but ", describe_other_segments(name, states, segments), ". Give it a row for each segment.");
}

} // namespace xloom::inline XLOOM_ABI::detail
