#pragma once
// A constant matrix of floats, packed in a narrow type.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/byte_products.hpp>
#include <xloom/detail/kernel/multiply.hpp>
#include <xloom/detail/kernel/pair_products.hpp>
#include <xloom/detail/kernel/rounded_products.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

template <class Stored>
void multiply_narrow(std::size_t rows, row_span<float const> a, stored_panels<float> const& b,
    row_span<float const> start, row_span<float> sums, panel_order order) noexcept
{
    if constexpr (std::is_same_v<Stored, four_weights>)
        multiply_rounded<byte_products>(rows, a, b.template as<Stored>(), start, sums, order);
    else if constexpr (std::is_same_v<Stored, two_weights>)
        multiply_rounded<pair_products>(rows, a, b.template as<Stored>(), start, sums, order);
    else
        multiply<float>(rows, a, b.template as<Stored>(), start, sums, order);
}

/// How a narrow type stores a column.
struct narrow_format {
    weight_storage storage;
    bool has_scales; ///< one for each column
};
template <class Stored>
inline constexpr narrow_format format_of{};
template <>
inline constexpr narrow_format format_of<float16>{weight_storage::float16, false};
template <>
inline constexpr narrow_format format_of<bfloat16>{weight_storage::bfloat16, false};
template <>
inline constexpr narrow_format format_of<std::int8_t>{weight_storage::int8, true};
template <>
inline constexpr narrow_format format_of<four_weights>{weight_storage::dynamic_int8, true};
template <>
inline constexpr narrow_format format_of<two_weights>{weight_storage::dynamic_bfloat16, false};

template <class Stored>
inline constexpr narrow_type<float> narrow_type_of{
    format_of<Stored>.storage, sizeof(Stored), item_depth_of<Stored>, &multiply_narrow<Stored>};

/// Returns f(std::type_identity) of the narrow type of a storage.
template <class F>
auto with_narrow_type(weight_storage storage, F const& f)
{
    if (storage == weight_storage::float16)
        return f(std::type_identity<float16>());
    if (storage == weight_storage::bfloat16)
        return f(std::type_identity<bfloat16>());
    if (storage == weight_storage::dynamic_int8)
        return f(std::type_identity<four_weights>());
    if (storage == weight_storage::dynamic_bfloat16)
        return f(std::type_identity<two_weights>());
    return f(std::type_identity<std::int8_t>());
}

/// Returns the scale that maps the largest magnitude of a column to 127; of a column whose scale would be
/// subnormal, which a product takes for 0, the smallest normal number.
template <class Item>
float scale_of_column(strided_matrix<Item> from, std::size_t depth, std::size_t column) noexcept
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    float largest = 0;
    for (std::size_t k = 0; k < depth; ++k)
        largest = (std::max)(largest,
            std::abs(
                static_cast<float>(from.items[at(k) * from.depth_stride + at(column) * from.column_stride])));
    return largest == 0 ? 0 : (std::max)(largest / 127, (std::numeric_limits<float>::min)());
}

/// Returns the multiple of a scale that is nearest to an item, ties to even.
template <class Item>
std::int8_t round_to_scale(Item const& item, float scale) noexcept
{
    if (scale == 0)
        return 0;
    double const quotient = static_cast<double>(static_cast<float>(item)) / static_cast<double>(scale);
    return static_cast<std::int8_t>(std::nearbyint(quotient));
}

} // namespace detail

/// Mutable panels of a narrow type, the destination of pack_narrow_panels.
struct narrow_panel_writer {
    void* items;
    std::size_t depth;
    std::size_t columns;
    float* scales; ///< of integers only
    narrow_type<float> const* type;

    stored_panels<float> packed() const noexcept
    {
        return {
            panels<float, unsigned char>{static_cast<unsigned char*>(items), depth, columns, scales}, *type};
    }
};

namespace detail {

/// Allocates panels of Stored, which are initially zeros.
template <class Stored>
narrow_panel_writer take_narrow_panels(std::size_t depth, std::size_t columns, arena<float>& memory)
{
    std::size_t const depth_in_items = items_of_depth(depth, item_depth_of<Stored>),
                      items = panel_items<float>(depth_in_items, columns),
                      bytes =
                          saturated_product(depth_in_items, whole_batches<float>(columns) * sizeof(Stored));
    float* const numbers = memory.take(bytes / sizeof(float) + (bytes % sizeof(float) == 0 ? 0 : 1));
    Stored* const first = reinterpret_cast<Stored*>(numbers);
    if (!memory.only_counts())
        std::uninitialized_value_construct_n(first, items);
    float* const scales = format_of<Stored>.has_scales ? memory.take(whole_batches<float>(columns)) : nullptr;
    return {first, depth, columns, scales, &narrow_type_of<Stored>};
}

template <class Stored>
panel_writer<float, Stored> panels_of(narrow_panel_writer const& to) noexcept
{
    return {static_cast<Stored*>(to.items), to.depth, to.columns};
}

template <class Stored, class Item>
void pack(strided_matrix<Item> from, std::size_t columns, narrow_panel_writer const& to,
    std::size_t first_column) noexcept
{
    auto const to_panels = panels_of<Stored>(to);
    if constexpr (std::is_same_v<Stored, two_weights>) {
        pack_groups(from, columns, to_panels, first_column,
            [](Item const& item, std::size_t) { return static_cast<bfloat16>(item); });
    } else if constexpr (!format_of<Stored>.has_scales) {
        pack_converted(from, to.depth, columns, to_panels, 0, first_column,
            [](Item const& item, std::size_t) { return static_cast<Stored>(item); });
    } else {
        float* const scales = to.scales + first_column;
        for (std::size_t j = 0; j < columns; ++j)
            scales[j] = scale_of_column(from, to.depth, j);
        auto const round = [scales](
                               Item const& item, std::size_t j) { return round_to_scale(item, scales[j]); };
        if constexpr (std::is_same_v<Stored, four_weights>)
            pack_groups(from, columns, to_panels, first_column, [&](Item const& item, std::size_t j) {
                return static_cast<std::uint8_t>(byte_offset + round(item, j));
            });
        else
            pack_converted(from, to.depth, columns, to_panels, 0, first_column, round);
    }
}

} // namespace detail

/// Allocates panels of a narrow type, which are initially zeros.
inline narrow_panel_writer take_narrow_panels(
    weight_storage storage, std::size_t depth, std::size_t columns, arena<float>& memory)
{
    return detail::with_narrow_type(storage, [&]<class Stored>(std::type_identity<Stored>) {
        return detail::take_narrow_panels<Stored>(depth, columns, memory);
    });
}

/// Writes a matrix [to.depth, columns] into panels, to columns from first_column on.
template <class Item>
void pack_narrow_panels(strided_matrix<Item> from, std::size_t columns, narrow_panel_writer const& to,
    std::size_t first_column) noexcept
{
    detail::with_narrow_type(to.type->storage, [&]<class Stored>(std::type_identity<Stored>) {
        detail::pack<Stored>(from, columns, to, first_column);
    });
}

} // namespace xloom::inline XLOOM_ABI::kernel
