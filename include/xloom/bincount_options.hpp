#pragma once
// The options of bincount.

#include <cstddef>

#include <xloom/core/exceptions.hpp>

namespace xloom {

/// Options of bincount.
struct bincount_options {
    std::size_t minlength = 0; ///< the minimum number of bins
};

} // namespace xloom
