#pragma once
// The options of gather_nd and gather_nd_into.

#include <cstdint>

#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_nd.
struct gather_nd_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI
