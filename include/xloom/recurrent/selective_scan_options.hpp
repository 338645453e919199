#pragma once
// The options of selective_scan and its derivative.

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of selective_scan.
struct selective_scan_options {
    bool delta_softplus = false; ///< the step sizes are softplus(delta + delta_bias)
};

} // namespace xloom::inline XLOOM_ABI
