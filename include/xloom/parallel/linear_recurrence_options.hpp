#pragma once
// The options of linear_recurrence and its derivative.

#include <cstdint>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of linear_recurrence.
struct linear_recurrence_options {
    std::int64_t axis = 0; ///< the axis of time; negative: from the back
    bool reverse = false;  ///< from the end of the axis: h[t] = a[t] h[t+1] + b[t]
};

} // namespace xloom::inline XLOOM_ABI
