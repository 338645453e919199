// Operators along axes: running sums, Softmax, reductions.

#include "call.hpp"

namespace compiler {

namespace {

void cumulative(emission& out, node& each, char const* function)
{
    auto const view = each.view();
    call(out, each, "model/indexing", function)
        .operand(0)
        .text(only_item(out, each.input(1)))
        .output()
        .flag("reverse", view.integer("reverse", 0))
        .flag("exclusive", view.integer("exclusive", 0))
        .emit();
}

void softmax(emission& out, node& each, char const* function)
{
    bool const flattens = each.opset() < 13;
    call c(out, each, "softmax", function);
    c.operand(0).output().option("axis", each.view().integer("axis", flattens ? 1 : -1), -1);
    if (flattens)
        c.option("flattens", "true");
    c.emit();
}

/// `axes` are an input from this opset on.
void reduce(emission& out, node& each, char const* function, std::int64_t axes_input_since)
{
    auto const view = each.view();
    bool const is_input = each.opset() >= axes_input_since;
    std::string axes;
    if (is_input && each.has(1))
        axes = integers_in(out, each, 1);
    else if (!is_input && view.has_attribute("axes"))
        axes = list_of(view.integers("axes"));
    call c(out, each, "reduce", "reduce_into");
    c.text(fmt::format("xloom_onnx::{}", function)).operand(0).output();
    if (!axes.empty() && axes != "{}")
        c.option("axes", axes);
    c.flag("keepdims", view.integer("keepdims", 1), true);
    if (is_input)
        c.flag("noop_with_empty_axes", view.integer("noop_with_empty_axes", 0));
    c.emit();
}

void arg_reduce(emission& out, node& each, char const* function)
{
    auto const view = each.view();
    call(out, each, "reduce", function)
        .operand(0)
        .output()
        .option("axis", view.integer("axis", 0), 0)
        .flag("keepdims", view.integer("keepdims", 1), true)
        .flag("select_last_index", view.integer("select_last_index", 0))
        .emit();
}

emitter reduction(char const* function, std::int64_t axes_input_since = 18)
{
    return [=](emission& out, node& each) { reduce(out, each, function, axes_input_since); };
}

} // namespace

void add_reduction_emitters(emitter_table& table)
{
    table["CumSum"] = named(cumulative, "cumsum_into");
    table["CumProd"] = named(cumulative, "cumprod_into");
    table["Softmax"] = named(softmax, "softmax_into");
    table["LogSoftmax"] = named(softmax, "log_softmax_into");
    table["ReduceSum"] = reduction("reduce_sum", 13);
    table["ReduceMean"] = reduction("reduce_mean");
    table["ReduceMax"] = reduction("reduce_max");
    table["ReduceMin"] = reduction("reduce_min");
    table["ReduceProd"] = reduction("reduce_prod");
    table["ReduceL1"] = reduction("reduce_l1");
    table["ReduceL2"] = reduction("reduce_l2");
    table["ReduceLogSumExp"] = reduction("reduce_log_sum_exp");
    table["ReduceSumSquare"] = reduction("reduce_sum_square");
    table["ArgMax"] = named(arg_reduce, "arg_max_into");
    table["ArgMin"] = named(arg_reduce, "arg_min_into");
}

} // namespace compiler
