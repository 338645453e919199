#pragma once
// A time step of the simple recurrent network for a batch of rows, on raw data.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/kernel/cell.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The attributes of one direction, which residuals depend on.
template <class T>
struct rnn_attributes {
    gate<T> f;

    friend bool operator==(rnn_attributes const&, rnn_attributes const&) = default;
};

/// True for the default activation and no clip.
template <class T>
bool is_plain(rnn_attributes<T> const& how) noexcept
{
    return how.f.function.kind == activation::tanh && !how.f.is_clipped;
}

template <class T>
struct rnn_parameters : cell_parameters<T, 1> {
    rnn_attributes<T> how;
};

template <class T>
class rnn_rows : public cell_rows<rnn_parameters<T>> {
public:
    using cell_rows<rnn_parameters<T>>::cell_rows;

    /// Performs one step of the first `rows` rows, whose sums hold W x + bias.
    void step(std::size_t rows, std::size_t, std::size_t t, T* sums) const
    {
        this->multiply_R(rows, t, sums, [this](T* of_row, std::size_t row) { finish(of_row, row); });
    }

protected:
    /// Computes the next h of a row from its sums, which it overwrites.
    void finish(T* sums, std::size_t row) const noexcept
    {
        auto const& p = this->p();
        p.how.f(sums, p.H);
        std::copy_n(sums, p.gate_stride, this->h(row));
    }
};

} // namespace xloom::inline XLOOM_ABI::kernel
