// Operators that go along one axis and keep the shape: CumSum and CumProd, which are xloom's, Softmax,
// LogSoftmax.

#include <xloom/infer/cumsum.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom_onnx/softmax.hpp>

#include "axis.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

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
    if (!xloom::is_allowed(xloom::onnx_operator::cumsum, node.opset(), x.element()))
        throw runner_error(
            fmt::format("CumSum does not take {} at opset {}", name_of(x.element()), node.opset()));
    return {xloom::infer_cumsum(x, node.at(1), node.declared_at(0), {.opset = node.opset()})};
}

/// Up to opset 12 along all axes from `axis` on, as if they were one.
template <bool Log>
std::vector<value> run_softmax(call const& c)
{
    tensor const& x = c.tensor_at(0);
    bool const flattens = c.opset() < 13;
    xloom_onnx::softmax_options const options{
        .axis = c.integer("axis", flattens ? 1 : -1), .flattens = flattens};
    return {with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        tensor result(x.type(), x.shape());
        if constexpr (Log)
            xloom_onnx::log_softmax_into(items_of<T>(x), writable_items_of<T>(result), options);
        else
            xloom_onnx::softmax_into(items_of<T>(x), writable_items_of<T>(result), options);
        return result;
    })};
}

} // namespace

void add_along_axis_operators(operator_table& table)
{
    version_list const along_axis{{1, "r", "r", "axis:int"}};
    table["CumSum"] = {{{11, "rr", "r", "exclusive:flag reverse:flag"}}, run_cumsum, cumsum_type};
    table["CumProd"] = {{{26, "rr", "r", "exclusive:flag reverse:flag"}}, run_cumprod, same_type};
    table["Softmax"] = {along_axis, run_softmax<false>, same_type};
    table["LogSoftmax"] = {along_axis, run_softmax<true>, same_type};
}

} // namespace runner
