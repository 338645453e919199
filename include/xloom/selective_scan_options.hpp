#pragma once
// The options of selective_scan and its derivative.

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// Options of selective_scan.
struct selective_scan_options {
    bool delta_softplus = false; ///< the step sizes are softplus(delta + delta_bias)
};

} // namespace xloom
