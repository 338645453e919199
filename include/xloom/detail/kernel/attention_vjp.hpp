#pragma once
// The vector-Jacobian product of Bahdanau's score.

#include <cstddef>

#include <xloom/detail/kernel/attention.hpp>
#include <xloom/detail/kernel/row_blocks.hpp>
#include <xloom/detail/kernel/slopes.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The outputs of bahdanau_scores_vjp: `query` is written; `keys`, of which keys.first may be null, and `V`
/// are added to.
template <class T>
struct score_cotangents {
    T* query;
    rows_of<T> keys;
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
[[gnu::flatten]] void score_vjp_all(key_rows<T const> const& keys, T const* query, T const* V, std::size_t A,
    T const* ct_scores, score_cotangents<T> const& ct, F const& differentiate_at) noexcept
{
    for (std::size_t a = 0; a < A; a += batch_size<T>) {
        auto const q = load_batch(query + a), v = load_batch(V + a);
        auto ct_query = batch_t<T>(T(0)), ct_V = load_batch(ct.V + a);
        for (std::size_t m = 0; m < keys.length; ++m) {
            auto const [value, slope] = differentiate_at(load_batch(keys.first + m * keys.step + a), q);
            auto const ct_score = batch_t<T>(ct_scores[m]);
            auto const ct_sum = ct_score * v * slope;
            ct_V = multiply_add(ct_score, value, ct_V);
            ct_query = ct_query + ct_sum;
            if (ct.keys.first != nullptr) {
                T* const ct_key = ct.keys.first + m * ct.keys.step + a;
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

} // namespace xloom::inline XLOOM_ABI::kernel
