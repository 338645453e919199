// Bahdanau's scores against float64: by exponentials up to their limits, by tanh beyond.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/kernel/attention.hpp>

#include "support/larger_error.hpp"

namespace kernel_attention_test {

using namespace xloom;
using namespace xloom::kernel;

namespace {

/// Keys [length, A], a query and V, padded as the kernels want them: with zeros up to whole batches, after
/// which nothing is read.
template <class T>
struct attention_case {
    std::size_t length, A, step = whole_batches<T>(A) + 3 * batch_size<T>;
    aligned_vector<T> keys = aligned_vector<T>(length * step + 1), query = aligned_vector<T>(step),
                      V = aligned_vector<T>(step), minus_2V = aligned_vector<T>(step);
    T sum = 0;

    attention_case(std::size_t length_, std::size_t A_) : length(length_), A(A_)
    {
        for (aligned_vector<T>* const each : {&keys, &query, &V, &minus_2V})
            for (std::size_t i = 0; i < each->size(); ++i)
                if (i % step >= whole_batches<T>(A))
                    (*each)[i] = std::numeric_limits<T>::infinity();
    }

    template <class Key, class Query, class Weight>
    attention_case& fill(Key const& key, Query const& q, Weight const& v)
    {
        for (std::size_t m = 0; m < length; ++m)
            for (std::size_t a = 0; a < A; ++a)
                keys[m * step + a] = key(m, a);
        for (std::size_t a = 0; a < A; ++a) {
            query[a] = q(a);
            V[a] = v(a);
            minus_2V[a] = T(-2) * V[a];
            sum += V[a];
        }
        return *this;
    }

    std::vector<double> expected() const
    {
        std::vector<double> scores;
        for (std::size_t m = 0; m < length; ++m) {
            double score = 0;
            for (std::size_t a = 0; a < A; ++a)
                score += static_cast<double>(V[a]) *
                         std::tanh(static_cast<double>(keys[m * step + a]) + static_cast<double>(query[a]));
            scores.push_back(score);
        }
        return scores;
    }
    /// What a score of any size may be off by.
    double sum_of_sizes() const
    {
        double sizes = 0;
        for (std::size_t a = 0; a < A; ++a)
            sizes += std::fabs(static_cast<double>(V[a]));
        return sizes;
    }
};

struct scores_found {
    std::vector<double> scores;
    bool by_exponentials;
};

template <class T>
scores_found scores_of(attention_case<T> in, bool may_use_exponentials = true)
{
    key_rows<T> keys{in.keys.data(), in.length, in.step, false};
    if (may_use_exponentials)
        make_exponentials(keys, in.A);
    if (keys.are_exponentials)
        make_exponentials(in.query.data(), in.A);
    std::vector<T> scores(in.length + 1, T(7));
    bahdanau_scores<T>(keys, in.query.data(), {in.V.data(), in.minus_2V.data(), in.sum}, in.A, scores.data());
    CHECK(scores.back() == 7);
    return {{scores.begin(), scores.end() - 1}, keys.are_exponentials};
}

/// The largest difference, as a multiple of the rounding error of numbers as large as the sum of |V|.
template <class T>
double error_of(attention_case<T> const& in, std::vector<double> const& found)
{
    std::vector<double> const expected = in.expected();
    double largest = 0;
    for (std::size_t m = 0; m < in.length; ++m) {
        if (std::isnan(expected[m]) != std::isnan(found[m]))
            return std::numeric_limits<double>::infinity();
        if (!std::isnan(expected[m]))
            largest = larger_error(largest, std::fabs(found[m] - expected[m]));
    }
    double const unit = in.sum_of_sizes() * static_cast<double>(std::numeric_limits<T>::epsilon());
    return unit == 0 ? largest : largest / unit;
}

/// Where double is the reference of itself, its own rounding counts too.
constexpr double most_units = 3;

template <class T>
constexpr T limit_of_keys = largest_key<T>;
/// Beyond, the exponential of a query overflows or vanishes.
template <class T>
constexpr T limit_of_queries = sizeof(T) == 4 ? T(44) : T(354);

} // namespace

TEST_CASE_TEMPLATE("scores of any number of keys, of any length, either way", T, float, double)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<double> draw(-3, 3);
    auto const any = [&](auto...) { return static_cast<T>(draw(random)); };
    std::size_t const W = batch_size<T>;
    for (std::size_t length = 0; length <= 9; ++length)
        for (std::size_t const A : {std::size_t{0}, std::size_t{1}, std::size_t{2}, W - 1, W, W + 1,
                 2 * W - 1, 2 * W, 2 * W + 1, 3 * W + 2, 10 * W + 1}) {
            attention_case<T> in(length, A);
            in.fill(any, any, any);
            CAPTURE(length);
            CAPTURE(A);
            auto const fast = scores_of(in), plain = scores_of(in, false);
            CHECK(fast.by_exponentials == has_simd<T>);
            CHECK_FALSE(plain.by_exponentials);
            CHECK(error_of(in, fast.scores) < most_units);
            CHECK(error_of(in, plain.scores) < most_units);
        }
}

TEST_CASE_TEMPLATE(
    "scores near the limits of keys and queries, and beyond those of queries", T, float, double)
{
    T const k = limit_of_keys<T>, q = limit_of_queries<T>, largest = std::numeric_limits<T>::max(),
            small = T(1e-6), infinity = std::numeric_limits<T>::infinity();
    for (T const key : {T(0), T(-0.0), small, k / 2, k - 1, std::nextafter(k, T(0)), k})
        for (T const query : {T(0), T(-0.0), small, k, k + small, q - 1, std::nextafter(q, T(0)), q,
                 std::nextafter(q, infinity), q + 1, 2 * q, T(1e30), largest, infinity})
            for (T const sign : {T(1), T(-1)})
                for (T const other : {T(1), T(-1)}) {
                    attention_case<T> in(5, 3);
                    in.fill(
                        [&](std::size_t m, std::size_t a) { return m == 4 && a == 1 ? T(0.25) : sign * key; },
                        [&](std::size_t) { return other * query; },
                        [](std::size_t a) { return T(0.5) + static_cast<T>(a); });
                    auto const found = scores_of(in);
                    CAPTURE(sign * key);
                    CAPTURE(other * query);
                    CHECK(found.by_exponentials == has_simd<T>);
                    CHECK(error_of(in, found.scores) < most_units);
                }
}

TEST_CASE_TEMPLATE("keys beyond their limit are left as they are", T, float, double)
{
    T const k = limit_of_keys<T>, q = limit_of_queries<T>, largest = std::numeric_limits<T>::max(),
            infinity = std::numeric_limits<T>::infinity();
    for (T const key : {std::nextafter(k, infinity), k + 1, q, T(1e30), largest / 2, largest, infinity})
        for (T const query : {T(0), T(-0.0), T(0.5), k, q, T(1e30), largest / 2})
            for (T const sign : {T(1), T(-1)})
                for (T const other : {T(1), T(-1)})
                    for (std::size_t const place : {std::size_t{0}, std::size_t{4}}) {
                        attention_case<T> in(3, 5);
                        in.fill(
                            [&](std::size_t m, std::size_t a) {
                                return m == place / 2 && a == place ? sign * key : T(0.5);
                            },
                            [&](std::size_t) { return other * query; },
                            [](std::size_t a) { return T(0.5) + static_cast<T>(a); });
                        auto const found = scores_of(in);
                        CAPTURE(sign * key);
                        CAPTURE(other * query);
                        CHECK_FALSE(found.by_exponentials);
                        CHECK(error_of(in, found.scores) < most_units);
                    }
}

TEST_CASE_TEMPLATE("NaN stays NaN in the scores that it belongs to", T, float, double)
{
    T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    auto const half = [](auto...) { return T(0.5); };
    for (std::size_t const A : {std::size_t{1}, batch_size<T>, 2 * batch_size<T> + 1})
        for (T const rest : {T(0.5), T(1000)}) { // by exponentials or not
            attention_case<T> one_key(6, A), one_query(6, A);
            one_key.fill(
                [&](std::size_t m, std::size_t a) { return m == 4 && a == A - 1 ? nan : rest; }, half, half);
            auto const of_key = scores_of(one_key);
            CHECK(of_key.by_exponentials == (has_simd<T> && rest < limit_of_keys<T>));
            for (std::size_t m = 0; m < 6; ++m)
                CHECK(std::isnan(of_key.scores[m]) == (m == 4));
            one_query.fill([&](auto...) { return rest; },
                [&](std::size_t a) { return a == A - 1 ? nan : T(0.5); }, half);
            for (double const score : scores_of(one_query).scores)
                CHECK(std::isnan(score));
        }
    // The sum of infinities is none, too.
    attention_case<T> opposite(2, 3);
    opposite.fill([&](std::size_t m, std::size_t) { return m == 0 ? infinity : T(0); },
        [&](std::size_t) { return -infinity; }, half);
    auto const found = scores_of(opposite);
    CHECK(std::isnan(found.scores[0]));
    CHECK(found.scores[1] == doctest::Approx(-1.5));
}

TEST_CASE_TEMPLATE("equal keys have equal scores, wherever they are", T, float, double)
{
    std::mt19937 random(2);
    std::uniform_real_distribution<double> draw(-2, 2);
    for (std::size_t const A : {1u, 5u, 8u, 16u, 33u})
        for (double const scale : {1.0, 1000.0}) { // by exponentials or not
            std::vector<T> key;
            for (std::size_t a = 0; a < A; ++a)
                key.push_back(static_cast<T>(scale * (1 + draw(random))));
            attention_case<T> in(9, A);
            in.fill([&](std::size_t, std::size_t a) { return key[a]; },
                [&](std::size_t) { return static_cast<T>(draw(random)); },
                [&](std::size_t) { return static_cast<T>(draw(random)); });
            auto const found = scores_of(in);
            for (double const score : found.scores)
                CHECK(score == found.scores[0]);
        }
}

TEST_CASE("numbers without vector units take the plain way")
{
    attention_case<long double> in(5, 3);
    in.fill([](std::size_t m,
                std::size_t a) { return static_cast<long double>(m) - static_cast<long double>(a) / 2; },
        [](std::size_t a) { return static_cast<long double>(a) / 4; },
        [](std::size_t a) { return 1 + static_cast<long double>(a); });
    std::vector<long double> scores(5);
    key_rows<long double> keys{in.keys.data(), in.length, in.step, false};
    make_exponentials(keys, in.A);
    CHECK_FALSE(keys.are_exponentials);
    bahdanau_scores<long double>(
        keys, in.query.data(), {in.V.data(), in.minus_2V.data(), in.sum}, in.A, scores.data());
    auto const expected = in.expected();
    for (std::size_t m = 0; m < 5; ++m)
        CHECK(static_cast<double>(scores[m]) == doctest::Approx(expected[m]).epsilon(1e-14));
}

} // namespace kernel_attention_test
