#pragma once
// Panels of weights of 8 bits, for products of bytes.

#include <array>
#include <cstddef>
#include <cstdint>

#include <xloom/detail/kernel/panels.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The offset with which a weight of 8 bits is stored as an unsigned byte: VNNI multiplies unsigned bytes by
/// signed ones.
inline constexpr std::int32_t byte_offset = 128;

/// Four numbers of a column of panels: integers from -127 to 127, each stored as the integer + byte_offset.
struct four_weights {
    std::array<std::uint8_t, 4> stored;
};

/// Writes a matrix [to.depth, columns] into panels, to columns from first_column on. Each item becomes the
/// integer round(item, its column of the matrix).
template <class Item, class Round>
void pack_fours(strided_matrix<Item> from, std::size_t columns,
    unpacked_panels<float, four_weights> const& to, std::size_t first_column, Round const& round) noexcept
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    for (std::size_t j = 0; j < columns; ++j) {
        std::size_t const column = first_column + j, offset = column % panel_width<float>,
                          width = columns_of_panel<float>(column - offset, to.columns);
        four_weights* const first = to.items + (column - offset) * items_of_depth(to.depth, 4) + offset;
        for (std::size_t k = 0; k < to.depth; ++k)
            first[k / 4 * width].stored[k % 4] = static_cast<std::uint8_t>(
                byte_offset + round(from.items[at(k) * from.depth_step + at(j) * from.column_step], j));
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
