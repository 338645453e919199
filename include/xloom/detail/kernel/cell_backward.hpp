#pragma once
// The parts that the backward kernels of LSTM, GRU and RNN share: residuals, constants, the cotangents of h,
// and the products start + transpose(a) b that are the gradients of weights.
//
// Residuals are the sums of the gates, before they are clipped, and the states that these do not determine.
// All else is computed again: gates with their derivatives, and h. So every option and activation has the
// same residuals, and derivatives are exact where the value of a gate does not determine them.

#include <algorithm>
#include <array>
#include <cstddef>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/static_vector.hpp>
#include <xloom/detail/kernel/activate_vjp.hpp>
#include <xloom/detail/kernel/cell.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The residuals of the sequences of a part, which are every `stride`-th of the sequences sorted by
/// descending length, from `first` on: a row of numbers for each step of each sequence.
template <class T>
struct residual_rows {
    T* items = nullptr;
    std::size_t const* begins = nullptr; ///< of step t: the number of rows of all earlier steps
    std::size_t row_size = 0;
    std::size_t first = 0, stride = 1;

    /// Returns the index of step t of sequence r among all steps of all sequences.
    std::size_t position(std::size_t t, std::size_t r) const noexcept
    {
        return begins[t] + first + r * stride;
    }
    T* operator()(std::size_t t, std::size_t r) const noexcept { return items + position(t, r) * row_size; }
    /// Returns the number of sequences of the part that are longer than t.
    std::size_t active(std::size_t t) const noexcept
    {
        std::size_t const all = begins[t + 1] - begins[t];
        return all > first ? xloom::detail::ceil_div(all - first, stride) : 0;
    }
};

/// Returns numbers of row r before step t: at `offset` of the residuals of step t - 1, or at `initial_offset`
/// of the initial states.
template <class T>
T const* before_step(std::size_t t, std::size_t r, residual_rows<T const> const& residuals,
    std::size_t offset, row_span<T const> const& initial, std::size_t initial_offset = 0) noexcept
{
    return t == 0 ? initial.from(r).first + initial_offset : residuals(t - 1, r) + offset;
}

/// The rows of a cell, whose steps keep residuals. The states have the same bits.
template <class Rows>
class recorded_rows : public Rows {
public:
    using typename Rows::parameters;
    using typename Rows::T;

    recorded_rows(parameters const& p, std::size_t rows, residual_rows<T> const& residuals, arena<T>& memory)
        : Rows(p, rows, memory), residuals_(residuals)
    {}

protected:
    residual_rows<T> const& residuals() const noexcept { return residuals_; }

private:
    residual_rows<T> residuals_;
};

/// Returns the number of residuals of a row's initial state: h.
template <class T, std::size_t Gates>
std::size_t initial_size(cell_parameters<T, Gates> const& p) noexcept
{
    return p.h_stride;
}

/// The numbers of the gradients and of the right factors that all cells have; others follow.
inline constexpr std::size_t gradient_of_W = 0, gradient_of_R = 1;
inline constexpr std::size_t factor_x = 0, factor_h = 1;

/// A share of a gradient: its rows from first_row on are the transpose of a column times a right factor.
struct gradient_product {
    std::size_t gradient, first_row, factor;
};

/// A column of the left factors, `units` wide from `first` on, and its products. Left factors are a matrix
/// with a row for each step of each sequence: first of all the cotangents of the cell's sums, in columns
/// padded to whole batches. Right factors are panels with the same rows, such as x.
struct gradient_column {
    std::size_t first = 0, units = 0;
    static_vector<gradient_product, 3> products{};
};

using gradient_columns = static_vector<gradient_column, 6>;

/// Sets the padding of each of `columns` columns to zeros: it is multiplied with the padding of weights.
template <class T>
void zero_padding(T* row, std::size_t columns, std::size_t units, std::size_t width) noexcept
{
    if (units != width)
        for (std::size_t column = 0; column < columns; ++column)
            std::fill(row + column * width + units, row + (column + 1) * width, T(0));
}

/// Writes row k of panels from a row that is padded to whole batches.
template <class T>
void put_panel_row(T const* row, std::size_t k, panel_writer<T> const& to) noexcept
{
    for (std::size_t column = 0; column < to.columns; column += panel_width<T>) {
        std::size_t const width = columns_of_panel<T>(column, to.columns);
        std::copy_n(row + column, width, to.items + column * to.depth + k * width);
    }
}

/// The maximum number of rows that column sums add in one dependency chain.
inline constexpr std::size_t rows_per_chain = 128;

/// Adds `rows` rows of numbers to sums, in order, in columns [begin, end), which are whole batches. add(row,
/// partial) adds those of one row to `partial`, which is as long as sums.
template <class T, class Add>
void add_rows(
    std::size_t rows, std::size_t begin, std::size_t end, T* sums, T* partial, Add const& add) noexcept
{
    for (std::size_t k = 0; k < rows; k += rows_per_chain) {
        std::fill(partial + begin, partial + end, T(0));
        for (std::size_t row = k; row < (std::min)(k + rows_per_chain, rows); ++row)
            add(row, partial);
        for (std::size_t j = begin; j < end; ++j)
            sums[j] = sums[j] + partial[j];
    }
}

/// The constants of one direction of a backward pass, whose sums have the gates of the forward pass.
template <class T, std::size_t Gates, class Attributes>
struct cell_backward_parameters {
    using number = T;
    static constexpr std::size_t gates = Gates;

    std::size_t I, H;
    std::size_t gate_stride; ///< as in cell_parameters
    std::size_t h_stride;
    panels<T> W; ///< [Gates gate_stride, I]
    panels<T> R; ///< [Gates gate_stride, K]
    Attributes how;

    /// Returns the length of h.
    std::size_t K() const noexcept { return R.columns; }
    /// Returns the number of columns of the cotangents of a row's sums.
    std::size_t sums_size() const noexcept { return Gates * gate_stride; }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return 2 * Gates * gate_stride * (I + K()); }
};

/// The cotangents of h of a batch's rows. Each cell adds its backward step.
template <class Parameters>
class cell_backward_rows {
public:
    using parameters = Parameters;
    using T = typename Parameters::number;

    static constexpr std::size_t gates = Parameters::gates;
    static constexpr std::size_t gradients = 2, factors = 2; ///< W, R; x, h before the step
    static constexpr bool has_peepholes = false;

    cell_backward_rows(parameters const& p, std::size_t rows, arena<T>& memory)
        : p_(p), ct_h_(memory.take(rows, p.h_stride)), zeros_(memory.take(zeros_size()))
    {}

    static std::array<std::size_t, factors> factor_widths(parameters const& p) noexcept
    {
        return {p.I, p.K()};
    }
    static gradient_columns columns(parameters const& p)
    {
        gradient_columns all;
        for (std::size_t gate = 0; gate < gates; ++gate)
            all.push_back({gate * p.gate_stride, p.H,
                {{gradient_of_W, gate * p.H, factor_x}, {gradient_of_R, gate * p.H, factor_h}}});
        return all;
    }
    /// Returns the number of columns of sums, and that of all left factors.
    static std::size_t sums_size(parameters const& p) noexcept { return p.sums_size(); }
    static std::size_t row_size(parameters const& p) noexcept { return p.sums_size(); }

    T* ct_h(std::size_t row) const noexcept { return ct_h_ + row * p_.h_stride; }
    row_span<T> ct_h_of_all() const noexcept { return {ct_h_, p_.h_stride}; }

    /// Sets the memory that must be zeros.
    void start() const noexcept { std::fill_n(zeros_, zeros_size(), T(0)); }

protected:
    parameters const& p() const noexcept { return p_; }
    row_span<T const> zeros() const noexcept { return {zeros_, 0}; }

    /// Replaces the cotangents of h after step t by the share of those before it that passes through R.
    void multiply_R(std::size_t rows, std::size_t t, row_span<T> ct_sums) const noexcept
    {
        multiply<T>(rows, ct_sums, p_.R, zeros(), ct_h_of_all(), order_of_step(t));
    }

    /// Calls keep(t, r, factor_h, h before step t) for each row, where the step before is not run backwards
    /// at once. h_after(residuals of a step) returns h after that step.
    template <class Keep, class After>
    void keep_h_before(std::size_t rows, std::size_t t, residual_rows<T const> const& residuals,
        row_span<T const> const& initial, Keep const& keep, After const& h_after) const noexcept
    {
        for (std::size_t r = 0; r < rows; ++r)
            keep(t, r, factor_h, t == 0 ? initial.from(r).first : h_after(residuals(t - 1, r)));
    }

private:
    std::size_t zeros_size() const noexcept { return (std::max)(p_.gate_stride, p_.h_stride); }

    parameters const& p_;
    T* ct_h_;
    T* zeros_;
};

/// The maximum number of columns of a that are packed together.
///
/// Why so few: with 512 rows, 192 KB of floats, which stay in L2 beside a panel of b.
template <class T>
inline constexpr std::size_t columns_per_pack = 16 * block_rows<T>;

/// Returns the number of items of the largest pack of `columns` columns.
template <class T>
constexpr std::size_t pack_items(std::size_t depth, std::size_t columns) noexcept
{
    return depth * (std::min)(columns, columns_per_pack<T>);
}

namespace detail {

template <std::size_t Count, class T>
void transpose_block(row_span<T const> a, std::size_t depth, T* to) noexcept
{
    for (std::size_t k = 0; k < depth; ++k)
        for (std::size_t r = 0; r < Count; ++r)
            to[k * Count + r] = a.first[k * a.stride + r];
}

} // namespace detail

/// Interleaves the first `columns` columns of a [depth, ..], which are the rows of its transpose, into `to`
/// [columns, depth].
template <class T>
interleaved_rows<T> interleave_transposed(
    std::size_t columns, row_span<std::type_identity_t<T> const> a, std::size_t depth, T* to) noexcept
{
    blocks const parts{columns, block_rows<T>};
    for (std::size_t part = 0; part < parts.count(); ++part) {
        std::size_t const begin = parts.begin(part), end = parts.begin(part + 1);
        with_count<1, block_rows<T>>(end - begin, [&](auto count) {
            detail::transpose_block<count, T>({a.first + begin, a.stride}, depth, to + begin * depth);
        });
    }
    return {to};
}

/// Calls f(first column, number of columns, interleaved_rows of their transpose) for all columns of a [depth,
/// columns], some at a time. `pack` has pack_items, and is valid during a call.
///
/// Why a callable: the products of W and R have the same a, which is packed once for both.
template <class T, class F>
void for_each_pack(std::size_t columns, row_span<std::type_identity_t<T> const> a, std::size_t depth, T* pack,
    F const& f) noexcept
{
    blocks const packs{columns, columns_per_pack<T>};
    for (std::size_t i = 0; i < packs.count(); ++i) {
        std::size_t const begin = packs.begin(i), count = packs.begin(i + 1) - begin;
        f(begin, count, interleave_transposed(count, {a.first + begin, a.stride}, depth, pack));
    }
}

} // namespace xloom::inline XLOOM_ABI::kernel
