#pragma once
// A time step of the simple recurrent network for a batch of rows, on raw data.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiplier.hpp>
#include <xloom/detail/kernel/units.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

template <class T>
struct rnn_parameters {
    using number = T;

    std::size_t I, H;
    std::size_t gate_step; ///< H rounded up to whole batches
    stored_panels<T> W;    ///< [I, gate_step]
    stored_panels<T> R;    ///< [H, gate_step]
    T const* bias;         ///< laid out as a row of sums
    gate<T> f;

    std::size_t sums_step() const noexcept { return row_step<T>(gate_step); }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + R.depth * R.columns; }
};

template <class T>
class rnn_rows {
public:
    using parameters = rnn_parameters<T>;

    rnn_rows(rnn_parameters<T> const& p, std::size_t rows, arena<T>& memory)
        : p_(p), h_(memory.take(rows, p.gate_step))
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
        multiply_(rows, {h_, p_.gate_step}, p_.R, {sums, sums_step()}, {sums, sums_step()}, order_of_step(t));
    }
    /// Computes the next h of a row from its sums, which it overwrites.
    void finish(T* sums, std::size_t row) const noexcept
    {
        p_.f(sums, p_.H);
        std::copy_n(sums, p_.gate_step, h(row));
    }

private:
    rnn_parameters<T> const& p_;
    T* h_;
    multiplier multiply_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
