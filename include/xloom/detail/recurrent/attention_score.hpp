#pragma once
// The attention score as a user-defined callable.

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <xloom/detail/kernel/attn_lstm.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

/// The arguments of a score for one row of the batch, and its output.
template <class T>
struct attention_step {
    std::size_t d; ///< the direction: 1 for the reverse one of bidirectional, else 0
    std::size_t n; ///< the row of the batch
    T const* keys; ///< [s, A]: s steps of memory at a stride of key_stride
    std::size_t key_stride;
    std::span<T const> query; ///< [A]
    std::span<T const> V;     ///< [A]
    std::span<T const>
        last_alignment;  ///< [s]; zeros before the first step, unless initial_alignment is given
    std::span<T> scores; ///< [s], to be written

    std::span<T const> key(std::size_t m) const { return {keys + m * key_stride, query.size()}; }
};

/// The default score: scores[m] = sum_a V[a] tanh(keys[m, a] + query[a]).
struct bahdanau {};

/// A score of attention: bahdanau, or a callable for which score(step) writes step.scores. It is called for
/// rows with memory only, concurrently if the policy has several threads.
template <class Score, class T>
concept attention_score =
    std::same_as<Score, bahdanau> || std::invocable<Score const&, attention_step<T> const&>;

namespace detail {

/// A type that may be a score, in front of the operands: neither a tensor nor weights.
template <class Score>
concept score_argument_like =
    !tensor<Score> && !lazy<Score> && !requires(Score const& weights) { weights.sizes(); };

/// A reference to a callable score, without its type: one function for all of them is compiled in
/// xloom_dispatch.
template <class T>
class score_ref {
public:
    template <class Score>
    explicit score_ref(Score const& score)
        : score_(&score), call_([](void const* callable, attention_step<T> const& step) {
              (*static_cast<Score const*>(callable))(step);
          })
    {}

    void operator()(attention_step<T> const& step) const { call_(score_, step); }

private:
    void const* score_;
    void (*call_)(void const*, attention_step<T> const&);
};

/// The type by which a score is known to the engine.
template <class T, class Score>
using score_argument = std::conditional_t<std::same_as<Score, bahdanau>, bahdanau, score_ref<T>>;

/// A callable score for one direction, as the kernel calls it.
template <class T>
struct callable_score {
    static constexpr bool takes_exponentials = false;

    score_ref<T> score;
    std::size_t d, A;
    T const* V;

    void operator()(
        std::size_t row, kernel::key_rows<T> const& keys, T* query, T const* last_alignment, T* scores) const
    {
        score(attention_step<T>{d, row, keys.first, keys.stride, {query, A}, {V, A},
            {last_alignment, keys.length}, {scores, keys.length}});
    }
};

template <class T>
kernel::bahdanau_score<T> score_for(bahdanau const&, kernel::attn_lstm_parameters<T> const& p, std::size_t)
{
    return {p.V, p.A};
}
template <class T>
callable_score<T> score_for(
    score_ref<T> const& score, kernel::attn_lstm_parameters<T> const& p, std::size_t d)
{
    return {score, d, p.A, p.V.V};
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
