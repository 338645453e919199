#pragma once
// A time step of the GRU for a batch of rows, on raw data.

#include <cstddef>

#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiplier.hpp>
#include <xloom/detail/kernel/units.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The constants of one direction. A gate's sums begin at a multiple of gate_step; the gates are z, r, h.
template <class T>
struct gru_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    stored_panels<T> W;    ///< [I, 3 gate_step]
    stored_panels<T> R_zr; ///< [H, 2 gate_step]
    stored_panels<T> R_h;  ///< [H, gate_step]
    T const* bias;         ///< laid out as a row of sums; without Rb_h if linear_before_reset
    T const* Rb_h;         ///< zeros unless linear_before_reset
    gate<T> f, g;
    bool linear_before_reset;

    std::size_t sums_step() const noexcept { return row_step<T>(3 * gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + H * (R_zr.columns + R_h.columns); }
};

/// The recorder of a step's sums that records nothing.
struct no_gru_recorder {
    template <class T>
    void gates(std::size_t, T const*, T const*) const noexcept
    {}
    template <class T>
    void next(std::size_t, T const*) const noexcept
    {}
    template <class T>
    void state(std::size_t, T const*) const noexcept
    {}
};

template <class T>
class gru_rows {
public:
    using parameters = gru_parameters<T>;

    gru_rows(gru_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p), h_(memory.take(rows, p.gate_step)), reset_(memory.take(rows, row_step<T>(p.gate_step)))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.gate_step; }

    /// Multiplies by `multiply` from now on.
    void multiply_by(multiplier const& multiply) noexcept { multiply_ = multiply; }
    multiplier const& multiplication() const noexcept { return multiply_; }

    stored_panels<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_step() const noexcept { return p_.sums_step(); }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t, T* sums) const
    {
        recorded_step(rows, sums, no_gru_recorder());
    }

protected:
    /// Performs a step, and calls record.gates(row, sums of z and r, Rh h + Rb_h if linear_before_reset),
    /// record.next(row, sums of h) and record.state(row, h).
    template <class Recorder>
    void recorded_step(std::size_t rows, T* sums, Recorder const& record) const
    {
        std::size_t const step = sums_step(), H = p_.H, reset_step = row_step<T>(p_.gate_step);
        rows_of<T const> const h{h_, p_.gate_step};
        rows_of<T> const h_sums{sums + 2 * p_.gate_step, step};
        multiply_(rows, h, p_.R_zr, {sums, step}, {sums, step});
        if (p_.linear_before_reset)
            multiply_(rows, h, p_.R_h, {p_.Rb_h, 0}, {reset_, reset_step});
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * step, *const r = z + p_.gate_step,
                     *const reset = reset_ + row * reset_step;
            record.gates(row, z, reset);
            p_.f(z, H);
            p_.f(r, H);
            if (p_.linear_before_reset)
                add_products(r, reset, h_sums.first + row * step, H);
            else
                set_products(r, this->h(row), reset, H);
        }
        if (!p_.linear_before_reset)
            multiply_(rows, {reset_, reset_step}, p_.R_h, {h_sums.first, step}, h_sums);
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * step, *const next = h_sums.first + row * step,
                     *const state = this->h(row);
            record.next(row, next);
            p_.g(next, H);
            for_each_batch<T>(H, [=](std::size_t j) {
                auto const kept = load_batch(z + j);
                store_batch(state + j,
                    multiply_add(kept, load_batch(state + j), (batch_t<T>(1) - kept) * load_batch(next + j)));
            });
            record.state(row, state);
        }
    }

private:
    gru_parameters<T> const& p_;
    T* h_;
    T* reset_; ///< r * h, or Rh h + Rb_h if linear_before_reset
    multiplier multiply_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
