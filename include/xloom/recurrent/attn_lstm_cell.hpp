#pragma once
// One step of AttnLSTM, for streams and as a scan's body.

#include <concepts>
#include <utility>

#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/recurrent/cell.hpp>
#include <xloom/recurrent/attn_lstm.hpp>

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

namespace xloom::inline XLOOM_ABI {

/// One step of one direction of AttnLSTM for N rows with a memory each, bitwise equal to a step of attn_lstm.
///
///     h, c = lstm_step([x_t, attention], h, c)
///     alignment = softmax(score(M MW, h QW))  # over memory_seq_lens[n] steps of memory
///     attention = [h, alignment M] AW if AW else alignment M
///     y_t = h
///
/// Shapes    M [N, S, E], memory_seq_lens [N]; h, c and y_t [N, H], attention [N, C], alignment [N, S], x_t
///           [N, I]: spans, containers, row-major tensors and views whose items are contiguous.
/// Errors    shape_error: other sizes, or items that are not contiguous; before anything is written. A
///           moved-from cell has N = 0 rows. option_error: the weights have no attention (use lstm_cell), or
///           no direction d.
/// Cost      as attn_lstm. Keys are computed from M once, by the constructor or set_memory; a step allocates
///           nothing.
/// Real time each step after the first, and set_memory of a memory no larger than an earlier one.
/// Aliasing  x_t may be h or c, y_t may be h; the states must not overlap.
/// Threads   a step writes to scratch inside the cell: use one cell per thread. Cells share their weights.
/// Source    com.microsoft AttnLSTM-1. Used in examples/attention_reader/reader.hpp.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const W = xt::ones<float>({1, 4, 2}), R = xt::ones<float>({1, 4, 1});
/// xt::xtensor<float, 3> const QW = {{{1}}}, MW = {{{1}}};
/// xt::xtensor<float, 2> const V = {{1}};
/// xt::xtensor<float, 3> const M = {{{1}, {2}}};
/// xloom::attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V});
/// xloom::attn_lstm_cell<float> cell(weights, M);
/// xt::xtensor<float, 1> h = {0}, c = {0}, attention = {0};
/// cell(h, c, attention, xt::xtensor<float, 1>{1});
/// h; // = [0.369606]
/// attention; // = [1.52599]
/// ```
template <class Item, attention_score<detail::compute_t<Item>> Score = bahdanau>
class attn_lstm_cell {
    using T = detail::compute_t<Item>;
    using score_argument = detail::score_argument<T, Score>;

public:
    /// Constructs a cell with the weights of direction d. M is read by the constructor only.
    attn_lstm_cell(attn_lstm_weights<Item> weights, tensor_ref<Item const> const& M,
        lengths_ref const& memory_seq_lens = {}, std::size_t d = 0)
        requires std::default_initializable<Score>
        : attn_lstm_cell(Score{}, std::move(weights), M, memory_seq_lens, d)
    {}

    /// Constructs a cell with a score of one's own.
    attn_lstm_cell(Score score, attn_lstm_weights<Item> weights, tensor_ref<Item const> const& M,
        lengths_ref const& memory_seq_lens = {}, std::size_t d = 0)
        : weights_(std::move(weights)), score_(std::move(score)), d_(d)
    {
        detail::check_direction(name, weights_.sizes(), d);
        if (!weights_.sizes().attends)
            detail::fail<option_error>(
                name, ": the weights must have attention, but QW, MW and V are omitted. Use lstm_cell.");
        set_memory(M, memory_seq_lens);
    }

    attn_lstm_cell(attn_lstm_cell const&) = default;
    attn_lstm_cell(attn_lstm_cell&&) = default;
    attn_lstm_cell& operator=(attn_lstm_cell&&) = default;
    /// Copies `other` first, so that the cell is unchanged if allocation fails.
    attn_lstm_cell& operator=(attn_lstm_cell const& other)
        requires std::is_copy_assignable_v<Score>
    {
        return *this = attn_lstm_cell(other);
    }

    /// Sets another memory, of another N and S if need be. Allocates nothing if an earlier one was as large.
    void set_memory(tensor_ref<Item const> const& M, lengths_ref const& memory_seq_lens = {})
    {
        detail::check_rank(name, "M", M.rank());
        detail::check_rank(name, "memory_seq_lens", memory_seq_lens.rank());
        std::size_t const N = M.is_given() && M.shape().size() == 3 ? M.shape()[0] : 0;
        std::size_t const S = detail::check_memory(
            name, weights_.sizes(), N, detail::shape_if_given(M), memory_seq_lens.is_given(), {}, {});
        detail::check_rows(name, weights_.sizes(), N);
        detail::check_lengths(name, "memory_seq_lens", memory_seq_lens, N, "S", S);
        memory_.rows.reserve(N); // before loops over N: an M without items may have any N
        detail::memory_operand<Item> const memory{M, memory_seq_lens, S};
        std::size_t const memory_size = functions().memory_size(parameters(), memory, N),
                          size = functions().size(parameters(), score_argument(score_), memory, N);
        detail::check_fits_in_memory<T>(memory_size);
        detail::check_fits_in_memory<T>(size);
        // Allocations come first: if one fails, the cell is unchanged.
        scratch_.resize((std::max)(scratch_.size(), size + 1));
        memory_.numbers.resize((std::max)(memory_.numbers.size(), memory_size + 1));

        N_ = N;
        S_ = S;
        memory_.rows.resize(N);
        flush_subnormals const flushing;
        functions().fill(parameters(), memory, memory_.numbers.data(), memory_.rows.data(), N);
    }

    std::size_t batch_size() const noexcept { return N_; }
    std::size_t memory_steps() const noexcept { return S_; }

    /// Updates h, c and attention to the next state.
    template <class Hidden, class Cell, class Attention, class Element>
        requires std::same_as<Score, bahdanau>
    void operator()(Hidden&& h, Cell&& c, Attention&& attention, Element const& x_t)
    {
        detail::omitted_items<Item> y_t;
        (*this)(std::forward<Hidden>(h), std::forward<Cell>(c), std::forward<Attention>(attention), x_t, y_t);
    }

    /// Updates h, c and attention to the next state and writes y_t = h: the body of a scan over x_t.
    template <class Hidden, class Cell, class Attention, class Element, class Output>
        requires std::same_as<Score, bahdanau>
    void operator()(Hidden&& h, Cell&& c, Attention&& attention, Element const& x_t, Output&& y_t)
    {
        detail::omitted_items<Item> alignment;
        (*this)(std::forward<Hidden>(h), std::forward<Cell>(c), std::forward<Attention>(attention), alignment,
            x_t, std::forward<Output>(y_t));
    }

    /// Updates h, c, attention and alignment to the next state and writes y_t = h. The score reads the last
    /// alignment.
    template <class Hidden, class Cell, class Attention, class Alignment, class Element, class Output>
    void operator()(
        Hidden&& h, Cell&& c, Attention&& attention, Alignment&& alignment, Element const& x_t, Output&& y_t)
    {
        if constexpr (detail::satisfied<detail::cell_state<Item, Hidden>, detail::cell_state<Item, Cell>,
                          detail::cell_state<Item, Attention>, detail::cell_state<Item, Alignment>,
                          detail::cell_input<Item, Element>, detail::cell_state<Item, Output>>()) {
            std::size_t const H = weights_.sizes().H, I = weights_.sizes().I, C = weights_.sizes().C;
            detail::check_step(name, detail::sized("h", "N H", N_ * H, h),
                detail::sized("c", "N H", N_ * H, c), detail::sized("attention", "N C", N_ * C, attention),
                detail::sized("alignment", "N S", N_ * S_, alignment),
                detail::sized("x_t", "N I", N_ * I, x_t), detail::sized("y_t", "N H", N_ * H, y_t));
            step(detail::first_item(h), detail::first_item(c), detail::first_item(attention),
                detail::first_item(alignment), detail::first_item(x_t), detail::first_item(y_t));
        }
    }

private:
    static constexpr std::string_view name = "xloom::attn_lstm_cell";

    /// The keys and values of all rows, and the numbers that they point to. A copy points to its own numbers.
    struct held_memory {
        detail::aligned_vector<T> numbers;
        std::vector<kernel::attending_row<T, Item>> rows;

        held_memory() = default;
        held_memory(held_memory&&) noexcept = default;
        held_memory& operator=(held_memory&&) noexcept = default;
        held_memory(held_memory const& other) : numbers(other.numbers), rows(other.rows)
        {
            for (auto& [row, memory, alignment, alignment_stride] : rows) {
                memory.keys.first = numbers.data() + (memory.keys.first - other.numbers.data());
                memory.values = numbers.data() + (memory.values - other.numbers.data());
            }
        }
    };

    kernel::attn_lstm_parameters<T> const& parameters() const { return detail::parameters_of(weights_, d_); }

    constexpr auto functions() const noexcept
    {
        return weights_.level().template functions<detail::attn_cell_functions<Item, score_argument>>();
    }

    void step(Item* h, Item* c, Item* attention, Item* alignment, Item const* x_t, Item* y_t)
    {
        flush_subnormals const flushing;
        functions().step(parameters(), score_argument(score_), d_, memory_.rows.data(), N_, S_,
            scratch_.data(), {h, c, attention, alignment, x_t, y_t});
    }

    attn_lstm_weights<Item> weights_;
    Score score_;
    std::size_t d_;
    detail::movable_value<std::size_t> N_; ///< 0 for a moved-from cell, which has no memory
    std::size_t S_ = 0;
    held_memory memory_;
    detail::aligned_vector<T> scratch_;
};

} // namespace xloom::inline XLOOM_ABI
