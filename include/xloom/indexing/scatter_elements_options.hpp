#pragma once
// The options of scatter_elements and scatter_elements_into.

#include <cstdint>

#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/duplicates.hpp>
#include <xloom/detail/core/reduction.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of scatter_elements.
struct scatter_elements_options {
    std::int64_t axis = 0; ///< the axis of data that is indexed; negative: from the back
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last; ///< `error` is valid with every reduction
    bool include_self = true;         ///< false: the first update of an item replaces its old value
    bool accumulate_in_float = false; ///< storage floats are rounded once, at the end, not after each update
    bool unique = false;              ///< the caller guarantees that no item is indexed twice
    bool sorted = false;              ///< the caller guarantees that the items are in row-major order
};

} // namespace xloom::inline XLOOM_ABI
