#pragma once
// A constant matrix of floats, packed in a narrow type, and the products of rows that are rounded to 8 bits
// with one of 8 bits.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/small_float.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/byte_products.hpp>
#include <xloom/detail/kernel/multiply.hpp>
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

namespace detail {

/// A piece of a depth in items of four numbers.
struct piece_of_depth {
    std::size_t first, end;
};

/// Computes sums = start + a b for `Count` rows, `Batches` batches of columns and a piece of the depth.
template <std::size_t Count, std::size_t Batches>
void multiply_bytes(quantized_row const* a, panels<float, four_weights> const& b, std::size_t panel,
    piece_of_depth piece, row_span<float const> start, row_span<float> sums) noexcept
{
    std::size_t const depth = items_of_depth(b.depth, 4), column = panel * panel_width<float>,
                      next_panel = depth * panel_width<float>;
    four_weights const* const first = b.items + column * depth;
    byte_unit::sums sum[Count][Batches];
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            sum[r][i] = byte_unit::begin(a[r].total);
    }
    for (std::size_t k = piece.first; k < piece.end; ++k) {
        std::array<byte_unit::weights, Batches> weights;
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i)
            weights[i] =
                byte_unit::load(column_batch<Batches, float>(first, next_panel, k, i)->stored.data());
        XLOOM_UNROLL(8)
        for (std::size_t r = 0; r < Count; ++r) {
            auto const factors = byte_unit::spread(&a[r].items[4 * (k - piece.first)]);
            XLOOM_UNROLL(16)
            for (std::size_t i = 0; i < Batches; ++i)
                sum[r][i] = byte_unit::add_products(sum[r][i], weights[i], factors);
        }
    }
    XLOOM_UNROLL(8)
    for (std::size_t r = 0; r < Count; ++r) {
        XLOOM_UNROLL(16)
        for (std::size_t i = 0; i < Batches; ++i) {
            std::size_t const j = column + i * batch_size<float>;
            store_batch(
                sums.first + r * sums.stride + j, multiply_add(byte_unit::to_floats(sum[r][i]),
                                                      batch_t<float>(a[r].scale) * load_batch(b.scales + j),
                                                      load_batch(start.first + r * start.stride + j)));
        }
    }
}

/// The blocks of rows that are rounded before the panels are read.
inline constexpr std::size_t quantized_blocks = 4;

/// Computes sums = start + a b for one row, several panels at a time.
inline void multiply_quantized_one(row_span<float const> a, panels<float, four_weights> const& b,
    row_span<float const> start, row_span<float> sums, panel_order order) noexcept
{
    quantized_row row;
    for (std::size_t k = 0; k < b.depth; k += quantized_length) {
        std::size_t const end = (std::min)(k + quantized_length, b.depth);
        quantize_row(a.first + k, end - k, row);
        for_each_panel_group<float, panels_per_row<float>>(
            b.columns, order, [&](std::size_t panel, auto batches) {
                multiply_bytes<1, batches>(&row, b, panel, {k / 4, items_of_depth(end, 4)}, start, sums);
            });
        start = {sums.first, sums.stride};
    }
}

/// Computes sums = start + a b for two or more rows, panel by panel.
///
/// Why some blocks at a time: a panel that is read serves all of them, and their bytes stay in L1.
inline void multiply_quantized_many(std::size_t rows, row_span<float const> a,
    panels<float, four_weights> const& b, row_span<float const> start, row_span<float> sums,
    panel_order order) noexcept
{
    constexpr std::size_t most = block_rows<float>;
    std::array<quantized_row, quantized_blocks * most> quantized;
    blocks const parts{rows, most};
    auto const for_each_part = [&](std::size_t first, auto const& f) {
        for (std::size_t part = first; part < (std::min)(first + quantized_blocks, parts.count()); ++part) {
            std::size_t const begin = parts.begin(part);
            with_count<2, most>(parts.begin(part + 1) - begin,
                [&](auto count) { f(begin, count, &quantized[(part - first) * most]); });
        }
    };
    for (std::size_t k = 0; k < b.depth; k += quantized_length) {
        std::size_t const end = (std::min)(k + quantized_length, b.depth);
        for (std::size_t part = 0; part < parts.count(); part += quantized_blocks) {
            for_each_part(part, [&](std::size_t row, auto count, quantized_row* to) {
                for (std::size_t r = 0; r < count; ++r)
                    quantize_row(a.from(row + r).first + k, end - k, to[r]);
            });
            for_each_panel_group<float, 1>(b.columns, order, [&](std::size_t panel, auto batches) {
                for_each_part(part, [&](std::size_t row, auto count, quantized_row const* from) {
                    multiply_bytes<count, batches>(
                        from, b, panel, {k / 4, items_of_depth(end, 4)}, start.from(row), sums.from(row));
                });
            });
        }
        start = {sums.first, sums.stride};
    }
}

} // namespace detail

/// Computes sums = start + a b as multiply does, with a rounded to 8 bits by quantize_row in pieces of
/// quantized_length numbers of a row.
inline void multiply_quantized(std::size_t rows, row_span<float const> a,
    panels<float, four_weights> const& b, row_span<float const> start, row_span<float> sums,
    panel_order order) noexcept
{
    if (b.depth == 0)
        for (std::size_t r = 0; r < rows; ++r)
            std::copy_n(start.from(r).first, whole_batches<float>(b.columns), sums.from(r).first);
    else if (rows == 1)
        detail::multiply_quantized_one({a.first, 0}, b, start, sums, order);
    else
        detail::multiply_quantized_many(rows, a, b, start, sums, order);
}

namespace detail {

template <class Stored>
void multiply_narrow(std::size_t rows, row_span<float const> a, stored_panels<float> const& b,
    row_span<float const> start, row_span<float> sums, panel_order order) noexcept
{
    if constexpr (std::is_same_v<Stored, four_weights>)
        multiply_quantized(rows, a, b.template as<Stored>(), start, sums, order);
    else
        multiply<float>(rows, a, b.template as<Stored>(), start, sums, order);
}

/// How a narrow type stores a column.
struct narrow_format {
    weight_storage storage;
    std::size_t item_depth; ///< the numbers of a column that an item holds
    bool has_scales;        ///< one for each column
};
template <class Stored>
inline constexpr narrow_format format_of{};
template <>
inline constexpr narrow_format format_of<float16>{weight_storage::float16, 1, false};
template <>
inline constexpr narrow_format format_of<bfloat16>{weight_storage::bfloat16, 1, false};
template <>
inline constexpr narrow_format format_of<std::int8_t>{weight_storage::int8, 1, true};
template <>
inline constexpr narrow_format format_of<four_weights>{weight_storage::dynamic_int8, 4, true};

template <class Stored>
inline constexpr narrow_type<float> narrow_type_of{
    format_of<Stored>.storage, sizeof(Stored), format_of<Stored>.item_depth, &multiply_narrow<Stored>};

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
    std::size_t const depth_in_items = items_of_depth(depth, format_of<Stored>.item_depth),
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
    if constexpr (!format_of<Stored>.has_scales) {
        pack_converted(from, to.depth, columns, to_panels, 0, first_column,
            [](Item const& item, std::size_t) { return static_cast<Stored>(item); });
    } else {
        float* const scales = to.scales + first_column;
        for (std::size_t j = 0; j < columns; ++j)
            scales[j] = scale_of_column(from, to.depth, j);
        auto const round = [scales](
                               Item const& item, std::size_t j) { return round_to_scale(item, scales[j]); };
        if constexpr (std::is_same_v<Stored, four_weights>)
            pack_fours(from, columns, to_panels, first_column, round);
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
