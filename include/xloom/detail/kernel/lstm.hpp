#pragma once
// A time step of the LSTM for a batch of rows, on raw data.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiplier.hpp>
#include <xloom/detail/kernel/units.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The constants of one direction. A gate's sums begin at a multiple of gate_step; the gates are i, o, f, c.
template <class T>
struct lstm_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    stored_panels<T> W;    ///< [I, 4 gate_step]
    stored_panels<T> R;    ///< [H, 4 gate_step]
    T const* bias;         ///< laid out as a row of sums
    T const* P;            ///< i, o, f, each gate_step long; null: none
    gate<T> f, g;
    activation_function h;
    bool input_forget;

    /// Returns the stride of rows of sums.
    std::size_t sums_step() const noexcept { return row_step<T>(4 * gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + R.depth * R.columns; }
};

template <class T>
bool is_plain(lstm_parameters<T> const& p) noexcept
{
    return p.f.function.kind == activation::sigmoid && p.g.function.kind == activation::tanh &&
           p.h.kind == activation::tanh && !p.f.is_clipped && p.P == nullptr && !p.input_forget;
}

/// Computes the next c and h of a row from the sums of its gates, with the default activations and no other
/// option.
///
/// Why two passes: they keep one exponential per dependency chain, within the reorder window. With h in the
/// first pass, a chain would have two exponentials.
template <class T>
[[gnu::flatten]] void plain_lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    T const *const i = sums, *const o = i + p.gate_step, *const f = o + p.gate_step,
                   *const g = f + p.gate_step;
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const input = sigmoid_times_tanh(load_batch(i + j), load_batch(g + j));
        store_batch(c + j, multiply_add(sigmoid()(load_batch(f + j)), load_batch(c + j), input));
    });
    for_each_batch<T>(p.H,
        [=](std::size_t j) { store_batch(h + j, sigmoid_times_tanh(load_batch(o + j), load_batch(c + j))); });
}

/// Computes the next c and h of a row from the sums of its gates, with any options. Overwrites the sums.
template <class T>
void lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    std::size_t const H = p.H, step = p.gate_step;
    T *const i = sums, *const o = sums + step, *const f = sums + 2 * step, *const g = sums + 3 * step;
    if (p.P != nullptr)
        add_products(p.P, c, i, H);
    p.f(i, H);
    if (!p.input_forget) {
        if (p.P != nullptr)
            add_products(p.P + 2 * step, c, f, H);
        p.f(f, H);
    }
    p.g(g, H);
    for_each_batch<T>(H, [=, forgets = p.input_forget](std::size_t j) {
        auto const input = load_batch(i + j);
        auto const kept = forgets ? batch_t<T>(1) - input : load_batch(f + j);
        store_batch(c + j, multiply_add(kept, load_batch(c + j), input * load_batch(g + j)));
    });
    if (p.P != nullptr)
        add_products(p.P + step, c, o, H);
    p.f(o, H);
    std::copy_n(c, step, h);
    activate_padded(p.h, h, H);
    set_products(o, h, h, H);
}

/// The states of a batch's rows.
template <class T>
class lstm_rows {
public:
    /// Allocates memory for `rows` rows; an arena without memory only adds up the size.
    lstm_rows(lstm_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p), h_(memory.take(rows, p.gate_step)), c_(memory.take(rows, p.gate_step))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.gate_step; }
    T* c(std::size_t row) const noexcept { return c_ + row * p_.gate_step; }

    rows_of<T const> h_of_all() const noexcept { return {h_, p_.gate_step}; }

    /// Multiplies by `multiply` from now on.
    void multiply_by(multiplier const& multiply) noexcept { multiply_ = multiply; }
    multiplier const& multiplication() const noexcept { return multiply_; }

    stored_panels<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_step() const noexcept { return p_.sums_step(); }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        multiply_R(rows, t, sums);
        for (std::size_t row = 0; row < rows; ++row)
            finish(sums + row * sums_step(), row);
    }

protected:
    /// Adds R h to the sums of the first `rows` rows.
    void multiply_R(std::size_t rows, std::size_t t, T* sums) const
    {
        multiply_(rows, h_of_all(), p_.R, {sums, sums_step()}, {sums, sums_step()}, order_of_step(t));
    }
    /// Computes the next states of a row from its sums, which it overwrites.
    void finish(T* sums, std::size_t row) const noexcept
    {
        auto const units = is_plain(p_) ? plain_lstm_units<T> : lstm_units<T>;
        units(p_, sums, h(row), c(row));
    }

private:
    lstm_parameters<T> const& p_;
    T* h_;
    T* c_;
    multiplier multiply_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
