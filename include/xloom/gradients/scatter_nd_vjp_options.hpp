#pragma once
// The options of scatter_nd_vjp and scatter_nd_vjp_into.

#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/duplicates.hpp>
#include <xloom/detail/core/reduction.hpp>

namespace xloom::inline XLOOM_ABI {

/// The handling of several values that equal the maximum or the minimum of a slot: each gets an even part of
/// the cotangent, or the first one in the order of application, the old value before all updates, gets it.
enum class ties : unsigned char { even, first };

/// Options of scatter_nd_vjp: those of the scatter_nd that is differentiated, and `ties`.
/// accumulate_in_float is missing: the rounding of intermediate values has no derivative.
struct scatter_nd_vjp_options {
    xloom::reduction reduction = xloom::reduction::none;
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    xloom::ties ties = xloom::ties::even; ///< of max and min; the others have none
    bool unique = false;                  ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;                  ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI
