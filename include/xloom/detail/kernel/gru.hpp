#pragma once
// A time step of the GRU for a batch of rows, on raw data.

#include <cstddef>

#include <xloom/detail/kernel/cell.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The attributes of one direction, which residuals depend on.
template <class T>
struct gru_attributes {
    gate<T> f, g;
    bool linear_before_reset;

    friend bool operator==(gru_attributes const&, gru_attributes const&) = default;
};

/// True for the default activations and no clip.
template <class T>
bool is_plain(gru_attributes<T> const& how) noexcept
{
    return how.f.function.kind == activation::sigmoid && how.g.function.kind == activation::tanh &&
           !how.f.is_clipped;
}

/// The constants of one direction. The gates are z, r, h; R [H, 2 gate_stride] is that of z and r, bias
/// excludes Rb_h if linear_before_reset.
template <class T>
struct gru_parameters : cell_parameters<T, 3> {
    stored_matrix<T> R_h; ///< [H, gate_stride]
    T const* Rb_h;        ///< zeros unless linear_before_reset
    gru_attributes<T> how;

    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept
    {
        return cell_parameters<T, 3>::products() + this->H * R_h.columns;
    }
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
class gru_rows : public cell_rows<gru_parameters<T>> {
    using base = cell_rows<gru_parameters<T>>;

public:
    gru_rows(gru_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : base(p, rows, memory), reset_(memory.take(rows, row_stride<T>(p.gate_stride)))
    {}

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
        auto const& p = this->p();
        multiplier const& multiply = this->multiplication();
        bool const is_linear = p.how.linear_before_reset;
        std::size_t const stride = p.sums_stride(), H = p.H, reset_stride = row_stride<T>(p.gate_stride);
        row_span<T const> const h = this->h_of_all();
        row_span<T> const h_sums{sums + 2 * p.gate_stride, stride};
        multiply(rows, h, p.R, {sums, stride}, {sums, stride});
        if (is_linear)
            multiply(rows, h, p.R_h, {p.Rb_h, 0}, {reset_, reset_stride});
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * stride, *const r = z + p.gate_stride,
                     *const reset = reset_ + row * reset_stride;
            record.gates(row, z, reset);
            p.how.f(z, H);
            p.how.f(r, H);
            if (is_linear)
                add_products(r, reset, h_sums.first + row * stride, H);
            else
                set_products(r, this->h(row), reset, H);
        }
        if (!is_linear)
            multiply(rows, {reset_, reset_stride}, p.R_h, h_sums, h_sums);
        for (std::size_t row = 0; row < rows; ++row) {
            T *const z = sums + row * stride, *const next = h_sums.first + row * stride,
                     *const state = this->h(row);
            record.next(row, next);
            p.how.g(next, H);
            for_each_batch<T>(H, [=](std::size_t j) {
                auto const kept = load_batch(z + j);
                store_batch(state + j,
                    multiply_add(kept, load_batch(state + j), (batch_t<T>(1) - kept) * load_batch(next + j)));
            });
            record.state(row, state);
        }
    }

private:
    T* reset_; ///< r * h, or Rh h + Rb_h if linear_before_reset
};

} // namespace xloom::inline XLOOM_ABI::kernel
