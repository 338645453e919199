#pragma once
// The LSTM as a textbook writes it, in float64 and with indices only: what xloom's is compared with.

#include <cmath>
#include <cstddef>
#include <vector>

namespace textbook {

struct lstm_state {
    std::vector<double> h, c;
};

/// One step. W [4H, I], R [4H, H], B [8H], row-major, gates in ONNX's order i, o, f, c.
template <class T>
lstm_state lstm_step(
    std::vector<T> const& W, std::vector<T> const& R, std::vector<T> const& B, lstm_state const& before, std::vector<T> const& x)
{
    std::size_t const I = x.size();
    std::size_t const H = before.h.size();
    auto const sigmoid = [](double z) { return 1.0 / (1.0 + std::exp(-z)); };
    auto const sum = [&](std::size_t gate, std::size_t unit) {
        std::size_t const row = gate * H + unit;
        double z = static_cast<double>(B[row]) + static_cast<double>(B[4 * H + row]);
        for (std::size_t k = 0; k < I; ++k)
            z += static_cast<double>(W[row * I + k]) * static_cast<double>(x[k]);
        for (std::size_t k = 0; k < H; ++k)
            z += static_cast<double>(R[row * H + k]) * before.h[k];
        return z;
    };

    lstm_state after = before;
    for (std::size_t unit = 0; unit < H; ++unit) {
        double const i = sigmoid(sum(0, unit));
        double const o = sigmoid(sum(1, unit));
        double const f = sigmoid(sum(2, unit));
        double const g = std::tanh(sum(3, unit));
        after.c[unit] = f * before.c[unit] + i * g;
        after.h[unit] = o * std::tanh(after.c[unit]);
    }
    return after;
}

} // namespace textbook
