// MatMul, MatMulInteger, Gemm, Conv, ConvTranspose: constant weights are packed once. Einsum, pools.

#include <algorithm>
#include <type_traits>

#include <xloom_onnx/matmul.hpp>

#include "call.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace compiler {

namespace {

bool is_packable(variable const& weights)
{
    return weights.tensor() != nullptr && weights.tensor()->size() != 0 &&
           (weights.type.element() == element_type::float_ ||
               weights.type.element() == element_type::double_);
}

/// Declares a member that holds constant weights, packed once. Returns its name.
std::string packed(emission& out, node& each, std::string const& type,
    std::vector<std::string> const& constants, std::vector<std::string> const& options)
{
    std::string const name = out.unique(each.output().onnx_name + "_layer");
    std::vector<std::string> arguments = constants;
    if (!options.empty())
        arguments.push_back(fmt::format("{{{}}}", fmt::join(options, ", ")));
    out.add_member(fmt::format("xloom_onnx::{}<{}> const {}{{{}}};", type,
        item_type(each.input(0).type.element()), name, fmt::join(arguments, ", ")));
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

void matmul_integer(emission& out, node& each)
{
    call c(out, each, "matmul_integer", "matmul_integer_into");
    c.operand(0).operand(1).optional_operand(2).optional_operand(3);
    c.output().text(out.workspace()).emit();
}

std::vector<std::string> gemm_options(node const& each)
{
    auto const view = each.view();
    std::vector<std::string> options;
    if (double const alpha = view.number("alpha", 1); alpha != 1)
        options.push_back(".alpha = " + number_literal(alpha));
    if (double const beta = view.number("beta", 1); beta != 1)
        options.push_back(".beta = " + number_literal(beta));
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

/// True if the packed weights are as accurate as the product times alpha.
bool can_scale(variable const& b, double alpha)
{
    auto const scales = [&]<class T>(std::type_identity<T>) {
        auto const items = b.tensor()->items<T>();
        return xloom_onnx::detail::can_scale<T>({items.data(), {items.size()}}, alpha);
    };
    return b.type.element() == element_type::float_ ? scales(std::type_identity<float>())
                                                    : scales(std::type_identity<double>());
}

void gemm(emission& out, node& each)
{
    variable& b = each.input(1);
    out.include("xloom_onnx/matmul.hpp");
    std::vector<std::string> const options = gemm_options(each);
    bool const is_packed = is_packable(b) && can_scale(b, each.view().number("alpha", 1)) &&
                           b.type.shape().rank() == 2 && each.view().integer("transA", 0) == 0 &&
                           each.input(0).type.shape().rank() == 2 &&
                           (!each.has(2) || is_row(each, each.input(2)));
    if (is_packed) {
        std::vector<std::string> constants{out.constant_view(b)};
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
    c.output().text(fmt::format("{{{}}}", fmt::join(options, ", "))).text(out.workspace()).emit();
}

void einsum(emission& out, node& each)
{
    std::vector<std::string> operands;
    for (variable* const input : each.inputs)
        operands.push_back(out.operand(*input));
    call(out, each, "einsum", "einsum_into")
        .text(text_expression(each.view().text("equation", "")))
        .text(fmt::format("std::forward_as_tuple({})", fmt::join(operands, ", "))) // also of literals
        .output()
        .text(out.workspace())
        .emit();
}

/// What Conv, ConvTranspose and the pools share.
std::vector<std::string> window_options(node const& each)
{
    auto const view = each.view();
    std::vector<std::string> options;
    for (char const* const name : {"strides", "dilations", "pads"})
        if (view.has_attribute(name))
            options.push_back(fmt::format(".{} = {}", name, list_of(view.integers(name))));
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

std::vector<std::string> conv_options(node const& each)
{
    std::vector<std::string> options = window_options(each);
    if (std::int64_t const group = each.view().integer("group", 1); group != 1)
        options.push_back(".group = " + number_literal(group));
    return options;
}

void convolve(emission& out, node& each, char const* function, std::vector<std::string> const& options)
{
    out.include(fmt::format("xloom_onnx/{}.hpp", function));
    if (is_packable(each.input(1)) && (!each.has(2) || each.input(2).tensor() != nullptr)) {
        std::vector<std::string> constants{out.constant_view(each.input(1))};
        if (each.has(2))
            constants.push_back(out.constant_view(each.input(2)));
        std::string const layer = packed(out, each, fmt::format("packed_{}", function), constants, options);
        std::string const x = out.operand(each.input(0));
        out.line("{}({}, {}, {});", layer, x, out.target(each.output()), out.workspace());
        return;
    }
    call c(out, each, function, fmt::format("{}_into", function));
    c.operand(0).operand(1);
    if (each.has(2))
        c.operand(2);
    c.output();
    if (!options.empty())
        c.text(fmt::format("{{{}}}", fmt::join(options, ", ")));
    c.emit();
}

void conv(emission& out, node& each)
{
    std::vector<std::string> options = conv_options(each);
    if (auto const outputs = runner::spatial_items(each.output().type.shape()))
        options.push_back(fmt::format(".outputs = {}", *outputs));
    convolve(out, each, "conv", options);
}

void conv_transpose(emission& out, node& each)
{
    std::vector<std::string> options = conv_options(each);
    for (char const* const name : {"output_padding", "output_shape"})
        if (each.view().has_attribute(name))
            options.push_back(fmt::format(".{} = {}", name, list_of(each.view().integers(name))));
    convolve(out, each, "conv_transpose", options);
}

std::string pool_options(node const& each)
{
    std::vector<std::string> options = window_options(each);
    for (auto const& [attribute, option] : {std::pair{"ceil_mode", "ceil_mode"},
             {"count_include_pad", "count_include_pad"}, {"storage_order", "column_major"}})
        if (each.view().integer(attribute, 0) != 0)
            options.push_back(fmt::format(".{} = true", option));
    return fmt::format("{{{}}}", fmt::join(options, ", "));
}

void pool(emission& out, node& each, char const* function)
{
    call(out, each, "pool", function)
        .operand(0)
        .output()
        .text(pool_options(each))
        .text(out.workspace())
        .emit();
}

void max_pool(emission& out, node& each)
{
    if (!each.wants(1))
        return pool(out, each, "max_pool_into");
    call c(out, each, "pool", "max_pool_with_indices_into");
    c.operand(0);
    if (each.wants(0))
        c.output();
    else
        c.text(out.own_memory("largest", each.input(0).type));
    c.output(1).text(pool_options(each)).emit();
}

void global_pool(emission& out, node& each, char const* function)
{
    call(out, each, "pool", function).operand(0).output().emit();
}

} // namespace

void add_product_emitters(emitter_table& table)
{
    table["MatMul"] = matmul;
    table["MatMulInteger"] = matmul_integer;
    table["Gemm"] = gemm;
    table["Einsum"] = einsum;
    table["Conv"] = conv;
    table["ConvTranspose"] = conv_transpose;
    table["MaxPool"] = max_pool;
    table["AveragePool"] = named(pool, "average_pool_into");
    table["GlobalMaxPool"] = named(global_pool, "global_max_pool_into");
    table["GlobalAveragePool"] = named(global_pool, "global_average_pool_into");
}

} // namespace compiler
