#pragma once
// The forward step of the simple recurrent network that keeps residuals, and its backward step, on raw data.
//
// Residuals are the sums, before they are clipped; h is computed again.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/detail/kernel/gradient_columns.hpp>
#include <xloom/detail/kernel/residuals.hpp>
#include <xloom/detail/kernel/rnn.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The attributes of one direction, which residuals depend on.
template <class T>
struct rnn_attributes {
    gate<T> f;

    friend bool operator==(rnn_attributes const&, rnn_attributes const&) = default;
};

template <class T>
rnn_attributes<T> attributes_of(rnn_parameters<T> const& p)
{
    return {p.f};
}

/// Returns the number of residuals of a row and a step: the sums.
template <class T>
std::size_t residual_size(rnn_parameters<T> const& p) noexcept
{
    return p.gate_step;
}

/// Returns the number of residuals of a row's initial state.
template <class T>
std::size_t initial_size(rnn_parameters<T> const& p) noexcept
{
    return p.gate_step;
}

/// The rows of rnn_rows, whose steps keep residuals. The states have the same bits.
template <class T>
class recorded_rnn_rows : public rnn_rows<T> {
public:
    recorded_rnn_rows(
        rnn_parameters<T> const& p, std::size_t rows, residual_rows<T> const& residuals, arena<T>& memory)
        : rnn_rows<T>(p, rows, memory), p_(p), residuals_(residuals)
    {}

    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->multiply_R(rows, t, sums);
        for (std::size_t r = 0; r < rows; ++r) {
            std::copy_n(sums + r * p_.sums_step(), p_.gate_step, residuals_(t, r));
            this->finish(sums + r * p_.sums_step(), r);
        }
    }

private:
    rnn_parameters<T> const& p_;
    residual_rows<T> residuals_;
};

/// The constants of one direction of a backward pass.
template <class T>
struct rnn_backward_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    panels<T> W;           ///< [gate_step, I]
    panels<T> R;           ///< [gate_step, H]
    rnn_attributes<T> how;

    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return 2 * gate_step * (I + H); }
};

template <class T>
rnn_attributes<T> const& attributes_of(rnn_backward_parameters<T> const& p)
{
    return p.how;
}

/// The cotangents of h of a batch's rows, and their backward step.
template <class T>
class rnn_backward_rows {
public:
    using parameters = rnn_backward_parameters<T>;

    static constexpr std::size_t gates = 1;
    static constexpr std::size_t gradients = 2, factors = 2; ///< W, R; x, h before the step
    static constexpr bool has_peepholes = false;

    rnn_backward_rows(parameters const& p, std::size_t rows, arena<T>& memory)
        : p_(p),
          ct_h_(memory.take(rows, p.gate_step)),
          zeros_(memory.take(p.gate_step)),
          h_(memory.take(p.gate_step)),
          slope_(memory.take(p.gate_step))
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept { return {p.I, p.H}; }
    static gradient_columns columns(parameters const& p)
    {
        return {{0, p.H, {{gradient_of_W, 0, factor_x}, {gradient_of_R, 0, factor_h}}}};
    }
    /// Returns the number of columns of sums, and that of all left factors.
    static std::size_t sums_size(parameters const& p) noexcept { return p.gate_step; }
    static std::size_t row_size(parameters const& p) noexcept { return sums_size(p); }

    T* ct_h(std::size_t row) const noexcept { return ct_h_ + row * p_.gate_step; }

    /// Sets the memory that must be zeros.
    void start() const noexcept { std::fill_n(zeros_, p_.gate_step, T(0)); }

    /// Performs the backward step t of the first `rows` rows: writes the cotangents of their sums, and
    /// replaces those of h after the step by those before it. Calls keep(t + 1, r, factor_h, h after step t).
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        rows_of<T const> const&, rows_of<T> ct_sums, Keep const& keep) const noexcept
    {
        std::size_t const width = p_.gate_step;
        for (std::size_t r = 0; r < rows; ++r) {
            T* const ct = ct_sums.first + r * ct_sums.step;
            differentiate_gate(p_.how.f, residuals(t, r), h_, slope_, p_.H);
            std::copy_n(ct_h(r), width, ct);
            gate_vjp(p_.how.f.function, h_, slope_, ct, p_.H);
            zero_padding(ct, 1, p_.H, width);
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
            differentiate_gate(p_.how.f, residuals(t - 1, r), h_, slope_, p_.H);
            keep(t, r, factor_h, h_);
        }
    }

private:
    parameters const& p_;
    T* ct_h_;
    T* zeros_;
    T* h_;
    T* slope_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
