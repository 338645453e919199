#pragma once
// The GRU's forward step that keeps residuals, and its backward step, on raw data.
//
// Residuals are the sums of the gates, and h; with linear_before_reset also the product that r is applied to.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/cell_backward.hpp>
#include <xloom/detail/kernel/gru.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns the number of residuals of a row and a step: the sums of z, r and h, the state h, and Rh h + Rb_h.
template <class T>
std::size_t residual_size(gru_parameters<T> const& p) noexcept
{
    return (p.how.linear_before_reset ? 5 : 4) * p.gate_stride;
}

template <class T>
class recorded_gru_rows : public recorded_rows<gru_rows<T>> {
public:
    using recorded_rows<gru_rows<T>>::recorded_rows;

    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->recorded_step(rows, sums, recorder{this->p(), this->residuals(), t});
    }

private:
    struct recorder {
        gru_parameters<T> const& p;
        residual_rows<T> const& residuals;
        std::size_t t;

        void gates(std::size_t row, T const* sums, T const* product) const noexcept
        {
            T* const kept = residuals(t, row);
            std::copy_n(sums, 2 * p.gate_stride, kept);
            if (p.how.linear_before_reset)
                std::copy_n(product, p.gate_stride, kept + 4 * p.gate_stride);
        }
        void next(std::size_t row, T const* sums) const noexcept
        {
            std::copy_n(sums, p.gate_stride, residuals(t, row) + 2 * p.gate_stride);
        }
        void state(std::size_t row, T const* h) const noexcept
        {
            std::copy_n(h, p.gate_stride, residuals(t, row) + 3 * p.gate_stride);
        }
    };
};

/// The constants of one direction of a backward pass. The gates of W are h, z, r; R [2 gate_stride, H] is
/// that of z and r, and if linear_before_reset [3 gate_stride, H], of z, r and h.
template <class T>
struct gru_backward_parameters : cell_backward_parameters<T, 3, gru_attributes<T>> {
    panels<T> R_h; ///< [gate_stride, H]; not used if linear_before_reset

    std::size_t sums_size() const noexcept
    {
        return (this->how.linear_before_reset ? 4 : 3) * this->gate_stride;
    }
};

/// The cotangents of h of a batch's rows, and their backward step.
template <class T>
class gru_backward_rows : public cell_backward_rows<gru_backward_parameters<T>> {
    using base = cell_backward_rows<gru_backward_parameters<T>>;

public:
    using typename base::parameters;

    static constexpr std::size_t factors = 3; ///< x, h before the step, r * h
    static constexpr std::size_t factor_reset = 2;

    gru_backward_rows(parameters const& p, std::size_t rows, arena<T>& memory)
        : base(p, rows, memory),
          reset_(memory.take(rows, 2 * p.gate_stride)),
          ct_reset_(memory.take(rows, p.gate_stride)),
          scratch_(memory.take(4 * p.gate_stride))
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept
    {
        return {p.I, p.H, p.H};
    }
    /// Returns the columns of the cotangents of sums: h, z, r, and if linear_before_reset those of Rh h +
    /// Rb_h. Those of W are the first, those of R contiguous.
    static gradient_columns columns(parameters const& p)
    {
        std::size_t const H = p.H, stride = p.gate_stride;
        gradient_columns all{{0, H, {{gradient_of_W, 2 * H, factor_x}}},
            {stride, H, {{gradient_of_W, 0, factor_x}, {gradient_of_R, 0, factor_h}}},
            {2 * stride, H, {{gradient_of_W, H, factor_x}, {gradient_of_R, H, factor_h}}}};
        if (p.how.linear_before_reset)
            all.push_back({3 * stride, H, {{gradient_of_R, 2 * H, factor_h}}});
        else
            all[0].products.push_back({gradient_of_R, 2 * H, factor_reset});
        return all;
    }

    /// Performs the backward step t of the first `rows` rows: writes the cotangents of their sums, and
    /// replaces those of h after the step by those before it. Calls keep(t, r, factor, right factor).
    template <class Keep>
    void step(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, row_span<T> ct_sums, Keep const& keep) const noexcept
    {
        auto const& p = this->p();
        std::size_t const width = p.gate_stride, H = p.H;
        bool const is_linear = p.how.linear_before_reset;
        auto const h_before = [&](std::size_t r) { return before_step(t, r, residuals, 3 * width, initial); };
        auto const units = is_plain(p.how) ? &gru_backward_rows::plain_units : &gru_backward_rows::units;
        for (std::size_t r = 0; r < rows; ++r) {
            T const *const kept = residuals(t, r), *const before = h_before(r);
            T *const ct_next = ct_sums.from(r).first, *const ct_r = ct_next + 2 * width,
                     *const reset = reset_ + r * 2 * width;
            (this->*units)(kept, before, this->ct_h(r), ct_next, reset);
            keep(t, r, factor_h, before);
            if (is_linear) {
                set_products(ct_next, reset, ct_r + width, H);
                set_products(ct_next, kept + 4 * width, ct_r, H);
                gate_vjp(p.how.f.function, reset, reset + width, ct_r, H);
                zero_padding(ct_next, 4, H, width);
            } else {
                set_products(reset, before, scratch_, H);
                keep(t, r, factor_reset, scratch_);
                zero_padding(ct_next, 1, H, width);
            }
        }
        if (!is_linear) {
            multiply<T>(rows, ct_sums, p.R_h, this->zeros(), {ct_reset_, width});
            for (std::size_t r = 0; r < rows; ++r) {
                T const *const ct = ct_reset_ + r * width, *const reset = reset_ + r * 2 * width;
                T* const ct_r = ct_sums.from(r).first + 2 * width;
                add_products(ct, reset, this->ct_h(r), H);
                set_products(ct, h_before(r), ct_r, H);
                gate_vjp(p.how.f.function, reset, reset + width, ct_r, H);
                zero_padding(ct_r - width, 2, H, width);
            }
        }
        row_span<T> const ct_h = this->ct_h_of_all();
        multiply<T>(rows, {ct_sums.first + width, ct_sums.stride}, p.R, ct_h, ct_h, order_of_step(t));
    }

    /// Returns at once: a step keeps its own factors.
    template <class Keep>
    void keep_first(std::size_t, std::size_t, residual_rows<T const> const&, row_span<T const> const&,
        Keep const&) const noexcept
    {}

private:
    /// Computes the cotangents of the sums of h and z and the share of the cotangent of h before the step
    /// that z passes on, with the default activations and no clip; and r with its derivatives.
    XLOOM_FLATTEN void plain_units(
        T const* kept, T const* before, T* ct_h, T* ct_next, T* reset) const noexcept
    {
        for_each_batch<T>(this->p().H, [=, width = this->p().gate_stride](std::size_t j) {
            auto const ct = load_batch(ct_h + j);
            auto const z = differentiate(sigmoid(), load_batch(kept + j)),
                       next = differentiate(tanh(), load_batch(kept + 2 * width + j)),
                       r = differentiate(sigmoid(), load_batch(kept + width + j));
            store_batch(ct_next + j, ct * (batch_t<T>(T(1)) - z.value) * next.slope);
            store_batch(ct_next + width + j, ct * (load_batch(before + j) - next.value) * z.slope);
            store_batch(ct_h + j, ct * z.value);
            store_batch(reset + j, r.value);
            store_batch(reset + width + j, r.slope);
        });
    }
    /// Computes these numbers with any options.
    void units(T const* kept, T const* before, T* ct_h, T* ct_next, T* reset) const noexcept
    {
        auto const& p = this->p();
        std::size_t const width = p.gate_stride, H = p.H;
        T *const z = scratch_, *const next = z + width, *const z_slope = next + width,
                 *const next_slope = z_slope + width, *const ct_z = ct_next + width;
        differentiate_gate(p.how.f, kept, z, z_slope, H);
        differentiate_gate(p.how.f, kept + width, reset, reset + width, H);
        differentiate_gate(p.how.g, kept + 2 * width, next, next_slope, H);
        for_each_batch<T>(H, [=](std::size_t j) {
            auto const ct = load_batch(ct_h + j), share = load_batch(z + j);
            store_batch(ct_next + j, ct * (batch_t<T>(T(1)) - share));
            store_batch(ct_z + j, ct * (load_batch(before + j) - load_batch(next + j)));
            store_batch(ct_h + j, ct * share);
        });
        gate_vjp(p.how.f.function, z, z_slope, ct_z, H);
        gate_vjp(p.how.g.function, next, next_slope, ct_next, H);
    }

    T* reset_;    ///< r and its derivatives
    T* ct_reset_; ///< the cotangents of r * h
    T* scratch_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
