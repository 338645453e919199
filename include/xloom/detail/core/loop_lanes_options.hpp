#pragma once
// The options of loop_lanes_into.

#include <cstdint>
#include <optional>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of loops whose sequences are lanes.
struct loop_lanes_options {
    std::optional<std::int64_t> max_trip_count{}; ///< of each sequence; negative counts as 0
};

} // namespace xloom::inline XLOOM_ABI
