#pragma once
// The LSTM's forward step that keeps residuals, and its backward step, on raw data.
//
// Residuals are the sums of the gates, before they are clipped, and c. All else is computed again: gates with
// their derivatives, and h. So every option and activation has the same residuals, and derivatives are exact
// where the value of a gate does not determine them.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/detail/kernel/gradient_columns.hpp>
#include <xloom/detail/kernel/lstm.hpp>
#include <xloom/detail/kernel/residuals.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The attributes of one direction, which residuals depend on.
template <class T>
struct lstm_attributes {
    gate<T> f, g;
    activation_function h;
    bool input_forget, has_peepholes;

    friend bool operator==(lstm_attributes const&, lstm_attributes const&) = default;
};

template <class T>
lstm_attributes<T> attributes_of(lstm_parameters<T> const& p)
{
    return {p.f, p.g, p.h, p.input_forget, p.P != nullptr};
}

/// Returns the number of residuals of a row and a step: the sums of the gates, c.
template <class T>
std::size_t residual_size(lstm_parameters<T> const& p) noexcept
{
    return 5 * p.gate_step;
}

/// Returns the number of residuals of a row's initial states: h, c.
template <class T>
std::size_t initial_size(lstm_parameters<T> const& p) noexcept
{
    return 2 * p.gate_step;
}

/// The rows of lstm_rows, whose steps keep residuals. The states have the same bits.
template <class T>
class recorded_lstm_rows : public lstm_rows<T> {
public:
    recorded_lstm_rows(
        lstm_parameters<T> const& p, std::size_t rows, residual_rows<T> const& residuals, arena<T>& memory)
        : lstm_rows<T>(p, rows, memory), p_(p), residuals_(residuals)
    {}

    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        std::size_t const width = p_.gate_step;
        this->multiply_R(rows, t, sums);
        for (std::size_t r = 0; r < rows; ++r) {
            T *const of_row = sums + r * p_.sums_step(), *const kept = residuals_(t, r),
                     *const c = this->c(r);
            std::copy_n(of_row, 4 * width, kept);
            if (p_.P != nullptr) {
                add_products(p_.P, c, kept, p_.H);
                add_products(p_.P + 2 * width, c, kept + 2 * width, p_.H);
            }
            this->finish(of_row, r);
            std::copy_n(c, width, kept + 4 * width);
            if (p_.P != nullptr)
                add_products(p_.P + width, c, kept + width, p_.H);
        }
    }

private:
    lstm_parameters<T> const& p_;
    residual_rows<T> residuals_;
};

/// The constants of one direction of a backward pass. The gates are i, o, f, c, as in lstm_parameters.
template <class T>
struct lstm_backward_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    panels<T> W;           ///< [4 gate_step, I]
    panels<T> R;           ///< [4 gate_step, H]
    T const* P;            ///< i, o, f, each gate_step long; null: none
    lstm_attributes<T> how;

    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return 2 * 4 * gate_step * (I + H); }
};

template <class T>
lstm_attributes<T> const& attributes_of(lstm_backward_parameters<T> const& p)
{
    return p.how;
}

template <class T>
bool is_plain(lstm_attributes<T> const& how) noexcept
{
    return how.f.function.kind == activation::sigmoid && how.g.function.kind == activation::tanh &&
           how.h.kind == activation::tanh && !how.f.is_clipped && !how.has_peepholes && !how.input_forget;
}

/// The operands of a row's backward step.
template <class T>
struct lstm_row {
    T const* sums;     ///< of the gates
    T const* c;        ///< after the step
    T const* c_before; ///< before it
    T const* ct_h;
    T* ct_c; ///< of c after the step, then of c before it
    T* ct_sums;
    T* h; ///< after the step, computed again
};

/// Computes the cotangents of a row's sums and of c, with the default activations and no other option.
template <class T>
[[gnu::flatten]] void plain_lstm_row(
    lstm_backward_parameters<T> const& p, lstm_row<T> const& row, T*) noexcept
{
    std::size_t const step = p.gate_step;
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const ct_h = load_batch(row.ct_h + j);
        auto const hidden = differentiate(tanh(), load_batch(row.c + j)),
                   o = differentiate(sigmoid(), load_batch(row.sums + step + j));
        store_batch(row.h + j, o.value * hidden.value);
        store_batch(row.ct_sums + step + j, ct_h * hidden.value * o.slope);
        store_batch(row.ct_c + j, multiply_add(ct_h * o.value, hidden.slope, load_batch(row.ct_c + j)));
    });
    for_each_batch<T>(p.H, [=](std::size_t j) {
        auto const ct_c = load_batch(row.ct_c + j);
        auto const i = differentiate(sigmoid(), load_batch(row.sums + j)),
                   g = differentiate(tanh(), load_batch(row.sums + 3 * step + j));
        store_batch(row.ct_sums + j, ct_c * g.value * i.slope);
        store_batch(row.ct_sums + 3 * step + j, ct_c * i.value * g.slope);
        auto const f = differentiate(sigmoid(), load_batch(row.sums + 2 * step + j));
        store_batch(row.ct_sums + 2 * step + j, ct_c * load_batch(row.c_before + j) * f.slope);
        store_batch(row.ct_c + j, ct_c * f.value);
    });
}

/// Computes the cotangents of a row's sums and of c, with any options. `scratch` has 10 gate_step items.
template <class T>
void general_lstm_row(lstm_backward_parameters<T> const& p, lstm_row<T> const& row, T* scratch) noexcept
{
    std::size_t const H = p.H, step = p.gate_step;
    lstm_attributes<T> const& how = p.how;
    T *const i = scratch, *const o = i + step, *const f = o + step, *const g = f + step,
             *const hidden = g + step, *const slopes = hidden + step;
    differentiate_gate(how.f, row.sums, i, slopes, H);
    differentiate_gate(how.f, row.sums + step, o, slopes + step, H);
    if (!how.input_forget)
        differentiate_gate(how.f, row.sums + 2 * step, f, slopes + 2 * step, H);
    differentiate_gate(how.g, row.sums + 3 * step, g, slopes + 3 * step, H);
    differentiate_units(how.h, row.c, hidden, slopes + 4 * step, H);
    set_products(o, hidden, row.h, H);

    T *const ct_i = row.ct_sums, *const ct_o = ct_i + step, *const ct_f = ct_o + step,
             *const ct_g = ct_f + step;
    set_products(row.ct_h, hidden, ct_o, H);
    gate_vjp(how.f.function, o, slopes + step, ct_o, H);
    set_products(row.ct_h, o, ct_i, H); // that of hidden, for a while
    gate_vjp(how.h, hidden, slopes + 4 * step, ct_i, H);
    for_each_batch<T>(H,
        [=](std::size_t j) { store_batch(row.ct_c + j, load_batch(row.ct_c + j) + load_batch(ct_i + j)); });
    if (p.P != nullptr)
        add_products(p.P + step, ct_o, row.ct_c, H);

    set_products(row.ct_c, g, ct_i, H);
    set_products(row.ct_c, row.c_before, ct_f, H);
    set_products(row.ct_c, i, ct_g, H);
    for_each_batch<T>(H, [=, forgets = how.input_forget](std::size_t j) { // f = 1 - i
        if (forgets) {
            store_batch(ct_i + j, load_batch(ct_i + j) - load_batch(ct_f + j));
            store_batch(ct_f + j, batch_t<T>(T(0)));
            store_batch(f + j, batch_t<T>(T(1)) - load_batch(i + j));
        }
        store_batch(row.ct_c + j, load_batch(row.ct_c + j) * load_batch(f + j));
    });
    gate_vjp(how.f.function, i, slopes, ct_i, H);
    if (!how.input_forget)
        gate_vjp(how.f.function, f, slopes + 2 * step, ct_f, H);
    gate_vjp(how.g.function, g, slopes + 3 * step, ct_g, H);
    if (p.P != nullptr) {
        add_products(p.P, ct_i, row.ct_c, H);
        add_products(p.P + 2 * step, ct_f, row.ct_c, H);
    }
}

/// The cotangents of the states of a batch's rows, and their backward step.
template <class T>
class lstm_backward_rows {
public:
    using parameters = lstm_backward_parameters<T>;

    static constexpr std::size_t gates = 4;
    static constexpr std::size_t gradients = 2, factors = 2; ///< W, R; x, h before the step
    static constexpr bool has_peepholes = true;

    lstm_backward_rows(lstm_backward_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p),
          ct_h_(memory.take(rows, p.gate_step)),
          ct_c_(memory.take(rows, p.gate_step)),
          zeros_(memory.take(p.gate_step)),
          h_(memory.take(p.gate_step)),
          scratch_(memory.take(10 * p.gate_step))
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept { return {p.I, p.H}; }
    static gradient_columns columns(parameters const& p)
    {
        gradient_columns all;
        for (std::size_t gate = 0; gate < gates; ++gate)
            all.push_back({gate * p.gate_step, p.H,
                {{gradient_of_W, gate * p.H, factor_x}, {gradient_of_R, gate * p.H, factor_h}}});
        return all;
    }
    /// Returns the number of columns of sums, and that of all left factors.
    static std::size_t sums_size(parameters const& p) noexcept { return gates * p.gate_step; }
    static std::size_t row_size(parameters const& p) noexcept { return sums_size(p); }
    /// Returns what the peephole of gate i, o or f is multiplied with.
    static T const* peephole_input(parameters const& p, std::size_t gate, std::size_t t, std::size_t r,
        residual_rows<T const> const& residuals, rows_of<T const> const& initial) noexcept
    {
        if (gate == 1)
            return residuals(t, r) + 4 * p.gate_step;
        return c_before(p, t, r, residuals, initial);
    }

    T* ct_h(std::size_t row) const noexcept { return ct_h_ + row * p_.gate_step; }
    T* ct_c(std::size_t row) const noexcept { return ct_c_ + row * p_.gate_step; }

    /// Sets the memory that must be zeros.
    void start() const noexcept { std::fill_n(zeros_, p_.gate_step, T(0)); }

    /// Performs the backward step t of the first `rows` rows: writes the cotangents of their sums, and
    /// replaces those of the states after the step by those before it. Calls keep(t + 1, r, factor_h, h after
    /// step t).
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        rows_of<T const> const& initial, rows_of<T> ct_sums, Keep const& keep) const noexcept
    {
        std::size_t const width = p_.gate_step;
        auto const units = is_plain(p_.how) ? plain_lstm_row<T> : general_lstm_row<T>;
        for (std::size_t r = 0; r < rows; ++r) {
            T const* const kept = residuals(t, r);
            T* const ct = ct_sums.first + r * ct_sums.step;
            units(p_,
                {kept, kept + 4 * width, c_before(p_, t, r, residuals, initial), ct_h(r), ct_c(r), ct, h_},
                scratch_);
            zero_padding(ct, gates, p_.H, width);
            keep(t + 1, r, factor_h, h_);
        }
        multiply<T>(rows, rows_of<T const>{ct_sums.first, ct_sums.step}, p_.R, {zeros_, 0}, {ct_h_, width},
            order_of_step(t));
    }

    /// Calls keep(t, r, factor_h, h before step t), where the step before is not run backwards at once.
    template <class Keep>
    void keep_first(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        rows_of<T const> const& initial, Keep const& keep) const noexcept
    {
        for (std::size_t r = 0; r < rows; ++r) {
            if (t == 0) {
                keep(t, r, factor_h, initial.first + r * initial.step);
                continue;
            }
            T const* const kept = residuals(t - 1, r);
            T *const value = scratch_, *const slope = scratch_ + p_.gate_step;
            differentiate_gate(p_.how.f, kept + p_.gate_step, value, slope, p_.H);
            differentiate_units(p_.how.h, kept + 4 * p_.gate_step, h_, slope, p_.H);
            set_products(value, h_, h_, p_.H);
            keep(t, r, factor_h, h_);
        }
    }

private:
    /// Returns c before step t.
    static T const* c_before(parameters const& p, std::size_t t, std::size_t r,
        residual_rows<T const> const& residuals, rows_of<T const> const& initial) noexcept
    {
        return t == 0 ? initial.first + r * initial.step + p.gate_step
                      : residuals(t - 1, r) + 4 * p.gate_step;
    }

    lstm_backward_parameters<T> const& p_;
    T* ct_h_;
    T* ct_c_;
    T* zeros_;
    T* h_;
    T* scratch_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
