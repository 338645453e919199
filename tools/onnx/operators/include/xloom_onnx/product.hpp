#pragma once
// Products of two matrices that both change.

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx::detail {

namespace kernels = xloom::kernels;

/// A strided matrix [K, N]: item (k, j) is data[k * row_stride + j * column_stride].
template <class T>
struct matrix {
    T const* data;
    std::size_t row_stride, column_stride;
};

/// Calls nothing. Products call it before each block of rows: a caller may check the time there, and throw.
struct no_pause {
    void operator()() const noexcept {}
};

/// Computes C = A B for `Rows` rows of A and `Batches` batches of columns of B, whose row k is contiguous
/// from row(k) on. A sum begins with start(r) and is split into dependency chains of 128 products, because
/// rounding errors grow with their length.
template <std::size_t Rows, std::size_t Batches, class T, class Row, class Start>
void multiply_tile(T const* A, std::size_t a_stride, std::size_t K, Row const& row, T* C,
    std::size_t c_stride, Start const& start)
{
    using batch = kernels::batch_t<T>;
    constexpr std::size_t size = kernels::batch_size<T>, chain = 128;
    for (std::size_t k = 0; k < K;) {
        std::size_t const end = (std::min)(K, k + chain);
        bool const is_first = k == 0;
        std::array<std::array<batch, Batches>, Rows> sums;
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Rows; ++r)
            sums[r].fill(is_first ? start(r) : batch(T(0)));
#pragma GCC unroll 2
        for (; k < end; ++k) {
            T const* const from = row(k);
            std::array<batch, Batches> b;
#pragma GCC unroll 8
            for (std::size_t j = 0; j < Batches; ++j)
                b[j] = kernels::load_batch(from + j * size);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < Rows; ++r) {
                batch const factor(A[r * a_stride + k]);
#pragma GCC unroll 8
                for (std::size_t j = 0; j < Batches; ++j)
                    sums[r][j] = kernels::multiply_add(factor, b[j], sums[r][j]);
            }
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 8
            for (std::size_t j = 0; j < Batches; ++j) {
                T* const to = C + r * c_stride + j * size;
                kernels::store_batch(to, is_first ? sums[r][j] : batch(sums[r][j] + kernels::load_batch(to)));
            }
    }
}

/// C[n] = sum over k of a[k] b[n * b_stride + k] for `Columns` values of n at once: their dependency chains
/// are independent.
template <std::size_t Columns, class T>
void dot(T const* a, T const* b, std::size_t b_stride, std::size_t depth, T* c)
{
    using batch = kernels::batch_t<T>;
    std::array<batch, Columns> sums;
    sums.fill(batch(T(0)));
    std::size_t k = 0;
    for (; k + kernels::batch_size<T> <= depth; k += kernels::batch_size<T>) {
        batch const left = kernels::load_batch(a + k);
#pragma GCC unroll 8
        for (std::size_t n = 0; n < Columns; ++n)
            sums[n] = kernels::multiply_add(left, kernels::load_batch(b + n * b_stride + k), sums[n]);
    }
    if constexpr (kernels::has_simd<T>)
        if (std::size_t const rest = depth - k; rest != 0) {
            batch const left = kernels::load_first(a + k, rest, T(0));
#pragma GCC unroll 8
            for (std::size_t n = 0; n < Columns; ++n)
                sums[n] = kernels::multiply_add(
                    left, kernels::load_first(b + n * b_stride + k, rest, T(0)), sums[n]);
        }
    for (std::size_t n = 0; n < Columns; ++n)
        c[n] = kernels::sum_of<T>(sums[n]);
}

/// Multiplies few rows by contiguous columns of B.
template <class T>
void multiply_by_dots(std::size_t M, std::size_t K, std::size_t N, T const* A, std::size_t a_stride,
    matrix<T> const& B, T* C, std::size_t c_stride)
{
    constexpr std::size_t together = 4;
    for (std::size_t m = 0; m < M; ++m) {
        std::size_t n = 0;
        for (; n + together <= N; n += together)
            dot<together>(
                A + m * a_stride, B.data + n * B.column_stride, B.column_stride, K, C + m * c_stride + n);
        for (; n < N; ++n)
            dot<1>(A + m * a_stride, B.data + n * B.column_stride, B.column_stride, K, C + m * c_stride + n);
    }
}

/// Multiplies items of any type.
template <class T, class Pause>
void multiply_plainly(std::size_t M, std::size_t K, std::size_t N, T const* A, std::size_t a_stride,
    matrix<T> const& B, T* C, std::size_t c_stride, Pause const& pause)
{
    std::size_t done = 0;
    for (std::size_t m = 0; m < M; ++m) {
        T* const to = C + m * c_stride;
        std::fill_n(to, N, T(0));
        for (std::size_t k = 0; k < K; ++k, done += N) {
            if (done >> 28 != 0) {
                pause();
                done = 0;
            }
            T const a = A[m * a_stride + k];
            T const* const from = B.data + k * B.row_stride;
            if (B.column_stride == 1) {
                for (std::size_t n = 0; n < N; ++n)
                    to[n] += a * from[n];
            } else {
                for (std::size_t n = 0; n < N; ++n)
                    to[n] += a * from[n * B.column_stride];
            }
        }
    }
}

/// The number of batches of columns that a block holds.
template <class T>
inline constexpr std::size_t block_batches = kernels::panel_batches<T>;

/// The number of batches of columns of a single row, whose sums leave registers free.
template <class T>
inline constexpr std::size_t row_batches = 2 * block_batches<T>;

/// Computes C = A B for one block of columns, `batches` whole batches.
template <class T, class Pause>
void multiply_block(std::size_t M, std::size_t K, std::size_t batches, T const* A, std::size_t a_stride,
    T const* B, std::size_t b_stride, T* C, std::size_t c_stride, Pause const& pause)
{
    auto const row = [=](std::size_t k) { return B + k * b_stride; };
    auto const zero = [](std::size_t) { return kernels::batch_t<T>(T(0)); };
    if (M == 1) {
        pause();
        return kernels::with_count<1, row_batches<T>>(batches, [&](auto batches_here) {
            multiply_tile<1, batches_here>(A, a_stride, K, row, C, c_stride, zero);
        });
    }
    kernels::blocks const parts{M, kernels::block_rows<T>};
    std::size_t const products = (std::max<std::size_t>)(1, kernels::block_rows<T> * K * batches),
                      often = (std::max<std::size_t>)(1, (std::size_t{1} << 24) / products);
    for (std::size_t part = 0; part < parts.count(); ++part) {
        if (part % often == 0)
            pause();
        std::size_t const begin = parts.begin(part), count = parts.begin(part + 1) - begin;
        kernels::with_count<1, block_batches<T>>(batches, [&](auto batches_here) {
            kernels::with_count<1, kernels::block_rows<T>>(count, [&](auto rows_here) {
                multiply_tile<rows_here, batches_here>(
                    A + begin * a_stride, a_stride, K, row, C + begin * c_stride, c_stride, zero);
            });
        });
    }
}

/// Computes C = A B for K = 1: the outer product of a column and a row, one multiplication for each item.
template <class T, class Pause>
void multiply_outer(std::size_t M, std::size_t N, T const* A, std::size_t a_stride, T const* B, T* C,
    std::size_t c_stride, Pause const& pause)
{
    std::size_t const often = (std::max<std::size_t>)(1, (std::size_t{1} << 24) / N);
    for (std::size_t m = 0; m < M; ++m) {
        if (m % often == 0)
            pause();
        kernels::map(B, C + m * c_stride, N,
            [factor = A[m * a_stride]]<class V>(V const& b) { return V(factor) * b; });
    }
}

/// Computes C = A B for N >= a batch of contiguous columns, which are read in place. If they are no whole
/// batches, the last one overlaps the one before it.
template <class T, class Pause>
void multiply_in_place(std::size_t M, std::size_t K, std::size_t N, T const* A, std::size_t a_stride,
    matrix<T> const& B, T* C, std::size_t c_stride, Pause const& pause)
{
    constexpr std::size_t size = kernels::batch_size<T>;
    auto const block = [&](std::size_t column, std::size_t batches) {
        multiply_block(
            M, K, batches, A, a_stride, B.data + column, B.row_stride, C + column, c_stride, pause);
    };
    kernels::blocks const parts{N / size, M == 1 ? row_batches<T> : block_batches<T>};
    for (std::size_t part = 0; part < parts.count(); ++part)
        block(parts.begin(part) * size, parts.begin(part + 1) - parts.begin(part));
    if (N % size != 0)
        block(N - size, 1);
}

/// Computes C = A B, each block of columns of B copied first.
template <class T, class Pause>
void multiply_copied(std::size_t M, std::size_t K, std::size_t N, T const* A, std::size_t a_stride,
    matrix<T> const& B, T* C, std::size_t c_stride, workspace& memory, Pause const& pause)
{
    constexpr std::size_t size = kernels::batch_size<T>, width = block_batches<T> * size;
    for (std::size_t first = 0; first < N; first += width) {
        std::size_t const now = (std::min)(width, N - first), batches = (now + size - 1) / size,
                          stride = batches * size;
        bool const is_partial = now % size != 0;
        T* const copy = memory.template take<T>(K * stride + (is_partial ? M * stride : 0));
        T const* const columns = B.data + first * B.column_stride;
        for (std::size_t k = 0; k < K; ++k) {
            T* const to = copy + k * stride;
            if (B.column_stride == 1)
                std::copy_n(columns + k * B.row_stride, now, to);
            else
                for (std::size_t j = 0; j < now; ++j)
                    to[j] = columns[k * B.row_stride + j * B.column_stride];
            std::fill_n(to + now, stride - now, T(0));
        }
        T* const sums = is_partial ? copy + K * stride : C + first;
        std::size_t const sums_stride = is_partial ? stride : c_stride;
        multiply_block(M, K, batches, A, a_stride, copy, stride, sums, sums_stride, pause);
        for (std::size_t m = 0; m < M && is_partial; ++m)
            std::copy_n(sums + m * stride, now, C + first + m * c_stride);
    }
}

/// Computes C [M, N] = A [M, K] B [K, N]; rows of A and of C at a stride each. C overlaps neither.
///
/// Order     the bits of a row of C do not depend on M, unless B has several columns, which are contiguous,
///           and M is below 6.
/// Memory    a block of columns of B where that is copied: where its columns are strided, or fewer than a
///           batch, or where many rows read a large B.
template <class T, class Pause = no_pause>
void multiply(std::size_t M, std::size_t K, std::size_t N, T const* A, std::size_t a_stride,
    matrix<T> const& B, T* C, std::size_t c_stride, workspace& memory, Pause const& pause = {})
{
    if constexpr (std::is_floating_point_v<T>) {
        constexpr std::size_t few = 6, many = 2 * kernels::block_rows<T>, items_in_cache = 16384 / sizeof(T);
        if (K == 0) {
            for (std::size_t m = 0; m < M; ++m)
                std::fill_n(C + m * c_stride, N, T(0));
        } else if (K == 1 && B.column_stride == 1) {
            multiply_outer(M, N, A, a_stride, B.data, C, c_stride, pause);
        } else if (B.row_stride == 1 && B.column_stride != 1 && M < few) {
            pause();
            multiply_by_dots(M, K, N, A, a_stride, B, C, c_stride);
        } else if (N == 1 && B.row_stride == 1 && c_stride == 1) {
            // A matrix by a vector: the vector by the matrix's rows.
            pause();
            multiply_by_dots(1, K, M, B.data, 0, matrix<T>{A, 1, a_stride}, C, 0);
        } else if (B.column_stride == 1 && N >= kernels::batch_size<T> &&
                   (M < many || K * B.row_stride <= items_in_cache)) {
            multiply_in_place(M, K, N, A, a_stride, B, C, c_stride, pause);
        } else {
            multiply_copied(M, K, N, A, a_stride, B, C, c_stride, memory, pause);
        }
    } else {
        multiply_plainly(M, K, N, A, a_stride, B, C, c_stride, pause);
    }
}

} // namespace xloom_onnx::detail
