#pragma once
// The LSTM's forward step that keeps residuals, and its backward step, on raw data. Residuals are the sums of
// the gates, c, and h if it is projected.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/kernel/lstm.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns the number of residuals of a row and a step: the sums of the gates, c, a projected h.
template <class T>
std::size_t residual_size(lstm_parameters<T> const& p) noexcept
{
    return 5 * p.gate_stride + (p.projects() ? p.h_stride : 0);
}

/// Returns the number of residuals of a row's initial states: h, c.
template <class T>
std::size_t initial_size(lstm_parameters<T> const& p) noexcept
{
    return p.h_stride + p.gate_stride;
}

template <class T>
class recorded_lstm_rows : public recorded_rows<lstm_rows<T>> {
public:
    using recorded_rows<lstm_rows<T>>::recorded_rows;

    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->multiply_R(rows, t, sums, [this, t](T* of_row, std::size_t r) {
            auto const& p = this->p();
            std::size_t const width = p.gate_stride;
            T *const kept = this->residuals()(t, r), *const c = this->c(r);
            std::copy_n(of_row, 4 * width, kept);
            if (p.P != nullptr) {
                add_products(p.P, c, kept, p.H);
                add_products(p.P + 2 * width, c, kept + 2 * width, p.H);
            }
            this->finish(of_row, r);
            std::copy_n(c, width, kept + 4 * width);
            if (p.P != nullptr)
                add_products(p.P + width, c, kept + width, p.H);
        });
        this->project(rows);
        auto const& p = this->p();
        for (std::size_t r = 0; r < rows && p.projects(); ++r)
            std::copy_n(this->h(r), p.h_stride, this->residuals()(t, r) + 5 * p.gate_stride);
    }
};

/// The constants of one direction of a backward pass. The gates are i, o, f, c.
template <class T>
struct lstm_backward_parameters : cell_backward_parameters<T, 4, lstm_attributes<T>> {
    T const* P;           ///< i, o, f, each gate_stride long; null: none
    panels<T> projection; ///< [K, H]; without columns: none

    bool projects() const noexcept { return projection.columns != 0; }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept
    {
        return cell_backward_parameters<T, 4, lstm_attributes<T>>::products() +
               2 * projection.depth * projection.columns;
    }
};

/// The operands of a row's backward step.
template <class T>
struct lstm_row {
    T const* sums;     ///< of the gates
    T const* c;        ///< after the step
    T const* c_before; ///< before it
    T const* ct_h;
    T* ct_c; ///< of c after the step, then of c before it
    T* ct_sums;
    T* h; ///< after the step, before a projection; computed again
};

/// Computes the cotangents of a row's sums and of c, with the default activations and no other option.
template <class T>
XLOOM_FLATTEN void plain_lstm_row(lstm_backward_parameters<T> const& p, lstm_row<T> const& row, T*) noexcept
{
    lstm_gates<T const> const sum(row.sums, p.gate_stride);
    lstm_gates<T> const ct(row.ct_sums, p.gate_stride);
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const ct_h = load_batch(row.ct_h + j);
        auto const hidden = differentiate(tanh(), load_batch(row.c + j)),
                   o = differentiate(sigmoid(), load_batch(sum.o + j));
        store_batch(row.h + j, o.value * hidden.value);
        store_batch(ct.o + j, ct_h * hidden.value * o.slope);
        store_batch(row.ct_c + j, multiply_add(ct_h * o.value, hidden.slope, load_batch(row.ct_c + j)));
    });
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const ct_c = load_batch(row.ct_c + j);
        auto const i = differentiate(sigmoid(), load_batch(sum.i + j)),
                   g = differentiate(tanh(), load_batch(sum.g + j));
        store_batch(ct.i + j, ct_c * g.value * i.slope);
        store_batch(ct.g + j, ct_c * i.value * g.slope);
        auto const f = differentiate(sigmoid(), load_batch(sum.f + j));
        store_batch(ct.f + j, ct_c * load_batch(row.c_before + j) * f.slope);
        store_batch(row.ct_c + j, ct_c * f.value);
    });
}

/// Computes the cotangents of a row's sums and of c, with any options. `scratch` has 10 gate_stride items.
template <class T>
void general_lstm_row(lstm_backward_parameters<T> const& p, lstm_row<T> const& row, T* scratch) noexcept
{
    std::size_t const H = p.H, stride = p.gate_stride;
    lstm_attributes<T> const& how = p.how;
    lstm_gates<T const> const sum(row.sums, stride);
    lstm_gates<T> const value(scratch, stride), slope(scratch + 4 * stride, stride), ct(row.ct_sums, stride);
    T *const hidden = scratch + 8 * stride, *const hidden_slope = scratch + 9 * stride,
             *const ct_hidden = ct.i; // which is computed later
    differentiate_gate(how.f, sum.i, value.i, slope.i, H);
    differentiate_gate(how.f, sum.o, value.o, slope.o, H);
    if (!how.input_forget)
        differentiate_gate(how.f, sum.f, value.f, slope.f, H);
    differentiate_gate(how.g, sum.g, value.g, slope.g, H);
    differentiate_units(how.h, row.c, hidden, hidden_slope, H);
    set_products(value.o, hidden, row.h, H);

    set_products(row.ct_h, hidden, ct.o, H);
    gate_vjp(how.f.function, value.o, slope.o, ct.o, H);
    set_products(row.ct_h, value.o, ct_hidden, H);
    gate_vjp(how.h, hidden, hidden_slope, ct_hidden, H);
    for_each_batch<T>(H, [=](std::size_t j) {
        store_batch(row.ct_c + j, load_batch(row.ct_c + j) + load_batch(ct_hidden + j));
    });
    if (p.P != nullptr)
        add_products(p.P + stride, ct.o, row.ct_c, H);

    set_products(row.ct_c, value.g, ct.i, H);
    set_products(row.ct_c, row.c_before, ct.f, H);
    set_products(row.ct_c, value.i, ct.g, H);
    for_each_batch<T>(H, [=, forgets = how.input_forget](std::size_t j) { // f = 1 - i
        if (forgets) {
            store_batch(ct.i + j, load_batch(ct.i + j) - load_batch(ct.f + j));
            store_batch(ct.f + j, batch_t<T>(T(0)));
            store_batch(value.f + j, batch_t<T>(T(1)) - load_batch(value.i + j));
        }
        store_batch(row.ct_c + j, load_batch(row.ct_c + j) * load_batch(value.f + j));
    });
    gate_vjp(how.f.function, value.i, slope.i, ct.i, H);
    if (!how.input_forget)
        gate_vjp(how.f.function, value.f, slope.f, ct.f, H);
    gate_vjp(how.g.function, value.g, slope.g, ct.g, H);
    if (p.P != nullptr) {
        add_products(p.P, ct.i, row.ct_c, H);
        add_products(p.P + 2 * stride, ct.f, row.ct_c, H);
    }
}

/// The cotangents of the states of a batch's rows, and their backward step.
template <class T>
class lstm_backward_rows : public cell_backward_rows<lstm_backward_parameters<T>> {
    using base = cell_backward_rows<lstm_backward_parameters<T>>;

public:
    using typename base::parameters;

    static constexpr bool has_peepholes = true;
    /// The gradients of W, R, the projection; x, h before the step, h after it before the projection. A
    /// projected h's cotangents are left factors.
    static constexpr std::size_t gradients = 3, factors = 3;
    static constexpr std::size_t gradient_of_projection = 2, factor_hidden = 2;

    lstm_backward_rows(parameters const& p, std::size_t rows, arena<T>& memory)
        : base(p, rows, memory),
          ct_c_(memory.take(rows, p.gate_stride)),
          ct_hidden_(p.projects() ? memory.take(rows, p.gate_stride) : this->ct_h(0)),
          h_(memory.take(p.gate_stride)),
          scratch_(memory.take(10 * p.gate_stride))
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept
    {
        return {p.I, p.K(), p.projects() ? p.H : 0};
    }
    static gradient_columns columns(parameters const& p)
    {
        gradient_columns all = base::columns(p);
        if (p.projects())
            all.push_back({p.sums_size(), p.K(), {{gradient_of_projection, 0, factor_hidden}}});
        return all;
    }
    static std::size_t row_size(parameters const& p) noexcept
    {
        return p.sums_size() + (p.projects() ? p.h_stride : 0);
    }

    /// Returns what the peephole of gate i, o or f is multiplied with.
    static T const* peephole_input(parameters const& p, std::size_t gate, std::size_t t, std::size_t r,
        residual_rows<T const> const& residuals, row_span<T const> const& initial) noexcept
    {
        return gate == 1 ? residuals(t, r) + 4 * p.gate_stride : c_before(p, t, r, residuals, initial);
    }

    T* ct_c(std::size_t row) const noexcept { return ct_c_ + row * this->p().gate_stride; }

    /// Performs the backward step t of the first `rows` rows: writes their left factors, and replaces the
    /// cotangents of the states after the step by those before it. Calls keep(t + 1, r, factor_h, h after
    /// step t), with a projection keep(t, r, factor_hidden, ..), too.
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, row_span<T> left, Keep const& keep) const noexcept
    {
        auto const& p = this->p();
        auto const units = is_plain(p.how) ? plain_lstm_row<T> : general_lstm_row<T>;
        row_span<T const> const ct_h = this->ct_h_of_all();
        if (p.projects())
            multiply<T>(rows, ct_h, p.projection, this->zeros(), {ct_hidden_, p.gate_stride});
        for (std::size_t r = 0; r < rows; ++r) {
            T const* const kept = residuals(t, r);
            T* const ct = left.from(r).first;
            units(p,
                {kept, kept + 4 * p.gate_stride, c_before(p, t, r, residuals, initial),
                    ct_hidden_ + r * p.gate_stride, ct_c(r), ct, h_},
                scratch_);
            zero_padding(ct, p.gates, p.H, p.gate_stride);
            if (p.projects()) {
                std::copy_n(ct_h.from(r).first, p.h_stride, ct + p.sums_size());
                keep(t, r, factor_hidden, h_);
            }
            keep(t + 1, r, factor_h, p.projects() ? kept + 5 * p.gate_stride : h_);
        }
        this->multiply_R(rows, t, left);
    }

    /// Calls keep(t, r, factor_h, h before step t), where the step before is not run backwards at once.
    template <class Keep>
    void keep_first(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, Keep const& keep) const noexcept
    {
        this->keep_h_before(rows, t, residuals, initial, keep, [this](T const* kept) {
            auto const& p = this->p();
            if (p.projects())
                return kept + 5 * p.gate_stride;
            T *const value = scratch_, *const slope = scratch_ + p.gate_stride;
            differentiate_gate(p.how.f, kept + p.gate_stride, value, slope, p.H);
            differentiate_units(p.how.h, kept + 4 * p.gate_stride, h_, slope, p.H);
            set_products(value, h_, h_, p.H);
            return static_cast<T const*>(h_);
        });
    }

private:
    /// Returns c before step t.
    static T const* c_before(parameters const& p, std::size_t t, std::size_t r,
        residual_rows<T const> const& residuals, row_span<T const> const& initial) noexcept
    {
        return before_step(t, r, residuals, 4 * p.gate_stride, initial, p.h_stride);
    }

    T* ct_c_;
    T* ct_hidden_; ///< those of h before a projection; without one, ct_h
    T* h_;
    T* scratch_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
