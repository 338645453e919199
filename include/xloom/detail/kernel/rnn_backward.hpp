#pragma once
// The forward step of the simple recurrent network that keeps residuals, and its backward step, on raw data.
// Residuals are the sums; h is computed again.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/kernel/rnn.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns the number of residuals of a row and a step: the sums.
template <class T>
std::size_t residual_size(rnn_parameters<T> const& p) noexcept
{
    return p.gate_stride;
}

template <class T>
class recorded_rnn_rows : public recorded_rows<rnn_rows<T>> {
public:
    using recorded_rows<rnn_rows<T>>::recorded_rows;

    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->multiply_R(rows, t, sums, [this, t](T* of_row, std::size_t r) {
            std::copy_n(of_row, this->p().gate_stride, this->residuals()(t, r));
            this->finish(of_row, r);
        });
    }
};

template <class T>
using rnn_backward_parameters = cell_backward_parameters<T, 1, rnn_attributes<T>>;

/// The cotangents of h of a batch's rows, and their backward step.
template <class T>
class rnn_backward_rows : public cell_backward_rows<rnn_backward_parameters<T>> {
    using base = cell_backward_rows<rnn_backward_parameters<T>>;

public:
    rnn_backward_rows(rnn_backward_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : base(p, rows, memory), h_(memory.take(p.gate_stride)), slope_(memory.take(p.gate_stride))
    {}

    /// Performs the backward step t of the first `rows` rows: writes the cotangents of their sums, and
    /// replaces those of h after the step by those before it. Calls keep(t + 1, r, factor_h, h after step t).
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const&, row_span<T> ct_sums, Keep const& keep) const noexcept
    {
        auto const& p = this->p();
        for (std::size_t r = 0; r < rows; ++r) {
            T* const ct = ct_sums.from(r).first;
            set_h(residuals(t, r));
            std::copy_n(this->ct_h(r), p.gate_stride, ct);
            gate_vjp(p.how.f.function, h_, slope_, ct, p.H);
            zero_padding(ct, 1, p.H, p.gate_stride);
            keep(t + 1, r, factor_h, h_);
        }
        this->multiply_R(rows, t, ct_sums);
    }

    /// Calls keep(t, r, factor_h, h before step t), where the step before is not run backwards at once.
    template <class Keep>
    void keep_first(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, Keep const& keep) const noexcept
    {
        this->keep_h_before(rows, t, residuals, initial, keep, [this](T const* kept) {
            set_h(kept);
            return h_;
        });
    }

private:
    /// Computes h and the derivatives of its units from the residuals of a step.
    void set_h(T const* kept) const noexcept
    {
        differentiate_gate(this->p().how.f, kept, h_, slope_, this->p().H);
    }

    T* h_;
    T* slope_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
