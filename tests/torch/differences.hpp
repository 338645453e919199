#pragma once
// How far arrays are from what libtorch computes.

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/textbook_nd.hpp"

namespace torch_oracle {

/// What is left to rounding, relative to the largest item of a tensor.
inline constexpr double tolerance = 1e-12;

/// The largest difference, divided by the largest expected item. Infinity if shapes differ, or one is NaN.
inline double difference(textbook::array<double> const& found, textbook::array<double> const& expected)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (found.shape != expected.shape)
        return infinity;
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < expected.items.size(); ++i) {
        double const distance = std::fabs(found.items[i] - expected.items[i]);
        if (!(distance < infinity))
            return infinity;
        largest = std::max(largest, distance);
        scale = std::max(scale, std::fabs(expected.items[i]));
    }
    return largest == 0 ? 0 : largest / scale;
}

} // namespace torch_oracle
