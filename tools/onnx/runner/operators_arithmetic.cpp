// Operators on numbers of any type.

#include "convert.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

bool is_whole(element_type type)
{
    return type != element_type::float_ && type != element_type::double_ && type != element_type::float16 &&
           type != element_type::bfloat16;
}

std::vector<value> run_pow(call const& c)
{
    tensor const& x = c.tensor_at(0);
    tensor const y = second_operand(c);
    for (element_type const type : {x.type(), y.type()})
        with_number(type, []<class T>(std::type_identity<T>) {}); // throws for what is no number
    if (is_whole(x.type()) && is_whole(y.type())) {
        auto const with_exponents = [&]<class E>(std::type_identity<E>) {
            tensor const exponents = convert(y, xloom::element_type_of<E>);
            return with_integer(x.type(), [&]<class T>(std::type_identity<T>) {
                return map_items<T, T, E>(x, exponents, xloom_onnx::pow);
            });
        };
        bool const has_sign = y.type() != element_type::uint64;
        return {has_sign ? with_exponents(std::type_identity<std::int64_t>())
                         : with_exponents(std::type_identity<std::uint64_t>())};
    }
    if (x.type() == element_type::float_ && y.type() == x.type())
        return {map_items<float, float, float>(x, y, xloom_onnx::pow)};
    tensor const powers = map_items<double, double, double>(
        convert(x, element_type::double_), convert(y, element_type::double_), xloom_onnx::pow);
    return {convert(powers, x.type())};
}

template <auto const& F>
tensor of_two_numbers(tensor const& a, tensor const& b)
{
    return with_number(a.type(), [&]<class T>(std::type_identity<T>) { return map_items<T, T, T>(a, b, F); });
}

template <auto const& F>
std::vector<value> run_binary(call const& c)
{
    return {with_number(
        c.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) { return map_inputs<T>(c, F); })};
}

template <auto const& F>
std::vector<value> run_unary(call const& c)
{
    return {with_number(
        c.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) { return map_input<T>(c, F); })};
}

/// Any number of inputs.
template <auto const& F>
tensor fold(call const& c)
{
    tensor result = c.tensor_at(0);
    for (std::size_t i = 1; i < c.input_count(); ++i)
        result = of_two_numbers<F>(result, c.tensor_at(i));
    return result;
}

template <auto const& F>
std::vector<value> run_fold(call const& c)
{
    return {fold<F>(c)};
}

std::vector<value> run_mean(call const& c)
{
    tensor const sum = fold<xloom_onnx::add>(c);
    float const count = static_cast<float>(c.input_count());
    return {with_float(sum.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<T, T>(sum, [count](T a) { return static_cast<T>(a / count); });
    })};
}

std::vector<value> run_mod(call const& c)
{
    if (c.integer("fmod", 0) != 0)
        return run_binary<xloom_onnx::fmod>(c);
    tensor const& a = c.tensor_at(0);
    if (!is_whole(a.type()))
        throw runner_error("Mod of floating-point numbers needs the attribute fmod = 1");
    return {with_integer(a.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<T, T, T>(a, second_operand(c), xloom_onnx::mod);
    })};
}

/// Clip: the limits are attributes before opset 11, from opset 6 on those of float by default, and scalar
/// inputs since.
std::vector<value> run_clip(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_number(x.type(), [&]<class T>(std::type_identity<T>) {
        auto const limit = [&](std::size_t input, char const* attribute, double of_float, T otherwise) {
            if (c.opset() < 11)
                return c.opset() >= 6 || c.has_attribute(attribute)
                           ? xloom_onnx::cast_item<T>(c.number(attribute, of_float))
                           : otherwise;
            if (!c.has(input))
                return otherwise;
            auto const items = c.tensor_at(input).template items<T>();
            if (items.size() != 1)
                throw runner_error(
                    fmt::format("{} must be a scalar, but has {} items", attribute, items.size()));
            return items[0];
        };
        constexpr double of_float = std::numeric_limits<float>::max();
        T const least = limit(1, "min", -of_float, std::numeric_limits<T>::lowest());
        T const most = limit(2, "max", of_float, std::numeric_limits<T>::max());
        return map_input<T>(c, [least, most](auto a) { return xloom_onnx::clip(a, least, most); });
    })};
}

} // namespace

void add_arithmetic_operators(operator_table& table)
{
    version_list const arithmetic{{1, "rr", "r", "axis:int broadcast:flag consumed_inputs:ints"},
        {6, "rr", "r", "axis:int broadcast:flag"}, {7, "rr", "r", ""}};
    version_list const unary{{1, "r", "r", "consumed_inputs:ints"}, {6, "r", "r", ""}};
    version_list const fold{{1, "+", "r", "consumed_inputs:ints"}, {6, "+", "r", ""}};
    table["Add"] = {arithmetic, run_binary<xloom_onnx::add>, broadcast_type};
    table["Sub"] = {arithmetic, run_binary<xloom_onnx::sub>, broadcast_type};
    table["Mul"] = {arithmetic, run_binary<xloom_onnx::mul>, broadcast_type};
    table["Div"] = {arithmetic, run_binary<xloom_onnx::div>, broadcast_type};
    table["Mod"] = {{{10, "rr", "r", "fmod:flag"}}, run_mod, broadcast_type};
    table["Pow"] = {{{1, "rr", "r", "axis:int broadcast:flag"}, {7, "rr", "r", ""}}, run_pow, broadcast_type};
    table["Neg"] = {unary, run_unary<xloom_onnx::neg>, same_type};
    table["Abs"] = {unary, run_unary<xloom_onnx::abs>, same_type};
    table["Sign"] = {{{9, "r", "r", ""}}, run_unary<xloom_onnx::sign>, same_type};
    table["Max"] = {fold, run_fold<xloom_onnx::max>, broadcast_type};
    table["Min"] = {fold, run_fold<xloom_onnx::min>, broadcast_type};
    table["Sum"] = {fold, run_fold<xloom_onnx::add>, broadcast_type};
    table["Mean"] = {fold, run_mean, broadcast_type};
    table["Clip"] = {{{1, "r", "r", "consumed_inputs:ints max:float min:float"},
                         {6, "r", "r", "max:float min:float"}, {11, "roo", "r", ""}},
        run_clip, same_type};
}

} // namespace runner
