#pragma once
// The options of bincount.

#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of bincount.
struct bincount_options {
    std::size_t minlength = 0; ///< the minimum number of bins
};

} // namespace xloom::inline XLOOM_ABI
