// Operators that compare and choose.

#include <cmath>

#include "elementwise.hpp"
#include "operators.hpp"
#include "text.hpp"
#include "type_rules.hpp"

namespace runner {

namespace {

struct less {
    bool operator()(auto const& a, auto const& b) const { return a < b; }
};
struct less_or_equal {
    bool operator()(auto const& a, auto const& b) const { return a <= b; }
};
struct greater {
    bool operator()(auto const& a, auto const& b) const { return a > b; }
};
struct greater_or_equal {
    bool operator()(auto const& a, auto const& b) const { return a >= b; }
};
struct equal {
    bool operator()(auto const& a, auto const& b) const { return a == b; }
};
struct both {
    bool operator()(bool a, bool b) const { return a && b; }
};
struct either {
    bool operator()(bool a, bool b) const { return a || b; }
};
struct one_of_two {
    bool operator()(bool a, bool b) const { return a != b; }
};

template <class F>
std::vector<value> run_comparison(call const& c)
{
    tensor const& a = c.tensor_at(0);
    tensor const b = second_operand(c);
    return {with_number(
        a.type(), [&]<class T>(std::type_identity<T>) { return map_items<bool, T, T>(a, b, F()); })};
}

template <class F>
std::vector<value> run_logic(call const& c)
{
    return {map_items<bool, bool, bool>(c.tensor_at(0), second_operand(c), F())};
}

std::vector<value> run_equal(call const& c)
{
    tensor const& a = c.tensor_at(0);
    if (a.type() == element_type::string)
        return {map_items<bool, std::string, std::string>(a, second_operand(c), equal())};
    if (a.type() == element_type::bool_)
        return {map_items<bool, bool, bool>(a, second_operand(c), equal())};
    return run_comparison<equal>(c);
}

std::vector<value> run_not(call const& c)
{
    return {map_items<bool, bool>(c.tensor_at(0), [](bool a) { return !a; })};
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
    return {with_float_or_float8(x.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<bool, T>(x, [](T a) { return std::isnan(+a); });
    })};
}

std::vector<value> run_is_inf(call const& c)
{
    tensor const& x = c.tensor_at(0);
    bool const negative = c.integer("detect_negative", 1) != 0,
               positive = c.integer("detect_positive", 1) != 0;
    return {with_float_or_float8(x.type(), [&]<class T>(std::type_identity<T>) {
        return map_items<bool, T>(x, [=](T a) { return std::isinf(+a) && (+a < 0 ? negative : positive); });
    })};
}

std::vector<value> run_where(call const& c)
{
    tensor const& condition = c.tensor_at(0);
    tensor const& x = c.tensor_at(1);
    tensor const& y = c.tensor_at(2);
    if (x.type() != y.type())
        throw runner_error(fmt::format("it chooses between {} and {}", name_of(x.type()), name_of(y.type())));
    xloom::shape const dims = broadcast(condition.shape(), broadcast(x.shape(), y.shape()));
    require_room_for(y, dims);
    tensor result = new_tensor_like(x, dims);
    bool const* const choices = condition.items<bool>().data();
    with_unit(x, [&]<class Unit>(std::type_identity<Unit>) {
        unit_source<Unit> const xs(x), ys(y);
        unit_target<Unit> const target(result);
        std::size_t at = 0;
        for (rows walk(dims, {broadcast_steps(condition.shape(), dims), broadcast_steps(x.shape(), dims),
                                 broadcast_steps(y.shape(), dims)});
             !walk.done(); walk.next())
            for (std::size_t k = 0; k < walk.length(); ++k, ++at) {
                auto const i = static_cast<std::ptrdiff_t>(k);
                if (choices[walk.offset(0) + i * walk.step(0)])
                    target.put(at, xs[walk.offset(1) + i * walk.step(1)]);
                else
                    target.put(at, ys[walk.offset(2) + i * walk.step(2)]);
            }
    });
    return {result};
}

types where_type(typing const& node)
{
    return {xloom::tensor_type(node.at(1).element(), broadcast_inputs(node, 0))};
}

std::vector<value> run_identity(call const& c) { return {c.at(0)}; }

} // namespace

void add_logic_operators(operator_table& table)
{
    table["And"] = {run_logic<both>, truth_type};
    table["Or"] = {run_logic<either>, truth_type};
    table["Xor"] = {run_logic<one_of_two>, truth_type};
    table["Not"] = {run_not, truth_type};
    table["Less"] = {run_comparison<less>, truth_type};
    table["LessOrEqual"] = {run_comparison<less_or_equal>, truth_type};
    table["Greater"] = {run_comparison<greater>, truth_type};
    table["GreaterOrEqual"] = {run_comparison<greater_or_equal>, truth_type};
    table["Equal"] = {run_equal, truth_type};
    table["IsNaN"] = {run_is_nan, truth_type};
    table["IsInf"] = {run_is_inf, truth_type};
    table["Where"] = {run_where, where_type};
    table["Identity"] = {run_identity, same_type};
}

} // namespace runner
