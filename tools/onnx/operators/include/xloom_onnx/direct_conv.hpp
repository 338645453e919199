#pragma once
// Convolution without windows: a product of the weights with shifted rows of the input.
//
// A tile of the padded input is copied, a plane for each channel and each remainder of positions by the
// strides. Item k of the window of output position p = y * width + x is then item p + offset(k) of the tile,
// for all p: rows of the product are contiguous from the offsets on. What is computed beyond the end of a row
// is dropped.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <xloom_onnx/conv_layout.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx::detail {

/// A spatial axis in copies, one for each remainder by the stride that a window reads.
struct phased_axis : spatial_axis {
    std::int64_t phases;

    explicit phased_axis(spatial_axis const& axis)
        : spatial_axis(axis), phases((std::min)(kernel, stride / std::gcd(stride, dilation)))
    {}

    /// Returns the phase that holds item k of windows, and how far past a window's own position it is.
    std::int64_t phase_of(std::int64_t k) const { return k % phases; }
    std::int64_t lead_of(std::int64_t k) const { return k * dilation / stride; }
    std::int64_t largest_lead() const { return lead_of(kernel - 1); }
    /// Returns the input position that position 0 of a phase holds in a tile whose outputs begin at `first`.
    std::int64_t input_of(std::int64_t phase, std::int64_t first) const
    {
        return first * stride + phase * dilation % stride - before;
    }
};

/// Copies items at a stride to contiguous ones.
template <class T>
void copy_strided(T const* from, std::int64_t stride, T* to, std::int64_t count)
{
    if (stride == 1) {
        std::copy_n(from, count, to);
    } else if (stride == 2) { // a constant, so that compilers unroll or vectorise: half the time
#pragma GCC unroll 8
        for (std::int64_t i = 0; i < count; ++i)
            to[i] = from[2 * i];
    } else {
        for (std::int64_t i = 0; i < count; ++i)
            to[i] = from[stride * i];
    }
}

/// Tiles of outputs [rows, columns], as many as a cache holds the inputs of.
struct conv_tiles {
    conv_layout const& layout;
    phased_axis deep, down, across;
    std::int64_t rows, columns;
    std::int64_t height, width;              ///< of a plane
    std::int64_t shared = 0;                 ///< zeros that end a row and begin the next one
    std::int64_t plane_items, channel_items; ///< channel_items: of all planes of a channel

    explicit conv_tiles(conv_layout const& of)
        : layout(of), deep(of.axes[0]), down(of.axes[1]), across(of.axes[2])
    {
        constexpr std::int64_t most = 32768, least_columns = 64, cache_line = 16;
        std::int64_t const planes = deep.kernel * down.phases * across.phases,
                           all_planes = static_cast<std::int64_t>(of.channels) * planes,
                           room = most / (std::max)(all_planes, std::int64_t{1});
        columns = std::clamp(room / (1 + down.largest_lead()) - across.largest_lead(),
            (std::min)(across.output, least_columns), across.output);
        width = columns + across.largest_lead();
        if (columns == across.output)
            share_padding();
        rows = std::clamp(room / width - down.largest_lead(), std::int64_t{1}, down.output);
        height = rows + down.largest_lead();
        plane_items = height * width + shared;
        channel_items = planes * plane_items + cache_line; // lest all channels map to the same cache sets
    }

    /// Returns the number of items of a tile, with those that a block of the last row reads beyond its end.
    std::size_t items() const { return layout.channels * static_cast<std::size_t>(channel_items) + beyond; }

    /// Writes where the items of a window are in a tile, in W's order.
    void write_offsets(std::ptrdiff_t* to) const
    {
        for (std::size_t c = 0; c < layout.channels; ++c)
            for (std::int64_t i = 0; i < deep.kernel; ++i)
                for (std::int64_t j = 0; j < down.kernel; ++j)
                    for (std::int64_t k = 0; k < across.kernel; ++k)
                        *to++ = static_cast<std::ptrdiff_t>(static_cast<std::int64_t>(c) * channel_items +
                                                            plane(i, down.phase_of(j), across.phase_of(k)) +
                                                            down.lead_of(j) * width + across.lead_of(k));
    }

    /// Copies the inputs of outputs from [z, y, x] on. All inputs end at `end`.
    template <class T>
    void copy(T const* input, T const* end, std::int64_t z, std::int64_t y, std::int64_t x, T* to) const
    {
        for (std::size_t c = 0; c < layout.channels; ++c, input += layout.inputs(), to += channel_items)
            for (std::int64_t i = 0; i < deep.kernel; ++i)
                for (std::int64_t j = 0; j < down.phases; ++j)
                    for (std::int64_t k = 0; k < across.phases; ++k) {
                        T* const items = to + plane(i, j, k);
                        copy_rows(input, end, deep.position(z, i), down.input_of(j, y), across.input_of(k, x),
                            items);
                        std::fill_n(items + height * width, shared, T(0));
                    }
        std::fill_n(to, beyond, T(0));
    }

private:
    static constexpr std::size_t beyond = 256;

    std::int64_t plane(std::int64_t i, std::int64_t down_phase, std::int64_t across_phase) const
    {
        return ((i * down.phases + down_phase) * across.phases + across_phase) * plane_items;
    }

    /// Returns which of `length` items of a row, from an input position on, are no padding.
    position_range inside(std::int64_t first, std::int64_t length) const
    {
        std::int64_t const stride = across.stride, left = across.input - first,
                           begin = (std::min)(length, first >= 0 ? 0 : (stride - 1 - first) / stride);
        return {begin, std::clamp(left <= 0 ? 0 : (left - 1) / stride + 1, begin, length)};
    }

    /// Lets the padding after a row be the padding before the next one: fewer positions are no outputs.
    void share_padding()
    {
        shared = across.largest_lead(); // at most the positions that are no outputs
        for (std::int64_t phase = 0; phase < across.phases; ++phase) {
            auto const [begin, end] = inside(across.input_of(phase, 0), width);
            shared = (std::min)({shared, begin, width - end});
        }
        width -= shared;
    }

    /// Copies the rows of a plane from the input position [depth, row, first] on.
    template <class T>
    void copy_rows(
        T const* input, T const* end, std::int64_t depth, std::int64_t row, std::int64_t first, T* to) const
    {
        position_range const kept = inside(first, width);
        bool const is_contiguous = down.stride == 1 && across.stride == 1 && width == across.input &&
                                   kept.length() == width && deep.contains(depth) && row >= 0;
        std::int64_t done = 0;
        if (is_contiguous) {
            done = std::clamp(down.input - row, std::int64_t{0}, height);
            std::copy_n(input + (depth * down.input + row) * width, done * width, to);
        }
        for (; done < height; ++done)
            copy_row(input, end, depth, row + done * down.stride, first, kept, to + done * width);
    }

    /// Copies items of a row of the input from a position on, at the stride; zeros where they are not kept.
    /// May write a batch beyond the row, where rows follow.
    template <class T>
    void copy_row(T const* input, T const* end, std::int64_t depth, std::int64_t row, std::int64_t first,
        position_range const& kept, T* to) const
    {
        constexpr auto size = static_cast<std::int64_t>(xloom::kernels::batch_size<T>);
        if (!deep.contains(depth) || !down.contains(row)) {
            std::fill_n(to, width, T(0));
            return;
        }
        T const* const from =
            input + (depth * down.input + row) * across.input + first + kept.begin * across.stride;
        bool const has_batches = across.stride == 1 && kept.begin <= size && width - kept.end <= size &&
                                 end - from >= kept.length() + size;
        if (!has_batches) {
            std::fill_n(to, kept.begin, T(0));
            copy_strided(from, across.stride, to + kept.begin, kept.length());
            std::fill(to + kept.end, to + width, T(0));
            return;
        }
        xloom::kernels::batch_t<T> const zeros(T(0));
        xloom::kernels::store_batch(to, zeros);
        for (std::int64_t i = 0; i < kept.length(); i += size)
            xloom::kernels::store_batch(to + kept.begin + i, xloom::kernels::load_batch(from + i));
        xloom::kernels::store_batch(to + kept.end, zeros);
    }
};

/// The outputs of a tile: rows and kernels at a stride each.
template <class T>
struct tile_outputs {
    T* first;
    std::int64_t row_stride, kernel_stride;
    std::int64_t rows, columns; ///< of this tile
    std::int64_t width;         ///< of the tile's planes

    /// Returns the number of positions up to the last output.
    std::int64_t count() const { return (rows - 1) * width + columns; }
};

/// A position of a tile, which is item y * width + x of its planes.
struct tile_position {
    std::int64_t y = 0, x = 0;

    void advance(std::int64_t length, std::int64_t width)
    {
        for (x += length; x >= width; x -= width)
            ++y;
    }
};

/// Copies sums [kernels, length] of positions from `at` on to those that are outputs.
template <class T>
void copy_outputs(
    T const* sums, std::size_t kernels, std::int64_t length, tile_position at, tile_outputs<T> const& to)
{
    for (std::int64_t done = 0, run; done < length && at.y < to.rows; done += run) {
        run = (std::min)(length - done, to.width - at.x);
        std::int64_t const kept = (std::min)(run, to.columns - at.x);
        T* const output = to.first + at.y * to.row_stride + at.x;
        for (std::size_t m = 0; m < kernels && kept > 0; ++m)
            std::copy_n(sums + static_cast<std::int64_t>(m) * length + done, kept,
                output + static_cast<std::int64_t>(m) * to.kernel_stride);
        at = {at.y + 1, 0};
    }
}

/// The kernels of a group: weights [count, depth] and biases.
template <class T>
struct conv_kernels {
    T const* weights;
    T const* bias;
    std::size_t count, depth;
};

/// Computes the outputs of `Kernels` kernels in `Batches` batches of positions, whose first window begins at
/// `window`.
template <std::size_t Kernels, std::size_t Batches, class T>
void convolve_block(conv_kernels<T> const& kernels, T const* window, std::ptrdiff_t const* offsets,
    tile_position at, tile_outputs<T> const& to)
{
    constexpr std::int64_t length = Batches * xloom::kernels::batch_size<T>;
    auto const row = [=](std::size_t k) { return window + offsets[k]; };
    auto const start = [&](std::size_t m) { return xloom::kernels::batch_t<T>(kernels.bias[m]); };
    bool const is_one_row = at.x + length <= to.columns,
               is_one_plane = to.row_stride == to.width && at.y * to.width + at.x + length <= to.count();
    if (is_one_row || is_one_plane)
        return multiply_tile<Kernels, Batches>(kernels.weights, kernels.depth, kernels.depth, row,
            to.first + at.y * to.row_stride + at.x, static_cast<std::size_t>(to.kernel_stride), start);
    std::array<T, Kernels * length> sums;
    multiply_tile<Kernels, Batches>(
        kernels.weights, kernels.depth, kernels.depth, row, sums.data(), length, start);
    copy_outputs(sums.data(), Kernels, length, at, to);
}

/// Computes the outputs of `Kernels` kernels of a tile.
template <std::size_t Kernels, class T>
void convolve_rows(
    conv_kernels<T> const& kernels, T const* tile, std::ptrdiff_t const* offsets, tile_outputs<T> const& to)
{
    constexpr std::size_t size = xloom::kernels::batch_size<T>,
                          most = Kernels == 1 ? row_batches<T> : block_batches<T>;
    tile_position at;
    std::size_t left = (static_cast<std::size_t>(to.count()) + size - 1) / size;
    while (left != 0) {
        std::size_t const now = left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
        xloom::kernels::with_count<1, most>(
            now, [&](auto batches) { convolve_block<Kernels, batches>(kernels, tile, offsets, at, to); });
        auto const length = static_cast<std::int64_t>(now * size);
        at.advance(length, to.width);
        tile += length;
        left -= now;
    }
}

/// Computes the outputs of a tile.
template <class T, class Pause>
void convolve_tile(conv_kernels<T> const& kernels, T const* tile, std::ptrdiff_t const* offsets,
    tile_outputs<T> const& to, Pause const& pause)
{
    constexpr std::size_t most = xloom::kernels::block_rows<T>;
    xloom::kernels::blocks const parts{kernels.count, most};
    for (std::size_t part = 0; part < parts.count(); ++part) {
        pause();
        std::size_t const first = parts.begin(part), now = parts.begin(part + 1) - first;
        conv_kernels<T> const own{
            kernels.weights + first * kernels.depth, kernels.bias + first, now, kernels.depth};
        tile_outputs<T> own_outputs = to;
        own_outputs.first += static_cast<std::int64_t>(first) * to.kernel_stride;
        xloom::kernels::with_count<1, most>(
            now, [&](auto count) { convolve_rows<count>(own, tile, offsets, own_outputs); });
    }
}

/// True if windows are copied one by one: a batch of positions would be mostly empty, or a tile.
template <class T>
bool copies_windows(conv_layout const& layout)
{
    return layout.outputs() < xloom::kernels::batch_size<T> || layout.is_sparse() || layout.depth() == 0;
}

/// Computes a Conv of one group of one input of the batch, window by window.
template <class T, class Pause>
void convolve_windows(conv_layout const& layout, T const* input, conv_kernels<T> const& kernels, T* output,
    workspace& memory, Pause const& pause)
{
    T* const window = memory.template take<T>(kernels.depth + kernels.count);
    T* const sums = window + kernels.depth;
    std::size_t const places = layout.outputs();
    for (std::size_t place = 0; place < places; ++place) {
        pause();
        copy_window(layout, input, place, window);
        multiply_by_dots(1, kernels.depth, kernels.count, window, 0,
            matrix<T>{kernels.weights, 1, kernels.depth}, sums, 0);
        for (std::size_t m = 0; m < kernels.count; ++m)
            output[m * places + place] = sums[m] + kernels.bias[m];
    }
}

/// Computes Conv from its weights as they are.
template <class T, class Pause>
void convolve_directly(conv_layout const& layout, T const* input, T const* weights, T const* bias, T* output,
    workspace& memory, Pause const& pause)
{
    std::size_t const places = layout.outputs(), depth = layout.depth();
    auto const for_each_group = [&](auto const& f) {
        for (std::size_t n = 0; n < layout.batch * layout.groups; ++n) {
            std::size_t const first = n % layout.groups * layout.kernels;
            f(input + n * layout.channels * layout.inputs(),
                conv_kernels<T>{weights + first * depth, bias + first, layout.kernels, depth},
                output + n * layout.kernels * places);
        }
    };
    if (copies_windows<T>(layout))
        return for_each_group([&](T const* from, conv_kernels<T> const& kernels, T* to) {
            convolve_windows(layout, from, kernels, to, memory, pause);
        });
    conv_tiles const tiles(layout);
    T* const tile = memory.template take<T>(tiles.items());
    auto* const offsets = memory.template take<std::ptrdiff_t>(depth, scratch::transposed);
    tiles.write_offsets(offsets);
    auto const &deep = tiles.deep, &down = tiles.down, &across = tiles.across;
    T const* const end = input + layout.batch * layout.groups * layout.channels * layout.inputs();
    for_each_group([&](T const* from, conv_kernels<T> const& kernels, T* to) {
        for (std::int64_t z = 0; z < deep.output; ++z)
            for (std::int64_t y = 0; y < down.output; y += tiles.rows)
                for (std::int64_t x = 0; x < across.output; x += tiles.columns) {
                    tiles.copy(from, end, z, y, x, tile);
                    convolve_tile(kernels, tile, offsets,
                        tile_outputs<T>{to + (z * down.output + y) * across.output + x, across.output,
                            static_cast<std::int64_t>(places), (std::min)(tiles.rows, down.output - y),
                            (std::min)(tiles.columns, across.output - x), tiles.width},
                        pause);
                }
    });
}

} // namespace xloom_onnx::detail
