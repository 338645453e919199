#pragma once
// The options of take_along_axis and put_along_axis.

#include <cstdint>

#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of take_along_axis and put_along_axis.
struct along_axis_options {
    std::int64_t axis = -1; ///< the axis that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI
