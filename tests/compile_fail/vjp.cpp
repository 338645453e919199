// Mistakes in the calls of derivatives.
// clang-format off
// 1: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 2: residuals must be scan_residuals<State> of a scan or loop_residuals<State> of a loop, of the states' own type, without references and const; for views, of the container that owns such items
// 3: the body must be callable as body(state&..., element const&..., param const&..., output&...); the arguments stand in the order body, states, scan_inputs, params, scan_outputs, with std::tuple() where there are none
// 4: a state is updated in place, so it must not be const
// 5: scan inputs, their gradients and the cotangents of scan outputs are tensors with at least one axis
// 6: a gradient is added to in place, so it must be a variable that is not const, or a view of one
// 7: there must be a cotangent for each state, with items of the state's type; states that are tensors or scalars may be omitted all together
// 8: there must be a gradient for each scan input, with items of the input's type
// 9: there must be a gradient for each of the params
// 10: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...), where the first state cotangents are those after the iteration
// 11: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 12: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 13: what has a gradient is a tensor or a scalar, whose cotangent can begin as 0; pass other types to scan_forward_into or loop_forward_into, with cotangents of your own
// 14: the body of a scan must be callable as body(state const&..., element const&..., param const&...)
// 15: the body must return xloom::scan_step{state, scan_outputs}
// 16: the pullback's arguments are pullback(ct_states, ct_outputs), ct_states of the types of the states
// 17: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with a tensor for each scan output, with items of its type; std::tuple() where there are none
// 18: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...), where the first state cotangents are those after the iteration
// 19: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 20: what has a gradient is a tensor or a scalar, whose cotangent can begin as 0; pass other types to scan_forward_into or loop_forward_into, with cotangents of your own
// 21: the body must be callable as body(std::int64_t iteration, bool cond, carried value const&..., param const&...)
// 22: the body must return xloom::loop_step{cond, state, scan_outputs}
// 23: the pullback's arguments are pullback(ct_states, ct_outputs), ct_states of the types of the states
// 24: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with a tensor for each scan output, with items of its type; std::tuple() where there are none
// 25: the VJP must be callable as body_vjp(std::int64_t iteration, carried value const&..., param const&..., carried value's cotangent const&..., output cotangent const&..., carried value's cotangent&..., param cotangent&...), where the first cotangents are those after the iteration
// 26: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 27: what has a gradient is a tensor or a scalar, whose cotangent can begin as 0; pass other types to scan_forward_into or loop_forward_into, with cotangents of your own
// 28: the branches must be callable as branch(operand const&...); the arguments stand in the order cond, then_branch, then_vjp, else_branch, else_vjp, operands
// 29: both branches must return the same types; shapes may differ
// 30: the pullback's argument is a cotangent for each value of the result, with items of the value's type
// 31: the VJPs must be callable as branch_vjp(operand const&..., result cotangent const&..., operand cotangent&...)
// 32: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 33: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 34: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 35: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 36: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 37: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 38: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 39: the body's VJP must follow the body, but an operand stands in its place
// 40: the body's VJP must follow the body, but an operand stands in its place
// 41: the body must be generic, because recorded_with also runs it on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 42: the body must be generic, because recorded_with also runs it on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 43: the body must be generic, because recorded_with also runs it on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 44: only numbers and tensors of double have derivatives by recorded_with, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// 45: only numbers and tensors of double have derivatives by recorded_with, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// 46: what the body returns for a double must convert to Tape::scalar
// 47: residuals must be scan_residuals<State> of a scan or loop_residuals<State> of a loop, of the states' own type, without references and const; for views, of the container that owns such items
// 48: residuals must be those of the forward pass: scan_residuals of scan_forward_into, loop_residuals of loop_forward_into
// 49: residuals must be scan_residuals<State> of a scan or loop_residuals<State> of a loop, of the states' own type, without references and const; for views, of the container that owns such items
// 50: residuals must be those of the forward pass: scan_residuals of scan_forward_into, loop_residuals of loop_forward_into
// 51: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...), where the first state cotangents are those after the iteration
// 52: the body of a scan must be callable as body(state const&..., element const&..., param const&...)
// 53: the body must return xloom::scan_step{state, scan_outputs}, with as many states as it has
// 54: the body's VJP must follow the body, but an operand stands in its place
// 55: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 56: the body must be callable as body(state&..., element const&..., param const&..., output&...); the arguments stand in the order body, states, scan_inputs, params, scan_outputs, with std::tuple() where there are none
// 57: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...), where the first state cotangents are those after the iteration
// 58: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 59: the body must be that of the forward pass, and there must be a cotangent for each output that it writes
// 60: the body must be that of the forward pass, and there must be a cotangent for each output that it writes
// 61: only numbers and tensors of double have derivatives by recorded_with, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// 62: there must be a gradient for each initial state, with items of the state's type, or for none
// 63: after the residuals come the cotangents of the results, as in xloom::cotangents().states(ct_h).outputs(ct_y), and the gradients, as in xloom::gradients().init(ct_h).scan_inputs(ct_x).params(ct_w)
// 64: after the operands and outputs come the options, and nothing else; several inputs are one operand, std::tie(a, b)
// 65: after the operands and outputs come the options, and nothing else; several inputs are one operand, std::tie(a, b)
// 66: after the operands and params come the options, then at most one xloom::checkpoint
// 67: after the operands and params come the options, then at most one xloom::checkpoint
// 68: the body's VJP must follow the body, but an operand stands in its place
// 69: the body's VJP must follow the body, but an operand stands in its place
// 70: after the operands and outputs come the options, and nothing else; several inputs are one operand, std::tie(a, b)
// 71: after the operands and params come the options, then at most one xloom::checkpoint
// 72: there must be a gradient for each scan input, with items of the input's type
// 73: what has a gradient is a tensor or a scalar, whose cotangent can begin as 0; pass other types to scan_forward_into or loop_forward_into, with cotangents of your own
// 74: there must be a cotangent for each state, with items of the state's type; states that are tensors or scalars may be omitted all together
// 75: a gradient is added to in place, so it must be a variable that is not const, or a view of one
// clang-format on
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <xtensor/xview.hpp>

#include <xloom/gradients/check_vjp.hpp>
#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

/// A recording that records nothing.
struct tape {
    struct scalar {
        double value = 0;
    };
    scalar input(double value) { return {value}; }
    void output(scalar const&) {}
    void reverse(std::span<double const>, std::span<double>) {}
};

/// A double for a double, and for another scalar what does not convert to it.
struct no_number {};
template <class X>
using replaced_t = std::conditional_t<std::is_same_v<std::remove_cvref_t<X>, double>, double, no_number>;

int main()
{
    xt::xtensor<double, 1> const x = xt::zeros<double>({4});
    xt::xtensor<double, 1> y = x, ct_x = x;
    xt::xtensor<float, 1> floats = xt::zeros<float>({4});
    double h = 0, ct_h = 0, w = 0, ct_w = 0;
    xloom::scan_residuals<double> residuals;
    auto const body = [](double&, double, double, double&) {};
    auto const body_vjp = [](double, double, double, double, double, double&, double&, double&) {};
    auto const pure = [](double s, double, double) { return xloom::scan_step{s, s}; };
    auto const trip = [](std::int64_t, bool, double v, double) { return xloom::loop_step{false, v}; };
    auto const trip_into = [](std::int64_t, double&, double) { return false; };
    auto const trip_vjp = [](std::int64_t, double, double, double, double&, double&) {};
    auto const cts = xloom::cotangents().states(1.0).outputs(y);
    auto const ct_trip = xloom::cotangents().states(1.0);
    auto const by = xloom::gradients().init(ct_h).scan_inputs(ct_x).params(ct_w);
    auto const by_trip = xloom::gradients().init(ct_h).params(ct_w);
    auto const twice = [](double v) { return 2 * v; };
    auto const twice_vjp = [](double, double, double&) {};
#if CASE == 0
    xloom::loop_residuals<double> trips;
    xloom::loop_forward_into(trip_into, h, w, std::tuple(), trips);
    xloom::loop_vjp_into(trip_into, trip_vjp, w, trips, ct_trip, by_trip);
    xloom::scan_forward_into(body, h, x, w, y, residuals);
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by);
    xloom::scan_vjp(pure, body_vjp, 0.0, x, w).pullback(0.0, y);
    xloom::loop_vjp(trip, trip_vjp, 0.0, w).pullback(0.0, std::tuple());
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0, w, xloom::checkpoint::online(2)));
    xloom::loop_options const options{.max_trip_count = 3};
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0, w, options, xloom::checkpoint::sqrt()));
    xloom::if_vjp(true, twice, twice_vjp, twice, twice_vjp, w).pullback(1.0);
    static_cast<void>(xloom::check_vjp(pure, body_vjp, 0.0, 1.0, w));
    static_cast<void>(xloom::check_vjp_into(body, body_vjp, 0.0, 1.0, w, 0.0));
    auto const same = [](auto const& s, int) { return xloom::scan_step{s, s}; };
    xloom::scan_vjp(same, xloom::recorded_with<tape>(), 0.0, xt::xtensor<int, 1>{1}).pullback(0.0, y);
#elif CASE == 1
    xloom::scan_forward_into(body, h, x, std::make_tuple(std::make_tuple(w)), y, residuals);
#elif CASE == 2
    xloom::scan_residuals<float> other;
    xloom::scan_forward_into(body, h, x, w, y, other);
#elif CASE == 3
    xloom::scan_forward_into([](double&, double, double&) {}, h, x, w, y, residuals);
#elif CASE == 4
    xloom::scan_forward_into([](auto&&...) {}, std::as_const(h), x, w, y, residuals);
#elif CASE == 5
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.scan_inputs(h));
#elif CASE == 6
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.init(0.0));
#elif CASE == 7
    float ct = 0;
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts.states(ct), by);
#elif CASE == 8
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.scan_inputs(floats));
#elif CASE == 9
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.params());
#elif CASE == 10
    xloom::scan_vjp_into(body, pure, x, w, residuals, cts, by);
#elif CASE == 11
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.params(std::make_tuple(std::tie(ct_w))));
#elif CASE == 12
    static_cast<void>(xloom::scan_vjp(pure, body_vjp, 0.0, x, std::make_tuple(std::make_tuple(w))));
#elif CASE == 13
    static_cast<void>(xloom::scan_vjp(pure, body_vjp, 0.0, x, std::string()));
#elif CASE == 14
    static_cast<void>(xloom::scan_vjp(pure, body_vjp, 0.0, x));
#elif CASE == 15
    static_cast<void>(xloom::scan_vjp([](double s, double, double) { return s; }, body_vjp, 0.0, x, w));
#elif CASE == 16
    xloom::scan_vjp(pure, body_vjp, 0.0, x, w).pullback(x, y);
#elif CASE == 17
    xloom::scan_vjp(pure, body_vjp, 0.0, x, w).pullback(0.0, std::tuple());
#elif CASE == 18
    xloom::scan_vjp(
        pure, [] {}, 0.0, x, w)
        .pullback(0.0, y);
#elif CASE == 19
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0, std::make_tuple(std::make_tuple(w))));
#elif CASE == 20
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0, std::string()));
#elif CASE == 21
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0));
#elif CASE == 22
    static_cast<void>(
        xloom::loop_vjp([](std::int64_t, bool, double v, double) { return v; }, trip_vjp, 0.0, w));
#elif CASE == 23
    xloom::loop_vjp(trip, trip_vjp, 0.0, w).pullback(x, std::tuple());
#elif CASE == 24
    xloom::loop_vjp(trip, trip_vjp, 0.0, w).pullback(0.0, y);
#elif CASE == 25
    xloom::loop_vjp(
        trip, [] {}, 0.0, w)
        .pullback(0.0, std::tuple());
#elif CASE == 26
    static_cast<void>(
        xloom::if_vjp(true, twice, twice_vjp, twice, twice_vjp, std::make_tuple(std::make_tuple(w))));
#elif CASE == 27
    static_cast<void>(xloom::if_vjp(true, twice, twice_vjp, twice, twice_vjp, std::string()));
#elif CASE == 28
    static_cast<void>(xloom::if_vjp(true, twice, twice_vjp, twice_vjp, twice, w));
#elif CASE == 29
    static_cast<void>(xloom::if_vjp(
        true, twice, twice_vjp, [](double) { return 1; }, twice_vjp, w));
#elif CASE == 30
    xloom::if_vjp(true, twice, twice_vjp, twice, twice_vjp, w).pullback(1.0f);
#elif CASE == 31
    xloom::if_vjp(true, twice, twice_vjp, twice, twice, w).pullback(1.0);
#elif CASE == 32
    xloom::scan_forward_into([](double s, double, double, double& z) { z = s; }, h, x, w, y, residuals);
#elif CASE == 33
    xloom::loop_residuals<double> kept;
    xloom::loop_forward_into(
        [](std::int64_t, double v) { return v > 1; }, h, std::tuple(), std::tuple(), kept);
#elif CASE == 34
    auto const copies = [](double, double, double, double, double, double, double&, double&) {};
    xloom::scan_vjp_into(body, copies, x, w, residuals, cts, by);
#elif CASE == 35
    auto const copies = [](auto, auto, auto, auto, auto, auto&, auto, auto&) {};
    xloom::scan_vjp(pure, copies, 0.0, x, w).pullback(0.0, y);
#elif CASE == 36
    auto const copies = [](std::int64_t, double, double, double, double&, double) {};
    xloom::loop_vjp(trip, copies, 0.0, w).pullback(0.0, std::tuple());
#elif CASE == 37
    auto const copies = [](std::int64_t, double, double, double, double&, double) {};
    xloom::loop_residuals<double> kept;
    xloom::loop_vjp_into(trip_into, copies, w, kept, ct_trip, by_trip);
#elif CASE == 38
    auto const copies = [](double, double, double) {};
    xloom::if_vjp(true, twice, copies, twice, twice_vjp, w).pullback(1.0);
#elif CASE == 39
    static_cast<void>(xloom::scan_vjp(pure, 0.0, x, w));
#elif CASE == 40
    static_cast<void>(xloom::loop_vjp(trip, 0.0, w));
#elif CASE == 41
    static_cast<void>(xloom::scan_vjp(pure, xloom::recorded_with<tape>(), 0.0, x, w));
#elif CASE == 42
    auto const by_vector = [](xt::xtensor<double, 1> const& v) { return v; };
    xloom::recorded_with<tape> const recorded;
    static_cast<void>(xloom::if_vjp(true, by_vector, recorded, by_vector, recorded, x));
#elif CASE == 43
    static_cast<void>(xloom::loop_vjp(trip, xloom::recorded_with<tape>(), 0.0, w));
#elif CASE == 44
    auto const generic = [](auto const& s, auto const&) { return xloom::scan_step{s}; };
    static_cast<void>(xloom::scan_vjp(generic, xloom::recorded_with<tape>(), 0.0f, x));
#elif CASE == 45
    auto const generic = [](auto, auto, auto const& v, auto const&) { return xloom::loop_step{false, v}; };
    static_cast<void>(xloom::loop_vjp(generic, xloom::recorded_with<tape>(), 0.0, floats));
#elif CASE == 46
    auto const generic = [](auto const& s, auto const&) {
        return xloom::scan_step{s, replaced_t<decltype(s)>()};
    };
    xloom::scan_vjp(generic, xloom::recorded_with<tape>(), 0.0, x).pullback(0.0, y);
#elif CASE == 47
    xloom::loop_residuals<double> other;
    xloom::scan_forward_into(body, h, x, w, y, other);
#elif CASE == 48
    xloom::loop_residuals<double> other;
    xloom::scan_vjp_into(body, body_vjp, x, w, other, cts, by);
#elif CASE == 49
    auto const stop = [](std::int64_t, double&) { return false; };
    xloom::loop_forward_into(stop, h, std::tuple(), std::tuple(), residuals);
#elif CASE == 50
    auto const stop_vjp = [](std::int64_t, double, double, double&) {};
    xloom::loop_vjp_into(
        trip_into, stop_vjp, std::tuple(), residuals, ct_trip, xloom::gradients().init(ct_h));
#elif CASE == 51
    static_cast<void>(xloom::check_vjp(pure, twice_vjp, 0.0, 1.0, w));
#elif CASE == 52
    static_cast<void>(xloom::check_vjp(pure, body_vjp, 0.0, 1.0));
#elif CASE == 53
    static_cast<void>(xloom::check_vjp(twice, twice_vjp, 0.0, std::tuple()));
#elif CASE == 54
    static_cast<void>(xloom::check_vjp(pure, x, 0.0, 1.0, w));
#elif CASE == 55
    auto const copies = [](double, double, double, double, double, double&, double&, double) {};
    static_cast<void>(xloom::check_vjp(pure, copies, 0.0, 1.0, w));
#elif CASE == 56
    static_cast<void>(xloom::check_vjp_into(twice, body_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 57
    static_cast<void>(xloom::check_vjp_into(body, twice_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 58
    auto const by_value = [](double, double, double, double&) {};
    static_cast<void>(xloom::check_vjp_into(by_value, body_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 59
    xloom::scan_vjp_into(pure, body_vjp, x, w, residuals, cts, by);
#elif CASE == 60
    xloom::loop_residuals<double> kept;
    xloom::loop_vjp_into(trip, trip_vjp, w, kept, ct_trip, by_trip);
#elif CASE == 61
    auto const generic = [](auto, auto, auto const& list) { return xloom::loop_step{false, list}; };
    static_cast<void>(
        xloom::loop_vjp(generic, xloom::recorded_with<tape>(), std::vector{xt::xtensor<double, 1>{1, 2}}));
#elif CASE == 62
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by.init(ct_h, ct_w));
#elif CASE == 63
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, by, cts);
#elif CASE == 64
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, by, xloom::serial);
#elif CASE == 65
    xloom::scan_forward_into(body, h, x, w, y, residuals, xloom::serial, xloom::scan_options{});
#elif CASE == 66
    static_cast<void>(
        xloom::scan_vjp(pure, body_vjp, 0.0, x, w, xloom::checkpoint::sqrt(), xloom::scan_options{}));
#elif CASE == 67
    static_cast<void>(xloom::loop_vjp(trip, trip_vjp, 0.0, w, xloom::serial));
#elif CASE == 68
    static_cast<void>(xloom::if_vjp(true, twice, twice_vjp, twice, w, w));
#elif CASE == 69
    xloom::scan_vjp_into(body, x, x, w, residuals, cts, by);
#elif CASE == 70
    xloom::loop_residuals<double> kept;
    xloom::loop_forward_into(trip_into, h, w, std::tuple(), kept, xloom::serial);
#elif CASE == 71
    static_cast<void>(
        xloom::loop_vjp(trip, trip_vjp, 0.0, w, xloom::checkpoint::all(), xloom::checkpoint::all()));
#elif CASE == 72
    xloom::loop_residuals<double> kept;
    xloom::loop_vjp_into(trip_into, trip_vjp, w, kept, ct_trip, by_trip.scan_inputs(ct_h));
#elif CASE == 73
    auto const weighted = [](double s, double, auto const&) { return xloom::scan_step{s, s}; };
    auto const weighted_vjp = [](double, double, auto const&, double, double, double&, double&, auto&) {};
    static_cast<void>(xloom::scan_vjp(weighted, weighted_vjp, 0.0, x, std::vector{x}));
#elif CASE == 74
    std::optional<xt::xarray<double>> maybe;
    auto const carried = [](std::int64_t, auto&, double) { return false; };
    auto const carried_vjp = [](std::int64_t, auto const&, double, auto const&, auto&, double&) {};
    xloom::loop_residuals<std::optional<xt::xarray<double>>> kept;
    xloom::loop_forward_into(carried, maybe, w, std::tuple(), kept);
    xloom::loop_vjp_into(carried, carried_vjp, w, kept, xloom::cotangents(), xloom::gradients().params(ct_w));
#elif CASE == 75
    auto const views = by.scan_inputs(xt::view(ct_x, xt::all()));
    xloom::scan_vjp_into(body, body_vjp, x, w, residuals, cts, views);
#endif
}
