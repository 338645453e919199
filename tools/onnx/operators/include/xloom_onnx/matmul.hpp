#pragma once
// MatMul and Gemm.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom_onnx/arithmetic.hpp>
#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/map.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

namespace detail {

/// The type in which products are computed: float for 16-bit floating-point numbers, unsigned for integers,
/// so that they wrap around.
template <class T>
using product_t = decltype(modular(std::declval<T>()));

/// Two matrices that are multiplied, or stacks of them whose axes are broadcast.
struct matmul_dims {
    std::size_t M, K, N;
    xloom::shape a_stack, b_stack, stack;
    xloom::shape result; ///< without the axis of a vector

    matmul_dims(xloom::shape const& a, xloom::shape const& b)
    {
        static constexpr std::string_view op = "xloom_onnx::matmul";
        using xloom::kernels::fail;
        if (a.empty() || b.empty())
            fail<xloom::shape_error>(op, ": a scalar is no matrix");
        bool const is_row = a.size() == 1, is_column = b.size() == 1;
        M = is_row ? 1 : a[a.size() - 2];
        K = a.back();
        N = is_column ? 1 : b.back();
        if (b[is_column ? 0 : b.size() - 2] != K)
            fail<xloom::shape_error>(op, ": matrices of the shapes ", a, " and ", b, " cannot be multiplied");
        if (!is_row)
            a_stack.assign(a.begin(), a.end() - 2);
        if (!is_column)
            b_stack.assign(b.begin(), b.end() - 2);
        stack = broadcast_shape(a_stack, b_stack);
        result = stack;
        if (!is_row)
            result.push_back(M);
        if (!is_column)
            result.push_back(N);
    }
};

/// Calls f(index in the stack of A, index in that of B) for each matrix of the result.
template <class F>
void for_each_pair(matmul_dims const& dims, F const& f)
{
    xloom::shape const& stack = dims.stack;
    for (row_walk<2> walk(
             stack, {broadcast_strides(dims.a_stack, stack), broadcast_strides(dims.b_stack, stack)});
         !walk.done(); walk.next())
        for (std::size_t i = 0; i < walk.length(); ++i) {
            auto const k = static_cast<std::ptrdiff_t>(i);
            f(static_cast<std::size_t>(walk.offset(0) + k * walk.stride(0)),
                static_cast<std::size_t>(walk.offset(1) + k * walk.stride(1)));
        }
}

/// Multiplies all pairs of matrices; items of type P, that of products.
template <class P, class Pause>
void multiply_stacks(
    matmul_dims const& dims, P const* a, P const* b, P* to, workspace& memory, Pause const& pause)
{
    std::size_t const M = dims.M, K = dims.K, N = dims.N;
    if (xloom::element_count(dims.b_stack) == 1) // one product of many rows
        return multiply(
            xloom::element_count(dims.stack) * M, K, N, a, K, matrix<P>{b, N, 1}, to, N, memory, pause);
    for_each_pair(dims, [&](std::size_t x, std::size_t y) {
        multiply(M, K, N, a + x * M * K, K, matrix<P>{b + y * K * N, N, 1}, to, N, memory, pause);
        to += M * N;
    });
}

template <class T>
auto const* as_product_items(T const* items)
{
    return reinterpret_cast<product_t<T> const*>(items);
}
template <class T>
auto* as_product_items(T* items)
{
    return reinterpret_cast<product_t<T>*>(items);
}

/// Calls f(items as P) for operands whose items have that size already; else for copies of them as floats.
template <class T>
inline constexpr bool is_computed_in_place =
    sizeof(product_t<T>) == sizeof(T) && !xloom::kernels::is_small_float<T>;

template <class T, class Pause>
void matmul(tensor_view<T const> const& a, tensor_view<T const> const& b, tensor_view<T> const& y,
    matmul_dims const& dims, workspace& memory, Pause const& pause)
{
    using P = std::remove_cvref_t<product_t<T>>;
    if (y.size() == 0)
        return;
    if constexpr (is_computed_in_place<T>) {
        multiply_stacks<P>(dims, as_product_items(a.data()), as_product_items(b.data()),
            as_product_items(y.data()), memory, pause);
    } else {
        P* const items = memory.take<P>(a.size() + b.size() + y.size(), scratch::converted);
        P* const right = std::transform(a.begin(), a.end(), items, [](T x) { return static_cast<P>(x); });
        P* const to = std::transform(b.begin(), b.end(), right, [](T x) { return static_cast<P>(x); });
        multiply_stacks<P>(dims, items, right, to, memory, pause);
        std::transform(to, to + y.size(), y.data(), [](P x) { return static_cast<T>(x); });
    }
}

} // namespace detail

inline xloom::shape matmul_shape(xloom::shape const& a, xloom::shape const& b)
{
    return detail::matmul_dims(a, b).result;
}

/// y = a b: products of matrices, or of stacks of them, whose axes before the last two are broadcast. A
/// vector on the left is one row, on the right one column; that axis is not in y.
///
/// Types     numbers: integers wrap around, 16-bit floating-point numbers are computed in float.
/// Errors    shape_error.
/// Cost      M K N multiply-adds each. Allocates nothing if y and the workspace are large enough.
/// Aliasing  y overlaps no operand.
template <operand A, operand B, class Y>
void matmul_into(A const& a, B const& b, Y&& y, workspace& memory)
{
    using T = item_t<A>;
    tensor_view<T const> const left(a), right(b);
    detail::matmul_dims const dims(left.shape(), right.shape());
    detail::matmul<T>(left, right, output_view("xloom_onnx::matmul_into", y, dims.result), dims, memory,
        detail::no_pause());
}
template <operand A, operand B, class Y>
void matmul_into(A const& a, B const& b, Y&& y)
{
    workspace memory;
    matmul_into(a, b, y, memory);
}

struct gemm_options {
    double alpha = 1, beta = 1;
    bool transA = false, transB = false;
};

/// Returns the shape of Gemm.
///
/// Errors    shape_error: no matrices, or matrices that cannot be multiplied.
inline xloom::shape gemm_shape(xloom::shape const& a, xloom::shape const& b, gemm_options const& options = {})
{
    static constexpr std::string_view op = "xloom_onnx::gemm";
    if (a.size() != 2 || b.size() != 2)
        xloom::kernels::fail<xloom::shape_error>(op, ": no matrices: the shapes are ", a, " and ", b);
    if (a[options.transA ? 0 : 1] != b[options.transB ? 1 : 0])
        xloom::kernels::fail<xloom::shape_error>(
            op, ": matrices of the shapes ", a, " and ", b, " cannot be multiplied");
    return {a[options.transA ? 1 : 0], b[options.transB ? 0 : 1]};
}

namespace detail {

/// Returns alpha or beta as a T.
///
/// Errors    option_error: T is an integer type and the number is not integral.
template <class T>
T gemm_factor(double number, char const* name)
{
    if constexpr (std::is_integral_v<T>) {
        if (!(std::fabs(number) < 0x1p31) || number != std::floor(number))
            xloom::kernels::fail<xloom::option_error>(
                "xloom_onnx::gemm: ", name, " must be whole for matrices of whole numbers");
        return static_cast<T>(static_cast<std::int64_t>(number));
    } else {
        return static_cast<T>(number);
    }
}

inline void check_gemm_c(xloom::shape const& c, xloom::shape const& result)
{
    if (c.size() > 2 || broadcast_shape(result, c) != result)
        xloom::kernels::fail<xloom::shape_error>(
            "xloom_onnx::gemm: the shape ", c, " of C cannot be broadcast to ", result);
}

/// True if alpha times each normal number of b, which is a packed weight, is normal.
template <class T>
bool can_scale(tensor_view<T const> const& b, double alpha)
{
    return std::all_of(b.begin(), b.end(),
        [factor = static_cast<T>(alpha)](T x) { return !std::isnormal(x) || std::isnormal(factor * x); });
}

/// y = alpha a b + beta c; c may be null.
template <class T, class Pause>
void gemm(tensor_view<T const> const& a, tensor_view<T const> const& b, tensor_view<T const> const* c,
    tensor_view<T> const& y, gemm_options const& options, workspace& memory, Pause const& pause)
{
    using P = std::remove_cvref_t<product_t<T>>;
    static_assert(is_computed_in_place<T>);
    P const alpha = static_cast<P>(gemm_factor<T>(options.alpha, "alpha")),
            beta = static_cast<P>(gemm_factor<T>(options.beta, "beta"));
    std::size_t const M = y.shape()[0], N = y.shape()[1], K = a.shape()[options.transA ? 0 : 1];
    P* const to = as_product_items(y.data());
    P const* left = as_product_items(a.data());
    if (y.size() == 0)
        return;
    if (options.transA) {
        P* const copy = memory.take<P>(M * K, scratch::transposed);
        kernels::copy_transposed(
            left, static_cast<std::ptrdiff_t>(M), copy, static_cast<std::ptrdiff_t>(K), K, M);
        left = copy;
    }
    matrix<P> const right{as_product_items(b.data()), options.transB ? 1 : N, options.transB ? K : 1};
    multiply(M, K, N, left, K, right, to, N, memory, pause);
    tensor_view<P> const result(to, y.shape());
    if (c != nullptr) {
        tensor_view<P const> const added(as_product_items(c->data()), c->shape());
        if (alpha == 1 && beta == 1)
            map_into(add, result, added, result);
        else
            map_into(
                [=](auto x, auto z) {
                    using V = decltype(x);
                    return V(V(alpha) * x + V(beta) * z);
                },
                result, added, result);
    } else if (alpha != 1) {
        map_into([=](auto x) { return mul(x, alpha); }, result, result);
    }
}

template <operand A, operand B, class C, class Y, class Pause = no_pause>
void gemm_into(A const& a, B const& b, C const* c, Y& y, gemm_options const& options, workspace& memory,
    Pause const& pause = {})
{
    using T = item_t<A>;
    tensor_view<T const> const left(a), right(b);
    xloom::shape const dims = gemm_shape(left.shape(), right.shape(), options);
    std::optional<tensor_view<T const>> added;
    if (c != nullptr) {
        added.emplace(*c);
        check_gemm_c(added->shape(), dims);
    }
    auto const to = output_view("xloom_onnx::gemm_into", y, dims);
    if constexpr (is_computed_in_place<T>) {
        gemm<T>(left, right, added ? &*added : nullptr, to, options, memory, pause);
    } else {
        using P = std::remove_cvref_t<product_t<T>>;
        std::size_t const added_size = added ? added->size() : 0;
        P* const items =
            memory.take<P>(left.size() + right.size() + added_size + to.size(), scratch::converted);
        auto const widen = [](T x) { return static_cast<P>(x); };
        P* const b_items = std::transform(left.begin(), left.end(), items, widen);
        P* const c_items = std::transform(right.begin(), right.end(), b_items, widen);
        P* const y_items = c_items + added_size;
        if (added)
            std::transform(added->begin(), added->end(), c_items, widen);
        tensor_view<P const> const wide_c(c_items, added ? added->shape() : xloom::shape());
        gemm<P>({items, left.shape()}, {b_items, right.shape()}, added ? &wide_c : nullptr, {y_items, dims},
            options, memory, pause);
        std::transform(y_items, y_items + to.size(), to.data(), [](P x) { return static_cast<T>(x); });
    }
}

} // namespace detail

/// y = alpha a b + beta c, the matrices transposed where the options say so; c is broadcast to y.
///
/// Types, costs and errors as matmul_into; option_error: alpha or beta is not integral, for integers.
template <operand A, operand B, operand C, class Y>
void gemm_into(A const& a, B const& b, C const& c, Y&& y, gemm_options const& options, workspace& memory)
{
    detail::gemm_into(a, b, &c, y, options, memory);
}
template <operand A, operand B, operand C, class Y>
void gemm_into(A const& a, B const& b, C const& c, Y&& y, gemm_options const& options = {})
{
    workspace memory;
    gemm_into(a, b, c, y, options, memory);
}
template <operand A, operand B, class Y>
void gemm_into(A const& a, B const& b, Y&& y, gemm_options const& options, workspace& memory)
{
    detail::gemm_into(a, b, static_cast<item_t<A> const*>(nullptr), y, options, memory);
}
template <operand A, operand B, class Y>
void gemm_into(A const& a, B const& b, Y&& y, gemm_options const& options = {})
{
    workspace memory;
    gemm_into(a, b, y, options, memory);
}

/// A Gemm, or a MatMul, with a constant matrix on the right, and a constant C if there is one: packed once
/// for any number of rows.
///
///     packed_gemm<float> const layer(w, b, {.transB = true});
///     layer(x, y);
///
/// Shapes    b [K, N], or [N, K] with transB; c that can be broadcast to [N]; x [.., K] -> y [.., N].
/// Types     float, double. The weights are alpha b: where such a product overflows or is subnormal,
///           gemm_into is more accurate.
/// Errors    shape_error. option_error: transA.
/// Cost      as xloom::packed_matrix; a call allocates nothing if y has as many items already.
/// Threads   const members are thread-safe.
template <class T>
class packed_gemm {
public:
    template <operand B>
    explicit packed_gemm(B const& b, gemm_options const& options = {}) : matrix_(pack(b, {}, options))
    {}
    template <operand B, operand C>
    packed_gemm(B const& b, C const& c, gemm_options const& options = {})
        : matrix_(pack(b, tensor_view<T const>(c), options))
    {}

    template <operand X, class Y>
    void operator()(X const& x, Y&& y) const
    {
        tensor_view<T const> const from(x);
        if (from.rank() == 0 || from.shape().back() != matrix_.depth())
            xloom::kernels::fail<xloom::shape_error>("xloom_onnx::packed_gemm: rows of ", matrix_.depth(),
                " items are needed, but the shape of x is ", from.shape());
        xloom::shape dims = from.shape();
        dims.back() = matrix_.columns();
        auto const to = output_view("xloom_onnx::packed_gemm", y, dims);
        if (to.size() != 0)
            matrix_(
                to.size() / matrix_.columns(), from.data(), matrix_.depth(), to.data(), matrix_.columns());
    }

private:
    static xloom::packed_matrix<T> pack(tensor_view<T const> const& b,
        std::optional<tensor_view<T const>> const& c, gemm_options const& options)
    {
        static constexpr std::string_view op = "xloom_onnx::packed_gemm";
        if (options.transA)
            xloom::kernels::fail<xloom::option_error>(op, ": transA is not possible");
        if (b.rank() != 2)
            xloom::kernels::fail<xloom::shape_error>(
                op, ": b must be a matrix, but its shape is ", b.shape());
        std::size_t const K = b.shape()[options.transB ? 1 : 0], N = b.shape()[options.transB ? 0 : 1];
        auto weights = xt::xtensor<T, 2>::from_shape({K, N});
        auto const alpha = static_cast<T>(options.alpha), beta = static_cast<T>(options.beta);
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t n = 0; n < N; ++n)
                weights(k, n) = alpha * b[options.transB ? n * K + k : k * N + n];
        auto bias = xt::xtensor<T, 1>::from_shape({N});
        tensor_view<T> const row(bias);
        if (!c)
            std::fill(row.begin(), row.end(), T(0));
        else if (xloom::shape const dims{1, N}; c->rank() > 2 || broadcast_shape(dims, c->shape()) != dims)
            xloom::kernels::fail<xloom::shape_error>(
                op, ": the shape ", c->shape(), " of C cannot be broadcast to ", dims);
        else
            for (std::size_t n = 0; n < N; ++n)
                row[n] = beta * (*c)[c->size() == 1 ? 0 : n];
        return xloom::packed_matrix<T>(weights, bias);
    }

    xloom::packed_matrix<T> matrix_;
};

} // namespace xloom_onnx
