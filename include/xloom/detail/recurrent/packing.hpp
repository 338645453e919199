#pragma once
// The packing of weights, in the type that computes or in a narrow one.

#include <xloom/detail/kernel/narrow_panels.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Packs weights in the type that computes.
struct full_packing {};

/// Packs weights of float in a narrow type.
struct narrow_packing {
    weight_storage storage;
};

/// Allocates panels, which are initially zeros.
template <class T>
kernel::unpacked_panels<T> take_panels(
    full_packing, std::size_t depth, std::size_t columns, kernel::arena<T>& memory)
{
    return {memory.take(depth, kernel::whole_batches<T>(columns)), depth, columns};
}
inline kernel::unpacked_narrow_panels take_panels(
    narrow_packing packing, std::size_t depth, std::size_t columns, kernel::arena<float>& memory)
{
    return kernel::take_narrow_panels(packing.storage, depth, columns, memory);
}

/// Writes a matrix [to.depth, columns] into panels, to columns from first_column on.
template <class T, class Item>
void pack_columns(kernel::strided_matrix<Item> from, std::size_t columns,
    kernel::unpacked_panels<T> const& to, std::size_t first_column = 0) noexcept
{
    pack_panels(from, to.depth, columns, to, 0, first_column);
}
template <class Item>
void pack_columns(kernel::strided_matrix<Item> from, std::size_t columns,
    kernel::unpacked_narrow_panels const& to, std::size_t first_column = 0) noexcept
{
    pack_narrow_panels(from, columns, to, first_column);
}

} // namespace xloom::inline XLOOM_ABI::detail
