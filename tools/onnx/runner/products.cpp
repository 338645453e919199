#include "products.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <xloom/kernel/panels.hpp>
#include <xloom/kernel/simd.hpp>
#include <xloom/packed_matrix.hpp>

#include "budget.hpp"

namespace runner {

namespace {

/// A matrix view with a stride for each axis, for xloom.
template <class T>
struct strided_matrix {
    matrix_view<T> view;
    std::size_t rows, columns;
};

/// Computes c[n] = sum over k of a[k] b[n * b_step + k] for `Columns` values of n at once: their dependency
/// chains are independent.
template <std::size_t Columns, class T>
void dot(T const* a, T const* b, std::size_t b_step, std::size_t depth, T* c)
{
    using namespace xloom::kernel;
    std::array<batch_t<T>, Columns> sums;
    sums.fill(batch_t<T>(T(0)));
    std::size_t k = 0;
    for (; k + batch_size<T> <= depth; k += batch_size<T>) {
        batch_t<T> const left = load_batch(a + k);
#pragma GCC unroll 8
        for (std::size_t n = 0; n < Columns; ++n)
            sums[n] = multiply_add(left, load_batch(b + n * b_step + k), sums[n]);
    }
    for (std::size_t n = 0; n < Columns; ++n) {
        c[n] = sum_of<T>(sums[n]);
        for (std::size_t rest = k; rest < depth; ++rest)
            c[n] += a[rest] * b[n * b_step + rest];
    }
}

} // namespace
} // namespace runner

template <class T>
struct xloom::enable_tensor<runner::strided_matrix<T>> {
    using value_type = T;
    static constexpr std::size_t rank = 2;

    static T const* data(runner::strided_matrix<T> const& m) { return m.view.data; }
    static xloom::shape shape(runner::strided_matrix<T> const& m) { return {m.rows, m.columns}; }
    static xloom::strides strides(runner::strided_matrix<T> const& m)
    {
        return {
            static_cast<std::ptrdiff_t>(m.view.row_step), static_cast<std::ptrdiff_t>(m.view.column_step)};
    }
};

namespace runner {

namespace {

/// Calls f(first, count) for blocks of rows, as large as may run between two checks of the time.
template <class F>
void for_each_block(std::size_t rows, std::size_t products_per_row, F f)
{
    constexpr std::size_t least = 12, products = std::size_t{1} << 28;
    std::size_t const most = std::max(least, products / std::max<std::size_t>(products_per_row, 1));
    for (std::size_t first = 0; first < rows; first += most) {
        require_time();
        f(first, std::min(most, rows - first));
    }
}

/// Multiplies by contiguous columns of B.
template <class T>
void multiply_by_dots(std::size_t M, std::size_t K, std::size_t N, T const* A, matrix_view<T> const& B, T* C,
    std::size_t c_step)
{
    constexpr std::size_t together = 4;
    for (std::size_t m = 0; m < M; ++m) {
        std::size_t n = 0;
        for (; n + together <= N; n += together)
            dot<together>(A + m * K, B.data + n * B.column_step, B.column_step, K, C + m * c_step + n);
        for (; n < N; ++n)
            dot<1>(A + m * K, B.data + n * B.column_step, B.column_step, K, C + m * c_step + n);
    }
}

template <class T>
void multiply_plainly(std::size_t M, std::size_t K, std::size_t N, T const* A, matrix_view<T> const& B, T* C,
    std::size_t c_step)
{
    for (std::size_t m = 0; m < M; ++m) {
        T* const to = C + m * c_step;
        std::fill_n(to, N, T{0});
        for (std::size_t k = 0; k < K; ++k) {
            T const a = A[m * K + k];
            T const* const from = B.data + k * B.row_step;
            if (B.column_step == 1) {
                for (std::size_t n = 0; n < N; ++n)
                    to[n] += a * from[n];
            } else {
                for (std::size_t n = 0; n < N; ++n)
                    to[n] += a * from[n * B.column_step];
            }
        }
    }
}

} // namespace

template <class T>
void multiply_matrices(std::size_t M, std::size_t K, std::size_t N, T const* A, matrix_view<T> const& B, T* C,
    std::size_t c_step)
{
    spend_products(static_cast<double>(M) * static_cast<double>(K) * static_cast<double>(N));
    // Packing B pays off for several rows only, and for columns that fill a register.
    bool const is_small = M < 6 || N < 8;
    if constexpr (std::is_floating_point_v<T>) {
        if (K != 0 && B.row_step == 1 && is_small) {
            for_each_block(M, K * N, [&](std::size_t first, std::size_t count) {
                multiply_by_dots(count, K, N, A + first * K, B, C + first * c_step, c_step);
            });
            return;
        }
        if (K != 0 && N != 0 && !is_small) {
            reservation const room(xloom::kernel::panel_items<T>(K, N) * sizeof(T));
            strided_matrix<T> const matrix{B, K, N};
            xloom::packed_matrix<T> const packed{matrix};
            for_each_block(M, K * N, [&](std::size_t first, std::size_t count) {
                packed(count, A + first * K, K, C + first * c_step, c_step);
            });
            return;
        }
    }
    for_each_block(M, K * N, [&](std::size_t first, std::size_t count) {
        multiply_plainly(count, K, N, A + first * K, B, C + first * c_step, c_step);
    });
}

template void multiply_matrices(
    std::size_t, std::size_t, std::size_t, float const*, matrix_view<float> const&, float*, std::size_t);
template void multiply_matrices(
    std::size_t, std::size_t, std::size_t, double const*, matrix_view<double> const&, double*, std::size_t);
template void multiply_matrices(std::size_t, std::size_t, std::size_t, std::uint32_t const*,
    matrix_view<std::uint32_t> const&, std::uint32_t*, std::size_t);
template void multiply_matrices(std::size_t, std::size_t, std::size_t, std::uint64_t const*,
    matrix_view<std::uint64_t> const&, std::uint64_t*, std::size_t);

} // namespace runner
