#pragma once
// One step of a cell of AttnLSTM, whose operands are contiguous.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/recurrent/attn_lstm_run.hpp>
#include <xloom/detail/recurrent/cell_step.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The operands of a step of N rows: h, c and y_t [N, H], attention [N, C], alignment [N, S], x_t [N, I].
template <class Item>
struct attn_step_operands {
    Item *h, *c, *attention;
    Item* alignment; ///< null: omitted
    Item const* x_t;
    Item* y_t; ///< null: omitted
};

/// The functions of a cell: those of its memory, and the step of its N rows. Score is bahdanau or score_ref.
template <class Item, class Score>
struct attn_cell_functions {
    using item = Item;
    using T = compute_t<Item>;
    using parameters = kernel::attn_lstm_parameters<T>;
    using row = kernel::attending_row<T, Item>;

    std::size_t (*memory_size)(parameters const&, memory_operand<Item> const&, std::size_t N); ///< of `fill`
    void (*fill)(parameters const&, memory_operand<Item> const&, T* memory, row* rows, std::size_t N);
    std::size_t (*size)(parameters const&, Score const&, memory_operand<Item> const&,
        std::size_t N); ///< of the memory of `step`
    void (*step)(parameters const&, Score const&, std::size_t d, row const* rows, std::size_t N,
        std::size_t S, T* memory, attn_step_operands<Item> const&);

    static constexpr attn_cell_functions compiled() noexcept
    {
        return {&memory_size_of, &fill_rows, &size_of, &step_in};
    }

private:
    using score_type =
        decltype(score_for(std::declval<Score const&>(), std::declval<parameters const&>(), std::size_t()));

    static std::size_t length(row const& of) { return of.memory.keys.length; }

    /// Returns the maximum of length_of(n).
    template <class Length>
    static std::size_t longest_of(std::size_t N, Length const& length_of)
    {
        std::size_t longest = 0;
        for (std::size_t n = 0; n < N; ++n)
            longest = (std::max)(longest, length_of(n));
        return longest;
    }
    static std::size_t longest_of(memory_operand<Item> const& from, std::size_t N)
    {
        return longest_of(N, [&](std::size_t n) { return from.length(n); });
    }

    /// Allocates keys and values of all rows, which keep(n, memory) receives, then scratch for computing
    /// them.
    template <class Keep>
    static T* take_memory(parameters const& p, memory_operand<Item> const& from, std::size_t N,
        kernel::arena<T>& memory, Keep const& keep)
    {
        for (std::size_t n = 0; n < N; ++n)
            keep(n, kernel::take_memory(p, from.length(n), memory));
        return memory.take(longest_of(from, N), p.E);
    }
    static std::size_t memory_size_of(parameters const& p, memory_operand<Item> const& from, std::size_t N)
    {
        kernel::arena<T> size;
        take_memory(p, from, N, size, [](std::size_t, auto const&) {});
        return size.used();
    }
    static void fill_rows(
        parameters const& p, memory_operand<Item> const& from, T* numbers, row* rows, std::size_t N)
    {
        kernel::arena<T> memory(numbers);
        T* const scratch = take_memory(p, from, N, memory, [rows](std::size_t n, auto const& taken) {
            rows[n] = {n, taken, {}, 0};
        });
        for (std::size_t n = 0; n < N; ++n)
            kernel::fill_memory(p, from.rows(n), scratch, score_type::takes_exponentials, rows[n].memory);
    }

    static auto take_scratch(parameters const& p, Score const& score, std::size_t d, std::size_t N,
        std::size_t longest, kernel::arena<T>& memory)
    {
        using rows_type = kernel::attn_lstm_rows<T, Item, score_type>;
        rows_type const rows(p, N, longest, score_for(score, p, d), memory);
        return cell_scratch<T, rows_type>(rows, N, memory);
    }
    static std::size_t size_of(
        parameters const& p, Score const& score, memory_operand<Item> const& from, std::size_t N)
    {
        kernel::arena<T> size;
        take_scratch(p, score, 0, N, longest_of(from, N), size);
        return size.used();
    }
    static void step_in(parameters const& p, Score const& score, std::size_t d, row const* attending,
        std::size_t N, std::size_t S, T* numbers, attn_step_operands<Item> const& on)
    {
        std::size_t const longest = longest_of(N, [&](std::size_t n) { return length(attending[n]); });
        kernel::arena<T> memory(numbers);
        auto scratch = take_scratch(p, score, d, N, longest, memory);
        auto& rows = scratch.rows;
        rows.attend_to(attending, true);
        std::size_t const C = p.C;
        for (std::size_t n = 0; n < N; ++n) {
            kernel::copy_row<Item, T>({on.attention + n * C}, C, {rows.attention(n)});
            if (on.alignment != nullptr)
                kernel::copy_row<Item, T>({on.alignment + n * S}, length(attending[n]), {rows.alignment(n)});
        }
        detail::run_step(scratch, N, on.h, on.c, on.x_t, on.y_t);
        for (std::size_t n = 0; n < N; ++n) {
            kernel::copy_row<T, Item>({rows.attention(n)}, C, {on.attention + n * C});
            if (on.alignment == nullptr)
                continue;
            std::size_t const steps = length(attending[n]);
            kernel::copy_row<T, Item>({rows.alignment(n)}, steps, {on.alignment + n * S});
            std::fill(on.alignment + n * S + steps, on.alignment + (n + 1) * S, Item(0));
        }
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
