// Operators that go along one axis and keep the shape: CumSum and CumProd, which are xloom's, Softmax,
// LogSoftmax.

#include <cmath>

#include <xloom/cumulative.hpp>
#include <xloom/infer/cumsum.hpp>

#include "axis.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

/// Calls f(first, step) for each row along the axis: the offset of its first item, and its stride.
template <class F>
void for_each_row(axis_view const& view, F f)
{
    for (std::size_t o = 0; o < view.outer; ++o)
        for (std::size_t i = 0; i < view.inner; ++i)
            f(o * view.length * view.inner + i, view.inner);
}

/// Calls accumulate(x, result, options) for the operands of CumSum or CumProd.
template <class Accumulate>
std::vector<value> run_cumulative(call const& c, Accumulate const& accumulate)
{
    tensor const& x = c.tensor_at(0);
    std::vector<std::int64_t> const axis = c.integers_at(1);
    if (axis.size() != 1)
        throw runner_error(fmt::format("its axis has {} items instead of 1", axis.size()));
    xloom::cumulative_options const options{
        .axis = static_cast<std::int64_t>(axis_of(axis[0], x.shape().size())),
        .reverse = c.integer("reverse", 0) != 0,
        .exclusive = c.integer("exclusive", 0) != 0};
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int32_t, std::int64_t,
        std::uint32_t, std::uint64_t>(x.type(), [&]<class T>(std::type_identity<T>) {
        tensor result(x.type(), x.shape());
        accumulate(view_of<T>(x), writable_view_of<T>(result), options);
        return result;
    })};
}

std::vector<value> run_cumsum(call const& c)
{
    return run_cumulative(c, [](auto const& x, auto&& result, auto const& options) {
        xloom::cumulative_sum_into(x, result, options);
    });
}

std::vector<value> run_cumprod(call const& c)
{
    return run_cumulative(c, [](auto const& x, auto&& result, auto const& options) {
        xloom::cumulative_prod_into(x, result, options);
    });
}

types cumsum_type(typing const& node)
{
    partial_type const& x = node.at(0);
    if (!x.is_tensor() || x.element() == element_type::undefined)
        return {};
    if (!xloom::is_allowed(xloom::accumulation::cumsum, node.opset(), x.element()))
        throw runner_error(
            fmt::format("CumSum does not take {} at opset {}", name_of(x.element()), node.opset()));
    return {xloom::infer_cumsum(x, node.at(1), node.declared_at(0), {.opset = node.opset()})};
}

/// Up to opset 12 along all axes from `axis` on, as if they were one.
axis_view softmax_view(call const& c)
{
    xloom::shape const& dims = c.tensor_at(0).shape();
    std::size_t const axis = axis_of(c.integer("axis", c.opset() < 13 ? 1 : -1), dims.size());
    axis_view view = around(dims, axis);
    if (c.opset() < 13) {
        view.length *= view.inner;
        view.inner = 1;
    }
    return view;
}

template <bool Log>
std::vector<value> run_softmax(call const& c)
{
    tensor const& x = c.tensor_at(0);
    axis_view const view = softmax_view(c);
    return {with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        using number = decltype(+T());
        tensor result(x.type(), x.shape());
        T const* const from = x.items<T>().data();
        T* const to = result.items<T>().data();
        std::vector<number> row(view.outer == 0 ? 0 : view.length);
        for_each_row(view, [&](std::size_t first, std::size_t step) {
            number largest = -std::numeric_limits<number>::infinity();
            for (std::size_t k = 0; k < row.size(); ++k) {
                row[k] = +from[first + k * step];
                largest = larger()(largest, row[k]);
            }
            number sum = 0;
            for (number& each : row) {
                each -= largest;
                number const power = std::exp(each);
                sum += power;
                each = Log ? each : power;
            }
            number const log_sum = std::log(sum);
            for (std::size_t k = 0; k < row.size(); ++k)
                to[first + k * step] = static_cast<T>(Log ? row[k] - log_sum : row[k] / sum);
        });
        return result;
    })};
}

} // namespace

void add_along_axis_operators(operator_table& table)
{
    table["CumSum"] = {run_cumsum, cumsum_type};
    table["CumProd"] = {run_cumprod, same_type};
    table["Softmax"] = {run_softmax<false>, same_type};
    table["LogSoftmax"] = {run_softmax<true>, same_type};
}

} // namespace runner
