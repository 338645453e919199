// Operators that make one item of many: ReduceSum and its like, ArgMax, ArgMin.

#include <cmath>

#include "axis.hpp"
#include "convert.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

/// A row's sum of f(x): floating-point numbers in double, whole ones modulo 2^64.
template <class T, class F>
auto sum_of(std::span<T const> row, F f)
{
    using number = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    number sum = 0;
    for (T const x : row)
        sum += f(static_cast<number>(x));
    return sum;
}

struct sum {
    template <class T>
    static T of(std::span<T const> row)
    {
        return static_cast<T>(sum_of(row, [](auto x) { return x; }));
    }
};

struct mean {
    template <class T>
    static T of(std::span<T const> row)
    {
        auto const total = sum_of(row, [](auto x) { return x; });
        if constexpr (std::is_integral_v<T>) {
            if (row.empty())
                throw runner_error("no whole number is the mean of none");
            using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
            return static_cast<T>(static_cast<wide>(total) / static_cast<wide>(row.size()));
        } else {
            return static_cast<T>(total / static_cast<double>(row.size()));
        }
    }
};

struct product {
    template <class T>
    static T of(std::span<T const> row)
    {
        std::conditional_t<std::is_integral_v<T>, std::uint64_t, double> result = 1;
        for (T const x : row)
            result *= static_cast<decltype(result)>(x);
        return static_cast<T>(result);
    }
};

struct sum_of_squares {
    template <class T>
    static T of(std::span<T const> row)
    {
        return static_cast<T>(sum_of(row, [](auto x) { return x * x; }));
    }
};

struct sum_of_magnitudes {
    template <class T>
    static T of(std::span<T const> row)
    {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(
                sum_of(row, [](std::uint64_t x) { return std::is_signed_v<T> && x >> 63 != 0 ? 0 - x : x; }));
        else
            return static_cast<T>(sum_of(row, [](double x) { return std::fabs(x); }));
    }
};

struct euclidean_norm {
    template <class T>
    static T of(std::span<T const> row)
    {
        double squares = 0;
        for (T const x : row)
            squares += static_cast<double>(x) * static_cast<double>(x);
        return to_number<T>(std::sqrt(squares));
    }
};

struct largest {
    template <class T>
    static T of(std::span<T const> row)
    {
        using limits = std::numeric_limits<T>;
        T best = limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
        for (T const x : row)
            best = larger()(best, x);
        return best;
    }
};

struct smallest {
    template <class T>
    static T of(std::span<T const> row)
    {
        using limits = std::numeric_limits<T>;
        T best = limits::has_infinity ? limits::infinity() : limits::max();
        for (T const x : row)
            best = smaller()(best, x);
        return best;
    }
};

/// Returns a mask of the axes that a node reduces: those of the list; all if it is empty, or none with
/// noop_with_empty_axes.
std::vector<bool> reduced_axes(node_view const& node, std::vector<std::int64_t> const& axes, std::size_t rank,
    std::int64_t axes_input_since)
{
    bool const is_noop = node.opset() >= axes_input_since && node.integer("noop_with_empty_axes", 0) != 0;
    return axes.empty() && !is_noop ? std::vector<bool>(rank, true) : marked_axes(axes, rank);
}

/// The operands of a reduction: the items in rows, and the shape of the result.
struct reduction {
    tensor rows;
    xloom::shape left;
};

/// `axes` are an input from this opset on.
reduction reduction_of(call const& c, std::int64_t axes_input_since)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const rank = x.shape().size();
    std::vector<std::int64_t> const axes =
        named_axes(c, axes_input_since).value_or(std::vector<std::int64_t>{});
    std::vector<bool> const marks = reduced_axes(c, axes, rank, axes_input_since);
    bool const keeps = c.integer("keepdims", 1) != 0;

    reduction result;
    result.left = {};
    std::vector<std::size_t> order, reduced;
    for (std::size_t a = 0; a < rank; ++a) {
        (marks[a] ? reduced : order).push_back(a);
        if (!marks[a] || keeps)
            result.left.push_back(marks[a] ? 1 : x.shape()[a]);
    }
    bool const is_in_rows = order.empty() || reduced.empty() || order.back() < reduced.front();
    order.insert(order.end(), reduced.begin(), reduced.end());
    result.rows = is_in_rows ? x : transposed(x, order);
    return result;
}

template <std::int64_t AxesInputSince>
types reduction_type(typing const& node)
{
    partial_shape const& x = node.shape_at(0);
    known_axes const axes = axes_of(node, AxesInputSince);
    bool const keeps = node.integer("keepdims", 1) != 0;
    if (!x.has_rank() || (axes.are_given && !axes.list))
        return type_like_first(
            node, keeps && x.has_rank() ? unknown_dims(x.rank()) : partial_shape(xloom::unknown_rank));
    std::vector<bool> const marks =
        reduced_axes(node, axes.list.value_or(std::vector<std::int64_t>{}), x.rank(), AxesInputSince);
    partial_shape left;
    for (std::size_t a = 0; a < x.rank(); ++a)
        if (!marks[a] || keeps)
            left.insert(left.rank(), marks[a] ? xloom::dim(1) : x[a]);
    return type_like_first(node, left);
}

template <class F, class T>
tensor reduce_rows(reduction const& r)
{
    tensor result = new_tensor(xloom::element_type_of<T>, r.left);
    std::size_t const size = result.size(), length = size == 0 ? 0 : r.rows.size() / size;
    T const* const from = r.rows.items<T>().data();
    T* const to = result.items<T>().data();
    for (std::size_t i = 0; i < size; ++i)
        to[i] = F::template of<T>({from + i * length, length});
    return result;
}

template <class F, std::int64_t AxesInputSince>
std::vector<value> run_reduce(call const& c)
{
    reduction const r = reduction_of(c, AxesInputSince);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int32_t, std::int64_t,
        std::uint32_t, std::uint64_t>(
        r.rows.type(), [&]<class T>(std::type_identity<T>) { return reduce_rows<F, T>(r); })};
}

/// Of bool and 8-bit numbers, too.
template <class F>
std::vector<value> run_reduce_order(call const& c)
{
    reduction const r = reduction_of(c, 18);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int32_t,
        std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t, bool>(
        r.rows.type(), [&]<class T>(std::type_identity<T>) { return reduce_rows<F, T>(r); })};
}

types arg_type(typing const& node)
{
    partial_shape dims = node.shape_at(0);
    if (dims.has_rank()) {
        std::size_t const axis = axis_of(node.integer("axis", 0), dims.rank());
        dims.erase(axis);
        if (node.integer("keepdims", 1) != 0)
            dims.insert(axis, 1);
    }
    return {xloom::tensor_type(element_type::int64, dims)};
}

/// Runs ArgMax or ArgMin: the index of the best item, the first or the last of equal ones.
template <class IsBetter>
std::vector<value> run_arg(call const& c)
{
    tensor const& x = c.tensor_at(0);
    std::size_t const axis = axis_of(c.integer("axis", 0), x.shape().size());
    bool const last = c.integer("select_last_index", 0) != 0;
    xloom::shape dims = x.shape();
    dims[axis] = 1;
    tensor result = new_tensor(element_type::int64, dims);
    if (x.size() == 0 && result.size() != 0)
        throw runner_error(
            fmt::format("there is no largest or smallest item along the axis {} of {}", axis, x.shape()));
    axis_view const view = around(x.shape(), axis);
    std::int64_t* to = result.items<std::int64_t>().data();
    with_number(x.type(), [&]<class T>(std::type_identity<T>) {
        IsBetter const is_better;
        T const* const from = x.items<T>().data();
        for (std::size_t o = 0; o < view.outer; ++o)
            for (std::size_t i = 0; i < view.inner; ++i) {
                T const* const row = from + o * view.length * view.inner + i;
                std::size_t best = 0;
                for (std::size_t k = 1; k < view.length; ++k) {
                    auto const candidate = +row[k * view.inner], champion = +row[best * view.inner];
                    if (last ? !is_better(champion, candidate) : is_better(candidate, champion))
                        best = k;
                }
                *to++ = static_cast<std::int64_t>(best);
            }
    });
    return {c.integer("keepdims", 1) != 0 ? result : result.reshaped(xloom::drop_axis(dims, axis))};
}

} // namespace

void add_reduction_operators(operator_table& table)
{
    table["ReduceSum"] = {run_reduce<sum, 13>, reduction_type<13>};
    table["ReduceMean"] = {run_reduce<mean, 18>, reduction_type<18>};
    table["ReduceProd"] = {run_reduce<product, 18>, reduction_type<18>};
    table["ReduceSumSquare"] = {run_reduce<sum_of_squares, 18>, reduction_type<18>};
    table["ReduceL1"] = {run_reduce<sum_of_magnitudes, 18>, reduction_type<18>};
    table["ReduceL2"] = {run_reduce<euclidean_norm, 18>, reduction_type<18>};
    table["ReduceMax"] = {run_reduce_order<largest>, reduction_type<18>};
    table["ReduceMin"] = {run_reduce_order<smallest>, reduction_type<18>};
    table["ArgMax"] = {run_arg<std::greater<>>, arg_type};
    table["ArgMin"] = {run_arg<std::less<>>, arg_type};
}

} // namespace runner
