#pragma once
// The attention score as a user-defined callable.

#include <concepts>
#include <cstddef>
#include <span>

#include <xloom/kernel/attn_lstm.hpp>

namespace xloom {

/// The arguments of a score for one row of the batch, and its output.
template <class T>
struct attention_step {
    std::size_t d; ///< the direction: 1 for the reverse one of bidirectional, else 0
    std::size_t n; ///< the row of the batch
    T const* keys; ///< [s, A]: s steps of memory at a stride of key_step
    std::size_t key_step;
    std::span<T const> query; ///< [A]
    std::span<T const> V;     ///< [A]
    std::span<T const>
        last_alignment;  ///< [s]; zeros before the first step, unless initial_alignment is given
    std::span<T> scores; ///< [s], to be written

    std::span<T const> key(std::size_t m) const { return {keys + m * key_step, query.size()}; }
};

/// The default score: scores[m] = sum_a V[a] tanh(keys[m, a] + query[a]).
struct bahdanau {};

/// A score of attention: bahdanau, or a callable for which score(step) writes step.scores. It is called for
/// rows with memory only, concurrently if the policy has several threads.
template <class Score, class T>
concept attention_score =
    std::same_as<Score, bahdanau> || std::invocable<Score const&, attention_step<T> const&>;

namespace detail {

template <class T, class Score>
struct user_score {
    static constexpr bool takes_exponentials = false;

    Score const* score;
    std::size_t d, A;
    T const* V;

    void operator()(
        std::size_t row, kernel::key_rows<T> const& keys, T* query, T const* last_alignment, T* scores) const
    {
        (*score)(attention_step<T>{d, row, keys.first, keys.step, {query, A}, {V, A},
            {last_alignment, keys.length}, {scores, keys.length}});
    }
};

template <class T>
kernel::bahdanau_score<T> score_for(bahdanau const&, kernel::attn_lstm_parameters<T> const& p, std::size_t)
{
    return {p.V, p.A};
}
template <class T, class Score>
user_score<T, Score> score_for(Score const& score, kernel::attn_lstm_parameters<T> const& p, std::size_t d)
{
    return {&score, d, p.A, p.V.V};
}

} // namespace detail
} // namespace xloom
