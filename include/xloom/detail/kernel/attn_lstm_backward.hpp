#pragma once
// AttnLSTM's forward step that keeps residuals, and its backward step, on raw data.
//
// Residuals are those of the LSTM, the sums of the gates and c, and of the attention its state, the context,
// the query and the alignment. The keys are kept once.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/attention.hpp>
#include <xloom/detail/kernel/attn_lstm.hpp>
#include <xloom/detail/kernel/lstm_backward.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The outputs of bahdanau_scores_vjp: `query` is written; `keys`, of which keys.first may be null, and `V`
/// are added to.
template <class T>
struct score_cotangents {
    T* query;
    row_span<T> keys;
    T* V;
};

namespace detail {

/// Returns tanh(key + query) and its derivative.
template <class V>
value_and_slope<V> differentiate_term(V const& key, V const& query)
{
    return differentiate(kernel::tanh(), key + query);
}

/// Returns tanh(key + query) and its derivative, from exp(2 key) and exp(2 query).
template <class V>
value_and_slope<V> differentiate_term_of_exponentials(V const& key, V const& query)
{
    V const one(1), e = key * query, share = divide(one, one + e);
    // Not 1 - share where e is small, which would cancel, and not e * share where e is infinite.
    V const rest = select(e < one, e * share, one - share);
    return {one - (share + share), V(4) * share * rest};
}

/// Computes the cotangents; differentiate_at(key, query) returns the value and the derivative of a term.
template <class T, class F>
XLOOM_FLATTEN void score_vjp_all(key_rows<T const> const& keys, T const* query, T const* V, std::size_t A,
    T const* ct_scores, score_cotangents<T> const& ct, F const& differentiate_at) noexcept
{
    for (std::size_t a = 0; a < A; a += batch_size<T>) {
        auto const q = load_batch(query + a), v = load_batch(V + a);
        auto ct_query = batch_t<T>(T(0)), ct_V = load_batch(ct.V + a);
        for (std::size_t m = 0; m < keys.length; ++m) {
            auto const [value, slope] = differentiate_at(load_batch(keys.first + m * keys.stride + a), q);
            auto const ct_score = batch_t<T>(ct_scores[m]);
            auto const ct_sum = ct_score * v * slope;
            ct_V = multiply_add(ct_score, value, ct_V);
            ct_query = ct_query + ct_sum;
            if (ct.keys.first != nullptr) {
                T* const ct_key = ct.keys.first + m * ct.keys.stride + a;
                store_batch(ct_key, load_batch(ct_key) + ct_sum);
            }
        }
        store_batch(ct.query + a, ct_query);
        store_batch(ct.V + a, ct_V);
    }
}

} // namespace detail

/// Computes the cotangents of the operands of scores[m] = sum_a V[a] tanh(key[m, a] + query[a]). Requires a
/// query of exponentials if the keys are exponentials; the cotangents are those of the keys and the query
/// themselves.
template <class T>
void bahdanau_scores_vjp(key_rows<T const> const& keys, T const* query, T const* V, std::size_t A,
    T const* ct_scores, score_cotangents<T> const& ct) noexcept
{
    if (keys.are_exponentials)
        detail::score_vjp_all(keys, query, V, A, ct_scores, ct, [](auto const& key, auto const& q) {
            return detail::differentiate_term_of_exponentials(key, q);
        });
    else
        detail::score_vjp_all(keys, query, V, A, ct_scores, ct,
            [](auto const& key, auto const& q) { return detail::differentiate_term(key, q); });
}

/// The attributes of one direction, which residuals depend on.
template <class T>
struct attn_lstm_attributes {
    lstm_attributes<T> lstm;
    bool attends, has_layer;

    friend bool operator==(attn_lstm_attributes const&, attn_lstm_attributes const&) = default;
};

template <class T>
attn_lstm_attributes<T> attributes_of(attn_lstm_parameters<T> const& p)
{
    return {attributes_of(p.lstm), p.attends, p.has_layer};
}

/// The residuals of a row and a step for S steps of memory: where each part begins, after the sums of the
/// gates and c.
template <class T>
struct attention_residuals {
    std::size_t attention, context, query, alignment, size;

    /// Parameters are those of the forward or of the backward pass.
    template <class Parameters>
    attention_residuals(Parameters const& p, std::size_t gate_stride, std::size_t S) noexcept
        : attention(5 * gate_stride),
          context(p.has_layer ? attention + whole_batches<T>(p.C) : attention),
          query(context + whole_batches<T>(p.E)),
          alignment(query + whole_batches<T>(p.A)),
          size(alignment + whole_batches<T>(S))
    {}
};

/// Returns the number of residuals of a row's initial states: h, c, the attention.
template <class T>
std::size_t initial_size(attn_lstm_parameters<T> const& p) noexcept
{
    return initial_size(p.lstm) + whole_batches<T>(p.C);
}

/// The rows of attn_lstm_rows, whose steps keep residuals. The states have the same bits.
template <class T, class Item, class Score>
class recorded_attn_lstm_rows : public attn_lstm_rows<T, Item, Score, recorded_lstm_rows<T>> {
    using base = attn_lstm_rows<T, Item, Score, recorded_lstm_rows<T>>;

public:
    recorded_attn_lstm_rows(attn_lstm_parameters<T> const& p, std::size_t rows, std::size_t longest_memory,
        Score const& score, arena<T>& memory, residual_rows<T> const& residuals,
        attention_residuals<T> const& parts)
        : base(p, rows, longest_memory, score, memory, residuals), p_(p), parts_(parts)
    {}

    /// Sets the rows' memories. The attention of each row's last step is kept too.
    void attend_to(attending_row<T, Item> const* rows, bool) noexcept
    {
        rows_ = rows;
        base::attend_to(rows, true);
    }
    void step(std::size_t rows, std::size_t continuing, std::size_t t, T* sums) const
    {
        base::step(rows, continuing, t, sums);
        if (!p_.attends)
            return;
        for (std::size_t r = 0; r < rows; ++r) {
            T* const kept = this->residuals()(t, r);
            std::copy_n(this->attention(r), whole_batches<T>(p_.C), kept + parts_.attention);
            if (p_.has_layer)
                std::copy_n(this->context(r), whole_batches<T>(p_.E), kept + parts_.context);
            std::copy_n(this->query(r), whole_batches<T>(p_.A), kept + parts_.query);
            std::copy_n(this->alignment(r), rows_[r].memory.keys.length, kept + parts_.alignment);
        }
    }

private:
    attn_lstm_parameters<T> const& p_;
    attention_residuals<T> parts_;
    attending_row<T, Item> const* rows_ = nullptr;
};

/// The constants of one direction of a backward pass. A, E and C are as in attn_lstm_parameters.
template <class T>
struct attn_lstm_backward_parameters : lstm_backward_parameters<T> {
    std::size_t A = 0, E = 0, C = 0;
    panels<T> W_attention{}; ///< [4 gate_stride, C]
    panels<T> QW{};          ///< [A, H]
    panels<T> MW{};          ///< [A, E]
    panels<T> AW_h{};        ///< [C, H]
    panels<T> AW_context{};  ///< [C, E]
    T const* V = nullptr;    ///< padded to whole batches
    bool attends = false, has_layer = false;

    /// Returns the multiply-adds of a row and a step, without the scores.
    std::size_t products() const noexcept
    {
        return lstm_backward_parameters<T>::products() +
               2 * (4 * this->gate_stride * C + A * this->H + (has_layer ? C * (this->H + E) : 0));
    }
};

template <class T>
attn_lstm_attributes<T> attributes_of(attn_lstm_backward_parameters<T> const& p)
{
    return {p.how, p.attends, p.has_layer};
}

/// A row of the batch: its keys and values, the cotangents of its alignments, and those that it adds to.
template <class T, class Item>
struct attending_backward_row {
    key_rows<T const> keys;
    panels<T> values;                   ///< [E, length]: the memory, transposed
    strided_row<Item const> alignments; ///< the cotangents of the first step; null: zeros
    std::ptrdiff_t alignments_stride;
    strided_row<Item const> last_alignment; ///< added to those of the last step; null: zeros
    std::size_t last_step;
    row_span<T> ct_keys;   ///< first may be null: omitted
    row_span<T> ct_memory; ///< of the contexts; first may be null: omitted
    T* ct_V;
};

/// The cotangents of the states of a batch's rows, and their backward step. row(r) returns the
/// attending_backward_row of row r.
template <class T, class Row>
class attn_lstm_backward_rows : public lstm_backward_rows<T> {
    using base = lstm_backward_rows<T>;

public:
    using parameters = attn_lstm_backward_parameters<T>;
    using base::sums_size;

    /// The gradients of W for x, R, W for the attention, QW, AW; x, h and the attention before the step, the
    /// cotangents of the query and of the attention after it. h and the context after it are left factors.
    static constexpr std::size_t gradients = 5, factors = 5;
    static constexpr std::size_t gradient_of_W_attention = 2, gradient_of_QW = 3, gradient_of_AW = 4;
    static constexpr std::size_t factor_attention = 2, factor_query = 3, factor_ct_attention = 4;

    attn_lstm_backward_rows(
        parameters const& p, std::size_t rows, std::size_t S, Row const& row, arena<T>& memory)
        : base(p, rows, memory),
          p_(p),
          row_(row),
          S_(S),
          parts_(p, p.gate_stride, S),
          ct_attention_{memory.take(rows, whole_batches<T>(p.C)), whole_batches<T>(p.C)},
          ct_context_{memory.take(rows, whole_batches<T>(p.E)), whole_batches<T>(p.E)},
          ct_query_{memory.take(rows, whole_batches<T>(p.A)), whole_batches<T>(p.A)},
          ct_alignment_(memory.take(whole_batches<T>(S))),
          zeros_{memory.take(widest(p, S)), 0}
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept
    {
        return {p.I, p.H, p.C, p.A, p.C};
    }
    static gradient_columns columns(parameters const& p)
    {
        gradient_columns all = base::columns(p);
        if (!p.attends)
            return all;
        for (std::size_t gate = 0; gate < base::gates; ++gate)
            all[gate].products.push_back({gradient_of_W_attention, gate * p.H, factor_attention});
        all.push_back({sums_size(p), p.H, {{gradient_of_QW, 0, factor_query}}});
        if (p.has_layer) {
            all.back().products.push_back({gradient_of_AW, 0, factor_ct_attention});
            all.push_back({sums_size(p) + p.gate_stride, p.E, {{gradient_of_AW, p.H, factor_ct_attention}}});
        }
        return all;
    }
    /// Returns the number of columns of sums, and that of all left factors.
    static std::size_t row_size(parameters const& p) noexcept
    {
        if (!p.attends)
            return sums_size(p);
        return sums_size(p) + p.gate_stride + (p.has_layer ? whole_batches<T>(p.E) : 0);
    }

    T* ct_attention(std::size_t row) const noexcept { return ct_attention_.from(row).first; }

    /// Sets the memory that must be zeros.
    void start() const noexcept
    {
        base::start();
        std::fill_n(zeros_.first, widest(p_, S_), T(0));
    }

    /// Performs the backward step t of the first `rows` rows: writes their left factors, and replaces the
    /// cotangents of the states after the step by those before it. Calls keep(t, r, factor, right factor).
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, row_span<T> left, Keep const& keep) const noexcept
    {
        if (!p_.attends)
            return base::step(rows, t, residuals, initial, left, keep);
        attend(rows, t, residuals, keep);
        base::step(rows, t, residuals, initial, left,
            [&](std::size_t next, std::size_t r, std::size_t factor, T const* h) {
                keep(next, r, factor, h);
                std::copy_n(h, p_.gate_stride, left.from(r).first + sums_size(p_));
            });
        for (std::size_t r = 0; r < rows; ++r) {
            if (p_.has_layer)
                std::copy_n(residuals(t, r) + parts_.context, whole_batches<T>(p_.E),
                    left.from(r).first + sums_size(p_) + p_.gate_stride);
            keep(t, r, factor_attention,
                before_step(t, r, residuals, parts_.attention, initial, 2 * p_.gate_stride));
        }
        multiply<T>(rows, left, p_.W_attention, zeros_, ct_attention_);
    }

private:
    /// Adds to the cotangents of h those that come through the attention of step t.
    template <class Keep>
    void attend(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        Keep const& keep) const noexcept
    {
        row_span<T> const ct_h = this->ct_h_of_all();
        if (p_.has_layer) {
            multiply<T>(rows, ct_attention_, p_.AW_h, ct_h, ct_h);
            multiply<T>(rows, ct_attention_, p_.AW_context, zeros_, ct_context_);
        }
        for (std::size_t r = 0; r < rows; ++r) {
            attend_row(t, r, residuals(t, r));
            keep(t, r, factor_ct_attention, ct_attention_.from(r).first);
            keep(t, r, factor_query, ct_query_.from(r).first);
        }
        multiply<T>(rows, ct_query_, p_.QW, ct_h, ct_h);
    }

    /// Computes the cotangents of a row's query, and adds to those of its memory, keys and V.
    void attend_row(std::size_t t, std::size_t r, T const* kept) const noexcept
    {
        auto const at = row_(r);
        std::size_t const length = at.keys.length;
        T const *const ct_context = (p_.has_layer ? ct_context_ : ct_attention_).from(r).first,
                       *const alignment = kept + parts_.alignment;
        if (length == 0) {
            std::fill_n(ct_query_.from(r).first, whole_batches<T>(p_.A), T(0));
            return;
        }
        multiply<T>(1, {ct_context, 0}, at.values, zeros_, {ct_alignment_, 0});
        if (at.alignments.first != nullptr)
            add_row(at.alignments.first + static_cast<std::ptrdiff_t>(t) * at.alignments_stride,
                at.alignments.stride, length);
        if (at.last_alignment.first != nullptr && t == at.last_step)
            add_row(at.last_alignment.first, at.last_alignment.stride, length);
        softmax_vjp(alignment, ct_alignment_, length);
        for (std::size_t m = 0; m < length && at.ct_memory.first != nullptr; ++m)
            for_each_batch<T>(
                p_.E, [=, share = batch_t<T>(alignment[m]), to = at.ct_memory.from(m).first](std::size_t e) {
                    store_batch(to + e, multiply_add(share, load_batch(ct_context + e), load_batch(to + e)));
                });
        bahdanau_scores_vjp<T>(at.keys, kept + parts_.query, p_.V, p_.A, ct_alignment_,
            {ct_query_.from(r).first, at.ct_keys, at.ct_V});
    }

    template <class Item>
    void add_row(Item const* from, std::ptrdiff_t stride, std::size_t length) const noexcept
    {
        for (std::size_t m = 0; m < length; ++m)
            ct_alignment_[m] =
                ct_alignment_[m] + static_cast<T>(from[static_cast<std::ptrdiff_t>(m) * stride]);
    }

    static std::size_t widest(parameters const& p, std::size_t S) noexcept
    {
        return whole_batches<T>((std::max)({S, p.C, p.E}));
    }

    parameters const& p_;
    Row row_;
    std::size_t S_;
    attention_residuals<T> parts_;
    row_span<T> ct_attention_, ct_context_, ct_query_;
    T* ct_alignment_;
    row_span<T> zeros_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
