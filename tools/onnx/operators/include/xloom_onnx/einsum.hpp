#pragma once
// Einsum.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom_onnx/broadcast.hpp>
#include <xloom_onnx/matmul.hpp>
#include <xloom_onnx/product.hpp>
#include <xloom_onnx/view.hpp>
#include <xloom_onnx/workspace.hpp>

namespace xloom_onnx {

namespace detail {

/// The labels of the axes of a tensor: letters, and for the axes of an ellipsis numbers, 0 for the last one.
using axis_labels = xloom::static_vector<unsigned char, xloom::max_rank>;

inline constexpr std::size_t label_codes = 128;

constexpr bool is_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

} // namespace detail

/// An equation of Einsum for operands of given ranks.
///
/// Errors    option_error: it is malformed, has another number of terms than there are operands, or a result
///           that ONNX does not define. shape_error: a term does not fit a rank; more than max_rank labels.
class einsum_equation {
public:
    einsum_equation(std::string_view equation, std::span<std::size_t const> ranks) : text_(equation)
    {
        std::size_t const arrow = equation.find("->");
        std::string_view left = equation.substr(0, arrow);
        if (ranks.size() > xloom::max_operands)
            refuse<xloom::option_error>("has more than ", xloom::max_operands, " operands");
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            std::size_t const comma = left.find(',');
            if ((comma == std::string_view::npos) != (i + 1 == ranks.size()))
                refuse<xloom::option_error>("must have a term for each of ", ranks.size(), " operands");
            operands_.push_back(labels_of(left.substr(0, comma), ranks[i]));
            left = comma == std::string_view::npos ? "" : left.substr(comma + 1);
        }
        for (auto const& operand : operands_)
            for (unsigned char const label : operand)
                ++uses_[label];
        if (arrow == std::string_view::npos)
            give_implicit_result();
        else
            give_result(equation.substr(arrow + 2));
        order_ = result_;
        for (std::size_t label = 0; label < detail::label_codes; ++label)
            if (uses_[label] != 0 && std::count(result_.begin(), result_.end(), label) == 0) {
                if (order_.size() == xloom::max_rank)
                    refuse<xloom::shape_error>("has more than ", xloom::max_rank, " different axes");
                order_.push_back(static_cast<unsigned char>(label));
            }
    }

    std::string_view text() const { return text_; }
    std::span<detail::axis_labels const> operands() const { return {operands_.begin(), operands_.end()}; }
    /// Returns the labels of the result.
    detail::axis_labels const& result() const { return result_; }
    /// Returns the labels of the result, then those that are summed over.
    detail::axis_labels const& order() const { return order_; }

private:
    template <class Error, class... Parts>
    [[noreturn]] void refuse(Parts const&... parts) const
    {
        xloom::kernels::fail<Error>("xloom_onnx::einsum: the equation \"", text_, "\" ", parts...);
    }

    detail::axis_labels labels_of(std::string_view term, std::size_t rank)
    {
        std::size_t letters = 0;
        bool has_ellipsis = false;
        for (std::size_t i = 0; i < term.size(); ++i) {
            if (detail::is_label(term[i])) {
                ++letters;
            } else if (!has_ellipsis && term.substr(i, 3) == "...") {
                has_ellipsis = true;
                i += 2;
            } else if (term[i] != ' ') {
                refuse<xloom::option_error>("is malformed at \"", term.substr(i), "\"");
            }
        }
        if (has_ellipsis ? letters > rank : letters != rank)
            refuse<xloom::shape_error>("has the term \"", term, "\" for a tensor of rank ", rank);
        std::size_t hidden = rank - letters;
        hidden_ = (std::max)(hidden_, hidden);
        detail::axis_labels labels;
        for (char const c : term)
            if (detail::is_label(c))
                labels.push_back(static_cast<unsigned char>(c));
            else
                for (; c == '.' && hidden != 0; --hidden)
                    labels.push_back(static_cast<unsigned char>(hidden - 1));
        return labels;
    }

    void give_implicit_result()
    {
        for (std::size_t hidden = hidden_; hidden-- > 0;)
            result_.push_back(static_cast<unsigned char>(hidden));
        for (std::size_t label = 'A'; label < detail::label_codes; ++label)
            if (uses_[label] == 1) {
                if (result_.size() == xloom::max_rank)
                    refuse<xloom::shape_error>("has a result of more than ", xloom::max_rank, " axes");
                result_.push_back(static_cast<unsigned char>(label));
            }
    }

    void give_result(std::string_view term)
    {
        auto const letters =
            static_cast<std::size_t>(std::count_if(term.begin(), term.end(), detail::is_label));
        bool const has_ellipsis = term.find('.') != std::string_view::npos;
        if (hidden_ != 0 && !has_ellipsis)
            refuse<xloom::option_error>("lacks the ellipsis in its result");
        if (letters + hidden_ > xloom::max_rank)
            refuse<xloom::shape_error>("has a result of more than ", xloom::max_rank, " axes");
        result_ = labels_of(term, letters + hidden_);
        for (char const c : term)
            if (auto const label = static_cast<unsigned char>(c);
                detail::is_label(c) &&
                (uses_[label] == 0 || std::count(result_.begin(), result_.end(), label) != 1))
                refuse<xloom::option_error>("has the label ", std::string_view(&c, 1),
                    " in its result, which must be there once, and in an operand");
    }

    std::string_view text_;
    xloom::static_vector<detail::axis_labels, xloom::max_operands> operands_{};
    detail::axis_labels result_{}, order_{};
    std::array<std::size_t, detail::label_codes> uses_{};
    std::size_t hidden_ = 0; ///< axes of the ellipsis
};

/// What Einsum does for operands of given shapes.
///
/// Errors    as einsum_equation; shape_error: a label has two dimensions, none of which is 1, or the number
///           of products overflows.
class einsum_plan {
public:
    einsum_plan(einsum_equation const& equation, std::span<xloom::shape const> shapes)
        : kept_(equation.result().size())
    {
        std::array<std::size_t, detail::label_codes> places{};
        for (std::size_t v = 0; v < equation.order().size(); ++v)
            places[equation.order()[v]] = v;
        dims_.resize(equation.order().size(), 1);
        for (std::size_t n = 0; n < shapes.size(); ++n)
            for (std::size_t a = 0; a < shapes[n].size(); ++a) {
                std::size_t& dim = dims_[places[equation.operands()[n][a]]];
                if (shapes[n][a] != 1 && dim != 1 && shapes[n][a] != dim)
                    xloom::kernels::fail<xloom::shape_error>("xloom_onnx::einsum: the equation \"",
                        equation.text(), "\" gives an axis the dimensions ", dim, " and ", shapes[n][a]);
                dim = dim == 1 ? shapes[n][a] : dim;
            }
        for (std::size_t n = 0; n < shapes.size(); ++n) {
            xloom::strides own(dims_.size(), 0);
            xloom::strides const steps = broadcast_strides(shapes[n], shapes[n]);
            for (std::size_t a = 0; a < shapes[n].size(); ++a)
                own[places[equation.operands()[n][a]]] += steps[a];
            strides_.push_back(own);
        }
        check_size("xloom_onnx::einsum", dims_, sizeof(double));
    }

    xloom::shape result() const { return {dims_.begin(), dims_.begin() + kept_}; }
    /// Returns the rank of the result.
    std::size_t kept() const { return kept_; }
    /// Returns the dimensions of the result, then those that are summed over.
    xloom::shape const& dims() const { return dims_; }
    std::size_t operand_count() const { return strides_.size(); }
    xloom::strides const& strides(std::size_t operand) const { return strides_[operand]; }
    /// Returns the number of products.
    std::size_t size() const { return xloom::element_count(dims_); }

    /// True if both of two operands have all axes that are summed over: they are stacks of matrices then.
    bool is_matrix_product() const
    {
        bool has_all = strides_.size() == 2;
        for (std::size_t v = kept_; v < dims_.size() && has_all; ++v)
            has_all = dims_[v] == 1 || (strides_[0][v] != 0 && strides_[1][v] != 0);
        return has_all;
    }

private:
    xloom::shape dims_{};
    std::size_t kept_;
    xloom::static_vector<xloom::strides, xloom::max_operands> strides_{};
};

namespace detail {

/// Some of the axes of a plan, in an order of their own.
class chosen_axes {
public:
    explicit chosen_axes(einsum_plan const& plan) : plan_(plan) {}

    /// Appends the axes that the operands have, or have not.
    void append(bool is_kept, bool has_first, bool has_second)
    {
        std::size_t const first = is_kept ? 0 : plan_.kept();
        std::size_t const last = is_kept ? plan_.kept() : plan_.dims().size();
        for (std::size_t v = first; v < last; ++v)
            if (plan_.dims()[v] != 1 && (plan_.strides(0)[v] != 0) == has_first &&
                (plan_.strides(1)[v] != 0) == has_second) {
                axes_.push_back(v);
                dims_.push_back(plan_.dims()[v]);
            }
    }
    std::size_t size() const { return xloom::element_count(dims_); }

    /// Returns the iteration over a tensor with these strides along the axes of the plan.
    row_walk<1> walk(xloom::strides const& all) const
    {
        xloom::strides own;
        for (std::size_t const v : axes_)
            own.push_back(all[v]);
        return row_walk<1>(dims_, {own});
    }

private:
    einsum_plan const& plan_;
    xloom::static_vector<std::size_t, xloom::max_rank> axes_{};
    xloom::shape dims_{};
};

/// Two operands of Einsum as stacks of matrices: A [stack, M, K], B [stack, K, N], C [stack, M, N].
struct einsum_matrices {
    chosen_axes stack, rows, sums, columns, a, b, c;

    explicit einsum_matrices(einsum_plan const& plan)
        : stack(plan), rows(plan), sums(plan), columns(plan), a(plan), b(plan), c(plan)
    {
        for (chosen_axes* const each : {&stack, &a, &b, &c})
            each->append(true, true, true);
        for (chosen_axes* const each : {&rows, &a, &c})
            each->append(true, true, false);
        for (chosen_axes* const each : {&sums, &a, &b})
            each->append(false, true, true);
        for (chosen_axes* const each : {&columns, &b, &c})
            each->append(true, false, true);
    }

    /// Returns the number of items of all three.
    std::size_t size() const { return a.size() + b.size() + c.size(); }
};

/// Copies both operands into matrices, multiplies them, and writes the items where the result has them.
template <class P, class T, class Pause>
void multiply_operands(einsum_plan const& plan, tensor_view<T const> const* x, tensor_view<T> const& y,
    workspace& memory, Pause const& pause)
{
    einsum_matrices const of(plan);
    P* const a = memory.take<P>(of.size(), scratch::converted);
    P *const b = a + of.a.size(), *const c = b + of.b.size();
    auto const copy = [](row_walk<1> walk, T const* from, P* to) {
        for (; !walk.done(); walk.next())
            for (std::size_t i = 0; i < walk.length(); ++i)
                *to++ =
                    static_cast<P>(from[walk.offset(0) + static_cast<std::ptrdiff_t>(i) * walk.stride(0)]);
    };
    copy(of.a.walk(plan.strides(0)), x[0].data(), a);
    copy(of.b.walk(plan.strides(1)), x[1].data(), b);
    std::size_t const M = of.rows.size(), K = of.sums.size(), N = of.columns.size();
    for (std::size_t i = 0; i < of.stack.size(); ++i)
        multiply(M, K, N, a + i * M * K, K, matrix<P>{b + i * K * N, N, 1}, c + i * M * N, N, memory, pause);
    xloom::strides to = xloom::row_major_strides(plan.result());
    P const* from = c;
    for (row_walk<1> walk = of.c.walk(to); !walk.done(); walk.next())
        for (std::size_t i = 0; i < walk.length(); ++i)
            y.data()[walk.offset(0) + static_cast<std::ptrdiff_t>(i) * walk.stride(0)] =
                static_cast<T>(*from++);
}

/// Sums the products of one item of each operand.
template <class P, class T, class Pause>
void sum_products(
    einsum_plan const& plan, tensor_view<T const> const* x, tensor_view<T> const& y, Pause const& pause)
{
    constexpr std::size_t between_pauses = 1 << 16;
    xloom::shape index(plan.dims().size(), 0);
    std::array<std::ptrdiff_t, xloom::max_operands> offsets{};
    auto const next = [&] {
        for (std::size_t v = index.size(); v-- > 0;) {
            bool const wraps = ++index[v] == plan.dims()[v];
            std::ptrdiff_t const steps = wraps ? 1 - static_cast<std::ptrdiff_t>(plan.dims()[v]) : 1;
            for (std::size_t n = 0; n < plan.operand_count(); ++n)
                offsets[n] += steps * plan.strides(n)[v];
            if (!wraps)
                return;
            index[v] = 0;
        }
    };
    std::size_t const count = plan.size() / y.size();
    std::size_t done = 0;
    for (T& result : y) {
        P sum(0);
        for (std::size_t k = 0; k < count; ++k) {
            P product(1);
            for (std::size_t n = 0; n < plan.operand_count(); ++n)
                product *= static_cast<P>(x[n].data()[offsets[n]]);
            sum += product;
            next();
            if (++done % between_pauses == 0)
                pause();
        }
        result = static_cast<T>(sum);
    }
}

template <class T, class Pause>
void einsum(einsum_plan const& plan, tensor_view<T const> const* x, tensor_view<T> const& y,
    workspace& memory, Pause const& pause)
{
    using P = std::remove_cvref_t<product_t<T>>;
    if (plan.size() == 0)
        std::fill(y.begin(), y.end(), T(0));
    else if (plan.is_matrix_product())
        multiply_operands<P>(plan, x, y, memory, pause);
    else
        sum_products<P>(plan, x, y, pause);
}

} // namespace detail

/// Einstein's summation: each item of y is a sum of products, of one item of each operand, whose axes an
/// equation labels.
///
///     einsum_into("bij,bjk->bik", std::tie(a, b), y, memory); // a stack of matrix products
///
/// Equation  a label twice in a term is a diagonal; without "->" the result has the axes of the ellipsis,
///           then the labels that are there once, in order of their codes.
/// Shapes    axes of one label have one dimension, or 1, which is broadcast. y as the result says.
/// Types     numbers of one type: integers wrap around, 16-bit floating-point numbers are computed in float.
/// Errors    as einsum_equation and einsum_plan; shape_error: y has a fixed shape, and another one.
/// Cost      two operands that both have all axes that are summed over are copied and multiplied as matrices;
///           others cost a product of all operands for each combination of labels. Allocates nothing if y and
///           the workspace are large enough.
/// Aliasing  y overlaps no operand.
template <operand... Xs, class Y>
    requires(sizeof...(Xs) != 0)
void einsum_into(std::string_view equation, std::tuple<Xs...> const& operands, Y&& y, workspace& memory)
{
    using T = item_t<std::tuple_element_t<0, std::tuple<std::remove_cvref_t<Xs>...>>>;
    auto const views =
        std::apply([](auto const&... x) { return std::array{tensor_view<T const>(x)...}; }, operands);
    std::array<xloom::shape, sizeof...(Xs)> shapes;
    std::array<std::size_t, sizeof...(Xs)> ranks;
    for (std::size_t n = 0; n < sizeof...(Xs); ++n) {
        shapes[n] = views[n].shape();
        ranks[n] = views[n].rank();
    }
    einsum_plan const plan(einsum_equation(equation, ranks), shapes);
    detail::einsum<T>(plan, views.data(), output_view("xloom_onnx::einsum_into", y, plan.result()), memory,
        detail::no_pause());
}

} // namespace xloom_onnx
