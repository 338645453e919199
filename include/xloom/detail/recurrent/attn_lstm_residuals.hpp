#pragma once
// The residuals that the forward pass of AttnLSTM keeps for its backward pass.

#include <algorithm>
#include <vector>

#include <xloom/detail/check/attn_lstm.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/kernel/attn_lstm_backward.hpp>
#include <xloom/detail/recurrent/attn_lstm_run.hpp>
#include <xloom/detail/recurrent/residuals.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Numbers of residuals, which are padded to whole vectors.
struct attention_residual_sizes {
    std::size_t step;    ///< of a step of a row
    std::size_t initial; ///< of the initial states of a row
    std::size_t key;     ///< of a row of keys
};

/// The function that returns the numbers of residuals for S steps of memory.
template <class Item>
struct attention_residual_functions {
    using item = Item;
    using T = compute_t<Item>;
    using parameters = kernel::attn_lstm_parameters<T>;

    attention_residual_sizes (*sizes)(parameters const&, std::size_t S) noexcept;

    static constexpr attention_residual_functions compiled() noexcept
    {
        return {[](parameters const& p, std::size_t S) noexcept {
            return attention_residual_sizes{kernel::attention_residuals<T>(p, p.lstm.gate_stride, S).size,
                initial_size(p), kernel::whole_batches<T>(p.A)};
        }};
    }
};

/// The residuals of one forward pass: those of an LSTM and of its attention, and the keys of each row's
/// memory.
template <class Item>
class attn_lstm_residuals_of : public residuals_of<Item, kernel::attn_lstm_attributes<compute_t<Item>>> {
    using T = compute_t<Item>;
    using base = residuals_of<Item, kernel::attn_lstm_attributes<T>>;

public:
    attn_lstm_residuals_of() = default;
    attn_lstm_residuals_of(attn_lstm_residuals_of const&) = default;
    attn_lstm_residuals_of(attn_lstm_residuals_of&&) = default;
    attn_lstm_residuals_of& operator=(attn_lstm_residuals_of&&) = default;
    /// Copies `other` first, so that the residuals are unchanged if allocation fails.
    attn_lstm_residuals_of& operator=(attn_lstm_residuals_of const& other)
    {
        return *this = attn_lstm_residuals_of(other);
    }

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return base::bytes() + keys_.capacity() * sizeof(T) +
               memory_lengths_.capacity() * sizeof(std::size_t) + are_exponentials_.capacity();
    }

    std::size_t S() const noexcept { return this->batch().S; }
    std::size_t memory_length(std::size_t n) const noexcept { return memory_lengths_[n]; }
    kernel::key_rows<T const> keys(std::size_t d, std::size_t n) const noexcept
    {
        std::size_t const i = d * this->batch().N + n;
        return {keys_.data() + i * S() * key_size_, memory_lengths_[n], key_size_, are_exponentials_[i] != 0};
    }

    /// Makes room for a forward pass.
    template <class Weights, class Lengths>
    void start(Weights const& weights, batch_sizes const& batch, Lengths const& length_of,
        memory_operand<Item> const& memory)
    {
        using functions = attention_residual_functions<Item>;
        attention_residual_sizes const sizes = weights.level().template functions<functions>().sizes(
            detail::parameters_of(weights, 0), memory.S);
        base::start(weights, batch, length_of, sizes.step, sizes.initial);
        key_size_ = sizes.key;
        memory_lengths_.clear();
        for (std::size_t n = 0; n < batch.N; ++n)
            memory_lengths_.push_back(memory.length(n));
        std::size_t const rows = weights.sizes().D * batch.N;
        are_exponentials_.assign(rows, 0);
        grow(keys_, saturating_mul(rows, saturating_mul(S(), key_size_)));
    }
    /// Keeps the keys of row n.
    void keep_keys(std::size_t d, std::size_t n, kernel::key_rows<T> const& from) noexcept
    {
        std::size_t const i = d * this->batch().N + n;
        std::copy_n(from.first, from.length * from.stride, keys_.data() + i * S() * from.stride);
        are_exponentials_[i] = from.are_exponentials ? 1 : 0;
    }

private:
    std::size_t key_size_ = 0;
    std::vector<std::size_t> memory_lengths_{};
    std::vector<unsigned char> are_exponentials_{}; ///< not bool: threads write their own items
    aligned_vector<T> keys_{};
};

/// The states of an AttnLSTM's rows, whose steps keep residuals.
template <class Item>
struct recorded_attn_lstm_states : attn_lstm_states<Item, bahdanau> {
    using base = attn_lstm_states<Item, bahdanau>;
    using T = compute_t<Item>;

    attn_lstm_residuals_of<Item>& residuals;
    std::size_t groups;

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& numbers) const
    {
        auto const& p = detail::parameters_of(this->weights, part.d);
        return this
            ->template make_rows_of<kernel::recorded_attn_lstm_rows<T, Item, typename base::score_type>>(part,
                numbers, residuals.steps_to_write(part.d, part.group, groups),
                kernel::attention_residuals<T>(p, p.lstm.gate_stride, this->memory.S));
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        base::start(part, rows);
        auto const& p = detail::parameters_of(this->weights, part.d);
        std::size_t const width = p.lstm.gate_stride;
        for (std::size_t r = 0; r < part.count; ++r) {
            T* const kept = residuals.initial_to_write(part.d, part.group + r * groups);
            std::copy_n(rows.h(r), width, kept);
            std::copy_n(rows.c(r), width, kept + width);
            if (!p.attends)
                continue;
            std::copy_n(rows.attention(r), kernel::whole_batches<T>(p.C), kept + 2 * width);
            residuals.keep_keys(part.d, part.first[r].row, this->attending[part.number + r].memory.keys);
        }
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
