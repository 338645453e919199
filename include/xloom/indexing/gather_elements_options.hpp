#pragma once
// The options of gather_elements and gather_elements_into.

#include <cstdint>

#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_elements.
struct gather_elements_options {
    std::int64_t axis = 0; ///< the axis of data that is indexed; negative: from the back
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI
