#pragma once
// Bahdanau attention over one memory: keys that are computed once, and their scores for each query.
//
// Why exponentials: the keys do not change from step to step, and tanh(key + query) = 1 - 2 / (1 + exp(2 key)
// exp(2 query)). With both exponentials precomputed, an element costs a multiplication and a division instead
// of a tanh. The cost is cancellation where key + query is near 0: the error of a float's score is 2^-24 sum
// |V|, while that of a tanh would shrink with it. So exponentials are not used where sum |V| is large.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/activations.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The largest |key| for which exponentials are used. With such keys, a query whose exponential overflows or
/// underflows gives a tanh of exactly 1 or -1.
template <class T>
inline constexpr T largest_key = 0;
template <>
inline constexpr float largest_key<float> = 16;
template <>
inline constexpr double largest_key<double> = 150;

/// The largest sum of |V| for which scores are computed from exponentials.
inline constexpr double largest_weights = 64;

/// The keys of one memory: `length` rows at a stride of `stride`, padded to whole batches.
template <class T>
struct key_rows {
    T* first = nullptr;
    std::size_t length = 0;
    std::size_t stride = 0;
    bool are_exponentials = false; ///< each key is stored as exp(2 key)
};

/// Replaces the keys by exponentials unless one exceeds largest_key.
template <class T>
void make_exponentials(key_rows<T>& keys, std::size_t A) noexcept
{
    if constexpr (has_simd<T>) {
        constexpr T limit = largest_key<T>;
        bool is_small = true;
        for (std::size_t m = 0; m < keys.length; ++m)
            for (std::size_t a = 0; a < A; ++a)
                is_small &= !(std::abs(keys.first[m * keys.stride + a]) > limit);
        if (!is_small)
            return;
        for (std::size_t m = 0; m < keys.length; ++m)
            map(keys.first + m * keys.stride, keys.first + m * keys.stride, whole_batches<T>(A),
                []<class V>(V const& key) { return kernel::exp_of(key + key); });
        keys.are_exponentials = true;
    }
}

/// Replaces a query by exponentials, for keys that are exponentials.
template <class T>
void make_exponentials(T* query, std::size_t A) noexcept
{
    map(query, query, whole_batches<T>(A), []<class V>(V const& q) { return kernel::exp_of(q + q); });
}

namespace detail {

/// Computes scores[m] = start + sum_a term(key[m, a], query[a], V[a]) for `Keys` keys at once; f adds a term
/// to a sum.
template <std::size_t Keys, class T, class F>
XLOOM_FLATTEN void score_keys(T const* keys, std::size_t stride, T const* query, T const* V, std::size_t A,
    T* scores, T start, F const& f) noexcept
{
    constexpr std::size_t at_once = compensated_sum<T>::at_once;
    compensated_sum<T> totals[Keys];
    for (std::size_t begin = 0; begin < A; begin += at_once) {
        batch_t<T> sums[Keys];
        for (auto& sum : sums)
            sum = batch_t<T>(T(0));
        std::size_t const end = (std::min)(begin + at_once, A);
        for (std::size_t a = begin; a < end; a += batch_size<T>) {
            auto const q = load_batch(query + a), v = load_batch(V + a);
            XLOOM_UNROLL(4)
            for (std::size_t m = 0; m < Keys; ++m)
                sums[m] = f(load_batch(keys + m * stride + a), q, v, sums[m]);
        }
        XLOOM_UNROLL(4)
        for (std::size_t m = 0; m < Keys; ++m)
            totals[m].add(sums[m]);
    }
    for (std::size_t m = 0; m < Keys; ++m)
        scores[m] = start + totals[m].total();
}

template <class T, class F>
void score_all(key_rows<T> const& keys, T const* query, T const* V, std::size_t A, T* scores, T start,
    F const& f) noexcept
{
    std::size_t m = 0;
    for (; m + 4 <= keys.length; m += 4)
        score_keys<4>(keys.first + m * keys.stride, keys.stride, query, V, A, scores + m, start, f);
    for (; m < keys.length; ++m)
        score_keys<1>(keys.first + m * keys.stride, keys.stride, query, V, A, scores + m, start, f);
}

} // namespace detail

/// V, padded to whole batches with zeros, and the values that exponentials require of it.
template <class T>
struct score_weights {
    T const* V;
    T const* minus_2V; ///< null: V is too large for exponentials
    T sum;
};

/// Computes scores[m] = sum_a V[a] tanh(key[m, a] + query[a]). Requires a query of exponentials if the keys
/// are exponentials.
template <class T>
void bahdanau_scores(
    key_rows<T> const& keys, T const* query, score_weights<T> const& V, std::size_t A, T* scores) noexcept
{
    if (keys.are_exponentials)
        detail::score_all(keys, query, V.minus_2V, A, scores, V.sum,
            []<class B>(B const& key, B const& q, B const& v, B const& sum) {
                return sum + divide(v, multiply_add(key, q, B(T(1))));
            });
    else
        detail::score_all(keys, query, V.V, A, scores, T(0),
            []<class B>(B const& key, B const& q, B const& v, B const& sum) {
                return multiply_add(v, detail::tanh_of(key + q), sum);
            });
}

} // namespace xloom::inline XLOOM_ABI::kernel
