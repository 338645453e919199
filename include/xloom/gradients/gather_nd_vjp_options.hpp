#pragma once
// The options of gather_nd_vjp and gather_nd_vjp_into.

#include <cstdint>

#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_nd_vjp: those of gather_nd, and those of the scatter that its derivative is.
struct gather_nd_vjp_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
    bool accumulate_in_float =
        false;           ///< storage floats are rounded once, at the end, not after each addition
    bool unique = false; ///< the caller guarantees that no slice is indexed twice
    bool sorted = false; ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI
