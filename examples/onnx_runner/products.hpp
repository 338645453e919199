#pragma once
// Products of matrices.

#include <cstddef>

namespace runner {

/// A matrix as a product reads it: item (k, j) is data[k * row_step + j * column_step].
template <class T>
struct matrix_view {
    T const* data;
    std::size_t row_step, column_step;
};

/// C [M, N] = A [M, K] B [K, N]; rows of A are K items apart, those of C c_step. T is float, double,
/// std::uint32_t or std::uint64_t; whole numbers with a sign are given as those without.
template <class T>
void multiply_matrices(std::size_t M, std::size_t K, std::size_t N, T const* A, matrix_view<T> const& B, T* C,
    std::size_t c_step);

} // namespace runner
