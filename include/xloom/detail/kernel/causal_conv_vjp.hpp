#pragma once
// The gradients of the causal convolution, for a block of channels at a time. SIMD lanes are channels.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/causal_conv.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The cotangents of a causal convolution of one sequence, and the gradients that are added to. Rows and
/// columns as those of conv_inputs.
template <class Item>
struct conv_sequence_cotangents {
    item_rows<Item const> output, present_state;
    item_rows<Item> input, past_state;
};

/// The gradients of `count` channels: of one sequence after the other, and the sums over all of them of the
/// weight's and the bias's.
template <class T>
class conv_backward {
public:
    using V = batch_t<T>;
    static constexpr std::size_t channels = 16; ///< of a block

    /// Takes the memory that a sequence needs; the sums are zeros after begin().
    conv_backward(std::size_t steps, std::size_t taps, std::size_t count, arena<T>& memory)
        : steps_(steps),
          history_(taps - 1),
          count_(count),
          width_(whole_batches<T>(channels)),
          padded_(memory.take(steps + history_, width_)),
          ct_sums_(memory.take(steps, width_)),
          weight_(memory.take(taps, width_)),
          bias_(memory.take(width_)),
          ct_weight_(memory.take(taps, width_)),
          ct_bias_(memory.take(width_))
    {}

    /// Sets the sums to zeros and loads weight and bias, whose first columns are those of the block.
    template <class Item>
    void begin(item_rows<Item const> const& weight, item_rows<Item const> const& bias)
    {
        std::fill_n(ct_weight_, (history_ + 1) * width_, T(0));
        std::fill_n(ct_bias_, width_, T(0));
        std::fill_n(ct_sums_, steps_ * width_, T(0));
        std::fill_n(padded_, (steps_ + history_) * width_, T(0));
        std::fill_n(weight_, (history_ + 1) * width_, T(0));
        std::fill_n(bias_, width_, T(0));
        copy_matrix(weight, rows_of(weight_), history_ + 1, count_);
        copy_or_clear(bias, rows_of(bias_), 1, count_);
    }

    /// Adds the gradients of a sequence, whose first columns are those of the block.
    template <class Item>
    void add(conv_inputs<Item> const& in, std::size_t first, conv_sequence_cotangents<Item> const& of)
    {
        item_rows<T> const padded = rows_of(padded_);
        copy_or_clear(in.past_state.from_column(first), padded, history_, count_);
        copy_matrix(in.input.from_column(first), padded.from_row(history_), steps_, count_);
        copy_or_clear(of.output.from_column(first), rows_of(ct_sums_), steps_, count_);
        kernel::for_each_batch<T>(count_, [&](std::size_t c) {
            if (in.silu)
                multiply_by_slopes(c);
            add_to_sums(c);
        });
        if (of.input.first == nullptr && of.past_state.first == nullptr)
            return;
        copy_or_clear(item_rows<T const>(), padded, steps_, count_);
        copy_or_clear(of.present_state.from_column(first), padded.from_row(steps_), history_, count_);
        kernel::for_each_batch<T>(count_, [&](std::size_t c) { add_to_padded(c); });
        add_matrix<T>(padded, of.past_state.from_column(first), history_, count_);
        add_matrix<T>(padded.from_row(history_), of.input.from_column(first), steps_, count_);
    }

    /// Adds the sums to the gradients of weight and bias.
    template <class Item>
    void finish(item_rows<Item> const& ct_weight, item_rows<Item> const& ct_bias) const
    {
        add_matrix<T>(rows_of(ct_weight_), ct_weight, history_ + 1, count_);
        add_matrix<T>(rows_of(ct_bias_), ct_bias, 1, count_);
    }

private:
    item_rows<T> rows_of(T* first) const { return {first, static_cast<std::ptrdiff_t>(width_), 1}; }

    /// Returns the cotangents of the sums of step t.
    T* ct_sum_at(std::size_t t, std::size_t c) const { return ct_sums_ + t * width_ + c; }

    /// Multiplies the cotangents of outputs by the slope of SiLU at the sums.
    void multiply_by_slopes(std::size_t c) const
    {
        for (std::size_t t = 0; t < steps_; ++t) {
            V sum = load_batch(bias_ + c);
            for (std::size_t j = 0; j <= history_; ++j)
                sum = multiply_add(
                    load_batch(weight_ + j * width_ + c), load_batch(padded_ + (t + j) * width_ + c), sum);
            T* const ct = ct_sum_at(t, c);
            store_batch(ct, V(load_batch(ct) * differentiate(silu{}, sum).slope));
        }
    }

    void add_to_sums(std::size_t c) const
    {
        V ct_bias = load_batch(ct_bias_ + c);
        for (std::size_t t = 0; t < steps_; ++t)
            ct_bias = ct_bias + load_batch(ct_sum_at(t, c));
        store_batch(ct_bias_ + c, ct_bias);
        for (std::size_t j = 0; j <= history_; ++j) {
            V sum = load_batch(ct_weight_ + j * width_ + c);
            for (std::size_t t = 0; t < steps_; ++t)
                sum = multiply_add(
                    load_batch(ct_sum_at(t, c)), load_batch(padded_ + (t + j) * width_ + c), sum);
            store_batch(ct_weight_ + j * width_ + c, sum);
        }
    }

    /// Adds what the sums contribute to the cotangents of the padded steps.
    void add_to_padded(std::size_t c) const
    {
        for (std::size_t p = 0; p < steps_ + history_; ++p) {
            V sum = load_batch(padded_ + p * width_ + c);
            std::size_t const first = p < steps_ ? 0 : p - steps_ + 1, last = (std::min)(history_, p);
            for (std::size_t j = first; j <= last; ++j)
                sum =
                    multiply_add(load_batch(weight_ + j * width_ + c), load_batch(ct_sum_at(p - j, c)), sum);
            store_batch(padded_ + p * width_ + c, sum);
        }
    }

    std::size_t steps_, history_, count_, width_;
    T *padded_, *ct_sums_, *weight_, *bias_, *ct_weight_, *ct_bias_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
