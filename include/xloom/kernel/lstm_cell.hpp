#pragma once
// One step of an LSTM on raw data: the gates' sums, then the gates themselves. Nothing here throws or allocates.

#include <cstddef>
#include <utility>

#include <xloom/kernel/activations.hpp>

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

/// The next c and h of one unit, or of a batch of them, from the sums of its gates.
template <class V>
std::pair<V, V> lstm_unit(V const& i, V const& o, V const& f, V const& g, V const& c)
{
    V const next_c = sigmoid()(f) * c + sigmoid()(i) * tanh()(g);
    return {next_c, sigmoid()(o) * tanh()(next_c)};
}

/// The same of all H units.
template <class T>
void lstm_units(std::size_t H, T const* gates, T* h, T* c) noexcept
{
    T const *const i = gates, *const o = gates + H, *const f = gates + 2 * H, *const g = gates + 3 * H;
    std::size_t j = 0;
    if constexpr (has_simd<T>) {
        using batch = xsimd::batch<T>;
        auto const all = [](T const* from) { return batch::load_unaligned(from); };
        for (; j + batch::size <= H; j += batch::size) {
            auto const [next_c, next_h] = lstm_unit<batch>(all(i + j), all(o + j), all(f + j), all(g + j), all(c + j));
            next_c.store_unaligned(c + j);
            next_h.store_unaligned(h + j);
        }
        if (std::size_t const rest = H - j; rest != 0) {
            auto const some = [rest](T const* from) { return load_first(from, rest); };
            auto const [next_c, next_h] = lstm_unit<batch>(some(i + j), some(o + j), some(f + j), some(g + j), some(c + j));
            store_first(next_c, c + j, rest);
            store_first(next_h, h + j, rest);
        }
    } else {
        for (; j < H; ++j) {
            auto const [next_c, next_h] = lstm_unit<T>(i[j], o[j], f[j], g[j], c[j]);
            c[j] = next_c;
            h[j] = next_h;
        }
    }
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

    lstm_units(H, gates, h, c);
}

} // namespace xloom::kernel
