#pragma once
// The products that are the gradients of weights. Their left factors are a matrix with a row for each step of
// each sequence: first of all the cotangents of the cell's sums, in columns padded to whole batches. Their
// right factors are panels with the same rows, such as x.

#include <algorithm>
#include <cstddef>

#include <xloom/detail/core/static_vector.hpp>
#include <xloom/detail/kernel/panels.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The numbers of the gradients and of the right factors that all cells have; others follow.
inline constexpr std::size_t gradient_of_W = 0, gradient_of_R = 1;
inline constexpr std::size_t factor_x = 0, factor_h = 1;

/// A share of a gradient: its rows from first_row on are the transpose of a column times a right factor.
struct gradient_product {
    std::size_t gradient, first_row, factor;
};

/// A column of the left factors, `units` wide from `first` on, and its products.
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
void put_panel_row(T const* row, std::size_t k, unpacked_panels<T> const& to) noexcept
{
    for (std::size_t column = 0; column < to.columns; column += panel_width<T>) {
        std::size_t const width = columns_of_panel<T>(column, to.columns);
        std::copy_n(row + column, width, to.items + column * to.depth + k * width);
    }
}

/// The maximum number of rows that column sums add in one dependency chain.
inline constexpr std::size_t rows_per_chain = 128;

/// Computes sums[j] += the sum of `value(k, j)` over rows k < `rows`, in the order of k, for columns [begin,
/// end), whole batches. `partial` is as long as sums.
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

} // namespace xloom::inline XLOOM_ABI::kernel
