#pragma once
// The comparison of a body's VJP with central differences.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/scan/cotangents.hpp>
#include <xloom/detail/scan/iteration.hpp>
#include <xloom/detail/scan/vjp_requirements.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of check_vjp.
struct check_vjp_options {
    std::optional<double> tolerance{}; ///< none: 1e-6 for double and wider types, 1e-2 for float
    std::uint32_t seed = 1;            ///< of the cotangents, which are random numbers in [-1, 1]
};

/// An item of an operand whose derivative by the VJP differs from its difference quotient.
struct vjp_difference {
    std::string operand; ///< such as params[0]
    shape index;
    double vjp;
    double quotient;
};

/// The result of check_vjp, which is true if the VJP is right.
class vjp_report {
public:
    explicit operator bool() const noexcept { return differences_.empty(); }
    std::vector<vjp_difference> const& differences() const noexcept { return differences_; }
    void add(vjp_difference difference) { differences_.push_back(std::move(difference)); }

private:
    std::vector<vjp_difference> differences_{};
};

/// Returns a sentence about the first four differences.
inline std::string to_string(vjp_report const& report)
{
    if (report)
        return "the VJP agrees with the difference quotients";
    detail::fact_list facts;
    for (vjp_difference const& each : report.differences())
        facts.add(each.operand, each.index, " has ", std::to_string(each.vjp), " instead of ",
            std::to_string(each.quotient));
    return detail::concat("the VJP must agree with the difference quotients, but ", facts);
}

/// Writes to_string(report).
inline std::ostream& operator<<(std::ostream& to, vjp_report const& report)
{
    return to << to_string(report);
}

namespace detail {

/// Random numbers in [-1, 1], of the same values on every platform.
class cotangent_numbers {
public:
    explicit cotangent_numbers(std::uint32_t seed) : state_(seed) {}

    double operator()()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<double>(state_ >> 8) / (1 << 23) - 1;
    }

private:
    std::uint32_t state_;
};

/// True for the step of a body with S states.
template <class Step, std::size_t S>
inline constexpr bool is_step_of = false;
template <class State, class ScanOutputs, std::size_t S>
inline constexpr bool is_step_of<scan_step<State, ScanOutputs>, S> = leaf_count<State> == S;
template <std::size_t S>
inline constexpr bool is_step_of<scan_step<loose_values>, S> = false;

/// True if difference quotients by this type exist.
template <class Item>
inline constexpr bool has_quotients = std::is_floating_point_v<Item>;

/// Returns the items of a value.
template <class X>
std::vector<double> doubles_of(X const& value)
{
    std::vector<double> items;
    detail::for_each_item(value, [&](auto const& item) { items.push_back(static_cast<double>(item)); });
    return items;
}

/// Compares a VJP with central differences of the sum of all results times cotangents. Operands is a tuple of
/// the states, the elements and the parameters.
template <class Operands>
class vjp_comparison {
public:
    vjp_comparison(std::string_view op, Operands& operands, check_vjp_options const& options)
        : op_(op), operands_(operands), options_(options)
    {}

    /// Returns a cotangent for a result, and the same one for a result of the same place in every call.
    template <class X>
    owned_t<X> cotangent_of(X const& result)
    {
        owned_t<X> ct = detail::zeros_like(result);
        detail::for_each_item(ct, [&](auto& item) {
            if constexpr (has_quotients<bare<decltype(item)>>) {
                item = static_cast<bare<decltype(item)>>(numbers_());
                weights_.push_back(static_cast<double>(item));
            }
        });
        return ct;
    }

    /// Returns a cotangent of an operand before the VJP, which must add to it.
    template <class X>
    owned_t<X> start_of(X const& operand)
    {
        owned_t<X> ct = detail::zeros_like(operand);
        detail::for_each_item(ct, [&](auto& item) {
            if constexpr (has_quotients<bare<decltype(item)>>)
                item = static_cast<bare<decltype(item)>>(numbers_());
        });
        return ct;
    }

    /// Compares the derivatives by one operand, which are what the VJP made of `start`, with the quotients.
    /// evaluate(use) computes the results and calls use(result) for each.
    template <std::size_t I, class Ct, class Evaluate>
    void compare(std::string_view name, std::size_t number, Ct const& start, Ct const& ct_operand,
        Evaluate const& evaluate, vjp_report& report) const
    {
        auto& operand = std::get<I>(operands_);
        detail::check_cotangent_kept(op_, name, number, operand, ct_operand);
        using item = item_t<bare<decltype(operand)>>;
        if constexpr (has_quotients<item>) {
            double const tolerance =
                options_.tolerance.value_or(std::numeric_limits<item>::digits < 53 ? 1e-2 : 1e-6);
            std::vector<double> const before = detail::doubles_of(start),
                                      after = detail::doubles_of(ct_operand);
            std::size_t flat = 0;
            detail::for_each_item(operand, [&](item& value) {
                item const original = value;
                item const step =
                    std::cbrt(std::numeric_limits<item>::epsilon()) * (std::max)(item(1), std::abs(original));
                value = original + step;
                item const above = value;
                double const sum_above = weighted_results(evaluate);
                value = original - step;
                double const quotient =
                    (sum_above - weighted_results(evaluate)) / static_cast<double>(above - value);
                value = original;
                double const vjp = after[flat] - before[flat];
                if (!(std::abs(vjp - quotient) <= tolerance * (std::max)(1.0, std::abs(quotient))))
                    report.add({concat(name, "[", number, "]"), unravel(flat, detail::shape_of(operand)), vjp,
                        quotient});
                ++flat;
            });
        }
    }

private:
    template <class Evaluate>
    double weighted_results(Evaluate const& evaluate) const
    {
        double sum = 0;
        std::size_t next = 0;
        evaluate([&](auto const& result) {
            detail::for_each_item(result, [&](auto const& item) {
                if constexpr (has_quotients<bare<decltype(item)>>)
                    sum += next < weights_.size() ? weights_[next++] * static_cast<double>(item) : 0.0;
            });
        });
        return sum;
    }

    std::string_view op_;
    Operands& operands_;
    check_vjp_options options_;
    cotangent_numbers numbers_{options_.seed};
    std::vector<double> weights_{};
};

/// Returns a value to keep that owns its items.
struct as_owned {
    template <class X>
    auto operator()(X const& value) const
    {
        return detail::to_owned(value);
    }
};

/// Returns an element to keep: a row-major tensor, of which a scan's body would receive a view, or an item
/// where the type says that the rank is 0.
struct as_element {
    template <class X>
    auto operator()(X const& value) const
    {
        if constexpr (lazy<X>)
            return (*this)(detail::to_owned(value));
        else if constexpr (!tensor<X>)
            return value;
        else if constexpr (enable_tensor<X>::rank == 0)
            return item_t<X>(*enable_tensor<X>::data(value));
        else
            return detail::copy_as<typename temporary_of<item_t<X>, shape_type_t<X>>::type>(value);
    }
};

/// Returns each of the operands, in a tuple, as `keep` keeps it.
template <class Keep, class Operands>
auto kept_operands(Keep const& keep, Operands const& operands)
{
    return std::apply(
        [&](auto const&... value) { return std::tuple<decltype(keep(value))...>(keep(value)...); },
        detail::leaves(operands));
}
template <class Keep, class Operands>
using kept_operands_t = decltype(detail::kept_operands(Keep(), std::declval<Operands const&>()));

/// Returns a kept element as a scan's body receives it.
template <class X>
decltype(auto) element_argument(X& kept)
{
    if constexpr (tensor<X>) {
        using item = std::remove_pointer_t<decltype(enable_tensor<bare<X>>::data(kept))>;
        using dims = shape_type_t<X>;
        using view = std::conditional_t<is_fixed_shape<dims>, basic_element_view<item, dims>,
            element_view<item, rank_of_shape<dims>>>;
        return view(enable_tensor<bare<X>>::data(kept), detail::shape_of(kept));
    } else {
        return (kept);
    }
}

/// Returns kept elements as a scan's body receives them.
template <class Elements>
auto element_arguments(Elements& kept)
{
    return std::apply(
        [](auto&... each) {
            return std::tuple<decltype(detail::element_argument(each))...>(detail::element_argument(each)...);
        },
        kept);
}

/// Throws a body_error that names the element that was assigned another shape, itself or a copy of its view.
template <class... Xs>
void fail_if_element(std::string_view op, std::string_view name, std::tuple<Xs&...> const& elements,
    element_reshaped const& found)
{
    detail::for_each_leaf(elements, [&]<class X>(auto i, X const& element) {
        if constexpr (tensor<X>)
            if (found.is_of(enable_tensor<X>::data(element), detail::shape_of(element)))
                detail::fail_reshaped(op, name, i, found.is(), found.assigned(), 0);
    });
}

/// The arguments of a body for states or params, and for elements, that it reads or (out) writes.
template <class Operands>
using value_arguments = leaves_t<kept_operands_t<as_owned, Operands> const>;
template <class Operands>
using value_arguments_out = leaves_t<kept_operands_t<as_owned, Operands>>;
template <class Elements>
using input_elements_of =
    leaves_t<decltype(detail::element_arguments(std::declval<kept_operands_t<as_element, Elements> const&>()))
            const>;
template <class Elements>
using output_elements_of =
    leaves_t<decltype(detail::element_arguments(std::declval<kept_operands_t<as_element, Elements>&>()))>;

/// The call of a VJP for a body with these results.
template <class BodyVjp, class State, class Elements, class Params, class Outputs>
struct checked_vjp_call
    : call_of<BodyVjp, joined_t<value_arguments<State>, input_elements_of<Elements>, value_arguments<Params>,
                           value_arguments<State>, input_elements_of<Outputs>, value_arguments_out<State>,
                           output_elements_of<Elements>, value_arguments_out<Params>>> {};

/// Requires a body that returns a step with as many states as it has.
template <class Call, class State>
struct returns_step {
    static consteval bool holds()
    {
        constexpr bool is_valid = is_step_of<bare<typename Call::result>, leaf_count<State const>>;
        static_assert(is_valid,
            "the body must return xloom::scan_step{state, scan_outputs}, with as many states as it has");
        return is_valid;
    }
};

/// Requires a VJP for a body that returns a step.
template <class Call, class BodyVjp, class State, class Elements, class Params>
struct fits_step {
    static consteval bool holds()
    {
        using outputs = decltype(bare<typename Call::result>::scan_outputs);
        using vjp_call = checked_vjp_call<BodyVjp, State, Elements, Params, outputs>;
        return satisfied<is_scan_vjp<vjp_call>, writes_by_reference<vjp_call>>();
    }
};

/// Runs check_vjp. call_body(states, elements, params) runs the body on them, which are tuples, and returns a
/// tuple of the next states and of the outputs, kept as elements.
template <class State, class Elements, class Params, class CallBody, class BodyVjp>
vjp_report check_vjp(std::string_view op, State const& states, Elements const& elements, Params const& params,
    CallBody const& call_body, BodyVjp& body_vjp, check_vjp_options const& options)
{
    auto const first = detail::kept_operands(as_owned(), states);
    auto const of_elements = detail::kept_operands(as_owned(), elements);
    auto const p = detail::kept_operands(as_owned(), params);
    detail::check_extents(op, "states", first);
    detail::check_extents(op, "elements", of_elements);
    detail::check_extents(op, "params", p);
    auto const x = detail::kept_operands(as_element(), of_elements);
    auto operands = std::tuple_cat(first, x, p);
    constexpr std::size_t S = std::tuple_size_v<decltype(first)>, M = std::tuple_size_v<decltype(x)>,
                          P = std::tuple_size_v<decltype(p)>;
    vjp_comparison comparison(op, operands, options);

    auto const results = call_body(first, x, p);
    auto cts = std::apply(
        [&](auto const&... result) { return std::tuple{comparison.cotangent_of(result)...}; }, results);
    vjp_report report;
    [&]<std::size_t... I, std::size_t... J, std::size_t... K, std::size_t... L>(std::index_sequence<I...>,
        std::index_sequence<J...>, std::index_sequence<K...>, std::index_sequence<L...>) {
        auto const start_h = std::make_tuple(comparison.start_of(std::get<I>(first))...);
        auto const start_x = std::make_tuple(comparison.start_of(std::get<J>(x))...);
        auto const start_p = std::make_tuple(comparison.start_of(std::get<K>(p))...);
        auto ct_h = start_h;
        auto ct_x = start_x;
        auto ct_p = start_p;
        auto const ct_states = detail::copied_states<bare<decltype(first)>>(std::tie(std::get<I>(cts)...));
        auto const x_elements = detail::element_arguments(x);
        auto const ct_outputs = std::tie(std::as_const(std::get<S + L>(cts))...);
        auto const ct_y_elements = detail::element_arguments(ct_outputs);
        auto ct_x_elements = detail::element_arguments(ct_x);
        auto const fail = [&](element_reshaped const& found) {
            detail::fail_if_element(op, "ct_elements", detail::leaves(ct_x_elements), found);
        };
        detail::run_bodies(fail, [&] {
            detail::call_body(body_vjp, detail::leaves(first), detail::leaves(x_elements), detail::leaves(p),
                detail::leaves(ct_states), detail::leaves(ct_y_elements), detail::leaves(ct_h),
                detail::leaves(ct_x_elements), detail::leaves(ct_p));
        });
        auto const evaluate = [&](auto const& use) {
            std::apply([&](auto const&... result) { (use(result), ...); },
                call_body(std::tie(std::as_const(std::get<I>(operands))...),
                    std::tie(std::as_const(std::get<S + J>(operands))...),
                    std::tie(std::as_const(std::get<S + M + K>(operands))...)));
        };
        (comparison.template compare<I>(
             "states", I, std::get<I>(start_h), std::get<I>(ct_h), evaluate, report),
            ...);
        (comparison.template compare<S + J>(
             "elements", J, std::get<J>(start_x), std::get<J>(ct_x), evaluate, report),
            ...);
        (comparison.template compare<S + M + K>(
             "params", K, std::get<K>(start_p), std::get<K>(ct_p), evaluate, report),
            ...);
    }(std::make_index_sequence<S>{}, std::make_index_sequence<M>{}, std::make_index_sequence<P>{},
        std::make_index_sequence<std::tuple_size_v<decltype(cts)> - S>{});
    return report;
}

} // namespace detail

/// Compares the VJP of a scan's body with central differences, and returns the items that differ.
///
/// body(state const&..., element const&..., param const&...) -> scan_step and body_vjp are those of scan_vjp.
/// states, elements and params are the arguments of one iteration: each one value or a flat std::tuple of
/// tensors and scalars. An element, and the cotangent of an output, is an element_view, or a number where its
/// rank is statically 0. The results are multiplied by random cotangents; every item of every operand is then
/// varied by the cube root of its type's epsilon.
/// The cotangents of the operands are random numbers, too, before body_vjp adds to them, so that one that is
/// overwritten differs.
///
/// Types     items of floating-point types are varied, others are not.
/// Options   check_vjp_options. The tolerance is relative to the larger of 1 and the quotient.
/// Errors    body_error: the VJP changed the shape of a cotangent. Exceptions of the bodies propagate.
/// Cost      two runs of the body for every item.
/// Source    JAX's jax.test_util.check_vjp.
/// Example
/// ```cpp
/// auto const body = [](double h, double x, double w) { return xloom::scan_step{w * h + x}; };
/// auto const wrong = [](double h, double, double w, double ct_next, double& ct_h, double& ct_x,
///                        double& ct_w) {
///     ct_h += ct_next * w;
///     ct_x += ct_next;
///     ct_w += h; // times ct_next
/// };
/// bool const is_right = bool(xloom::check_vjp(body, wrong, 0.5, 2.0, 0.25));
/// is_right; // = false
/// ```
template <class Body, class BodyVjp, class State, class Elements, class Params = std::tuple<>>
vjp_report check_vjp(Body&& body, BodyVjp&& body_vjp, State const& states, Elements const& elements,
    Params const& params = {}, check_vjp_options const& options = {})
{
    using namespace detail;
    using call = call_of<std::remove_reference_t<Body>,
        joined_t<value_arguments<State>, input_elements_of<Elements>, value_arguments<Params>>>;
    if constexpr (satisfied<follows_body<BodyVjp>, is_scan_body<call>, returns_step<call, State>,
                      fits_step<call, std::remove_reference_t<BodyVjp>, State, Elements, Params>>()) {
        auto const call_body = [&](auto const& state, auto const& kept, auto const& param) {
            auto const x = detail::element_arguments(kept);
            auto step =
                detail::call_body(body, detail::leaves(state), detail::leaves(x), detail::leaves(param));
            return std::tuple_cat(detail::kept_operands(as_owned(), step.state),
                detail::kept_operands(as_element(), step.scan_outputs));
        };
        return detail::check_vjp("xloom::check_vjp", states, elements, params, call_body, body_vjp, options);
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

/// Compares the VJP of a body of scan_forward_into with central differences, and returns the items that
/// differ.
///
/// body(state&..., element const&..., param const&..., output&...) -> void and body_vjp are those of
/// scan_vjp_into. outputs, one value or a flat std::tuple, have the shapes of the output elements; they are
/// copied, not written. All else is as in check_vjp.
///
/// Errors    as check_vjp; body_error: the body changed the shape of an output.
/// Cost      as check_vjp.
/// Example
/// ```cpp
/// auto const body = [](double& h, double x, double w, double& y) { y = h = w * h + x; };
/// auto const body_vjp = [](double h, double, double w, double ct_next, double ct_y, double& ct_h,
///                           double& ct_x, double& ct_w) {
///     double const ct = ct_next + ct_y;
///     ct_h += ct * w;
///     ct_x += ct;
///     ct_w += ct * h;
/// };
/// double const y = 0;
/// bool const is_right = bool(xloom::check_vjp_into(body, body_vjp, 0.5, 2.0, 0.25, y));
/// is_right; // = true
/// ```
template <class Body, class BodyVjp, class State, class Elements, class Params, class Outputs>
vjp_report check_vjp_into(Body&& body, BodyVjp&& body_vjp, State const& states, Elements const& elements,
    Params const& params, Outputs const& outputs, check_vjp_options const& options = {})
{
    using namespace detail;
    using call = call_of<std::remove_reference_t<Body>,
        joined_t<value_arguments_out<State>, input_elements_of<Elements>, value_arguments<Params>,
            output_elements_of<Outputs>>>;
    using vjp_call = checked_vjp_call<std::remove_reference_t<BodyVjp>, State, Elements, Params, Outputs>;
    if constexpr (satisfied<follows_body<BodyVjp>, is_scan_body_into<call>, writes_by_reference<call>,
                      is_scan_vjp<vjp_call>, writes_by_reference<vjp_call>>()) {
        static constexpr std::string_view op = "xloom::check_vjp_into";
        auto const of_outputs = detail::kept_operands(as_owned(), outputs);
        detail::check_extents(op, "outputs", of_outputs);
        auto const call_body = [&](auto const& state, auto const& kept, auto const& param) {
            auto results = detail::kept_operands(as_owned(), state);
            auto written = detail::kept_operands(as_element(), of_outputs);
            auto const x = detail::element_arguments(kept);
            auto y = detail::element_arguments(written);
            auto const fail = [&](element_reshaped const& found) {
                detail::fail_if_element(op, "outputs", detail::leaves(y), found);
            };
            detail::run_bodies(fail, [&] {
                detail::call_body(body, detail::leaves(results), detail::leaves(x), detail::leaves(param),
                    detail::leaves(y));
            });
            return std::tuple_cat(std::move(results), std::move(written));
        };
        return detail::check_vjp(op, states, elements, params, call_body, body_vjp, options);
    } else {
        return {}; // a value, so that one mistake gives one error
    }
}

} // namespace xloom::inline XLOOM_ABI
