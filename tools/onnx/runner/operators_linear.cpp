// MatMul and Gemm.

#include <cmath>

#include "axis.hpp"
#include "convert.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "products.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

/// 16-bit floats as float.
tensor widened(tensor const& x)
{
    bool const is_small = x.type() == element_type::float16 || x.type() == element_type::bfloat16;
    return is_small ? convert(x, element_type::float_) : x;
}

/// The type in which products are computed: unsigned for integers, so that they wrap around.
template <class T>
using product_item = decltype(modular(T()));

template <class T>
product_item<T> const* product_items(tensor const& x)
{
    return reinterpret_cast<product_item<T> const*>(x.items<T>().data());
}
template <class T>
product_item<T>* product_items(tensor& x)
{
    return reinterpret_cast<product_item<T>*>(x.items<T>().data());
}

template <class F>
auto with_product_type(element_type type, F&& f)
{
    return with_type_of<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
        type, std::forward<F>(f));
}

/// Returns products of stacks of matrices, of rank 2 or more; the axes before the last two are broadcast. The
/// matrices of b may be transposed.
tensor matrix_product(tensor const& a, tensor const& b, bool is_b_transposed = false)
{
    auto const stack_of = [](xloom::shape const& dims) { return xloom::shape(dims.begin(), dims.end() - 2); };
    std::size_t const M = a.shape().end()[-2], K = a.shape().back(),
                      N = b.shape().end()[is_b_transposed ? -2 : -1];
    if (b.shape().end()[is_b_transposed ? -1 : -2] != K)
        throw runner_error(
            fmt::format("matrices of the shapes {} and {} cannot be multiplied", a.shape(), b.shape()));
    xloom::shape const stack = broadcast(stack_of(a.shape()), stack_of(b.shape()));
    xloom::shape dims = stack;
    dims.push_back(M);
    dims.push_back(N);
    tensor result = new_tensor(a.type(), dims);
    if (result.size() == 0)
        return result;
    with_product_type(a.type(), [&]<class T>(std::type_identity<T>) {
        auto const* const left = product_items<T>(a);
        auto const* const right = product_items<T>(b);
        auto* to = product_items<T>(result);
        std::size_t const row_step = is_b_transposed ? 1 : N, column_step = is_b_transposed ? K : 1;
        if (b.shape().size() == 2) { // one product of many rows
            multiply_matrices(result.size() / N, K, N, left, {right, row_step, column_step}, to, N);
            return;
        }
        for (rows walk(stack,
                 {broadcast_steps(stack_of(a.shape()), stack), broadcast_steps(stack_of(b.shape()), stack)});
             !walk.done(); walk.next())
            for (std::size_t k = 0; k < walk.length(); ++k, to += M * N) {
                auto const i = static_cast<std::ptrdiff_t>(k);
                auto const x = static_cast<std::size_t>(walk.offset(0) + i * walk.step(0));
                auto const y = static_cast<std::size_t>(walk.offset(1) + i * walk.step(1));
                multiply_matrices(
                    M, K, N, left + x * M * K, {right + y * K * N, row_step, column_step}, to, N);
            }
    });
    return result;
}

/// Runs MatMul. A vector on the left is one row, on the right one column; that axis is not in the result.
std::vector<value> run_matmul(call const& c)
{
    tensor a = widened(c.tensor_at(0)), b = widened(c.tensor_at(1));
    if (a.shape().empty() || b.shape().empty())
        throw runner_error("a scalar is no matrix");
    bool const is_row = a.shape().size() == 1, is_column = b.shape().size() == 1;
    if (is_row)
        a = a.reshaped({1, a.size()});
    if (is_column)
        b = b.reshaped({b.size(), 1});
    tensor result = matrix_product(a, b);
    xloom::shape dims = result.shape();
    if (is_column)
        dims.erase(dims.size() - 1);
    if (is_row)
        dims.erase(dims.size() - (is_column ? 1 : 2));
    return {convert(result.reshaped(dims), c.tensor_at(0).type())};
}

types matmul_type(typing const& node)
{
    partial_shape a = node.shape_at(0), b = node.shape_at(1);
    if (a.rank() == 0 || b.rank() == 0) // unknown, too
        return type_like_first(node, xloom::unknown_rank);
    bool const is_row = a.rank() == 1, is_column = b.rank() == 1;
    xloom::dim const M = is_row ? xloom::unknown : a[a.rank() - 2],
                     N = is_column ? xloom::unknown : b[b.rank() - 1];
    for (partial_shape* const each : {&a, &b})
        for (std::size_t k = 0; k < 2 && each->rank() != 0; ++k)
            each->erase(each->rank() - 1);
    partial_shape dims = broadcast(a, b);
    if (!is_row)
        dims.insert(dims.rank(), M);
    if (!is_column)
        dims.insert(dims.rank(), N);
    return type_like_first(node, dims);
}

/// Returns alpha or beta as a T. Throws if T is an integer type and the number is not integral.
template <class T>
T factor(call const& c, char const* name)
{
    double const number = c.number(name, 1);
    if constexpr (std::is_integral_v<T>) {
        if (!(std::fabs(number) < 0x1p31) || number != std::floor(number))
            throw runner_error(fmt::format("{} must be whole for matrices of whole numbers", name));
        return static_cast<T>(static_cast<std::int64_t>(number));
    } else {
        return static_cast<T>(number);
    }
}

/// alpha A B + beta C.
std::vector<value> run_gemm(call const& c)
{
    auto const matrix_at = [&](std::size_t i) {
        tensor const& x = c.tensor_at(i);
        if (x.shape().size() != 2)
            throw runner_error(fmt::format("its input {} is no matrix: its shape is {}", i, x.shape()));
        return widened(x);
    };
    tensor const a = matrix_at(0), b = matrix_at(1);
    tensor const product = matrix_product(
        c.integer("transA", 0) != 0 ? transposed(a, {1, 0}) : a, b, c.integer("transB", 0) != 0);
    tensor const added = c.has(2) ? widened(c.tensor_at(2)) : tensor();
    if (c.has(2) && broadcast(product.shape(), added.shape()) != product.shape())
        throw runner_error(
            fmt::format("the shape {} of C cannot be broadcast to {}", added.shape(), product.shape()));
    tensor const result = with_product_type(product.type(), [&]<class T>(std::type_identity<T>) {
        T const alpha = factor<T>(c, "alpha"), beta = factor<T>(c, "beta");
        auto const scaled = [](T by, T x) { return modular(by) * modular(x); };
        if (c.has(2))
            return map_items<T, T, T>(
                product, added, [=](T x, T y) { return static_cast<T>(scaled(alpha, x) + scaled(beta, y)); });
        return map_items<T, T>(product, [=](T x) { return static_cast<T>(scaled(alpha, x)); });
    });
    return {convert(result, c.tensor_at(0).type())};
}

types gemm_type(typing const& node)
{
    auto const dim_of = [&](std::size_t i, char const* is_transposed, std::size_t axis) {
        partial_shape const& x = node.shape_at(i);
        return x.rank() == 2 ? x[node.integer(is_transposed, 0) != 0 ? 1 - axis : axis] : xloom::unknown;
    };
    return type_like_first(node, {dim_of(0, "transA", 0), dim_of(1, "transB", 1)});
}

} // namespace

void add_linear_operators(operator_table& table)
{
    table["MatMul"] = {run_matmul, matmul_type};
    table["Gemm"] = {run_gemm, gemm_type};
}

} // namespace runner
