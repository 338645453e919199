#pragma once
// The options of scan_lanes and scan_lanes_into.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of a scan whose sequences are lanes.
struct scan_lanes_options {
    std::int64_t batch_axis = 0;         ///< the axis of the sequences in every operand of rank 2: 0 or 1
    std::optional<std::size_t> length{}; ///< the longest sequence T; required only without inputs [N, T]
};

} // namespace xloom::inline XLOOM_ABI
