#pragma once
// Operands of the tests of parallel scans.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "xtensor_extras.hpp"

namespace prefix_operands {

/// Number i of a sequence whose sums depend on their grouping, if it is of floating-point numbers.
template <class T>
T number(std::size_t i)
{
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<int>(i * 37 % 11) - 4);
    else
        return static_cast<T>(static_cast<float>(std::sin(static_cast<double>(i) * 1.7) * 1.5));
}

/// The row splits of segments of these lengths.
inline xt::xtensor<std::int64_t, 1> splits_of(std::initializer_list<std::size_t> lengths)
{
    auto splits = xt::xtensor<std::int64_t, 1>::from_shape({lengths.size() + 1});
    std::size_t s = 0;
    splits(0) = 0;
    for (std::size_t const length : lengths) {
        splits(s + 1) = splits(s) + static_cast<std::int64_t>(length);
        ++s;
    }
    return splits;
}

} // namespace prefix_operands
