#pragma once
// A constant matrix in panels, stored in the type that computes or in a narrow one.
//
// Why functions for narrow panels: only a program that packs them compiles their products.

#include <concepts>
#include <cstddef>

#include <xloom/detail/core/weight_storage.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/row_blocks.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// True for numbers whose weights may be stored in a narrow type.
template <class T>
inline constexpr bool has_narrow_storage = std::same_as<T, float>;

template <class T>
struct stored_panels;

/// A function that computes sums = start + a b: see multiply.
template <class T>
using stored_product = void (*)(std::size_t rows, rows_of<T const> a, stored_panels<T> const& b,
    rows_of<T const> start, rows_of<T> sums, panel_order order) noexcept;

/// A narrow type, and the product with panels of it.
template <class T>
struct narrow_type {
    weight_storage storage;
    std::size_t item_bytes;
    std::size_t item_depth; ///< the numbers of a column that an item holds
    stored_product<T> multiply;
};

/// Panels [depth, columns] of T, or of a narrow type.
template <class T>
struct stored_panels {
    void const* items = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
    T const* scales = nullptr;              ///< as in panels
    narrow_type<T> const* narrow = nullptr; ///< null: T

    stored_panels() = default;
    stored_panels(panels<T> const& full) : items(full.items), depth(full.depth), columns(full.columns) {}
    template <class Stored>
    stored_panels(panels<T, Stored> const& all, narrow_type<T> const& type)
        : items(all.items), depth(all.depth), columns(all.columns), scales(all.scales), narrow(&type)
    {}

    bool is_full() const noexcept { return narrow == nullptr; }
    weight_storage storage() const noexcept { return is_full() ? weight_storage::full : narrow->storage; }

    /// Returns the panels in the type that they are stored in.
    template <class Stored = T>
    panels<T, Stored> as() const noexcept
    {
        return {static_cast<Stored const*>(items), depth, columns, scales};
    }

    /// Returns the columns from `first` on, which begin a panel, without those after `count`.
    stored_panels columns_from(std::size_t first, std::size_t count) const noexcept
    {
        if (is_full())
            return as().columns_from(first, count);
        stored_panels part = *this;
        part.items = static_cast<unsigned char const*>(items) +
                     first * items_of_depth(depth, narrow->item_depth) * narrow->item_bytes;
        part.columns = count;
        if (scales != nullptr)
            part.scales = scales + first;
        return part;
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
