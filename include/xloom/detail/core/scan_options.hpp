#pragma once
// The options of scan, scan_into, scan_batched and scan_batched_into.

#include <cstddef>
#include <optional>

#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

/// Directions of scan inputs or outputs, each forward or reverse.
using directions = option_list<direction, max_operands>;

/// Options of Scan. An empty list means axis 0, or forward, for every input or output; otherwise a list has
/// one entry for each.
struct scan_options {
    axes scan_input_axes{};              ///< the time axis of each scan input; negative: from the back
    axes scan_output_axes{};             ///< the time axis of each scan output (rank = element rank + 1)
    directions scan_input_directions{};  ///< reverse: iteration t reads element T-1-t
    directions scan_output_directions{}; ///< reverse: iteration t writes element T-1-t
    std::optional<std::size_t> length{}; ///< the number of iterations; required only without scan inputs
};

/// Options of Scan-8, which has neither axes nor output directions to choose.
struct scan_batched_options {
    directions scan_input_directions{};  ///< empty: forward, for every input
    std::optional<std::size_t> length{}; ///< the longest sequence T; required only without scan inputs
};

} // namespace xloom::inline XLOOM_ABI
