// Operators on numbers of any type: whole ones wrap around, 16-bit ones are computed in float.

#include <cmath>

#include "convert.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

struct add {
    template <class T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(modular(a) + modular(b));
    }
};
struct subtract {
    template <class T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(modular(a) - modular(b));
    }
};
struct multiply {
    template <class T>
    T operator()(T a, T b) const
    {
        return static_cast<T>(modular(a) * modular(b));
    }
};
struct negate {
    template <class T>
    T operator()(T a) const
    {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(0 - modular(a));
        else
            return static_cast<T>(-a);
    }
};

void refuse_zero(bool is_zero)
{
    if (is_zero)
        throw runner_error("a whole number is divided by zero");
}

/// Towards zero. The one quotient that is out of range wraps around.
struct divide {
    template <class T>
    T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            refuse_zero(b == 0);
            if (std::is_signed_v<T> && b == static_cast<T>(-1))
                return negate()(a);
        }
        return static_cast<T>(a / b);
    }
};

/// With the divisor's sign.
struct modulo {
    template <class T>
    T operator()(T a, T b) const
    {
        refuse_zero(b == 0);
        if constexpr (std::is_signed_v<T>) {
            if (b == -1)
                return 0;
            T const rest = static_cast<T>(a % b);
            return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
        } else {
            return static_cast<T>(a % b);
        }
    }
};

/// With the dividend's sign.
struct remainder {
    template <class T>
    T operator()(T a, T b) const
    {
        if constexpr (std::is_integral_v<T>) {
            refuse_zero(b == 0);
            return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
        } else {
            return static_cast<T>(std::fmod(+a, +b));
        }
    }
};

struct absolute {
    template <class T>
    T operator()(T a) const
    {
        if constexpr (std::is_integral_v<T>)
            return a < T{0} ? negate()(a) : a;
        else
            return static_cast<T>(std::fabs(+a));
    }
};
struct sign {
    template <class T>
    T operator()(T a) const
    {
        if (+a != +a)
            return a;
        return static_cast<T>(static_cast<int>(+a > 0) - static_cast<int>(+a < 0));
    }
};

/// Whole numbers to a power below zero are 0, but for those of 1 and -1.
template <class T>
T whole_power(T a, std::uint64_t exponent, bool is_negative)
{
    bool const is_unit = a == 1 || (std::is_signed_v<T> && a == static_cast<T>(-1));
    if (is_negative) {
        refuse_zero(a == 0);
        if (!is_unit)
            return 0;
    }
    T result = 1;
    for (; exponent != 0; exponent /= 2, a = multiply()(a, a))
        if (exponent % 2 != 0)
            result = multiply()(result, a);
    return result;
}

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
        bool const has_sign = y.type() != element_type::uint64;
        tensor const exponents = convert(y, element_type::int64);
        return {with_integer(x.type(), [&]<class T>(std::type_identity<T>) {
            return map_items<T, T, std::int64_t>(x, exponents, [&](T a, std::int64_t b) {
                bool const is_negative = has_sign && b < 0;
                return whole_power(a,
                    is_negative ? 0 - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b),
                    is_negative);
            });
        })};
    }
    if (x.type() == element_type::float_ && y.type() == x.type()) // squares, most often
        return {map_items<float, float, float>(
            x, y, [](float a, float b) { return b == 2.0f ? a * a : std::pow(a, b); })};
    tensor const powers = map_items<double, double, double>(convert(x, element_type::double_),
        convert(y, element_type::double_), [](double a, double b) { return std::pow(a, b); });
    return {convert(powers, x.type())};
}

template <class F>
tensor of_two_numbers(tensor const& a, tensor const& b)
{
    return with_number(
        a.type(), [&]<class T>(std::type_identity<T>) { return map_items<T, T, T>(a, b, F()); });
}

template <class F>
std::vector<value> run_binary(call const& c)
{
    return {of_two_numbers<F>(c.tensor_at(0), second_operand(c))};
}

template <class F>
std::vector<value> run_unary(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_number(x.type(), [&]<class T>(std::type_identity<T>) { return map_items<T, T>(x, F()); })};
}

/// Any number of inputs.
template <class F>
tensor fold(call const& c)
{
    tensor result = c.tensor_at(0);
    for (std::size_t i = 1; i < c.input_count(); ++i)
        result = of_two_numbers<F>(result, c.tensor_at(i));
    return result;
}

template <class F>
std::vector<value> run_fold(call const& c)
{
    return {fold<F>(c)};
}

std::vector<value> run_mean(call const& c)
{
    tensor const sum = fold<add>(c);
    float const count = static_cast<float>(c.input_count());
    return {with_float(sum.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<T, T>(sum, [count](T a) { return static_cast<T>(a / count); });
    })};
}

std::vector<value> run_mod(call const& c)
{
    if (c.integer("fmod", 0) != 0)
        return run_binary<remainder>(c);
    tensor const& a = c.tensor_at(0);
    if (!is_whole(a.type()))
        throw runner_error("Mod of floating-point numbers needs the attribute fmod = 1");
    return {with_integer(a.type(),
        [&]<class T>(std::type_identity<T>) { return map_items<T, T, T>(a, second_operand(c), modulo()); })};
}

/// Clip: the limits are attributes before opset 11, scalar inputs since.
std::vector<value> run_clip(call const& c)
{
    tensor const& x = c.tensor_at(0);
    return {with_number(x.type(), [&]<class T>(std::type_identity<T>) {
        auto const limit = [&](std::size_t input, char const* attribute, T otherwise) {
            if (c.opset() < 11)
                return c.has_attribute(attribute) ? to_number<T>(c.number(attribute, 0)) : otherwise;
            if (!c.has(input))
                return otherwise;
            auto const items = c.tensor_at(input).template items<T>();
            if (items.size() != 1)
                throw runner_error(
                    fmt::format("{} must be a scalar, but has {} items", attribute, items.size()));
            return items[0];
        };
        T const least = limit(1, "min", std::numeric_limits<T>::lowest());
        T const most = limit(2, "max", std::numeric_limits<T>::max());
        return map_items<T, T>(x, [least, most](T a) { return smaller()(most, larger()(a, least)); });
    })};
}

} // namespace

void add_arithmetic_operators(operator_table& table)
{
    table["Add"] = {run_binary<add>, broadcast_type};
    table["Sub"] = {run_binary<subtract>, broadcast_type};
    table["Mul"] = {run_binary<multiply>, broadcast_type};
    table["Div"] = {run_binary<divide>, broadcast_type};
    table["Mod"] = {run_mod, broadcast_type};
    table["Pow"] = {run_pow, broadcast_type};
    table["Neg"] = {run_unary<negate>, same_type};
    table["Abs"] = {run_unary<absolute>, same_type};
    table["Sign"] = {run_unary<sign>, same_type};
    table["Max"] = {run_fold<larger>, broadcast_type};
    table["Min"] = {run_fold<smaller>, broadcast_type};
    table["Sum"] = {run_fold<add>, broadcast_type};
    table["Mean"] = {run_mean, broadcast_type};
    table["Clip"] = {run_clip, same_type};
}

} // namespace runner
