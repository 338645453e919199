// Mistakes in the calls of derivatives.
// clang-format off
// 1: xloom::scan_forward_into: params is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 2: xloom::scan_forward_into: residuals must be scan_residuals<State> of the states' own type, without references and const; for views, of the container that owns such items
// 3: xloom::scan_forward_into: the body must be callable as body(state&..., element const&..., param const&..., output&...); the arguments are scan_forward_into(body, states, scan_inputs, params, scan_outputs, residuals), with std::tuple() where there are none
// 4: a state is updated in place, so it must not be const
// 5: xloom::scan_backward_into: scan_inputs, ct_outputs and ct_inputs are tensors with at least one axis; the arguments are scan_backward_into(body, body_vjp, scan_inputs, params, ct_outputs, ct_states, ct_inputs, ct_params, residuals), with std::tuple() where there are none
// 6: xloom::scan_backward_into: ct_states, ct_inputs and ct_params are written in place, so each must be a variable that is not const, or a view of one; pass several as std::tie(a, b)
// 7: xloom::scan_backward_into: there must be a cotangent for each state, with items of the state's type
// 8: xloom::scan_backward_into: there must be a cotangent for each scan input, with items of the input's type
// 9: xloom::scan_backward_into: there must be a cotangent for each of params
// 10: xloom::scan_backward_into: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...)
// 11: xloom::scan_backward_into: a pack is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 12: xloom::scan_vjp: params is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 13: xloom::scan_vjp: a parameter is a tensor or a scalar, whose cotangent can begin as 0; pass other types to scan_forward_into, with a cotangent of your own
// 14: xloom::scan_vjp: the body must be callable as body(state const&..., element const&..., param const&...); the arguments are scan_vjp(body, body_vjp, init, scan_inputs[, params][, checkpoints][, options])
// 15: the body must return xloom::scan_step{state, scan_outputs}
// 16: xloom::scan_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_states of the types of the states
// 17: xloom::scan_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with a tensor for each scan output, with items of its type; std::tuple() where there are none
// 18: xloom::scan_vjp: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...)
// 19: xloom::loop_vjp: params is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 20: xloom::loop_vjp: a parameter is a tensor or a scalar, whose cotangent can begin as 0
// 21: xloom::loop_vjp: the body must be callable as body(std::int64_t iteration, bool cond, carried value const&..., param const&...); the arguments are loop_vjp(body, body_vjp, init[, params][, checkpoints][, options])
// 22: the body must return xloom::loop_step{cond, state, scan_outputs}
// 23: xloom::loop_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_states of the types of the carried values
// 24: xloom::loop_vjp: the pullback's arguments are pullback(ct_states, ct_outputs), ct_outputs with a tensor for each scan output, with items of its type; std::tuple() where there are none
// 25: xloom::loop_vjp: the VJP must be callable as body_vjp(std::int64_t iteration, carried value const&..., param const&..., output cotangent const&..., carried value's cotangent&..., param cotangent&...)
// 26: xloom::if_vjp: operands are one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 27: xloom::if_vjp: an operand is a tensor or a scalar, whose cotangent can begin as 0
// 28: xloom::if_vjp: the branches must be callable as branch(operand const&...); the arguments are if_vjp(cond, then_branch, then_vjp, else_branch, else_vjp, operands)
// 29: xloom::if_: both branches must return the same types; shapes may differ
// 30: xloom::if_vjp: the pullback's argument is a cotangent for each value of the result, with items of the value's type
// 31: xloom::if_vjp: the VJPs must be callable as branch_vjp(operand const&..., result cotangent const&..., operand cotangent&...)
// 32: xloom::scan_forward_into: the body takes a state or an output by value, so that what it writes is lost; take it by reference, as in double& h or auto& y_t
// 33: xloom::loop_forward_into: the body takes a carried value or an output by value, so that what it writes is lost; take it by reference, as in double& v or auto& y_t
// 34: xloom::scan_backward_into: the VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 35: xloom::scan_vjp: the VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 36: xloom::loop_vjp: the VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 37: xloom::loop_backward_into: the VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 38: xloom::if_vjp: a VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 39: xloom::scan_vjp: the body's VJP must follow the body, but a value does; the arguments are scan_vjp(body, body_vjp, init, scan_inputs[, params][, checkpoints][, options])
// 40: xloom::loop_vjp: the body's VJP must follow the body, but a value does; the arguments are loop_vjp(body, body_vjp, init[, params][, checkpoints][, options])
// 41: xloom::recorded_with: the body must be generic, because it also runs on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 42: xloom::recorded_with: the body must be generic, because it also runs on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 43: xloom::recorded_with: the body must be generic, because it also runs on Tape::scalar in the place of double: declare its parameters as auto const&, or write its VJP by hand
// 44: xloom::recorded_with: only numbers and tensors of double have derivatives, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// 45: xloom::recorded_with: only numbers and tensors of double have derivatives, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// 46: xloom::recorded_with: what the body returns for a double must convert to Tape::scalar
// 47: xloom::scan_forward_into: residuals must be scan_residuals<State> of the states' own type, without references and const; for views, of the container that owns such items
// 48: xloom::scan_backward_into: residuals must be the scan_residuals of scan_forward_into
// 49: xloom::loop_forward_into: residuals must be loop_residuals<State> of the carried values' own type, without references and const
// 50: xloom::loop_backward_into: residuals must be the loop_residuals of loop_forward_into
// 51: xloom::check_vjp: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...)
// 52: xloom::check_vjp: the body must be callable as body(state const&..., element const&..., param const&...); the arguments are check_vjp(body, body_vjp, states, elements[, params][, options])
// 53: xloom::check_vjp: the body must return xloom::scan_step{state, scan_outputs}, with as many states as it has
// 54: xloom::check_vjp: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...)
// 55: xloom::check_vjp: the VJP takes a cotangent that it is to write by value, so that what it writes is lost; take it by reference, as in double& ct_h or auto& ct_x
// 56: xloom::check_vjp_into: the body must be callable as body(state&..., element const&..., param const&..., output&...); the arguments are check_vjp_into(body, body_vjp, states, elements, params, outputs[, options])
// 57: xloom::check_vjp_into: the VJP must be callable as body_vjp(state const&..., element const&..., param const&..., output cotangent const&..., state cotangent&..., element cotangent&..., param cotangent&...)
// 58: xloom::check_vjp_into: the body takes a state or an output by value, so that what it writes is lost; take it by reference, as in double& h or auto& y_t
// 59: xloom::scan_backward_into: the body must be that of scan_forward_into, callable as body(state&..., element const&..., param const&..., output&...)
// 60: xloom::loop_backward_into: the body must be that of loop_forward_into, callable as body(std::int64_t iteration, carried value&..., param const&..., output&...)
// 61: xloom::recorded_with: only numbers and tensors of double have derivatives, but an operand has another floating-point type or is a sequence; convert it, or capture it in the body if it is constant
// clang-format on
#include <span>
#include <string>
#include <vector>

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
    auto const body_vjp = [](double, double, double, double, double&, double&, double&) {};
    auto const pure = [](double s, double, double) { return xloom::scan_step{s, s}; };
    auto const trip = [](std::int64_t, bool, double v, double) { return xloom::loop_step{false, v}; };
    auto const trip_into = [](std::int64_t, double&, double) { return false; };
    auto const trip_vjp = [](std::int64_t, double, double, double&, double&) {};
    auto const twice = [](double v) { return 2 * v; };
    auto const twice_vjp = [](double, double, double&) {};
#if CASE == 0
    xloom::loop_residuals<double> trips;
    xloom::loop_forward_into(trip_into, h, w, std::tuple(), trips);
    xloom::loop_backward_into(trip_into, trip_vjp, w, std::tuple(), ct_h, ct_w, trips);
    xloom::scan_forward_into(body, h, x, w, y, residuals);
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct_h, ct_x, ct_w, residuals);
    xloom::scan_vjp(pure, body_vjp, 0.0, x, w).pullback(0.0, y);
    xloom::loop_vjp(trip, trip_vjp, 0.0, w).pullback(0.0, std::tuple());
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
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct_h, h, ct_w, residuals);
#elif CASE == 6
    xloom::scan_backward_into(body, body_vjp, x, w, y, 0.0, ct_x, ct_w, residuals);
#elif CASE == 7
    float ct = 0;
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct, ct_x, ct_w, residuals);
#elif CASE == 8
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct_h, floats, ct_w, residuals);
#elif CASE == 9
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct_h, ct_x, std::tuple(), residuals);
#elif CASE == 10
    xloom::scan_backward_into(body, pure, x, w, y, ct_h, ct_x, ct_w, residuals);
#elif CASE == 11
    xloom::scan_backward_into(
        body, body_vjp, x, w, y, ct_h, ct_x, std::make_tuple(std::tie(ct_w)), residuals);
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
    auto const copies = [](double, double, double, double, double, double&, double&) {};
    xloom::scan_backward_into(body, copies, x, w, y, ct_h, ct_x, ct_w, residuals);
#elif CASE == 35
    auto const copies = [](auto, auto, auto, auto, auto&, auto, auto&) {};
    xloom::scan_vjp(pure, copies, 0.0, x, w).pullback(0.0, y);
#elif CASE == 36
    auto const copies = [](std::int64_t, double, double, double&, double) {};
    xloom::loop_vjp(trip, copies, 0.0, w).pullback(0.0, std::tuple());
#elif CASE == 37
    auto const copies = [](std::int64_t, double, double, double&, double) {};
    xloom::loop_residuals<double> kept;
    xloom::loop_backward_into(trip_into, copies, w, std::tuple(), ct_h, ct_w, kept);
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
    xloom::scan_backward_into(body, body_vjp, x, w, y, ct_h, ct_x, ct_w, other);
#elif CASE == 49
    auto const stop = [](std::int64_t, double&) { return false; };
    xloom::loop_forward_into(stop, h, std::tuple(), std::tuple(), residuals);
#elif CASE == 50
    auto const stop_vjp = [](std::int64_t, double, double&) {};
    xloom::loop_backward_into(trip_into, stop_vjp, std::tuple(), std::tuple(), ct_h, std::tuple(), residuals);
#elif CASE == 51
    static_cast<void>(xloom::check_vjp(pure, twice_vjp, 0.0, 1.0, w));
#elif CASE == 52
    static_cast<void>(xloom::check_vjp(pure, body_vjp, 0.0, 1.0));
#elif CASE == 53
    static_cast<void>(xloom::check_vjp(twice, twice_vjp, 0.0, std::tuple()));
#elif CASE == 54
    static_cast<void>(xloom::check_vjp(pure, x, 0.0, 1.0, w));
#elif CASE == 55
    auto const copies = [](double, double, double, double, double&, double&, double) {};
    static_cast<void>(xloom::check_vjp(pure, copies, 0.0, 1.0, w));
#elif CASE == 56
    static_cast<void>(xloom::check_vjp_into(twice, body_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 57
    static_cast<void>(xloom::check_vjp_into(body, twice_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 58
    auto const by_value = [](double, double, double, double&) {};
    static_cast<void>(xloom::check_vjp_into(by_value, body_vjp, 0.0, 1.0, w, 0.0));
#elif CASE == 59
    xloom::scan_backward_into(pure, body_vjp, x, w, y, ct_h, ct_x, ct_w, residuals);
#elif CASE == 60
    xloom::loop_residuals<double> kept;
    xloom::loop_backward_into(trip, trip_vjp, w, std::tuple(), ct_h, ct_w, kept);
#elif CASE == 61
    auto const generic = [](auto, auto, auto const& list) { return xloom::loop_step{false, list}; };
    static_cast<void>(xloom::loop_vjp(generic, xloom::recorded_with<tape>(), std::vector<double>{1, 2}));
#endif
}
