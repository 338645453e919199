// MatMul, MatMulInteger, Gemm, Einsum.

#include <xloom_onnx/einsum.hpp>
#include <xloom_onnx/matmul.hpp>
#include <xloom_onnx/matmul_integer.hpp>

#include "convert.hpp"
#include "moves.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// 16-bit floats as float.
tensor widened(tensor const& x)
{
    bool const is_small = x.type() == element_type::float16 || x.type() == element_type::bfloat16;
    return is_small ? convert(x, element_type::float_) : x;
}

template <class F>
auto with_product_type(element_type type, F&& f)
{
    return with_type_of<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
        type, std::forward<F>(f));
}

/// Reserves what a product may copy of B [K, N] and of M rows of the result, in the budget.
reservation room_for_product(std::size_t M, std::size_t K, element_type type)
{
    constexpr std::size_t columns = 64;
    return reservation((M + K) * columns * item_bytes(type));
}

/// Throws unless all factors and the addend are of one type.
void require_one_type(call const& c)
{
    for (std::size_t i = 1; i < c.input_count(); ++i)
        if (c.has(i) && c.tensor_at(i).type() != c.tensor_at(0).type())
            throw runner_error(
                fmt::format("{} must be of one type", c.input_count() < 3 ? "A and B" : "A, B and C"));
}

std::vector<value> run_matmul(call const& c)
{
    require_one_type(c);
    tensor const a = widened(c.tensor_at(0)), b = widened(c.tensor_at(1));
    xloom_onnx::detail::matmul_dims const dims(a.shape(), b.shape());
    tensor result = new_tensor(a.type(), dims.result);
    if (result.size() == 0)
        return {convert(result, c.tensor_at(0).type())};
    spend_products(static_cast<double>(result.size()) * static_cast<double>(dims.K));
    reservation const room = room_for_product(result.size() / dims.N, dims.K, a.type());
    with_product_type(a.type(), [&]<class T>(std::type_identity<T>) {
        xloom_onnx::workspace memory;
        xloom_onnx::detail::matmul<T>(
            items_of<T>(a), items_of<T>(b), writable_items_of<T>(result), dims, memory, require_time);
    });
    return {convert(result, c.tensor_at(0).type())};
}

std::vector<value> run_matmul_integer(call const& c)
{
    tensor const &a = c.tensor_at(0), &b = c.tensor_at(1);
    xloom_onnx::detail::matmul_dims const dims(a.shape(), b.shape());
    tensor result = new_tensor(element_type::int32, dims.result);
    spend_products(static_cast<double>(result.size()) * static_cast<double>(dims.K));
    reservation const room(sizeof(std::int16_t) * (a.size() + 2 * b.size()));
    auto const with_bytes = [](element_type type, auto const& f) {
        with_type_of<std::int8_t, std::uint8_t>(type, f);
    };
    with_bytes(a.type(), [&]<class A>(std::type_identity<A>) {
        with_bytes(b.type(), [&]<class B>(std::type_identity<B>) {
            std::optional<xloom_onnx::tensor_view<A const>> a_zero;
            std::optional<xloom_onnx::tensor_view<B const>> b_zero;
            if (c.has(2))
                a_zero = items_of<A>(c.tensor_at(2));
            if (c.has(3))
                b_zero = items_of<B>(c.tensor_at(3));
            xloom_onnx::workspace memory;
            xloom_onnx::detail::matmul_integer<A, B>(items_of<A>(a), items_of<B>(b), a_zero, b_zero,
                writable_items_of<std::int32_t>(result), dims, memory, require_time);
        });
    });
    return {result};
}

/// Returns the shape of a product; unknown if that of a factor is.
partial_shape product_shape(typing const& node)
{
    partial_shape a = node.shape_at(0), b = node.shape_at(1);
    if (a.rank() == 0 || b.rank() == 0) // unknown, too
        return xloom::unknown_rank;
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
    return dims;
}

types matmul_type(typing const& node) { return type_like_first(node, product_shape(node)); }

types matmul_integer_type(typing const& node)
{
    return {xloom::tensor_type(element_type::int32, product_shape(node))};
}

xloom_onnx::gemm_options gemm_options_of(node_view const& c)
{
    return {.alpha = c.number("alpha", 1),
        .beta = c.number("beta", 1),
        .transA = c.integer("transA", 0) != 0,
        .transB = c.integer("transB", 0) != 0};
}

tensor const& matrix_at(call const& c, std::size_t i)
{
    tensor const& x = c.tensor_at(i);
    if (x.shape().size() != 2)
        throw runner_error(fmt::format("its input {} is no matrix: its shape is {}", i, x.shape()));
    return x;
}

/// alpha A B + beta C.
std::vector<value> run_gemm(call const& c)
{
    require_one_type(c);
    tensor const a = widened(matrix_at(c, 0)), b = widened(matrix_at(c, 1));
    xloom_onnx::gemm_options const options = gemm_options_of(c);
    tensor const added = c.has(2) ? widened(c.tensor_at(2)) : tensor();
    tensor result = new_tensor(a.type(), xloom_onnx::gemm_shape(a.shape(), b.shape(), options));
    std::size_t const M = result.shape()[0], K = a.shape()[options.transA ? 0 : 1];
    spend_products(static_cast<double>(result.size()) * static_cast<double>(K));
    reservation const room = room_for_product(M, K, a.type());
    reservation const transposed(options.transA ? a.size() * a.item_size() : 0);
    with_product_type(a.type(), [&]<class T>(std::type_identity<T>) {
        xloom_onnx::workspace memory;
        std::optional<xloom_onnx::tensor_view<T const>> addend;
        if (c.has(2))
            addend = items_of<T>(added);
        auto const to = writable_items_of<T>(result);
        xloom_onnx::detail::gemm_into(
            items_of<T>(a), items_of<T>(b), addend ? &*addend : nullptr, to, options, memory, require_time);
    });
    return {convert(result, c.tensor_at(0).type())};
}

/// The shape of a product, checked.
using shape_function = std::function<xloom::shape(call const&)>;

template <class T>
std::vector<value> multiply_rows(
    call const& c, xloom_onnx::packed_gemm<T> const& layer, xloom::shape const& dims)
{
    require_one_type(c);
    tensor const a = widened(c.tensor_at(0));
    tensor result = new_tensor(a.type(), dims);
    if (result.size() != 0) {
        spend_products(static_cast<double>(result.size()) * static_cast<double>(a.shape().back()));
        layer(items_of<T>(a), writable_items_of<T>(result));
    }
    return {convert(result, c.tensor_at(0).type())};
}

/// Packs a constant matrix B on the right, and a constant C, once for all runs.
run_function prepare_product(typing const& node, tensor const* added, xloom_onnx::gemm_options const& options,
    shape_function const& shape)
{
    tensor const* const matrix = node.constant_at(1);
    if (matrix == nullptr || matrix->shape().size() != 2 || options.transA ||
        (added != nullptr && added->type() != matrix->type())) // a run refuses that
        return {};
    tensor const b = widened(*matrix), c = added == nullptr ? tensor() : widened(*added);
    if (b.type() != element_type::float_ && b.type() != element_type::double_)
        return {};
    return with_type_of<float, double>(b.type(), [&]<class T>(std::type_identity<T>) -> run_function {
        using layer = xloom_onnx::packed_gemm<T>;
        constexpr std::size_t panel = 64; // columns are padded to whole panels
        if (!xloom_onnx::detail::can_scale<T>(items_of<T>(b), options.alpha))
            return {};
        auto const room = std::make_shared<reservation const>(
            sizeof(T) * (2 * b.size() + panel * (b.shape()[0] + b.shape()[1])));
        auto const packed = added == nullptr
                                ? std::make_shared<layer const>(items_of<T>(b), options)
                                : std::make_shared<layer const>(items_of<T>(b), items_of<T>(c), options);
        return [packed, room, shape](
                   call const& reached) { return multiply_rows<T>(reached, *packed, shape(reached)); };
    });
}

run_function prepare_matmul(typing const& node)
{
    return prepare_product(node, nullptr, {}, [](call const& c) {
        return xloom_onnx::matmul_shape(c.tensor_at(0).shape(), c.tensor_at(1).shape());
    });
}

run_function prepare_gemm(typing const& node)
{
    if (node.has(2) && node.constant_at(2) == nullptr)
        return {};
    return prepare_product(node, node.constant_at(2), gemm_options_of(node), [](call const& c) {
        return xloom_onnx::gemm_shape(matrix_at(c, 0).shape(), matrix_at(c, 1).shape(), gemm_options_of(c));
    });
}

types gemm_type(typing const& node)
{
    auto const dim_of = [&](std::size_t i, char const* is_transposed, std::size_t axis) {
        partial_shape const& x = node.shape_at(i);
        return x.rank() == 2 ? x[node.integer(is_transposed, 0) != 0 ? 1 - axis : axis] : xloom::unknown;
    };
    return type_like_first(node, {dim_of(0, "transA", 0), dim_of(1, "transB", 1)});
}

std::vector<value> run_einsum(call const& c)
{
    std::vector<std::size_t> ranks;
    std::vector<xloom::shape> shapes;
    for (std::size_t i = 0; i < c.input_count(); ++i) {
        shapes.push_back(c.tensor_at(i).shape());
        ranks.push_back(shapes.back().size());
    }
    std::string const equation = c.text("equation", "");
    xloom_onnx::einsum_plan const plan(xloom_onnx::einsum_equation(equation, ranks), shapes);
    tensor result = new_tensor(c.tensor_at(0).type(), plan.result());
    spend_products(static_cast<double>(plan.size()) * static_cast<double>(shapes.size()));
    reservation room;
    if (plan.size() != 0 && plan.is_matrix_product()) {
        constexpr std::size_t columns = 64; // of a copied block, by rows and by sums
        xloom_onnx::detail::einsum_matrices const of(plan);
        room.grow((of.size() + (of.rows.size() + of.sums.size()) * columns) * sizeof(double));
    }
    with_number(result.type(), [&]<class T>(std::type_identity<T>) {
        std::vector<xloom_onnx::tensor_view<T const>> views;
        for (std::size_t i = 0; i < shapes.size(); ++i)
            views.push_back(items_of<T>(c.tensor_at(i)));
        xloom_onnx::workspace memory;
        xloom_onnx::detail::einsum<T>(plan, views.data(), writable_items_of<T>(result), memory, require_time);
    });
    return {result};
}

types einsum_type(typing const& node)
{
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < node.input_count(); ++i) {
        if (!node.shape_at(i).has_rank())
            return type_like_first(node, xloom::unknown_rank);
        ranks.push_back(node.shape_at(i).rank());
    }
    std::string const text = node.text("equation", "");
    xloom_onnx::einsum_equation const equation(text, ranks);
    partial_shape dims = unknown_dims(0);
    for (unsigned char const label : equation.result()) {
        partial_shape length({1});
        for (std::size_t i = 0; i < ranks.size(); ++i)
            for (std::size_t a = 0; a < ranks[i]; ++a)
                if (equation.operands()[i][a] == label)
                    length = broadcast(length, {node.shape_at(i)[a]});
        dims.insert(dims.rank(), length[0]);
    }
    return type_like_first(node, dims);
}

} // namespace

void add_linear_operators(operator_table& table)
{
    table["MatMul"] = {{{1, "rr", "r", ""}}, run_matmul, matmul_type, prepare_matmul};
    table["MatMulInteger"] = {{{10, "rroo", "r", ""}}, run_matmul_integer, matmul_integer_type};
    table["Gemm"] = {{{1, "rrr", "r", "alpha:float beta:float broadcast:flag transA:flag transB:flag"},
                         {7, "rrr", "r", "alpha:float beta:float transA:flag transB:flag"},
                         {11, "rro", "r", "alpha:float beta:float transA:flag transB:flag"}},
        run_gemm, gemm_type, prepare_gemm};
    table["Einsum"] = {{{12, "+", "r", "equation:string!"}}, run_einsum, einsum_type};
}

} // namespace runner
