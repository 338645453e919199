#pragma once
// The options of gather_nd and gather_nd_into.

#include <cstdint>

#include <xloom/core/bounds.hpp>

namespace xloom {

/// Options of gather_nd.
struct gather_nd_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom
