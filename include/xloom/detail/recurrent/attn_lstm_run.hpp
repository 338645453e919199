#pragma once
// The engine of AttnLSTM: the rows of an LSTM, each with a memory.

#include <algorithm>
#include <utility>
#include <vector>

#include <xloom/detail/recurrent/attention_score.hpp>
#include <xloom/detail/recurrent/batch_call.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// M [N, S, E] and the length of each row that is read.
template <class Item>
struct memory_operand {
    tensor_ref<Item const> M;
    lengths_ref lengths;
    std::size_t S = 0;

    std::size_t length(std::size_t n) const
    {
        return lengths.is_given() ? static_cast<std::size_t>(lengths[n]) : S;
    }
    kernel::memory_rows<Item> rows(std::size_t n) const
    {
        return {M.data() + static_cast<std::ptrdiff_t>(n) * M.step(0), length(n), M.step(1), M.step(2)};
    }
};

/// The initial and final states of the rows, their memories, and the destinations of their alignments. Score
/// is bahdanau or score_ref.
template <class Item, class Weights, class Score>
struct attn_lstm_states {
    using T = compute_t<Item>;
    using score_type = decltype(score_for(
        std::declval<Score const&>(), std::declval<kernel::attn_lstm_parameters<T> const&>(), 0));

    Weights const& weights;
    Score const& score;
    batch_operands<Item> const& operands;
    memory_operand<Item> memory;
    state_rows<Item const> initial_h, initial_c, initial_attention, initial_alignment;
    state_rows<Item> Y_h, Y_c, Y_attention, Y_alignment;
    step_rows<Item> alignments;
    std::vector<kernel::attending_row<T, Item>>& attending; ///< one row for each sequence

    template <class Rows>
    struct part_rows : Rows {
        T* scratch;
    };

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& numbers) const
    {
        return make_rows_of<kernel::attn_lstm_rows<T, Item, score_type>>(part, numbers);
    }

    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        for (std::size_t r = 0; r < part.count; ++r) {
            std::size_t const n = part.first[r].row;
            load_state(initial_h, part.d, n, rows.H(), rows.h(r));
            load_state(initial_c, part.d, n, rows.H(), rows.c(r));
            if (!p.attends)
                continue;
            kernel::fill_memory(p, memory.rows(n), rows.scratch, score_type::takes_exponentials,
                attending[part.number + r].memory);
            load_state(initial_attention, part.d, n, p.C, rows.attention(r));
            load_state(initial_alignment, part.d, n, memory.length(n), rows.alignment(r));
        }
    }

    template <class Part, class Rows>
    void finish(Part const& part, Rows const& rows) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        for (std::size_t r = 0; r < part.count; ++r) {
            std::size_t const n = part.first[r].row, length = memory.length(n);
            store_state(rows.h(r), rows.H(), Y_h, part.d, n);
            store_state(rows.c(r), rows.H(), Y_c, part.d, n);
            store_state(rows.attention(r), p.C, Y_attention, part.d, n);
            store_state(rows.alignment(r), length, Y_alignment, part.d, n);
            if (Y_alignment.is_given())
                Y_alignment.zero_fill(part.d, n, length, memory.S);
            alignments.zero_fill(0, part.first[r].length, part.d, n, length, memory.S);
            alignments.zero_fill(part.first[r].length, operands.sizes.T, part.d, n, 0, memory.S);
        }
    }

protected:
    /// Returns a part's rows of a kernel, which is constructed from `arguments` too.
    template <class Rows, class Part, class... Arguments>
    part_rows<Rows> make_rows_of(
        Part const& part, kernel::arena<T>& numbers, Arguments const&... arguments) const
    {
        auto const& p = detail::parameters_of(weights, part.d);
        std::size_t longest = 0;
        for (std::size_t r = 0; r < part.count; ++r)
            longest = (std::max)(longest, memory.length(part.first[r].row));
        part_rows<Rows> rows{Rows(p, part.count, longest, score_for(score, p, part.d), numbers, arguments...),
            numbers.take(longest, p.E)};
        for (std::size_t r = 0; r < part.count; ++r)
            attending[part.number + r] = attend_to(p, part.d, part.first[r].row, numbers);
        rows.attend_to(attending.data() + part.number,
            alignments.is_given() || Y_attention.is_given() || Y_alignment.is_given());
        return rows;
    }

private:
    kernel::attending_row<T, Item> attend_to(kernel::attn_lstm_parameters<T> const& p, std::size_t d,
        std::size_t n, kernel::arena<T>& numbers) const
    {
        kernel::attending_row<T, Item> row{n, kernel::take_memory(p, memory.length(n), numbers), {}, 0};
        if (alignments.is_given()) {
            auto const [first, backwards] = operands.first_step(d, n);
            row.alignment = alignments(first, d, n);
            row.alignment_step = backwards ? -alignments.step() : alignments.step();
        }
        return row;
    }
};

} // namespace detail

/// Reusable memory of AttnLSTM: see recurrent_workspace.
template <class Item>
struct attention_workspace : recurrent_workspace<Item> {
    std::vector<kernel::attending_row<detail::compute_t<Item>, Item>> attending{}; ///< internal

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        return recurrent_workspace<Item>::bytes() +
               attending.capacity() * sizeof(kernel::attending_row<detail::compute_t<Item>, Item>);
    }
};

} // namespace xloom::inline XLOOM_ABI
