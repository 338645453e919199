// Operators that compare and choose, and those that change nothing.

#include <algorithm>

#include "convert.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

template <auto const& F>
std::vector<value> run_comparison(call const& c)
{
    tensor const& a = c.tensor_at(0);
    tensor const b = second_operand(c);
    return {with_number(
        a.type(), [&]<class T>(std::type_identity<T>) { return map_items<bool, T, T>(a, b, F); })};
}

template <auto const& F>
std::vector<value> run_logic(call const& c)
{
    return {map_items<bool, bool, bool>(c.tensor_at(0), second_operand(c), F)};
}

std::vector<value> run_equal(call const& c)
{
    tensor const& a = c.tensor_at(0);
    if (a.type() == element_type::string)
        return {map_items<bool, std::string, std::string>(a, second_operand(c), xloom_onnx::equal)};
    if (a.type() == element_type::bool_)
        return {map_items<bool, bool, bool>(a, second_operand(c), xloom_onnx::equal)};
    return run_comparison<xloom_onnx::equal>(c);
}

std::vector<value> run_not(call const& c)
{
    return {map_items<bool, bool>(c.tensor_at(0), xloom_onnx::not_)};
}

template <class F>
auto with_float_or_float8(element_type type, F&& f)
{
    return with_type_of<float, double, xloom::float16, xloom::bfloat16, xloom::float8_e4m3fn,
        xloom::float8_e4m3fnuz, xloom::float8_e5m2, xloom::float8_e5m2fnuz>(type, std::forward<F>(f));
}

std::vector<value> run_is_nan(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_float_or_float8(
        x.type(), [&]<class T>(std::type_identity<T>) { return map_items<bool, T>(x, xloom_onnx::is_nan); })};
}

std::vector<value> run_is_inf(call const& c)
{
    tensor const& x = c.tensor_at(0);
    bool const negative = c.integer("detect_negative", 1) != 0,
               positive = c.integer("detect_positive", 1) != 0;
    return {with_float_or_float8(x.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<bool, T>(x, xloom_onnx::is_inf(negative, positive));
    })};
}

std::vector<value> run_where(call const& c)
{
    tensor const& condition = c.tensor_at(0);
    tensor const& x = c.tensor_at(1);
    tensor const& y = c.tensor_at(2);
    if (x.type() != y.type())
        throw runner_error(fmt::format("it chooses between {} and {}", name_of(x.type()), name_of(y.type())));
    xloom::shape const dims = xloom_onnx::broadcast_shape(condition.shape(), x.shape(), y.shape());
    require_room_for(y, dims);
    tensor result = new_tensor_like(x, dims);
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        xloom_onnx::map_into(xloom_onnx::where, items_of<bool>(condition), unit_items_of<Unit>(x),
            unit_items_of<Unit>(y), writable_unit_items_of<Unit>(result));
    });
    return {result};
}

types where_type(typing const& node)
{
    return {xloom::tensor_type(node.at(1).element(), broadcast_inputs(node, 0))};
}

std::vector<value> run_identity(call const& c) { return {c.at(0)}; }

/// As a trained network has it: a copy, and a mask of which nothing is dropped.
std::vector<value> run_dropout(call const& c)
{
    tensor const& x = c.tensor_at(0);
    auto const is_zero = [&](std::size_t i) {
        tensor const number = convert(c.tensor_at(i), element_type::double_);
        return number.size() == 1 && number.items<double>()[0] == 0;
    };
    if (c.has(2) && !is_zero(2) && !(c.has(1) && is_zero(1)))
        throw not_implemented("Dropout in training (training_mode = true) is not implemented");
    std::vector<value> results{x};
    if (c.wants_output(1)) {
        tensor mask = new_tensor(element_type::bool_, x.shape());
        std::ranges::fill(mask.items<bool>(), true);
        results.emplace_back(c.opset() < 10 ? convert(mask, x.type()) : mask);
    }
    return results;
}

types dropout_type(typing const& node)
{
    if (node.opset() < 7 && node.integer("is_test", 0) == 0)
        throw not_implemented("Dropout in training (is_test = 0) is not implemented");
    element_type const mask = node.opset() < 10 ? node.at(0).element() : element_type::bool_;
    types result{node.at(0), xloom::tensor_type(mask, node.shape_at(0))};
    result.resize(std::min(result.size(), node.output_count()));
    return result;
}

} // namespace

void add_logic_operators(operator_table& table)
{
    version_list const broadcast{{1, "rr", "r", "axis:int broadcast:flag"}, {7, "rr", "r", ""}};
    version_list const since_1{{1, "r", "r", ""}};
    version_list const ordered{{12, "rr", "r", ""}};
    table["And"] = {broadcast, run_logic<xloom_onnx::and_>, truth_type};
    table["Or"] = {broadcast, run_logic<xloom_onnx::or_>, truth_type};
    table["Xor"] = {broadcast, run_logic<xloom_onnx::xor_>, truth_type};
    table["Not"] = {since_1, run_not, truth_type};
    table["Less"] = {broadcast, run_comparison<xloom_onnx::less>, truth_type};
    table["LessOrEqual"] = {ordered, run_comparison<xloom_onnx::less_or_equal>, truth_type};
    table["Greater"] = {broadcast, run_comparison<xloom_onnx::greater>, truth_type};
    table["GreaterOrEqual"] = {ordered, run_comparison<xloom_onnx::greater_or_equal>, truth_type};
    table["Equal"] = {broadcast, run_equal, truth_type};
    table["IsNaN"] = {{{9, "r", "r", ""}}, run_is_nan, truth_type};
    table["IsInf"] = {{{10, "r", "r", "detect_negative:flag detect_positive:flag"}}, run_is_inf, truth_type};
    table["Where"] = {{{9, "rrr", "r", ""}}, run_where, where_type};
    table["Dropout"] = {{{1, "r", "ro", "consumed_inputs:ints is_test:flag ratio:float"},
                            {6, "r", "ro", "is_test:flag ratio:float"}, {7, "r", "ro", "ratio:float"},
                            {12, "roo", "ro", "seed:int"}},
        run_dropout, dropout_type};
    table["Identity"] = {since_1, run_identity, same_type};
}

} // namespace runner
