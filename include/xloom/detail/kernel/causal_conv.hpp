#pragma once
// The causal convolution of one sequence, for a block of channels at a time. The steps of a tile and the
// taps - 1 steps before it are copied into the L1 cache, padded, and convolved there; in place, if the sums
// cannot be stored in the output.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/item_rows.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The inputs of a causal convolution of one sequence. Columns are channels; the rows of `input` are steps,
/// those of `weight` taps, those of `past_state` the taps - 1 steps before the first. `bias` is a row.
template <class Item>
struct conv_inputs {
    std::size_t steps = 0, taps = 1;
    bool silu = false;
    item_rows<Item const> input, weight, bias, past_state;
};

/// The outputs of a causal convolution of one sequence; the columns are channels.
template <class Item>
struct conv_outputs {
    item_rows<Item> output, present_state;
};

/// The largest tile of a sequence: SIMD lanes are either consecutive steps of a channel, or channels.
struct conv_tiling {
    bool has_step_lanes;
    std::size_t length, width; ///< the steps and channels of a sequence, at least 1

    static constexpr std::size_t items = 4096, most_channels = 512;

    constexpr std::size_t steps() const noexcept
    {
        return has_step_lanes ? (std::min)(length, items / 8) : items / most_channels;
    }
    constexpr std::size_t channels() const noexcept
    {
        return (std::min)({width, most_channels, items / steps()});
    }
};

/// Computes SiLU of sums that are rounded to Items. A function of its own, so that it is compiled once: its
/// bits do not depend on the tiling.
template <class Item, class T>
XLOOM_NOINLINE void activate_sums(T* sums, std::size_t count) noexcept
{
    if constexpr (!std::is_same_v<Item, T>)
        std::transform(
            sums, sums + count, sums, [](T const& sum) { return static_cast<T>(static_cast<Item>(sum)); });
    map(sums, sums, count, silu{});
}

/// A tile: lines of numbers, in which the step after a number is `step` numbers after it. With step lanes
/// each channel has a line, else there is a single one, in which a step has a number for each channel.
template <class T>
class conv_tile {
public:
    using V = batch_t<T>;

    /// Takes `count` channels, and memory that does not depend on the length of a sequence.
    conv_tile(conv_tiling const& tiling, std::size_t count, std::size_t taps, arena<T>& memory)
        : has_step_lanes_(tiling.has_step_lanes),
          capacity_(tiling.steps()),
          taps_(taps),
          count_(count),
          channels_(whole_batches<T>(count)),
          lines_(has_step_lanes_ ? count : 1),
          step_(has_step_lanes_ ? 1 : channels_),
          line_(has_step_lanes_ ? taps - 1 + whole_batches<T>(capacity_) : 0),
          weight_(memory.take(taps, reserved_channels(tiling))),
          bias_(memory.take(reserved_channels(tiling))),
          first_(memory.take(reserved_channels(tiling), reserved_steps(tiling, taps)))
    {}

    /// Returns the number of steps that a tile takes at once.
    std::size_t capacity() const noexcept { return capacity_; }
    /// Returns the steps from the first of the padding on.
    item_rows<T> steps() const
    {
        return {first_, static_cast<std::ptrdiff_t>(step_),
            has_step_lanes_ ? static_cast<std::ptrdiff_t>(line_) : 1};
    }
    /// Returns memory for the weight and the bias, whose columns are channels.
    item_rows<T> weight() const { return {weight_, static_cast<std::ptrdiff_t>(channels_), 1}; }
    item_rows<T> bias() const { return {bias_, 0, 1}; }

    /// True if a row's channels can be loaded where they are.
    template <class Item>
    bool can_load(item_rows<Item> const& from) const
    {
        return std::is_same_v<std::remove_const_t<Item>, T> && from.first != nullptr &&
               (has_step_lanes_ || (from.column == 1 && channels_ == count_));
    }
    /// True if sums can be stored there.
    template <class Item>
    bool can_store(item_rows<Item> const& to) const
    {
        return can_load(to) && (!has_step_lanes_ || to.row == 1);
    }

    /// Stores the sum that begins with each of the first `count` steps; `to` may be steps().
    void convolve(item_rows<T const> const& weight, item_rows<T const> const& bias, item_rows<T> const& to,
        std::size_t count) const
    {
        if (!kernel::with_few<2, 4>(taps_, [&](auto taps) { convolve_by(taps, weight, bias, to, count); }))
            convolve_by(taps_, weight, bias, to, count);
    }

    template <class Item>
    void activate(item_rows<T> const& sums, std::size_t count) const
    {
        if (has_step_lanes_)
            for (std::size_t c = 0; c < lines_; ++c)
                activate_sums<Item>(sums.at(0, c), count);
        else if (sums.row == static_cast<std::ptrdiff_t>(channels_))
            activate_sums<Item>(sums.first, count * channels_);
        else
            for (std::size_t t = 0; t < count; ++t)
                activate_sums<Item>(sums.at(t, 0), channels_);
    }

    /// Makes the taps - 1 steps after the first `count` those of the padding.
    void advance(std::size_t count) const
    {
        for (std::size_t c = 0; c < lines_; ++c) {
            T* const line = first_ + c * line_;
            std::copy(line + count * step_, line + (count + taps_ - 1) * step_, line);
        }
    }

private:
    static std::size_t reserved_channels(conv_tiling const& tiling)
    {
        return whole_batches<T>((std::min)(tiling.width, conv_tiling::most_channels));
    }
    /// Returns the length of a line that is long enough for every length of a sequence.
    static std::size_t reserved_steps(conv_tiling const& tiling, std::size_t taps)
    {
        return taps + conv_tiling::items / reserved_channels(tiling) + batch_size<T>;
    }

    /// `taps` is taps_, or a constant of its value.
    template <class Taps>
    XLOOM_FLATTEN void convolve_by(Taps taps, item_rows<T const> const& weight,
        item_rows<T const> const& bias, item_rows<T> const& to, std::size_t count) const
    {
        constexpr std::size_t width = batch_size<T>;
        conv_tile const tile = *this; // whose members no store changes
        if (tile.has_step_lanes_)
            for (std::size_t c = 0; c < tile.lines_; ++c) {
                T const *const from = tile.first_ + c * tile.line_, *const weights = weight.at(0, c);
                T* const sums = to.at(0, c);
                auto const sum = [&](std::size_t t) {
                    auto const tap = [&](std::size_t j) {
                        return V(weights[static_cast<std::ptrdiff_t>(j) * weight.row]);
                    };
                    return sum_of_taps(taps, V(*bias.at(0, c)), tap, from + t, 1);
                };
                std::size_t t = 0;
                for (; t + width <= count; t += width)
                    store_batch(sums + t, sum(t));
                if constexpr (has_simd<T>)
                    if (t < count)
                        store_first<T>(sum(t), sums + t, count - t);
            }
        else
            for (std::size_t c = 0; c < tile.channels_; c += width) {
                auto const tap = [&](std::size_t j) { return load_batch(weight.at(j, c)); };
                T const* from = tile.first_ + c;
                T* sums = to.at(0, c);
                for (std::size_t t = 0; t < count; ++t, from += tile.step_, sums += to.row)
                    store_batch(sums, sum_of_taps(taps, load_batch(bias.at(0, c)), tap, from, tile.step_));
            }
    }

    /// Adds the products of taps and steps, which are `step` numbers apart.
    template <class Taps, class Tap>
    static V sum_of_taps(Taps taps, V sum, Tap const& tap, T const* from, std::size_t step)
    {
        for (std::size_t j = 0; j < taps; ++j)
            sum = multiply_add(tap(j), load_batch(from + j * step), sum);
        return sum;
    }

    bool has_step_lanes_;
    std::size_t capacity_, taps_, count_, channels_, lines_, step_, line_;
    T *weight_, *bias_, *first_;
};

/// Copies `rows` rows, or sets them to zeros if the matrix is omitted.
template <class Item, class T>
void copy_or_clear(
    item_rows<Item const> const& from, item_rows<T> const& to, std::size_t rows, std::size_t columns)
{
    if (from.first != nullptr)
        copy_matrix(from, to, rows, columns);
    else
        clear_matrix(to, rows, columns);
}

/// Returns `rows` rows where they are, if the tile can load them, or copied to `memory`.
template <class Item, class T>
item_rows<T const> loadable(conv_tile<T> const& tile, item_rows<Item const> const& from,
    item_rows<T> const& memory, std::size_t rows, std::size_t columns)
{
    if constexpr (std::is_same_v<Item, T>)
        if (tile.can_load(from))
            return from;
    copy_or_clear(from, memory, rows, columns);
    return memory;
}

/// Computes the outputs of `count` channels from `first` on. `tile` has memory for them.
template <class Item, class T>
void causal_conv(conv_tile<T> const& tile, conv_inputs<Item> const& in, conv_outputs<Item> const& out,
    std::size_t first, std::size_t count)
{
    item_rows<T> const padded = tile.steps();
    std::size_t const history = in.taps - 1;
    std::size_t steps = 0;
    item_rows<T const> const weight =
                                 loadable(tile, in.weight.from_column(first), tile.weight(), in.taps, count),
                             bias = loadable(tile, in.bias.from_column(first), tile.bias(), 1, count);
    copy_or_clear(in.past_state.from_column(first), padded, history, count);
    for (std::size_t begin = 0; begin < in.steps; begin += tile.capacity()) {
        if (begin != 0)
            tile.advance(steps);
        steps = (std::min)(tile.capacity(), in.steps - begin);
        copy_matrix(in.input.from_row(begin).from_column(first), padded.from_row(history), steps, count);
        item_rows<Item> const output = out.output.from_row(begin).from_column(first);
        if (output.first == nullptr)
            continue;
        item_rows<T> sums = padded;
        if constexpr (std::is_same_v<Item, T>)
            if (tile.can_store(output))
                sums = output;
        tile.convolve(weight, bias, sums, steps);
        if (in.silu)
            tile.template activate<Item>(sums, steps);
        if (sums.first == padded.first)
            copy_matrix(sums, output, steps, count);
    }
    if (out.present_state.first != nullptr)
        copy_matrix(padded.from_row(steps), out.present_state.from_column(first), history, count);
}

} // namespace xloom::inline XLOOM_ABI::kernel
