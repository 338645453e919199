#pragma once
// The rows of segment_softmax that tests use: segments of no row, of one, of few and of many.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <xtensor/xtensor.hpp>

namespace softmax_segments {

using splits_tensor = xt::xtensor<std::int64_t, 1>;

inline splits_tensor const splits = {0, 0, 1, 3, 10, 26, 43, 43, 300, 1300};
inline constexpr std::size_t rows = 1300;

/// Numbers from -20 to 20.
template <class T>
T number(std::size_t i)
{
    return static_cast<T>(static_cast<float>(std::sin(static_cast<double>(i) * 1.7) * 20));
}

} // namespace softmax_segments
