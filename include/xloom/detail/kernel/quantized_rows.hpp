#pragma once
// Rows of floats, rounded to 8 bits with a scale for each piece of a row (dynamic quantization).

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <xloom/detail/kernel/simd.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The numbers of a row that share a scale. A sum of as many products of 7 bits and a sign is below 2^24, so
/// that it is exact as a float.
inline constexpr std::size_t quantized_length = 1024;

/// A piece of a row: scale * items[k], the items from -127 to 127, padded with zeros to whole fours.
struct quantized_row {
    alignas(64) std::array<std::int8_t, quantized_length> items;
    float scale;
    std::int32_t total; ///< of the items
};

namespace detail {

/// The number of floats that are rounded at a time.
inline constexpr std::size_t quantized_step = 16;

/// Calls f with the next numbers of a row, the last of them padded with zeros, and the index of the first.
template <class F>
void for_each_step(float const* row, std::size_t count, F const& f) noexcept
{
    std::array<float, quantized_step> items;
    std::size_t k = 0;
    for (; k + quantized_step <= count; k += quantized_step) {
        std::memcpy(items.data(), row + k, sizeof items);
        f(items, k);
    }
    if (k < count) {
        items.fill(0);
        std::copy(row + k, row + count, items.begin());
        f(items, k);
    }
}

/// Returns the largest magnitude; infinity or NaN if one of the numbers is that.
///
/// Why as integers: their order is that of the magnitudes, and NaN is above all.
inline float largest_magnitude(float const* row, std::size_t count) noexcept
{
    std::array<std::int32_t, quantized_step> largest{};
    for_each_step(row, count, [&](std::array<float, quantized_step> const& items, std::size_t) {
        auto const patterns = std::bit_cast<std::array<std::int32_t, quantized_step>>(items);
        for (std::size_t i = 0; i < quantized_step; ++i)
            largest[i] = (std::max)(largest[i], patterns[i] & 0x7fffffff);
    });
    return std::bit_cast<float>(*std::max_element(largest.begin(), largest.end()));
}

} // namespace detail

/// Rounds numbers to multiples of 1/127 of their largest magnitude, to nearest, ties to even. If that is less
/// than 2^-100, they become zeros; if one of them is not finite, the scale is NaN.
inline void quantize_row(float const* row, std::size_t count, quantized_row& to) noexcept
{
    float const largest = detail::largest_magnitude(row, count);
    bool const is_finite = largest <= (std::numeric_limits<float>::max)(), is_zero = !(largest >= 0x1p-100f);
    to.total = 0;
    if (!is_finite || is_zero) {
        to.items.fill(0);
        to.scale = is_finite ? 0 : std::numeric_limits<float>::quiet_NaN();
        return;
    }
    to.scale = largest / 127;
    // Added to this number, a float is rounded to an integer, which its last bits hold.
    constexpr float rounding = 0x1.8p23f;
    std::array<std::int32_t, detail::quantized_step> totals{};
    detail::for_each_step(row, count,
        [&, factor = 127 / largest](std::array<float, detail::quantized_step> items, std::size_t k) {
            for (float& item : items)
                item = multiply_add(item, factor, rounding);
            auto const patterns = std::bit_cast<std::array<std::int32_t, detail::quantized_step>>(items);
            std::array<std::int8_t, detail::quantized_step> bytes;
            for (std::size_t i = 0; i < detail::quantized_step; ++i) {
                totals[i] += patterns[i] - std::bit_cast<std::int32_t>(rounding);
                bytes[i] = static_cast<std::int8_t>(patterns[i]);
            }
            std::copy(bytes.begin(), bytes.end(), to.items.begin() + static_cast<std::ptrdiff_t>(k));
        });
    for (std::int32_t const total : totals)
        to.total += total;
}

} // namespace xloom::inline XLOOM_ABI::kernel
