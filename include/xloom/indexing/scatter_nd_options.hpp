#pragma once
// The options of scatter_nd and scatter_nd_into.

#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/duplicates.hpp>
#include <xloom/detail/core/reduction.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of scatter_nd.
struct scatter_nd_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last; ///< `error` is valid with every reduction
    bool include_self = true;         ///< false: the first update of a slice replaces its old value
    bool accumulate_in_float = false; ///< storage floats are rounded once, at the end, not after each update
    bool unique = false;              ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;              ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI
