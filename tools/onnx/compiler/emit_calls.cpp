// Operators that are one call of xloom_onnx: the operands, the output, the options.

#include <algorithm>

#include <xloom/core/reduction.hpp>
#include <xloom/infer/scatter_nd.hpp>

#include "emitters.hpp"
#include "proto.hpp"
#include "text.hpp"

namespace compiler {

namespace {

using texts = std::vector<std::string>;

std::string joined(texts const& all) { return fmt::format("{}", fmt::join(all, ", ")); }

std::string list_of(std::vector<std::int64_t> const& numbers)
{
    return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

/// Integers that the node has as an input, as C++: a list, or the value.
std::string integers_in(emission& out, node& each, std::size_t i)
{
    if (auto const numbers = each.input(i).integers())
        return list_of(*numbers);
    return out.operand(each.input(i));
}

/// One call of xloom_onnx.
class call {
public:
    call(emission& out, node& each, std::string header, std::string function)
        : out_(out), each_(each), function_(std::move(function))
    {
        out.include("xloom_onnx/" + header + ".hpp");
    }

    call& operand(std::size_t i) { return text(out_.operand(each_.input(i))); }
    call& integers(std::size_t i) { return text(integers_in(out_, each_, i)); }
    call& text(std::string argument)
    {
        arguments_.push_back(std::move(argument));
        return *this;
    }
    call& output(std::size_t k = 0) { return text(out_.target(each_.output(k))); }
    /// Operands as a tuple.
    call& operands()
    {
        texts all;
        for (std::size_t i = 0; i < each_.inputs.size(); ++i)
            if (each_.has(i))
                all.push_back(out_.operand(each_.input(i)));
        return text(fmt::format("std::tie({})", joined(all)));
    }
    call& option(std::string_view name, std::string const& value)
    {
        options_.push_back(fmt::format(".{} = {}", name, value));
        return *this;
    }
    call& option(std::string_view name, std::int64_t value, std::int64_t otherwise)
    {
        return value == otherwise ? *this : option(name, fmt::format("{}", value));
    }
    call& flag(std::string_view name, std::int64_t value, bool otherwise = false)
    {
        return (value != 0) == otherwise ? *this : option(name, value != 0 ? "true" : "false");
    }
    /// Writes the call.
    void emit()
    {
        if (!options_.empty())
            arguments_.push_back(fmt::format("{{{}}}", joined(options_)));
        out_.line("xloom_onnx::{}({});", function_, joined(arguments_));
    }

private:
    emission& out_;
    node& each_;
    std::string function_;
    texts arguments_{}, options_{};
};

// Shapes

void shape(emission& out, node& each)
{
    call c(out, each, "reshape", "shape_into");
    c.operand(0).output();
    auto const view = each.view();
    if (each.opset() >= 15) {
        c.option("start", view.integer("start", 0), 0);
        if (view.has_attribute("end"))
            c.option("end", fmt::format("{}", view.integer("end", 0)));
    }
    c.emit();
}

void size(emission& out, node& each)
{
    out.include("xloom_onnx/reshape.hpp");
    out.define(each.output(), fmt::format("xloom_onnx::size_of({})", out.operand(each.input(0))));
}

void reshape(emission& out, node& each)
{
    auto const view = each.view();
    call c(out, each, "reshape", "reshape_into");
    c.operand(0);
    if (each.opset() < 5)
        c.text(list_of(view.integers("shape")));
    else
        c.integers(1);
    c.output().flag("allowzero", view.integer("allowzero", 0)).emit();
}

/// Squeeze and Unsqueeze: axes are an attribute before opset 13.
void with_axes(emission& out, node& each, char const* function)
{
    call c(out, each, "reshape", function);
    c.operand(0);
    if (each.opset() >= 13 ? each.has(1) : each.view().has_attribute("axes")) {
        if (each.opset() >= 13)
            c.integers(1);
        else
            c.text(list_of(each.view().integers("axes")));
    }
    c.output().emit();
}

void flatten(emission& out, node& each)
{
    call c(out, each, "reshape", "flatten_into");
    c.operand(0).output();
    if (std::int64_t const axis = each.view().integer("axis", 1); axis != 1)
        c.text(fmt::format("{}", axis));
    c.emit();
}

void transpose(emission& out, node& each)
{
    call c(out, each, "transpose", "transpose_into");
    c.operand(0);
    if (each.view().has_attribute("perm"))
        c.text(list_of(each.view().integers("perm")));
    c.output().emit();
}

void expand(emission& out, node& each)
{
    call(out, each, "expand", "expand_into").operand(0).integers(1).output().emit();
}

void tile(emission& out, node& each)
{
    if (each.opset() >= 6) {
        call(out, each, "expand", "tile_into").operand(0).integers(1).output().emit();
        return;
    }
    auto const single = [](variable const& v) -> std::optional<std::int64_t> {
        if (v.tensor() == nullptr || v.tensor()->size() != 1)
            return std::nullopt;
        return std::stoll(item_literal(*v.tensor(), 0));
    };
    auto const count = single(each.input(1)), axis = single(each.input(2));
    std::size_t const rank = each.input(0).type.shape().rank();
    if (!count || !axis || !xloom::is_axis(*axis, rank))
        throw runner::not_implemented(
            "operator Tile before opset 6 is not implemented for values that only a run knows");
    std::vector<std::int64_t> repeats(rank, 1);
    repeats[xloom::wrap_axis(*axis, rank)] = *count;
    call(out, each, "expand", "tile_into").operand(0).text(list_of(repeats)).output().emit();
}

// Pieces

void concat(emission& out, node& each)
{
    auto const view = each.view();
    if (!view.has_attribute("axis") && each.opset() >= 4)
        throw runner::runner_error("its attribute axis is missing");
    call(out, each, "concat", "concat_into")
        .operands()
        .output()
        .option("axis", view.integer("axis", 1), 0)
        .emit();
}

void split(emission& out, node& each)
{
    auto const view = each.view();
    call c(out, each, "concat", "split_into");
    c.operand(0);
    texts parts;
    for (std::size_t k = 0; k < each.outputs.size(); ++k) {
        if (each.outputs[k] != nullptr)
            parts.push_back(out.target(each.output(k)));
        else
            parts.push_back(out.own_memory("part", each.input(0).type));
    }
    std::int64_t const count = static_cast<std::int64_t>(parts.size());
    c.text(fmt::format("std::tie({})", joined(parts))).option("axis", view.integer("axis", 0), 0);
    if (each.has(1))
        c.option("split", integers_in(out, each, 1));
    else if (each.opset() < 13 && view.has_attribute("split"))
        c.option("split", list_of(view.integers("split")));
    else if (each.opset() >= 18 && view.integer("num_outputs", count) != count)
        throw runner::runner_error(
            fmt::format("num_outputs is {}, but it has {} outputs", view.integer("num_outputs", 0), count));
    else if (each.opset() < 18)
        c.option("uneven", "false");
    c.emit();
}

void slice(emission& out, node& each)
{
    auto const view = each.view();
    call c(out, each, "slice", "slice_into");
    c.operand(0).output();
    std::size_t i = 1;
    for (char const* const name : {"starts", "ends", "axes", "steps"}) {
        if (each.opset() >= 10) {
            if (each.has(i))
                c.option(name, integers_in(out, each, i));
        } else if (view.has_attribute(name)) {
            c.option(name, list_of(view.integers(name)));
        }
        ++i;
    }
    c.emit();
}

void pad(emission& out, node& each)
{
    auto const view = each.view();
    call c(out, each, "pad", "pad_into");
    c.operand(0);
    std::string const mode = view.text("mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && (mode != "wrap" || each.opset() < 19))
        throw runner::runner_error("its mode is " + runner::in_quotes(mode));
    bool const has_inputs = each.opset() >= 11;
    if (has_inputs && each.has(2))
        c.operand(2);
    else if (!has_inputs && view.has_attribute("value"))
        c.text(fmt::format("static_cast<{}>({})", item_type(each.input(0).type.element()),
            item_literal(runner::tensor::scalar(static_cast<float>(view.number("value", 0))), 0)));
    c.output();
    c.option("pads", has_inputs ? integers_in(out, each, 1)
                                : list_of(view.integers(each.opset() < 2 ? "paddings" : "pads")));
    if (each.opset() >= 18 && each.has(3))
        c.option("axes", integers_in(out, each, 3)).option("has_axes", "true");
    if (mode != "constant")
        c.option("mode", "xloom_onnx::pad_mode::" + mode);
    c.emit();
}

void reverse_sequence(emission& out, node& each)
{
    auto const view = each.view();
    call(out, each, "reverse_sequence", "reverse_sequence_into")
        .operand(0)
        .operand(1)
        .output()
        .option("time_axis", view.integer("time_axis", 0), 0)
        .option("batch_axis", view.integer("batch_axis", 1), 1)
        .emit();
}

// Constants

void constant_of_shape(emission& out, node& each)
{
    auto const* const found = each.view().find("value", onnx::AttributeProto::TENSOR);
    runner::tensor const item =
        found == nullptr ? runner::tensor::scalar(0.0F) : runner::read_tensor(found->t());
    if (item.size() != 1)
        throw runner::runner_error(fmt::format("its value has {} items instead of 1", item.size()));
    std::string value = item_literal(item, 0);
    if (item.type() == element_type::string)
        value = fmt::format("std::string({})", value);
    else if (item.type() != element_type::float_ && item.type() != element_type::double_ &&
             item.type() != element_type::bool_)
        value = fmt::format("{}({})", item_type(item.type()), value);
    call(out, each, "constant", "constant_of_shape_into").integers(0).text(value).output().emit();
}

void range(emission& out, node& each)
{
    call(out, each, "constant", "range_into").operand(0).operand(1).operand(2).output().emit();
}

// Indexing

std::string reduction_of(node const& each)
{
    std::string const name = each.view().text("reduction", "none");
    for (auto const kind : {xloom::reduction::none, xloom::reduction::add, xloom::reduction::mul,
             xloom::reduction::max, xloom::reduction::min})
        if (name == name_of(kind)) {
            if (kind != xloom::reduction::none && !xloom::has_reduction(each.opset(), kind))
                throw runner::runner_error(
                    fmt::format("the reduction {} does not exist at opset {}", name, each.opset()));
            return "xloom::reduction::" + name;
        }
    throw runner::runner_error("the reduction " + runner::in_quotes(name) + " does not exist");
}

void gather(emission& out, node& each)
{
    call(out, each, "gather", "gather_into")
        .operand(0)
        .operand(1)
        .output()
        .option("axis", each.view().integer("axis", 0), 0)
        .emit();
}

void gather_elements(emission& out, node& each)
{
    call(out, each, "model/indexing", "gather_elements_into")
        .operand(0)
        .operand(1)
        .output()
        .option("axis", each.view().integer("axis", 0), 0)
        .emit();
}

void gather_nd(emission& out, node& each)
{
    call(out, each, "model/indexing", "gather_nd_into")
        .operand(0)
        .operand(1)
        .output()
        .option("batch_dims", each.view().integer("batch_dims", 0), 0)
        .emit();
}

void scatter_nd(emission& out, node& each)
{
    std::string const reduction = reduction_of(each);
    call c(out, each, "model/indexing", "scatter_nd_into");
    c.operand(0).operand(1).operand(2).output();
    if (reduction != "xloom::reduction::none")
        c.option("reduction", reduction);
    c.emit();
}

void scatter_elements(emission& out, node& each)
{
    std::string const reduction = reduction_of(each);
    call c(out, each, "model/indexing", "scatter_elements_into");
    c.operand(0).operand(1).operand(2).output().option("axis", each.view().integer("axis", 0), 0);
    if (reduction != "xloom::reduction::none")
        c.option("reduction", reduction);
    c.emit();
}

// Along axes

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

// Products

std::string real(double x) { return item_literal(runner::tensor::scalar(x), 0); }

bool is_packable(variable const& weights)
{
    return weights.tensor() != nullptr && weights.tensor()->size() != 0 &&
           (weights.type.element() == element_type::float_ ||
               weights.type.element() == element_type::double_);
}

/// Declares a member that holds constant weights, packed once. Returns its name.
std::string packed(emission& out, node& each, char const* type, texts const& constants, texts const& options)
{
    std::string const name = out.unique(each.output().onnx_name + "_layer");
    texts arguments = constants;
    if (!options.empty())
        arguments.push_back(fmt::format("{{{}}}", joined(options)));
    out.add_member(fmt::format("xloom_onnx::{}<{}> const {}{{{}}};", type,
        item_type(each.input(0).type.element()), name, joined(arguments)));
    return name;
}

void matmul(emission& out, node& each)
{
    variable& b = each.input(1);
    out.include("xloom_onnx/matmul.hpp");
    if (is_packable(b) && b.type.shape().rank() == 2 && !each.input(0).is_scalar()) {
        std::string const layer = packed(out, each, "packed_gemm", {out.constant_view(b)}, {});
        std::string const x = out.operand(each.input(0));
        out.line("{}({}, {});", layer, x, out.target(each.output()));
        return;
    }
    call(out, each, "matmul", "matmul_into").operand(0).operand(1).output().text(out.workspace()).emit();
}

texts gemm_options(node const& each)
{
    auto const view = each.view();
    texts options;
    if (double const alpha = view.number("alpha", 1); alpha != 1)
        options.push_back(".alpha = " + real(alpha));
    if (double const beta = view.number("beta", 1); beta != 1)
        options.push_back(".beta = " + real(beta));
    for (char const* const name : {"transA", "transB"})
        if (view.integer(name, 0) != 0)
            options.push_back(fmt::format(".{} = true", name));
    return options;
}

/// True if C is added to each row, so that it can be packed with B.
bool is_row(node const& each, variable const& c)
{
    if (c.tensor() == nullptr)
        return false;
    xloom::shape const& dims = c.tensor()->shape();
    auto const& b = each.input(1).tensor()->shape();
    std::size_t const columns = b[each.view().integer("transB", 0) != 0 ? 0 : 1];
    return dims.size() <= 2 && (dims.size() < 2 || dims[0] == 1) &&
           (dims.empty() || dims.back() == 1 || dims.back() == columns);
}

void gemm(emission& out, node& each)
{
    variable& b = each.input(1);
    out.include("xloom_onnx/matmul.hpp");
    texts const options = gemm_options(each);
    bool const is_packed = is_packable(b) && b.type.shape().rank() == 2 &&
                           each.view().integer("transA", 0) == 0 && each.input(0).type.shape().rank() == 2 &&
                           (!each.has(2) || is_row(each, each.input(2)));
    if (is_packed) {
        texts constants{out.constant_view(b)};
        if (each.has(2))
            constants.push_back(out.operand(each.input(2)));
        std::string const layer = packed(out, each, "packed_gemm", constants, options);
        std::string const x = out.operand(each.input(0));
        out.line("{}({}, {});", layer, x, out.target(each.output()));
        return;
    }
    call c(out, each, "matmul", "gemm_into");
    c.operand(0).operand(1);
    if (each.has(2))
        c.operand(2);
    c.output().text(fmt::format("{{{}}}", joined(options))).text(out.workspace()).emit();
}

texts conv_options(node const& each)
{
    auto const view = each.view();
    texts options;
    for (char const* const name : {"strides", "dilations", "pads"})
        if (view.has_attribute(name))
            options.push_back(fmt::format(".{} = {}", name, list_of(view.integers(name))));
    if (std::int64_t const group = view.integer("group", 1); group != 1)
        options.push_back(fmt::format(".group = {}", group));
    std::string const pad = view.text("auto_pad", "NOTSET");
    if (pad == "VALID" || pad == "SAME_UPPER" || pad == "SAME_LOWER") {
        std::string lower = pad;
        std::transform(lower.begin(), lower.end(), lower.begin(),
            [](char c) { return c == '_' ? c : static_cast<char>(c - 'A' + 'a'); });
        options.push_back(".auto_pad = xloom_onnx::auto_pad::" + lower);
    } else if (pad != "NOTSET") {
        throw runner::runner_error("its auto_pad is " + runner::in_quotes(pad));
    }
    if (view.has_attribute("kernel_shape"))
        options.push_back(fmt::format(".kernel_shape = {}", list_of(view.integers("kernel_shape"))));
    return options;
}

void conv(emission& out, node& each)
{
    out.include("xloom_onnx/conv.hpp");
    texts const options = conv_options(each);
    if (is_packable(each.input(1)) && (!each.has(2) || each.input(2).tensor() != nullptr)) {
        texts constants{out.constant_view(each.input(1))};
        if (each.has(2))
            constants.push_back(out.constant_view(each.input(2)));
        std::string const layer = packed(out, each, "packed_conv", constants, options);
        std::string const x = out.operand(each.input(0));
        out.line("{}({}, {}, {});", layer, x, out.target(each.output()), out.workspace());
        return;
    }
    call c(out, each, "conv", "conv_into");
    c.operand(0).operand(1);
    if (each.has(2))
        c.operand(2);
    c.output();
    if (!options.empty())
        c.text(fmt::format("{{{}}}", joined(options)));
    c.emit();
}

emitter named(void (*emit)(emission&, node&, char const*), char const* function)
{
    return [=](emission& out, node& each) { emit(out, each, function); };
}

emitter reduction(char const* function, std::int64_t axes_input_since = 18)
{
    return [=](emission& out, node& each) { reduce(out, each, function, axes_input_since); };
}

} // namespace

void add_call_emitters(emitter_table& table)
{
    table["Shape"] = shape;
    table["Size"] = size;
    table["Reshape"] = reshape;
    table["Squeeze"] = named(with_axes, "squeeze_into");
    table["Unsqueeze"] = named(with_axes, "unsqueeze_into");
    table["Flatten"] = flatten;
    table["Transpose"] = transpose;
    table["Expand"] = expand;
    table["Tile"] = tile;
    table["Concat"] = concat;
    table["Split"] = split;
    table["Slice"] = slice;
    table["Pad"] = pad;
    table["ReverseSequence"] = reverse_sequence;
    table["ConstantOfShape"] = constant_of_shape;
    table["Range"] = range;
    table["Gather"] = gather;
    table["GatherElements"] = gather_elements;
    table["GatherND"] = gather_nd;
    table["com.microsoft.GatherND"] = gather_nd;
    table["ScatterND"] = scatter_nd;
    table["ScatterElements"] = scatter_elements;
    table["Scatter"] = scatter_elements;
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
    table["ReduceSumSquare"] = reduction("reduce_sum_square");
    table["ArgMax"] = named(arg_reduce, "arg_max_into");
    table["ArgMin"] = named(arg_reduce, "arg_min_into");
    table["MatMul"] = matmul;
    table["Gemm"] = gemm;
    table["Conv"] = conv;
}

} // namespace compiler
