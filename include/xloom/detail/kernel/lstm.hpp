#pragma once
// A time step of the LSTM for a batch of rows, on raw data.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/cell.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The attributes of one direction, which residuals depend on.
template <class T>
struct lstm_attributes {
    gate<T> f, g;
    activation_function h;
    bool input_forget, has_peepholes;

    friend bool operator==(lstm_attributes const&, lstm_attributes const&) = default;
};

/// True for the default activations and no other option.
template <class T>
bool is_plain(lstm_attributes<T> const& how) noexcept
{
    return how.f.function.kind == activation::sigmoid && how.g.function.kind == activation::tanh &&
           how.h.kind == activation::tanh && !how.f.is_clipped && !how.has_peepholes && !how.input_forget;
}

/// The constants of one direction. The gates are i, o, f, c.
template <class T>
struct lstm_parameters : cell_parameters<T, 4> {
    T const* P;                  ///< i, o, f, each gate_stride long; null: none
    stored_matrix<T> projection; ///< [H, K]; without columns: none
    T const* zeros;              ///< as long as a projected h
    lstm_attributes<T> how;

    bool projects() const noexcept { return projection.columns != 0; }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept
    {
        return cell_parameters<T, 4>::products() + projection.depth * projection.columns;
    }
};

/// Numbers of each gate of a row.
template <class T>
struct lstm_gates {
    T *i, *o, *f, *g;

    /// Each gate is `stride` long.
    lstm_gates(T* row, std::size_t stride) noexcept
        : i(row), o(row + stride), f(row + 2 * stride), g(row + 3 * stride)
    {}
};

/// Computes the next c and h of a row from the sums of its gates, with the default activations and no other
/// option.
///
/// Why two passes: they keep one exponential per dependency chain, within the reorder window. With h in the
/// first pass, a chain would have two exponentials.
template <class T>
XLOOM_FLATTEN void plain_lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    lstm_gates<T const> const sum(sums, p.gate_stride);
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const input = sigmoid_times_tanh(load_batch(sum.i + j), load_batch(sum.g + j));
        store_batch(c + j, multiply_add(sigmoid()(load_batch(sum.f + j)), load_batch(c + j), input));
    });
    for_each_batch<T>(p.H, [=](std::size_t j) {
        store_batch(h + j, sigmoid_times_tanh(load_batch(sum.o + j), load_batch(c + j)));
    });
}

/// Computes the next c and h of a row from the sums of its gates, with any options. Overwrites the sums.
template <class T>
void lstm_units(lstm_parameters<T> const& p, T* sums, T* h, T* c) noexcept
{
    std::size_t const H = p.H, stride = p.gate_stride;
    lstm_attributes<T> const& how = p.how;
    lstm_gates<T> const gate(sums, stride);
    if (p.P != nullptr)
        add_products(p.P, c, gate.i, H);
    how.f(gate.i, H);
    if (!how.input_forget) {
        if (p.P != nullptr)
            add_products(p.P + 2 * stride, c, gate.f, H);
        how.f(gate.f, H);
    }
    how.g(gate.g, H);
    for_each_batch<T>(H, [=, forgets = how.input_forget](std::size_t j) {
        auto const input = load_batch(gate.i + j);
        auto const kept = forgets ? batch_t<T>(1) - input : load_batch(gate.f + j);
        store_batch(c + j, multiply_add(kept, load_batch(c + j), input * load_batch(gate.g + j)));
    });
    if (p.P != nullptr)
        add_products(p.P + stride, c, gate.o, H);
    how.f(gate.o, H);
    std::copy_n(c, stride, h);
    activate_padded(how.h, h, H);
    set_products(gate.o, h, h, H);
}

/// The states of a batch's rows.
template <class T>
class lstm_rows : public cell_rows<lstm_parameters<T>> {
    using base = cell_rows<lstm_parameters<T>>;

public:
    lstm_rows(lstm_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : base(p, rows, memory),
          c_(memory.take(rows, p.gate_stride)),
          hidden_(p.projects() ? memory.take(rows, p.gate_stride) : this->h(0))
    {}

    T* c(std::size_t row) const noexcept { return c_ + row * this->p().gate_stride; }

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->multiply_R(rows, t, sums, [this](T* of_row, std::size_t row) { finish(of_row, row); });
        project(rows);
    }

protected:
    /// Computes the next c of a row from its sums, which it overwrites, and h before a projection.
    void finish(T* sums, std::size_t row) const noexcept
    {
        auto const units = is_plain(this->p().how) ? plain_lstm_units<T> : lstm_units<T>;
        units(this->p(), sums, hidden_ + row * this->p().gate_stride, c(row));
    }
    /// Computes the next h of the first `rows` rows.
    void project(std::size_t rows) const
    {
        auto const& p = this->p();
        if (p.projects())
            this->multiplication()(
                rows, {hidden_, p.gate_stride}, p.projection, {p.zeros, 0}, {this->h(0), p.h_stride});
    }

private:
    T* c_;
    T* hidden_; ///< what is projected; without a projection, h
};

} // namespace xloom::inline XLOOM_ABI::kernel
