#pragma once

#include <cmath>

/// The larger of two errors; NaN if one is NaN, which std::max and std::fmax would drop.
template <class T>
T larger_error(T a, T b)
{
    return a >= b || std::isnan(a) ? a : b;
}
