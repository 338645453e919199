#pragma once
// Linear attention as ONNX defines it: nested loops, in the type of the operands.

#include <cmath>
#include <cstddef>
#include <vector>

#include "textbook_nd.hpp"

namespace textbook {

/// query [B, T, Hq, dk], key [B, T, Hkv, dk], value [B, T, Hkv, dv], past_state [B, Hkv, dk, dv], decay
/// [B, T, Hkv, dk] or [B, T, Hkv], beta [B, T, Hkv] or [B, T, 1]. Without items past_state, decay or beta is
/// omitted; with decay the rule is gated, with beta it is a delta rule. Without lengths all have T tokens.
template <class Real>
struct attention_operands {
    array<Real> query, key, value, past_state, decay, beta;
    std::vector<std::size_t> lengths;

    /// Calls f(operand) for each, in this order.
    template <class Self, class F>
    static void for_each(Self& self, F const& f)
    {
        f(self.query), f(self.key), f(self.value), f(self.past_state), f(self.decay), f(self.beta);
    }
};

template <class Real>
struct attention_result {
    array<Real> output, present_state;
};

template <class Real>
attention_result<Real> linear_attention(attention_operands<Real> const& of, Real const& scale)
{
    using std::exp;
    dims const &q_dims = of.query.shape, &v_dims = of.value.shape;
    std::size_t const B = q_dims[0], T = q_dims[1], Hq = q_dims[2], K = q_dims[3], H = v_dims[2],
                      V = v_dims[3];
    attention_result<Real> result{{{B, T, Hq, V}, std::vector<Real>(B * T * Hq * V, Real(0))},
        {{B, H, K, V}, std::vector<Real>(B * H * K * V, Real(0))}};
    if (!of.past_state.items.empty())
        result.present_state.items = of.past_state.items;
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t t = 0; t < (of.lengths.empty() ? T : of.lengths[b]); ++t)
            for (std::size_t h = 0; h < H; ++h) {
                std::size_t const at = (b * T + t) * H + h;
                Real const* const key = &of.key.items[at * K];
                auto const S = [&](std::size_t d, std::size_t j) -> Real& {
                    return result.present_state.items[((b * H + h) * K + d) * V + j];
                };
                for (std::size_t j = 0; j < V; ++j) {
                    for (std::size_t d = 0; d < K && !of.decay.items.empty(); ++d)
                        S(d, j) = S(d, j) * exp(of.decay.items[of.decay.shape.size() == 3 ? at : at * K + d]);
                    Real value = of.value.items[at * V + j];
                    if (!of.beta.items.empty()) {
                        Real read(0);
                        for (std::size_t d = 0; d < K; ++d)
                            read = read + S(d, j) * key[d];
                        value = of.beta.items[of.beta.shape[2] == 1 ? b * T + t : at] * (value - read);
                    }
                    for (std::size_t d = 0; d < K; ++d)
                        S(d, j) = S(d, j) + key[d] * value;
                    for (std::size_t q = h * Hq / H; q < (h + 1) * Hq / H; ++q) {
                        std::size_t const row = (b * T + t) * Hq + q;
                        Real sum(0);
                        for (std::size_t d = 0; d < K; ++d)
                            sum = sum + S(d, j) * of.query.items[row * K + d];
                        result.output.items[row * V + j] = scale * sum;
                    }
                }
            }
    return result;
}

} // namespace textbook
