#pragma once
// One step of an LSTM on raw data: the gates' sums, then the gates themselves. Nothing here throws or allocates.

#include <cmath>
#include <cstddef>

namespace xloom::kernel {

/// Lays W [4H, I] and R [4H, H] down as the rows of one panel [I + H, 4H], so that a step runs along contiguous rows.
template <class T>
void pack_lstm_weights(std::size_t I, std::size_t H, T const* W, T const* R, T* panel) noexcept
{
    std::size_t const width = 4 * H;
    for (std::size_t j = 0; j < width; ++j) {
        for (std::size_t k = 0; k < I; ++k)
            panel[k * width + j] = W[j * I + k];
        for (std::size_t k = 0; k < H; ++k)
            panel[(I + k) * width + j] = R[j * H + k];
    }
}

/// sums[j] += v[k] * rows[k, j] for all k and j. Four rows at a time, so that the sums are loaded and stored once for four products.
template <class T>
void add_weighted_rows(std::size_t count, std::size_t width, T const* rows, T const* v, T* __restrict sums) noexcept
{
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4, rows += 4 * width) {
        T const v0 = v[k], v1 = v[k + 1], v2 = v[k + 2], v3 = v[k + 3];
        T const *const row0 = rows, *const row1 = rows + width, *const row2 = rows + 2 * width, *const row3 = rows + 3 * width;
        for (std::size_t j = 0; j < width; ++j)
            sums[j] += v0 * row0[j] + v1 * row1[j] + v2 * row2[j] + v3 * row3[j];
    }
    for (; k < count; ++k, rows += width)
        for (std::size_t j = 0; j < width; ++j)
            sums[j] += v[k] * rows[j];
}

template <class T>
T sigmoid(T x) noexcept
{
    return T{1} / (T{1} + std::exp(-x));
}

/// h and c become the next state. bias [4H] = Wb + Rb; panel as pack_lstm_weights made it; gates [4H] is scratch. x may be h or c:
/// it is read before either is written. gates overlaps nothing.
template <class T>
void lstm_cell(std::size_t I, std::size_t H, T const* panel, T const* bias, T const* x, T* h, T* c, T* __restrict gates) noexcept
{
    for (std::size_t j = 0; j < 4 * H; ++j)
        gates[j] = bias[j];
    add_weighted_rows(I, 4 * H, panel, x, gates);
    add_weighted_rows(H, 4 * H, panel + I * 4 * H, h, gates);

    T const *const i = gates, *const o = gates + H, *const f = gates + 2 * H, *const g = gates + 3 * H;
    for (std::size_t j = 0; j < H; ++j) {
        c[j] = sigmoid(f[j]) * c[j] + sigmoid(i[j]) * std::tanh(g[j]);
        h[j] = sigmoid(o[j]) * std::tanh(c[j]);
    }
}

} // namespace xloom::kernel
