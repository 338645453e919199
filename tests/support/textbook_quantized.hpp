#pragma once
// Numbers rounded to 8 bits with a common scale, by their definition.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace textbook {

/// Rounds `count` numbers at a stride to multiples of max|x| / 127, to nearest, ties to even.
inline void round_to_8_bits(float* x, std::size_t count, std::size_t step)
{
    float largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        largest = std::max(largest, std::fabs(x[i * step]));
    float const scale = largest / 127;
    for (std::size_t i = 0; i < count && scale != 0; ++i)
        x[i * step] = scale * std::nearbyint(x[i * step] / scale);
}

/// Rounds each 1024 numbers of rows [rows, depth] to 8 bits.
inline void round_rows_to_8_bits(std::vector<float>& rows, std::size_t depth)
{
    for (std::size_t row = 0; row < rows.size(); row += depth)
        for (std::size_t k = 0; k < depth; k += 1024)
            round_to_8_bits(&rows[row + k], std::min<std::size_t>(1024, depth - k), 1);
}

} // namespace textbook
