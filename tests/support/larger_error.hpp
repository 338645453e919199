#pragma once

#include <cmath>

/// True if an error is larger than the largest so far, or NaN. Nothing is larger than NaN.
template <class T>
bool is_larger_error(T error, T largest)
{
    return !(error <= largest) && !std::isnan(largest);
}

/// The larger of two errors; NaN if one is NaN, which std::max and std::fmax would drop.
template <class T>
T larger_error(T a, T b)
{
    return is_larger_error(b, a) ? b : a;
}
