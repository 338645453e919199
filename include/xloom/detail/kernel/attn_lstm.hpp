#pragma once
// A time step of an LSTM with Bahdanau attention for a batch of rows, on raw data.

#include <algorithm>
#include <cstddef>
#include <limits>

#include <xloom/detail/kernel/attention.hpp>
#include <xloom/detail/kernel/lstm.hpp>
#include <xloom/detail/kernel/sequences.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The constants of one direction. C, the length of the attention state, is L if there is an attention layer
/// AW, else E.
template <class T>
struct attn_lstm_parameters {
    using number = T;

    lstm_parameters<T> lstm;
    std::size_t A, E, C;
    stored_matrix<T> W_attention; ///< [C, 4 gate_stride]
    stored_matrix<T> QW;          ///< [H, A]
    stored_matrix<T> MW;          ///< [E, A]
    stored_matrix<T> AW_h;        ///< [H, L]
    stored_matrix<T> AW_context;  ///< [E, L]
    score_weights<T> V;
    T const* zeros; ///< as long as the widest row
    bool attends;   ///< false: a plain LSTM
    bool has_layer; ///< true: AW is given

    stored_matrix<T> const& of_every_step() const noexcept { return lstm.of_every_step(); }
    /// Returns the multiply-adds of a row and a step, without the scores.
    std::size_t products() const noexcept
    {
        return lstm.products() + W_attention.depth * W_attention.columns + QW.depth * QW.columns +
               AW_h.depth * AW_h.columns + AW_context.depth * AW_context.columns;
    }
};

/// The memory that a row attends to.
template <class T>
struct attention_memory {
    key_rows<T> keys;
    T* values; ///< panels [length, E]
};

/// The memory of one row of the batch: item (m, e) is at items[m * stride + e * item_stride].
template <class Item>
struct memory_rows {
    Item const* items;
    std::size_t length;
    std::ptrdiff_t stride;
    std::ptrdiff_t item_stride;
};

/// Allocates keys and values for `length` rows of memory.
template <class T>
attention_memory<T> take_memory(
    attn_lstm_parameters<T> const& p, std::size_t length, arena<T>& memory) noexcept
{
    std::size_t const stride = whole_batches<T>(p.A);
    return {{memory.take(length, stride), length, stride, false}, memory.take(length, whole_batches<T>(p.E))};
}

/// Writes zeros after the A numbers of a key or query, up to a whole batch: infinity times the zeros that pad
/// a product is NaN, which V's zeros do not undo.
template <class T>
void clear_padding(T* row, std::size_t A) noexcept
{
    std::fill(row + A, row + whole_batches<T>(A), T(0));
}

/// Computes keys and values from a row's memory. `row` is scratch for [length, E].
template <class T, class Item>
void fill_memory(attn_lstm_parameters<T> const& p, memory_rows<Item> const& from, T* row,
    bool with_exponentials, attention_memory<T>& to)
{
    for (std::size_t m = 0; m < from.length; ++m)
        copy_row<Item, T>({from.items + static_cast<std::ptrdiff_t>(m) * from.stride, from.item_stride}, p.E,
            {row + m * p.E});
    pack_panels<T, T>(
        {row, static_cast<std::ptrdiff_t>(p.E), 1}, from.length, p.E, {to.values, from.length, p.E});
    multiply<T>(from.length, {row, p.E}, p.MW, {p.zeros, 0}, {to.keys.first, to.keys.stride});
    for (std::size_t m = 0; m < from.length; ++m)
        clear_padding(to.keys.first + m * to.keys.stride, p.A);
    if (with_exponentials && p.V.minus_2V != nullptr)
        make_exponentials(to.keys, p.A);
}

/// The default score: Bahdanau's, with weights V.
template <class T>
struct bahdanau_score {
    static constexpr bool takes_exponentials = has_simd<T>;

    score_weights<T> V;
    std::size_t A;

    void operator()(std::size_t, key_rows<T> const& keys, T* query, T const*, T* scores) const noexcept
    {
        if constexpr (takes_exponentials)
            if (keys.are_exponentials)
                make_exponentials(query, A);
        bahdanau_scores(keys, query, V, A, scores);
    }
};

/// A row of the batch with its memory and the destination of its alignments.
template <class T, class Item>
struct attending_row {
    std::size_t row; ///< in the batch
    attention_memory<T> memory;
    strided_row<Item> alignment; ///< null: omitted
    std::ptrdiff_t alignment_stride;
};

/// The states of a batch's rows. The score is called as score(row, keys, query, last alignment, scores). Lstm
/// is lstm_rows or derived from it, and constructed from `arguments` too.
template <class T, class Item, class Score, class Lstm = lstm_rows<T>>
class attn_lstm_rows : public Lstm {
public:
    template <class... Arguments>
    attn_lstm_rows(attn_lstm_parameters<T> const& p, std::size_t rows, std::size_t longest_memory,
        Score const& score, arena<T>& memory, Arguments const&... arguments)
        : Lstm(p.lstm, rows, arguments..., memory),
          p_(p),
          score_(score),
          alignment_stride_(whole_batches<T>(longest_memory)),
          attention_(memory.take(rows, attention_stride())),
          context_(p.has_layer ? memory.take(rows, context_stride()) : attention_),
          query_(memory.take(rows, query_stride())),
          alignment_(memory.take(rows, alignment_stride_)),
          scores_(memory.take(alignment_stride_))
    {}

    T* attention(std::size_t row) const noexcept { return attention_ + row * attention_stride(); }
    T* alignment(std::size_t row) const noexcept { return alignment_ + row * alignment_stride_; }
    T const* context(std::size_t row) const noexcept { return context_ + row * context_stride(); }
    /// Returns the query of a row's last step: exponentials if its keys are.
    T const* query(std::size_t row) const noexcept { return query_ + row * query_stride(); }

    /// Sets the rows' memories. If `has_last_step`, the attention of a row's last step is computed too,
    /// although no step reads it.
    void attend_to(attending_row<T, Item> const* rows, bool has_last_step) noexcept
    {
        rows_ = rows;
        has_last_step_ = has_last_step;
    }

    /// Performs step t of the first `rows` rows, whose sums hold W x + bias; the first `continuing` of them
    /// have a step t + 1.
    void step(std::size_t rows, std::size_t continuing, std::size_t t, T* sums) const
    {
        if (p_.attends)
            this->multiplication()(rows, {attention_, attention_stride()}, p_.W_attention,
                {sums, this->sums_stride()}, {sums, this->sums_stride()});
        Lstm::step(rows, continuing, t, sums);
        if (p_.attends)
            attend_all(has_last_step_ ? rows : continuing, t);
    }

private:
    std::size_t attention_stride() const noexcept { return row_stride<T>(p_.C); }
    std::size_t context_stride() const noexcept { return row_stride<T>(p_.E); }
    std::size_t query_stride() const noexcept { return row_stride<T>(p_.A); }

    void attend_all(std::size_t rows, std::size_t t) const
    {
        row_span<T const> const h = this->h_of_all();
        row_span<T const> const zeros{p_.zeros, 0};
        this->multiplication()(rows, h, p_.QW, zeros, {query_, query_stride()});
        for (std::size_t row = 0; row < rows; ++row) {
            clear_padding(query_ + row * query_stride(), p_.A);
            attend(row, t);
        }
        if (p_.has_layer) {
            row_span<T> const attention{attention_, attention_stride()};
            this->multiplication()(rows, h, p_.AW_h, zeros, attention);
            this->multiplication()(rows, {context_, context_stride()}, p_.AW_context,
                {attention_, attention_stride()}, attention);
        }
    }

    /// Computes the alignment and the context of one row.
    void attend(std::size_t row, std::size_t t) const
    {
        attending_row<T, Item> const& at = rows_[row];
        std::size_t const length = at.memory.keys.length;
        if (length != 0)
            score_(at.row, at.memory.keys, query_ + row * query_stride(), alignment(row), scores_);
        if constexpr (has_simd<T>)
            std::fill(
                scores_ + length, scores_ + whole_batches<T>(length), -std::numeric_limits<T>::infinity());
        softmax(scores_, alignment(row), whole_batches<T>(length));
        multiply<T>(1, {alignment(row), 0}, panels<T>{at.memory.values, length, p_.E}, {p_.zeros, 0},
            {context_ + row * context_stride(), 0});
        if (at.alignment.first != nullptr)
            copy_row<T, Item>({alignment(row)}, length,
                {at.alignment.first + static_cast<std::ptrdiff_t>(t) * at.alignment_stride,
                    at.alignment.stride});
    }

    attn_lstm_parameters<T> const& p_;
    Score score_;
    std::size_t alignment_stride_;
    T* attention_;
    T* context_;
    T* query_;
    T* alignment_;
    T* scores_;
    attending_row<T, Item> const* rows_ = nullptr;
    bool has_last_step_ = false;
};

} // namespace xloom::inline XLOOM_ABI::kernel
