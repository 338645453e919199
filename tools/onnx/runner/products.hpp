#pragma once
// Products of matrices.

#include <cstddef>

namespace runner {

/// A strided matrix: item (k, j) is data[k * row_step + j * column_step].
template <class T>
struct matrix_view {
    T const* data;
    std::size_t row_step, column_step;
};

/// Computes C [M, N] = A [M, K] B [K, N]; the row stride is K for A and c_step for C. T is float, double,
/// std::uint32_t or std::uint64_t; signed integers are passed as unsigned.
template <class T>
void multiply_matrices(std::size_t M, std::size_t K, std::size_t N, T const* A, matrix_view<T> const& B, T* C,
    std::size_t c_step);

} // namespace runner
