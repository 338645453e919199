#pragma once
// The selective scan as its definition has it: nested loops, in the type of the operands.

#include <cmath>
#include <cstddef>

#include "textbook_nd.hpp"

namespace textbook {

/// u, delta, z [N, T, K], A [K, S], B and C [N, T, S], D and delta_bias [K], initial_state [N, K, S]. Without
/// items D, z, delta_bias or initial_state is omitted.
template <class Real>
struct selective_operands {
    array<Real> u, delta, A, B, C, D, z, delta_bias, initial_state;

    /// Calls f(operand) for each, in this order.
    template <class Self, class F>
    static void for_each(Self& self, F const& f)
    {
        f(self.u), f(self.delta), f(self.A), f(self.B), f(self.C), f(self.D), f(self.z), f(self.delta_bias),
            f(self.initial_state);
    }
};

template <class Real>
struct selective_result {
    array<Real> y, final_state;
};

template <class Real>
selective_result<Real> selective_scan(selective_operands<Real> const& of, bool delta_softplus)
{
    using std::exp, std::log;
    std::size_t const N = of.u.shape[0], T = of.u.shape[1], K = of.u.shape[2], S = of.A.shape[1];
    selective_result<Real> result{
        {of.u.shape, of.u.items}, {{N, K, S}, std::vector<Real>(N * K * S, Real(0))}};
    if (!of.initial_state.items.empty())
        result.final_state.items = of.initial_state.items;
    for (std::size_t n = 0; n < N; ++n)
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t t = 0; t < T; ++t) {
                std::size_t const at = (n * T + t) * K + k;
                Real size = of.delta.items[at];
                if (!of.delta_bias.items.empty())
                    size = size + of.delta_bias.items[k];
                if (delta_softplus)
                    size = log(Real(1) + exp(size));
                Real y = of.D.items.empty() ? Real(0) : Real(of.D.items[k] * of.u.items[at]);
                for (std::size_t s = 0; s < S; ++s) {
                    Real& h = result.final_state.items[(n * K + k) * S + s];
                    std::size_t const step = (n * T + t) * S + s;
                    h = exp(size * of.A.items[k * S + s]) * h + size * of.B.items[step] * of.u.items[at];
                    y = y + of.C.items[step] * h;
                }
                if (!of.z.items.empty())
                    y = y * of.z.items[at] / (Real(1) + exp(-of.z.items[at]));
                result.y.items[at] = y;
            }
    return result;
}

} // namespace textbook
