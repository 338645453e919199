#pragma once
// The options of associative_scan, cumulative_sum and cumulative_prod.

#include <cstdint>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of associative_scan; those of ONNX CumSum.
struct associative_scan_options {
    std::int64_t axis = 0;  ///< the scanned axis; negative: from the back
    bool reverse = false;   ///< from the end of the axis: the scan of the reversed sequence, reversed
    bool exclusive = false; ///< result i combines the elements before i; the first one is the identity
};

} // namespace xloom::inline XLOOM_ABI
