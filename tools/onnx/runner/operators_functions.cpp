// Functions of one floating-point number; PRelu, which has a second operand.

#include <xloom_onnx/prelu.hpp>

#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

template <class F>
tensor map_floats(call const& c, F const& f)
{
    return with_float(
        c.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) { return map_input<T>(c, f); });
}

/// A function without parameters, as an operator.
template <class F>
operation plain(version_list const& versions, F const& f)
{
    return {versions, [f](call const& c) { return std::vector<value>{map_floats(c, f)}; }, same_type};
}

/// One with a parameter: the attribute `alpha`.
template <class F>
operation with_alpha(version_list const& versions, double otherwise)
{
    auto const run = [otherwise](call const& c) {
        return std::vector<value>{map_floats(c, F(c.number("alpha", otherwise)))};
    };
    return {versions, run, same_type};
}

std::vector<value> run_hard_sigmoid(call const& c)
{
    return {map_floats(c, xloom_onnx::hard_sigmoid(c.number("alpha", 0.2), c.number("beta", 0.5)))};
}

/// Returns the attribute `approximate` of Gelu: true for tanh.
bool is_approximate(node_view const& node)
{
    std::string const name = node.text("approximate", "none");
    if (name != "none" && name != "tanh")
        throw runner_error("approximate is none or tanh, but is " + in_quotes(name));
    return name == "tanh";
}

/// Refuses an unknown `approximate` where no run would, too.
types gelu_type(typing const& node)
{
    is_approximate(node);
    return same_type(node);
}

std::vector<value> run_gelu(call const& c)
{
    return {is_approximate(c) ? map_floats(c, xloom_onnx::gelu_tanh) : map_floats(c, xloom_onnx::gelu)};
}

std::vector<value> run_selu(call const& c)
{
    bool const is_first = c.opset() < 6;
    double const alpha = c.number("alpha", is_first ? 1.6732 : 1.67326319217681884765625);
    double const gamma = c.number("gamma", is_first ? 1.0507 : 1.05070102214813232421875);
    return {map_floats(c, xloom_onnx::selu(alpha, gamma))};
}

/// For whole numbers too.
std::vector<value> run_relu(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int16_t,
        std::int32_t, std::int64_t>(
        x.type(), [&]<class T>(std::type_identity<T>) { return map_input<T>(c, xloom_onnx::relu); })};
}

/// Up to opset 6 a slope of one axis has an item for each channel, or one for all.
std::vector<value> run_prelu(call const& c)
{
    tensor const& x = c.tensor_at(0);
    tensor slope = c.tensor_at(1);
    if (c.opset() < 7 && slope.shape().size() == 1 && x.shape().size() > 1) {
        xloom::shape dims(x.shape().size() - 1, 1);
        dims[0] = slope.size();
        slope = slope.reshaped(dims);
    }
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int32_t, std::int64_t,
        std::uint32_t, std::uint64_t>(x.type(), [&]<class T>(std::type_identity<T>) {
        tensor result = c.result_over({0}, x.type(), x.shape());
        xloom_onnx::prelu_into(items_of<T>(x), items_of<T>(slope), writable_items_of<T>(result));
        return result;
    })};
}

} // namespace

void add_function_operators(operator_table& table)
{
    version_list const unary{{1, "r", "r", "consumed_inputs:ints"}, {6, "r", "r", ""}};
    version_list const since_7{{7, "r", "r", ""}};
    version_list const since_1{{1, "r", "r", ""}};
    version_list const alpha_only{
        {1, "r", "r", "alpha:float consumed_inputs:ints"}, {6, "r", "r", "alpha:float"}};
    table["Sqrt"] = plain(unary, xloom_onnx::sqrt);
    table["Exp"] = plain(unary, xloom_onnx::exp);
    table["Log"] = plain(unary, xloom_onnx::log);
    table["Reciprocal"] = plain(unary, xloom_onnx::reciprocal);
    table["Sin"] = plain(since_7, xloom_onnx::sin);
    table["Cos"] = plain(since_7, xloom_onnx::cos);
    table["Erf"] = plain(version_list{{9, "r", "r", ""}}, xloom_onnx::erf);
    table["Floor"] = plain(unary, xloom_onnx::floor);
    table["Ceil"] = plain(unary, xloom_onnx::ceil);
    table["Round"] = plain(version_list{{11, "r", "r", ""}}, xloom_onnx::round);
    table["Relu"] = {unary, run_relu, same_type};
    table["Tanh"] = plain(unary, xloom_onnx::tanh);
    table["Sigmoid"] = plain(unary, xloom_onnx::sigmoid);
    table["Softplus"] = plain(since_1, xloom_onnx::softplus);
    table["Softsign"] = plain(since_1, xloom_onnx::softsign);
    table["HardSwish"] = plain(version_list{{14, "r", "r", ""}}, xloom_onnx::hard_swish);
    table["Gelu"] = {{{20, "r", "r", "approximate:string"}}, run_gelu, gelu_type};
    table["Swish"] = with_alpha<xloom_onnx::swish>(version_list{{24, "r", "r", "alpha:float"}}, 1.0);
    table["Elu"] = with_alpha<xloom_onnx::elu>(alpha_only, 1.0);
    table["LeakyRelu"] = with_alpha<xloom_onnx::leaky_relu>(alpha_only, 0.01);
    table["ThresholdedRelu"] =
        with_alpha<xloom_onnx::thresholded_relu>(version_list{{10, "r", "r", "alpha:float"}}, 1.0);
    table["HardSigmoid"] = {{{1, "r", "r", "alpha:float beta:float consumed_inputs:ints"},
                                {6, "r", "r", "alpha:float beta:float"}},
        run_hard_sigmoid, same_type};
    table["PRelu"] = {{{1, "rr", "r", "consumed_inputs:ints"}, {6, "rr", "r", ""}}, run_prelu, same_type};
    table["Selu"] = {{{1, "r", "r", "alpha:float consumed_inputs:ints gamma:float"},
                         {6, "r", "r", "alpha:float gamma:float"}},
        run_selu, same_type};
}

} // namespace runner
