#pragma once
// The causal convolution as ONNX defines it: nested loops over the padded input, in the type of the operands.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "textbook_nd.hpp"

namespace textbook {

/// input [B, C, L], weight [C, 1, k], bias [C], past_state [B, C, k - 1]. Without items bias or past_state is
/// omitted.
template <class Real>
struct conv_operands {
    array<Real> input, weight, bias, past_state;

    /// Calls f(operand) for each, in this order.
    template <class Self, class F>
    static void for_each(Self& self, F const& f)
    {
        f(self.input), f(self.weight), f(self.bias), f(self.past_state);
    }
};

template <class Real>
struct conv_result {
    array<Real> output, present_state;
};

template <class Real>
conv_result<Real> causal_conv(conv_operands<Real> const& of, bool silu)
{
    using std::exp;
    std::size_t const B = of.input.shape[0], C = of.input.shape[1], L = of.input.shape[2],
                      k = of.weight.shape.back();
    conv_result<Real> result{{of.input.shape, {}}, {{B, C, k - 1}, {}}};
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t c = 0; c < C; ++c) {
            std::vector<Real> padded(k - 1, Real(0));
            for (std::size_t i = 0; i < k - 1 && !of.past_state.items.empty(); ++i)
                padded[i] = of.past_state.items[(b * C + c) * (k - 1) + i];
            for (std::size_t t = 0; t < L; ++t)
                padded.push_back(of.input.items[(b * C + c) * L + t]);
            for (std::size_t t = 0; t < L; ++t) {
                Real sum = of.bias.items.empty() ? Real(0) : of.bias.items[c];
                for (std::size_t j = 0; j < k; ++j)
                    sum = sum + of.weight.items[c * k + j] * padded[t + j];
                result.output.items.push_back(silu ? Real(sum / (Real(1) + exp(-sum))) : sum);
            }
            result.present_state.items.insert(result.present_state.items.end(),
                padded.begin() + static_cast<std::ptrdiff_t>(L), padded.end());
        }
    return result;
}

} // namespace textbook
