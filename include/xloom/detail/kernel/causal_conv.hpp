#pragma once
// The causal convolution of one sequence, for a block of channels at a time. The steps of a tile and the
// taps - 1 steps before it are copied into the L1 cache, padded, and convolved there in place.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/cast.hpp>
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

/// The largest tile: SIMD lanes are either consecutive steps of a channel, or channels.
struct conv_tiling {
    bool has_step_lanes;

    constexpr std::size_t channels() const noexcept { return has_step_lanes ? 8 : 256; }
    constexpr std::size_t steps() const noexcept { return 2048 / channels(); }
};

/// Computes SiLU of sums that are rounded to Items. A function of its own, so that it is compiled once: its
/// bits do not depend on the tiling.
template <class Item, class T>
[[gnu::noinline]] void activate_sums(T* sums, std::size_t count) noexcept
{
    if constexpr (!std::is_same_v<Item, T>)
        std::transform(
            sums, sums + count, sums, [](T const& sum) { return static_cast<T>(static_cast<Item>(sum)); });
    map(sums, sums, count, silu{});
}

/// A tile: lines of numbers, in which the step after a number is `step` numbers behind it. With step lanes
/// each channel has a line, else there is a single one, in which a step has a number for each channel.
template <class T>
class conv_tile {
public:
    using V = batch_t<T>;

    conv_tile(conv_tiling const& tiling, std::size_t count, std::size_t taps, arena<T>& memory)
        : has_step_lanes_(tiling.has_step_lanes),
          capacity_(tiling.steps()),
          taps_(taps),
          channels_(whole_batches<T>(count)),
          lines_(has_step_lanes_ ? count : 1),
          step_(has_step_lanes_ ? 1 : channels_),
          line_(has_step_lanes_ ? taps - 1 + whole_batches<T>(capacity_) : 0),
          weight_(memory.take(taps, channels_)),
          bias_(memory.take(channels_)),
          first_(has_step_lanes_ ? memory.take(count, line_) : memory.take(taps - 1 + capacity_, channels_))
    {}

    /// Returns the number of steps that a tile takes at once.
    std::size_t capacity() const noexcept { return capacity_; }
    /// Returns the steps from the first of the padding on.
    item_rows<T> steps() const
    {
        return {first_, static_cast<std::ptrdiff_t>(step_),
            has_step_lanes_ ? static_cast<std::ptrdiff_t>(line_) : 1};
    }
    item_rows<T> weight() const { return {weight_, static_cast<std::ptrdiff_t>(channels_), 1}; }
    item_rows<T> bias() const { return {bias_, 0, 1}; }

    /// Replaces each of the first `count` steps by its sum, which begins with it.
    void convolve(std::size_t count) const
    {
        if (!detail::with_few(taps_, [&](auto taps) { convolve_by(taps, count); }))
            convolve_by(taps_, count);
    }

    template <class Item>
    void activate(std::size_t count) const
    {
        for_each_line([&](T* line) { activate_sums<Item>(line, count * step_); });
    }

    /// Makes the taps - 1 steps behind the first `count` those of the padding.
    void advance(std::size_t count) const
    {
        for_each_line(
            [&](T* line) { std::copy(line + count * step_, line + (count + taps_ - 1) * step_, line); });
    }

private:
    template <class F>
    void for_each_line(F const& f) const
    {
        for (std::size_t c = 0; c < lines_; ++c)
            f(first_ + c * line_);
    }

    /// `taps` is taps_, or a constant of its value.
    template <class Taps>
    [[gnu::flatten]] void convolve_by(Taps taps, std::size_t count) const
    {
        if (has_step_lanes_)
            for (std::size_t c = 0; c < lines_; ++c) {
                T* const line = first_ + c * line_;
                auto const weight = [&](std::size_t j) { return V(weight_[j * channels_ + c]); };
                std::size_t t = 0;
                for (; t + batch_size<T> <= count; t += batch_size<T>)
                    store_batch(line + t, sum_at(line + t, V(bias_[c]), weight, taps));
                if constexpr (has_simd<T>)
                    if (t < count)
                        store_first<T>(sum_at(line + t, V(bias_[c]), weight, taps), line + t, count - t);
            }
        else
            for (std::size_t c = 0; c < channels_; c += batch_size<T>) {
                auto const weight = [&](std::size_t j) { return load_batch(weight_ + j * channels_ + c); };
                for (T* at = first_ + c; at != first_ + c + count * step_; at += step_)
                    store_batch(at, sum_at(at, load_batch(bias_ + c), weight, taps));
            }
    }

    template <class Weight>
    V sum_at(T const* at, V sum, Weight const& weight, std::size_t taps) const
    {
        for (std::size_t j = 0; j < taps; ++j)
            sum = multiply_add(weight(j), load_batch(at + j * step_), sum);
        return sum;
    }

    bool has_step_lanes_;
    std::size_t capacity_, taps_, channels_, lines_, step_, line_;
    T *weight_, *bias_, *first_;
};

/// Copies `rows` rows, or sets them to zeros if the matrix is omitted.
template <class Item, class T>
void copy_or_clear(
    item_rows<Item const> const& from, item_rows<T> const& to, std::size_t rows, std::size_t columns)
{
    T const zero(0);
    if (from.first != nullptr)
        copy_matrix(from, to, rows, columns);
    else
        copy_matrix(item_rows<T const>{&zero, 0, 0}, to, rows, columns);
}

/// Computes the outputs of `count` channels from `first` on. `tile` has memory for them.
template <class Item, class T>
void causal_conv(conv_tile<T> const& tile, conv_inputs<Item> const& in, conv_outputs<Item> const& out,
    std::size_t first, std::size_t count)
{
    item_rows<T> const padded = tile.steps();
    std::size_t const history = in.taps - 1;
    std::size_t steps = 0;
    copy_matrix(in.weight.from(first), tile.weight(), in.taps, count);
    copy_or_clear(in.bias.from(first), tile.bias(), 1, count);
    copy_or_clear(in.past_state.from(first), padded, history, count);
    for (std::size_t begin = 0; begin < in.steps; begin += tile.capacity()) {
        tile.advance(steps);
        steps = (std::min)(tile.capacity(), in.steps - begin);
        copy_matrix(in.input.from_row(begin).from(first), padded.from_row(history), steps, count);
        tile.convolve(steps);
        if (in.silu)
            tile.template activate<Item>(steps);
        if (out.output.first != nullptr)
            copy_matrix(padded, out.output.from_row(begin).from(first), steps, count);
    }
    if (out.present_state.first != nullptr)
        copy_matrix(padded.from_row(steps), out.present_state.from(first), history, count);
}

} // namespace xloom::inline XLOOM_ABI::kernel
