#pragma once
// The options of segment_scan.

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of segment_scan.
struct segment_scan_options {
    bool reverse = false; ///< from the end of each segment
    bool exclusive =
        false; ///< result i combines the rows before i; the first one of a segment is the identity
};

} // namespace xloom::inline XLOOM_ABI
