#pragma once
// MatMulInteger.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/map.hpp>
#include <xloom_onnx/matmul.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

namespace detail {

/// Adds to c[n] the sum over k of a[k] b[n * b_stride + k] modulo 2^32, for `Columns` values of n at once.
/// Compilers have instructions for products of 16-bit numbers that are summed in 32 bits. The numbers are at
/// most 255 in magnitude, so that a sum of `chain` products does not overflow.
template <std::size_t Columns>
void dot_integers(
    std::int16_t const* a, std::int16_t const* b, std::size_t b_stride, std::size_t depth, std::int32_t* c)
{
    constexpr std::size_t chain = 32768;
    for (std::size_t first = 0; first < depth; first += chain) {
        std::size_t const now = (std::min)(chain, depth - first);
        std::array<std::int32_t, Columns> sums{};
        for (std::size_t k = first; k < first + now; ++k)
            for (std::size_t n = 0; n < Columns; ++n)
                sums[n] += std::int32_t{a[k]} * std::int32_t{b[n * b_stride + k]};
        for (std::size_t n = 0; n < Columns; ++n)
            c[n] = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(c[n]) + static_cast<std::uint32_t>(sums[n]));
    }
}

/// C [M, N] = A [M, K] B, whose columns [N, K] are contiguous.
template <class Pause>
void multiply_integers(std::size_t M, std::size_t K, std::size_t N, std::int16_t const* A,
    std::int16_t const* B, std::int32_t* C, Pause const& pause)
{
    constexpr std::size_t together = 4;
    std::fill_n(C, M * N, 0);
    std::size_t done = 0;
    auto const columns = [&]<std::size_t Columns>(
                             std::size_t n, std::integral_constant<std::size_t, Columns>) {
        for (std::size_t m = 0; m < M; ++m, done += Columns * K) {
            if (done >> 28 != 0) {
                pause();
                done = 0;
            }
            dot_integers<Columns>(A + m * K, B + n * K, K, K, C + m * N + n);
        }
    };
    std::size_t n = 0;
    for (; n + together <= N; n += together)
        columns(n, std::integral_constant<std::size_t, together>());
    for (; n < N; ++n)
        columns(n, std::integral_constant<std::size_t, 1>());
}

/// Returns the shape of a zero point as it is broadcast to its operand, [.., M, K] or [.., K, N]: of one
/// number, of one for each row of A or column of B, or of stacks of these.
///
/// Errors    shape_error.
inline xloom::shape zero_point_shape(
    char const* name, xloom::shape const& given, xloom::shape const& operand, bool is_of_rows)
{
    static constexpr std::string_view op = "xloom_onnx::matmul_integer";
    if (xloom::element_count(given) == 1 && given.size() <= 1)
        return {};
    xloom::shape dims = given;
    std::size_t const repeated = is_of_rows ? 1 : 2; // its dimension from the back must be 1
    if (dims.size() == 1 && is_of_rows)
        dims.push_back(1);
    bool fits = operand.size() > 1 && dims.size() <= operand.size(); // a vector has one row or column
    for (std::size_t back = 1; fits && back <= dims.size(); ++back) {
        std::size_t const dim = dims[dims.size() - back];
        fits = dim == 1 || (back != repeated && dim == operand[operand.size() - back]);
    }
    if (!fits)
        xloom::kernels::fail<xloom::shape_error>(op, ": ", name, " of the shape ", given,
            " is not one number, nor one for each ", is_of_rows ? "row" : "column", " of the shape ",
            operand);
    return dims;
}

/// Writes the differences of items and their zero points.
template <class T>
void subtract_zero_point(tensor_view<T const> const& x, std::optional<tensor_view<T const>> const& zero,
    xloom::shape const& zero_dims, std::int16_t* to)
{
    tensor_view<std::int16_t> const result(to, x.shape());
    if (zero)
        map_into([](T item, T z) { return static_cast<std::int16_t>(item - z); }, x,
            tensor_view<T const>(zero->data(), zero_dims), result);
    else
        map_into([](T item) { return std::int16_t{item}; }, x, result);
}

/// y = (a - a_zero_point) (b - b_zero_point).
template <class A, class B, class Pause>
void matmul_integer(tensor_view<A const> const& a, tensor_view<B const> const& b,
    std::optional<tensor_view<A const>> const& a_zero, std::optional<tensor_view<B const>> const& b_zero,
    tensor_view<std::int32_t> const& y, matmul_dims const& dims, workspace& memory, Pause const& pause)
{
    std::size_t const M = dims.M, K = dims.K, N = dims.N, right_count = xloom::element_count(dims.b_stack);
    xloom::shape const a_zero_dims =
        a_zero ? zero_point_shape("a_zero_point", a_zero->shape(), a.shape(), true) : xloom::shape();
    xloom::shape const b_zero_dims =
        b_zero ? zero_point_shape("b_zero_point", b_zero->shape(), b.shape(), false) : xloom::shape();
    if (y.size() == 0)
        return;
    std::int16_t* const left = memory.take<std::int16_t>(a.size() + b.size(), scratch::converted);
    std::int16_t* const right = left + a.size();
    std::int16_t* const columns = memory.take<std::int16_t>(b.size(), scratch::transposed);
    subtract_zero_point(a, a_zero, a_zero_dims, left);
    subtract_zero_point(b, b_zero, b_zero_dims, right);
    for (std::size_t i = 0; i < right_count; ++i)
        kernels::copy_transposed(right + i * K * N, static_cast<std::ptrdiff_t>(N), columns + i * K * N,
            static_cast<std::ptrdiff_t>(K), K, N);
    std::int32_t* to = y.data();
    if (right_count == 1) // one product of many rows
        return multiply_integers(xloom::element_count(dims.stack) * M, K, N, left, columns, to, pause);
    for_each_pair(dims, [&](std::size_t i, std::size_t j) {
        multiply_integers(M, K, N, left + i * M * K, columns + j * K * N, to, pause);
        to += M * N;
    });
}

} // namespace detail

/// y = (a - a_zero_point) (b - b_zero_point): products of matrices, or of stacks of them, as matmul_into. A
/// zero point may be std::nullopt.
///
/// Shapes    a_zero_point: one number, [M] or [.., M, 1]; b_zero_point: one number, [N] or [.., 1, N].
/// Types     a and b std::int8_t or std::uint8_t, each with its zero point; y std::int32_t, which wraps
///           around.
/// Errors    shape_error.
/// Cost      M K N multiply-adds each, of 16-bit numbers; b is transposed first. Allocates nothing if y and
///           the workspace are large enough.
template <operand A, operand B, class AZero, class BZero, class Y>
void matmul_integer_into(
    A const& a, B const& b, AZero const& a_zero_point, BZero const& b_zero_point, Y&& y, workspace& memory)
{
    const_view_of<A> const left(a);
    const_view_of<B> const right(b);
    std::optional<const_view_of<A>> a_zero;
    std::optional<const_view_of<B>> b_zero;
    if constexpr (!std::is_same_v<AZero, std::nullopt_t>)
        a_zero.emplace(a_zero_point);
    if constexpr (!std::is_same_v<BZero, std::nullopt_t>)
        b_zero.emplace(b_zero_point);
    detail::matmul_dims const dims(left.shape(), right.shape());
    detail::matmul_integer<item_t<A>, item_t<B>>(left, right, a_zero, b_zero,
        output_view("xloom_onnx::matmul_integer_into", y, dims.result), dims, memory, detail::no_pause());
}

} // namespace xloom_onnx
