#pragma once
// Steps of one row of a few units, with the sums of all gates in registers.
//
// Why: a step of 8 to 64 units takes as long as writing its sums to memory, and the general products prepare
// tiles for more. The sums are added in the same order, so that a step has the same bits.

#include <array>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/gru.hpp>
#include <xloom/detail/kernel/lstm.hpp>
#include <xloom/detail/kernel/rnn.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of batches of sums that a step keeps in registers.
template <class T>
inline constexpr std::size_t max_small_sums = !has_simd<T>               ? 0
                                              : sizeof(batch_t<T>) >= 64 ? 16
                                                                         : 12;

/// The maximum number of units of a step with the widest vector units.
template <class T>
inline constexpr std::size_t max_small_units = 16 * 64 / sizeof(T);

/// A step of one row: h, and c of an LSTM, become the next states; h is also written to y unless it is null.
/// All are contiguous.
template <class Parameters, class T = typename Parameters::number>
using small_step = void (*)(Parameters const& p, T* h, T* c, T const* x, T* y) noexcept;

namespace detail {

/// Returns the products of a row with panels of `Batches` batches, each sum in one dependency chain.
template <std::size_t Batches, class T>
XLOOM_ALWAYS_INLINE inline std::array<batch_t<T>, Batches> products_of(
    T const* row, stored_matrix<T> const& b) noexcept
{
    std::array<batch_t<T>, Batches> sums;
    sums.fill(batch_t<T>(T(0)));
    T const* const items = b.as().items;
    XLOOM_UNROLL(4)
    for (std::size_t k = 0; k < b.depth; ++k)
        add_row<T>(batch_t<T>(row[k]), load_batches<Batches, T>(items, b.depth * panel_width<T>, k), sums);
    return sums;
}

/// Returns the products of a row with the panels of z and r and with those of h, in one loop.
template <std::size_t N, class T>
XLOOM_ALWAYS_INLINE inline std::array<batch_t<T>, 3 * N> products_of_gru(
    T const* row, stored_matrix<T> const& R_zr, stored_matrix<T> const& R_h) noexcept
{
    std::array<batch_t<T>, 2 * N> gates;
    std::array<batch_t<T>, N> next;
    gates.fill(batch_t<T>(T(0)));
    next.fill(batch_t<T>(T(0)));
    T const *const items_zr = R_zr.as().items, *const items_h = R_h.as().items;
    XLOOM_UNROLL(4)
    for (std::size_t k = 0; k < R_zr.depth; ++k) {
        batch_t<T> const factor(row[k]);
        add_row<T>(factor, load_batches<2 * N, T>(items_zr, R_zr.depth * panel_width<T>, k), gates);
        add_row<T>(factor, load_batches<N, T>(items_h, R_h.depth * panel_width<T>, k), next);
    }
    std::array<batch_t<T>, 3 * N> all;
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < 3 * N; ++i)
        all[i] = i < 2 * N ? gates[i] : next[i - 2 * N];
    return all;
}

/// Returns bias + products of x.
template <std::size_t Batches, class T>
XLOOM_ALWAYS_INLINE inline std::array<batch_t<T>, Batches> sums_of_x(
    T const* bias, T const* x, stored_matrix<T> const& W) noexcept
{
    auto sums = products_of<Batches>(x, W);
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < Batches; ++i)
        sums[i] = load_batch(bias + i * batch_size<T>) + sums[i];
    return sums;
}

/// Loads a row of units, padded with zeros.
template <std::size_t Batches, class T>
XLOOM_ALWAYS_INLINE inline std::array<batch_t<T>, Batches> load_units(
    T const* from, std::size_t units) noexcept
{
    std::array<batch_t<T>, Batches> row;
    XLOOM_UNROLL(4)
    for (std::size_t i = 0; i + 1 < Batches; ++i)
        row[i] = load_batch(from + i * batch_size<T>);
    constexpr std::size_t last = (Batches - 1) * batch_size<T>;
    row[Batches - 1] =
        units == last + batch_size<T> ? load_batch(from + last) : load_first(from + last, units - last);
    return row;
}

/// Stores a row of units.
template <std::size_t Batches, class T>
XLOOM_ALWAYS_INLINE inline void store_units(
    std::array<batch_t<T>, Batches> const& row, T* to, std::size_t units) noexcept
{
    XLOOM_UNROLL(4)
    for (std::size_t i = 0; i + 1 < Batches; ++i)
        store_batch(to + i * batch_size<T>, row[i]);
    constexpr std::size_t last = (Batches - 1) * batch_size<T>;
    if (units == last + batch_size<T>)
        store_batch(to + last, row[Batches - 1]);
    else
        store_first<T>(row[Batches - 1], to + last, units - last);
}

template <std::size_t N, class T>
XLOOM_FLATTEN void small_lstm_step(lstm_parameters<T> const& p, T* h, T* c, T const* x, T* y) noexcept
{
    auto sums = products_of<4 * N>(h, p.R);
    auto const of_x = sums_of_x<4 * N>(p.bias, x, p.W);
    auto state = load_units<N>(c, p.H);
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < 4 * N; ++i)
        sums[i] = of_x[i] + sums[i];
    std::array<batch_t<T>, N> next;
    XLOOM_UNROLL(4)
    for (std::size_t i = 0; i < N; ++i)
        state[i] =
            multiply_add(sigmoid()(sums[2 * N + i]), state[i], sigmoid_times_tanh(sums[i], sums[3 * N + i]));
    XLOOM_UNROLL(4)
    for (std::size_t i = 0; i < N; ++i)
        next[i] = sigmoid_times_tanh(sums[N + i], state[i]);
    store_units<N, T>(state, c, p.H);
    store_units<N, T>(next, h, p.H);
    if (y != nullptr)
        store_units<N, T>(next, y, p.H);
}

template <std::size_t N, class T>
XLOOM_FLATTEN void small_gru_step(gru_parameters<T> const& p, T* h, T*, T const* x, T* y) noexcept
{
    auto const sums = sums_of_x<3 * N>(p.bias, x, p.W);
    std::array<batch_t<T>, N> z, r, next, state = load_units<N>(h, p.H);
    auto const set_gates = [&](auto const& products) {
        XLOOM_UNROLL(4)
        for (std::size_t i = 0; i < N; ++i) {
            z[i] = sigmoid()(sums[i] + products[i]);
            r[i] = sigmoid()(sums[N + i] + products[N + i]);
        }
    };
    if (p.how.linear_before_reset) {
        auto const products = products_of_gru<N>(h, p.R, p.R_h);
        set_gates(products);
        XLOOM_UNROLL(4)
        for (std::size_t i = 0; i < N; ++i)
            next[i] = multiply_add(
                r[i], load_batch(p.Rb_h + i * batch_size<T>) + products[2 * N + i], sums[2 * N + i]);
    } else {
        set_gates(products_of<2 * N>(h, p.R));
        T reset[N * batch_size<T>];
        XLOOM_UNROLL(4)
        for (std::size_t i = 0; i < N; ++i)
            store_batch(reset + i * batch_size<T>, r[i] * state[i]);
        auto const products = products_of<N>(reset, p.R_h);
        XLOOM_UNROLL(4)
        for (std::size_t i = 0; i < N; ++i)
            next[i] = sums[2 * N + i] + products[i];
    }
    XLOOM_UNROLL(4)
    for (std::size_t i = 0; i < N; ++i)
        next[i] = multiply_add(z[i], state[i], (batch_t<T>(1) - z[i]) * kernel::tanh()(next[i]));
    store_units<N, T>(next, h, p.H);
    if (y != nullptr)
        store_units<N, T>(next, y, p.H);
}

template <std::size_t N, class T>
XLOOM_FLATTEN void small_rnn_step(rnn_parameters<T> const& p, T* h, T*, T const* x, T* y) noexcept
{
    auto sums = sums_of_x<N>(p.bias, x, p.W);
    auto const products = products_of<N>(h, p.R);
    XLOOM_UNROLL(16)
    for (std::size_t i = 0; i < N; ++i)
        sums[i] = kernel::tanh()(sums[i] + products[i]);
    store_units<N, T>(sums, h, p.H);
    if (y != nullptr)
        store_units<N, T>(sums, y, p.H);
}

/// Calls f with the number of batches of units as a constant, and returns its result; nullptr if a step does
/// not fit in registers.
template <std::size_t Sums, class Parameters, class F>
small_step<Parameters> step_in_registers(Parameters const& p, F const& f) noexcept
{
    using T = typename Parameters::number;
    constexpr std::size_t most = max_small_sums<T> / Sums;
    std::size_t const batches = p.gate_stride / batch_size<T>;
    small_step<Parameters> step = nullptr;
    if constexpr (most != 0)
        if (batches >= 1 && batches <= most && p.W.depth >= 1 && p.W.depth <= chain_length)
            with_count<1, most>(batches, [&](auto count) { step = f(count); });
    return step;
}

} // namespace detail

/// Returns the step of one row that these weights permit; nullptr: only the general one.
template <class T>
small_step<lstm_parameters<T>> small_step_of(lstm_parameters<T> const& p) noexcept
{
    if (!is_plain(p.how) || p.projects() || !p.W.is_full() || !p.R.is_full())
        return nullptr;
    return detail::step_in_registers<4>(p, [](auto count) { return &detail::small_lstm_step<count, T>; });
}
template <class T>
small_step<gru_parameters<T>> small_step_of(gru_parameters<T> const& p) noexcept
{
    if (!is_plain(p.how) || !p.W.is_full() || !p.R.is_full() || !p.R_h.is_full())
        return nullptr;
    return detail::step_in_registers<3>(p, [](auto count) { return &detail::small_gru_step<count, T>; });
}
template <class T>
small_step<rnn_parameters<T>> small_step_of(rnn_parameters<T> const& p) noexcept
{
    if (!is_plain(p.how) || !p.W.is_full() || !p.R.is_full())
        return nullptr;
    return detail::step_in_registers<2>(p, [](auto count) { return &detail::small_rnn_step<count, T>; });
}

} // namespace xloom::inline XLOOM_ABI::kernel
