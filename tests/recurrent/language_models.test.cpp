// The calls of docs/language_models.md against the published recurrences, one head of one sequence, in
// float64.

#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/linear_attention.hpp>

#include "support/random_recurrent.hpp"
#include "support/xtensor_extras.hpp"

namespace language_models_test {

namespace {

using tokens = xt::xtensor<double, 4>;
using gates = xt::xtensor<double, 3>;
using xloom::update_rule;

constexpr std::size_t T = 12, K = 5, V = 7;

tokens random_tokens(unsigned seed, std::size_t width, double lowest = -1, double highest = 1)
{
    std::mt19937 random(seed);
    auto const numbers = random_array<double>(random, {T, width}, lowest, highest);
    tokens result = xt::zeros<double>({std::size_t{1}, T, std::size_t{1}, width});
    std::copy(numbers.items.begin(), numbers.items.end(), result.begin());
    return result;
}
gates random_gates(unsigned seed, double lowest, double highest)
{
    tokens const numbers = random_tokens(seed, 1, lowest, highest);
    return xt::view(numbers, xt::all(), xt::all(), xt::all(), 0);
}

struct layer {
    tokens q = random_tokens(1, K), k = random_tokens(2, K, -0.5, 0.5), v = random_tokens(3, V);
};

/// A matrix, and what the recurrences do with it.
struct state {
    double S[K][V]{};

    /// S[d] = factor(d) * S[d].
    template <class F>
    void scale(F const& factor)
    {
        for (std::size_t d = 0; d < K; ++d)
            for (double& each : S[d])
                each *= factor(d);
    }
    /// S = S + weight k^T v.
    template <class Value>
    void add(tokens const& k, std::size_t t, Value const& v, double weight = 1)
    {
        for (std::size_t d = 0; d < K; ++d)
            for (std::size_t j = 0; j < V; ++j)
                S[d][j] += weight * k(0, t, 0, d) * v(j);
    }
    /// Returns x S.
    std::vector<double> read(tokens const& x, std::size_t t) const
    {
        std::vector<double> sums(V, 0.0);
        for (std::size_t d = 0; d < K; ++d)
            for (std::size_t j = 0; j < V; ++j)
                sums[j] += x(0, t, 0, d) * S[d][j];
        return sums;
    }
};

/// Compares outputs with what step(S, t) returns for each token.
template <class Step>
void compare(tokens const& output, Step const& step)
{
    state S;
    for (std::size_t t = 0; t < T; ++t) {
        std::vector<double> const expected = step(S, t);
        for (std::size_t j = 0; j < V; ++j)
            REQUIRE(output(0, t, 0, j) == doctest::Approx(expected[j]).epsilon(1e-13));
    }
}

auto value_of(tokens const& v, std::size_t t)
{
    return [&v, t](std::size_t j) { return v(0, t, 0, j); };
}

xloom::linear_attention_options unscaled(update_rule rule) { return {.update_rule = rule, .scale = 1}; }

} // namespace

TEST_CASE("linear transformer: S = S + k^T v; o = q S")
{
    layer const of;
    auto const found = xloom::linear_attention(of.q, of.k, of.v, {}, unscaled(update_rule::linear));
    compare(found.output, [&](state& S, std::size_t t) {
        S.add(of.k, t, value_of(of.v, t));
        return S.read(of.q, t);
    });
}

TEST_CASE("RetNet: S = gamma S + k^T v; o = q S")
{
    layer const of;
    double const gamma = 0.9;
    gates const decay = std::log(gamma) * xt::ones<double>({std::size_t{1}, T, std::size_t{1}});
    auto const found =
        xloom::linear_attention(of.q, of.k, of.v, {.decay = decay}, unscaled(update_rule::gated));
    compare(found.output, [&](state& S, std::size_t t) {
        S.scale([&](std::size_t) { return gamma; });
        S.add(of.k, t, value_of(of.v, t));
        return S.read(of.q, t);
    });
}

TEST_CASE("Mamba-2: h = exp(dt A) h + dt B^T x; y = C h + D x")
{
    layer const of; // C, B, x
    gates const dt = random_gates(4, 0.01, 0.5);
    double const A = -1.5, D = 0.7;
    gates const decay = A * dt;
    tokens value = of.v;
    for (std::size_t t = 0; t < T; ++t)
        for (std::size_t j = 0; j < V; ++j)
            value(0, t, 0, j) *= dt(0, t, 0);
    auto const found =
        xloom::linear_attention(of.q, of.k, value, {.decay = decay}, unscaled(update_rule::gated));
    tokens const y = found.output + D * of.v;
    compare(y, [&](state& S, std::size_t t) {
        S.scale([&](std::size_t) { return std::exp(dt(0, t, 0) * A); });
        S.add(of.k, t, value_of(of.v, t), dt(0, t, 0));
        std::vector<double> sums = S.read(of.q, t);
        for (std::size_t j = 0; j < V; ++j)
            sums[j] += D * of.v(0, t, 0, j);
        return sums;
    });
}

TEST_CASE("gated linear attention: S = diag(alpha) S + k^T v; o = q S")
{
    layer const of;
    tokens const alpha = random_tokens(5, K, 0.2, 1), decay = xt::log(alpha);
    auto const found =
        xloom::linear_attention(of.q, of.k, of.v, {.decay = decay}, unscaled(update_rule::gated));
    compare(found.output, [&](state& S, std::size_t t) {
        S.scale([&](std::size_t d) { return alpha(0, t, 0, d); });
        S.add(of.k, t, value_of(of.v, t));
        return S.read(of.q, t);
    });
}

TEST_CASE("RWKV-6: o = r (S + diag(u) k^T v); S = diag(w) S + k^T v")
{
    layer const of; // r, k, v
    tokens const w = random_tokens(6, K, 0.2, 1);
    std::vector<double> const u = {0.1, -0.2, 0.3, 0.5, 1};
    std::size_t const after = T + 1;
    auto const zeros = [&](std::size_t width) {
        return tokens(xt::zeros<double>({std::size_t{1}, after, std::size_t{1}, width}));
    };
    tokens ahead = zeros(K), keys = zeros(K), decays = zeros(K), values = zeros(V);
    xt::view(ahead, xt::all(), xt::range(0, T)) = of.q;
    xt::view(keys, xt::all(), xt::range(1, after)) = of.k;
    xt::view(values, xt::all(), xt::range(1, after)) = of.v;
    xt::view(decays, xt::all(), xt::range(1, after)) = xt::log(w);
    auto const found =
        xloom::linear_attention(ahead, keys, values, {.decay = decays}, unscaled(update_rule::gated));
    tokens o = xt::view(found.output, xt::all(), xt::range(0, T));
    for (std::size_t t = 0; t < T; ++t) {
        double bonus = 0;
        for (std::size_t d = 0; d < K; ++d)
            bonus += of.q(0, t, 0, d) * u[d] * of.k(0, t, 0, d);
        for (std::size_t j = 0; j < V; ++j)
            o(0, t, 0, j) += bonus * of.v(0, t, 0, j);
    }
    compare(o, [&](state& S, std::size_t t) {
        state with_bonus = S;
        for (std::size_t d = 0; d < K; ++d)
            for (std::size_t j = 0; j < V; ++j)
                with_bonus.S[d][j] += u[d] * of.k(0, t, 0, d) * of.v(0, t, 0, j);
        S.scale([&](std::size_t d) { return w(0, t, 0, d); });
        S.add(of.k, t, value_of(of.v, t));
        return with_bonus.read(of.q, t);
    });
}

TEST_CASE("DeltaNet and Gated DeltaNet: S = alpha (I - beta k^T k) S + beta k^T v; o = q S")
{
    layer const of;
    gates const beta = random_gates(7, 0, 1), alpha = random_gates(8, 0.5, 1), decay = xt::log(alpha);
    for (bool const is_gated : {false, true}) {
        xloom::linear_attention_inputs<double> inputs{.beta = beta};
        if (is_gated)
            inputs.decay = decay;
        auto const found = xloom::linear_attention(
            of.q, of.k, of.v, inputs, unscaled(is_gated ? update_rule::gated_delta : update_rule::delta));
        compare(found.output, [&](state& S, std::size_t t) {
            std::vector<double> const read = S.read(of.k, t);
            S.add(
                of.k, t, [&](std::size_t j) { return read[j]; }, -beta(0, t, 0));
            S.scale([&](std::size_t) { return is_gated ? alpha(0, t, 0) : 1.0; });
            S.add(of.k, t, value_of(of.v, t), beta(0, t, 0));
            return S.read(of.q, t);
        });
    }
}

TEST_CASE("short convolutions: silu(conv(x)) and, of LFM2, C * conv(B * x)")
{
    std::size_t const taps = 3;
    xt::xtensor<double, 3> x = xt::zeros<double>({std::size_t{1}, V, T}), B = x, C = x;
    xt::xtensor<double, 2> weight = xt::zeros<double>({V, taps});
    std::mt19937 random(9);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (auto* const each : {&x, &B, &C})
        for (double& item : *each)
            item = draw(random);
    for (double& item : weight)
        item = draw(random);
    auto const conv = [&](auto const& of, std::size_t c, std::size_t t) {
        double sum = 0;
        for (std::size_t j = 0; j < taps; ++j)
            sum += t + j < taps - 1 ? 0 : weight(c, j) * of(0, c, t + j - (taps - 1));
        return sum;
    };
    auto const activated = xloom::causal_conv(x, weight, {}, {.activation = xloom::conv_activation::silu});
    xt::xtensor<double, 3> const gated = B * x, y = C * xloom::causal_conv(gated, weight, {}).output;
    for (std::size_t c = 0; c < V; ++c)
        for (std::size_t t = 0; t < T; ++t) {
            double const sum = conv(x, c, t);
            CHECK(activated.output(0, c, t) == doctest::Approx(sum / (1 + std::exp(-sum))).epsilon(1e-13));
            CHECK(y(0, c, t) == doctest::Approx(C(0, c, t) * conv(gated, c, t)).epsilon(1e-13));
        }
}

} // namespace language_models_test
