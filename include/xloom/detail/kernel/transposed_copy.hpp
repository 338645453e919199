#pragma once
// A copy that transposes a matrix.

#include <cstddef>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Assigns the item from[i * from_step + j] to to[j * to_step + i], for i < rows and j < columns. Requires
/// that the two do not overlap.
///
/// Eight rows at a time: their cache lines stay in the L1 cache while all columns are copied, and eight items
/// in a row are stored.
template <class T>
void copy_transposed(T const* __restrict from, std::ptrdiff_t from_step, T* __restrict to,
    std::ptrdiff_t to_step, std::size_t rows, std::size_t columns)
{
    constexpr std::ptrdiff_t rows_at_once = 8;
    auto const last = static_cast<std::ptrdiff_t>(rows), end = static_cast<std::ptrdiff_t>(columns);
    std::ptrdiff_t i = 0;
    for (; i + rows_at_once <= last; i += rows_at_once)
        for (std::ptrdiff_t j = 0; j < end; ++j)
            for (std::ptrdiff_t k = 0; k < rows_at_once; ++k)
                to[j * to_step + i + k] = from[(i + k) * from_step + j];
    for (; i < last; ++i)
        for (std::ptrdiff_t j = 0; j < end; ++j)
            to[j * to_step + i] = from[i * from_step + j];
}

} // namespace xloom::inline XLOOM_ABI::kernel
