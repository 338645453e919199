// Functions of one floating-point number; 16-bit ones are computed in float.

#include <cmath>

#include "elementwise.hpp"
#include "operators.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

/// x -> f(x), where f is generic.
template <class F>
tensor map_floats(tensor const& x, F f)
{
    return with_float(x.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<T, T>(x, [f](T a) { return static_cast<T>(f(+a)); });
    });
}

/// A function without parameters, as an operator.
template <class F>
operation plain(F f)
{
    return {[f](call const& c) { return std::vector<value>{map_floats(c.tensor_at(0), f)}; }, same_type};
}

/// One with a parameter: the attribute `alpha`.
template <class F>
operation with_alpha(double otherwise, F f)
{
    auto const run = [=](call const& c) {
        double const alpha = c.number("alpha", otherwise);
        return std::vector<value>{
            map_floats(c.tensor_at(0), [=](auto x) { return f(x, static_cast<decltype(x)>(alpha)); })};
    };
    return {run, same_type};
}

std::vector<value> run_hard_sigmoid(call const& c)
{
    double const alpha = c.number("alpha", 0.2), beta = c.number("beta", 0.5);
    return {map_floats(c.tensor_at(0), [=](auto x) {
        using number = decltype(x);
        return larger()(
            number{0}, smaller()(number{1}, static_cast<number>(alpha) * x + static_cast<number>(beta)));
    })};
}

std::vector<value> run_selu(call const& c)
{
    bool const is_first = c.opset() < 6;
    double const alpha = c.number("alpha", is_first ? 1.6732 : 1.67326319217681884765625);
    double const gamma = c.number("gamma", is_first ? 1.0507 : 1.05070102214813232421875);
    return {map_floats(c.tensor_at(0), [=](auto x) {
        using number = decltype(x);
        return static_cast<number>(gamma) * (x > 0 ? x : static_cast<number>(alpha) * std::expm1(x));
    })};
}

/// For whole numbers too.
std::vector<value> run_relu(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_type_of<float, double, xloom::float16, xloom::bfloat16, std::int8_t, std::int16_t,
        std::int32_t, std::int64_t>(x.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<T, T>(x, [](T a) { return +a < 0 ? T(0) : a; });
    })};
}

} // namespace

void add_function_operators(operator_table& table)
{
    table["Sqrt"] = plain([](auto x) { return std::sqrt(x); });
    table["Exp"] = plain([](auto x) { return std::exp(x); });
    table["Log"] = plain([](auto x) { return std::log(x); });
    table["Reciprocal"] = plain([](auto x) { return 1 / x; });
    table["Sin"] = plain([](auto x) { return std::sin(x); });
    table["Cos"] = plain([](auto x) { return std::cos(x); });
    table["Erf"] = plain([](auto x) { return std::erf(x); });
    table["Floor"] = plain([](auto x) { return std::floor(x); });
    table["Ceil"] = plain([](auto x) { return std::ceil(x); });
    table["Round"] = plain([](auto x) { return std::nearbyint(x); }); // halves to even
    table["Relu"] = {run_relu, same_type};
    table["Tanh"] = plain([](auto x) { return std::tanh(x); });
    table["Sigmoid"] = plain([](auto x) { return 1 / (1 + std::exp(-x)); });
    table["Softplus"] = plain([](auto x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); });
    table["Softsign"] = plain([](auto x) { return x / (1 + std::fabs(x)); });
    table["Elu"] = with_alpha(1.0, [](auto x, auto alpha) { return x < 0 ? alpha * std::expm1(x) : x; });
    table["LeakyRelu"] = with_alpha(0.01, [](auto x, auto alpha) { return x < 0 ? alpha * x : x; });
    table["ThresholdedRelu"] = with_alpha(1.0, [](auto x, auto alpha) { return x > alpha ? x : 0; });
    table["HardSigmoid"] = {run_hard_sigmoid, same_type};
    table["Selu"] = {run_selu, same_type};
}

} // namespace runner
