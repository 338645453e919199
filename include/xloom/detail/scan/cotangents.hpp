#pragma once
// Cotangents: the arguments of a backward pass by their names, the values that are kept for it, and the
// cotangents of the states during it.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Returns values as a tuple of references to variables, and of the other values. One std::tuple stands for
/// its values.
template <class... Xs>
auto grouped(Xs&&... values)
{
    return std::tuple<Xs...>(std::forward<Xs>(values)...);
}
template <class Operands>
    requires is_tuple<bare<Operands>>
auto grouped(Operands&& values)
{
    if constexpr (std::is_lvalue_reference_v<Operands>)
        return detail::leaves(values);
    else
        return bare<Operands>(std::move(values));
}
template <class... Xs>
using grouped_t = decltype(detail::grouped(std::declval<Xs>()...));

} // namespace detail

/// The cotangents of the results of scan_vjp_into or loop_vjp_into, as in
/// `cotangents().states(ct_h).outputs(ct_y)`. Variables are not copied. Without states() those of the final
/// states are zeros.
template <class States = std::tuple<>, class Outputs = std::tuple<>>
struct cotangents {
    States ct_states{};
    Outputs ct_outputs{};

    /// Returns these with the cotangents of the final states.
    template <class... Xs>
    auto states(Xs&&... values) const
    {
        return cotangents<detail::grouped_t<Xs...>, Outputs>{
            detail::grouped(std::forward<Xs>(values)...), ct_outputs};
    }
    /// Returns these with the cotangents of the scan outputs.
    template <class... Xs>
    auto outputs(Xs&&... values) const
    {
        return cotangents<States, detail::grouped_t<Xs...>>{
            ct_states, detail::grouped(std::forward<Xs>(values)...)};
    }
};

/// The cotangents that scan_vjp_into or loop_vjp_into adds to, of the operands:
/// `gradients().init(ct_h).scan_inputs(ct_x).params(ct_w)`. init() is optional.
template <class Init = std::tuple<>, class Inputs = std::tuple<>, class Params = std::tuple<>>
struct gradients {
    Init ct_init{};
    Inputs ct_scan_inputs{};
    Params ct_params{};

    /// Returns these with those of the initial states.
    template <class... Xs>
    auto init(Xs&&... values) const
    {
        return gradients<detail::grouped_t<Xs...>, Inputs, Params>{
            detail::grouped(std::forward<Xs>(values)...), ct_scan_inputs, ct_params};
    }
    /// Returns these with those of the scan inputs.
    template <class... Xs>
    auto scan_inputs(Xs&&... values) const
    {
        return gradients<Init, detail::grouped_t<Xs...>, Params>{
            ct_init, detail::grouped(std::forward<Xs>(values)...), ct_params};
    }
    /// Returns these with those of the parameters.
    template <class... Xs>
    auto params(Xs&&... values) const
    {
        return gradients<Init, Inputs, detail::grouped_t<Xs...>>{
            ct_init, ct_scan_inputs, detail::grouped(std::forward<Xs>(values)...)};
    }
};

namespace detail {

/// The type in which an argument X&& is kept: variables of tensor types by reference, other values as owned
/// ones.
template <class X>
using held_t =
    std::conditional_t<std::is_lvalue_reference_v<X> && tensor<bare<X>>, bare<X> const&, owned_t<X>>;

/// Returns one value to keep.
template <class X>
held_t<X&&> hold_one(X&& value)
{
    if constexpr (std::is_reference_v<held_t<X&&>>)
        return value;
    else
        return detail::to_owned(std::forward<X>(value));
}

/// Returns the values of an argument to keep, as a tuple.
///
/// Errors    shape_error: the items of a lazy expression do not fit in memory.
template <class Operands>
auto hold(Operands&& operands)
{
    if constexpr (is_tuple<bare<Operands>>)
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<held_t<decltype(std::get<I>(std::forward<Operands>(operands)))>...>(
                detail::hold_one(std::get<I>(std::forward<Operands>(operands)))...);
        }(std::make_index_sequence<std::tuple_size_v<bare<Operands>>>{});
    else
        return std::tuple<held_t<Operands&&>>(detail::hold_one(std::forward<Operands>(operands)));
}

template <class Operands>
using held_operands_t = decltype(detail::hold(std::declval<Operands>()));

/// Returns 0 as a T: T(0), or T() where 0 cannot be converted to it.
template <class T>
T zero_of()
{
    if constexpr (std::is_constructible_v<T, int>)
        return T(0);
    else
        return T();
}

/// Sets the items of a tensor, or a scalar, to 0.
template <class X>
void set_to_zero(X& value)
{
    if constexpr (tensor<X>)
        detail::fill_items(value, detail::zero_of<item_t<X>>());
    else
        value = detail::zero_of<X>();
}

/// Makes `ct` a cotangent of 0 for `value`: a tensor of its shape, a sequence of as many values.
template <class Ct, class X>
void set_to_zero_of(Ct& ct, X const& value)
{
    if constexpr (tensor<Ct>) {
        if (!detail::have_same_shape(ct, value))
            ct = enable_tensor<Ct>::make(detail::shape_of(value));
        detail::set_to_zero(ct);
    } else if constexpr (is_sequence<Ct>) {
        if (ct.size() != value.size())
            ct = value;
        for (std::size_t i = 0; i < ct.size(); ++i)
            if constexpr (std::is_same_v<typename Ct::value_type, bool>)
                ct[i] = false;
            else
                detail::set_to_zero_of(ct[i], value[i]);
    } else if constexpr (is_optional<Ct>) {
        if (!ct || !value)
            ct = value;
        if (ct)
            detail::set_to_zero_of(*ct, *value);
    } else {
        detail::set_to_zero(ct);
    }
}

/// Returns a value of 0 for a cotangent of `value`: a tensor of its shape, or a scalar.
template <class X>
owned_t<X> zeros_like(X const& value)
{
    if constexpr (tensor<owned_t<X>>) {
        owned_t<X> zeros = enable_tensor<owned_t<X>>::make(detail::shape_of(value));
        detail::set_to_zero(zeros);
        return zeros;
    } else {
        return detail::zero_of<owned_t<X>>();
    }
}

/// Returns zeros for the cotangents of the values of an argument, which own their items.
template <class Operands, class... Xs>
owned_t<Operands> zero_cotangents(std::tuple<Xs...> const& values)
{
    return std::apply(
        [](auto const&... value) { return owned_t<Operands>(detail::zeros_like(value)...); }, values);
}

/// Returns a copy of a value, in a container of another type if need be.
template <class To, class From>
To copied_as(From const& from)
{
    if constexpr (tensor<To> && tensor<From> && !std::is_constructible_v<To, From const&>) {
        return detail::copy_as<To>(from);
    } else {
        return To(from);
    }
}

/// Requires that a VJP left a cotangent in the shape of its value.
///
/// Errors    body_error.
template <class X, class Ct>
void check_cotangent_kept(
    std::string_view op, std::string_view values, std::size_t i, X const& value, Ct const& ct)
{
    if (!detail::have_same_shape(value, ct))
        fail<body_error>(op, ": the VJP must give every cotangent the shape of its value, but ", values, "[",
            i, "] is ", detail::shape_of(value), " and the VJP made its cotangent ",
            detail::describe_shape(ct), ". Assign its items.");
}

/// Returns copies of states in a State.
template <class State, class... Xs>
State copied_states(std::tuple<Xs&...> const& states)
{
    return [&]<class... To>(std::tuple<To&...> const*) {
        return std::apply(
            [](auto const&... each) { return State(detail::copied_as<bare<To>>(each)...); }, states);
    }(static_cast<leaves_t<State> const*>(nullptr));
}

/// Calls f(shape of a, shape of b), as texts, for every two tensors in the same place of two values (tensors,
/// sequences or optionals) whose shapes differ. With Counts the number of values in a sequence or an optional
/// is a shape, too.
template <bool Counts, class A, class B, class F>
void for_each_difference([[maybe_unused]] A const& a, [[maybe_unused]] B const& b, F const& f)
{
    if constexpr (tensor<A> && tensor<B>) {
        if (!detail::have_same_shape(a, b))
            f(detail::describe_shape(a), detail::describe_shape(b));
    } else if constexpr (is_sequence<A> && is_sequence<B>) {
        if (Counts && a.size() != b.size())
            f(concat(shape{a.size()}), concat(shape{b.size()}));
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
            detail::for_each_difference<Counts>(a[i], b[i], f);
    } else if constexpr (is_optional<A> && is_optional<B>) {
        if (Counts && a.has_value() != b.has_value())
            f(concat(shape{std::size_t{a.has_value()}}), concat(shape{std::size_t{b.has_value()}}));
        if (a && b)
            detail::for_each_difference<Counts>(*a, *b, f);
    }
}

/// Adds a cotangent to one whose tensors have the same shapes. To what a sequence or an optional does not
/// have, the value is appended.
template <class To, class From>
void add_to(To& to, From const& from)
{
    if constexpr (tensor<To>) {
        kernel::strided_copy(
            detail::shape_of(from), detail::layout_of(from).strides, detail::layout_of(to).strides)
            .for_each_pair(enable_tensor<From>::data(from), enable_tensor<To>::data(to),
                [](auto const& item, auto& sum) { sum = static_cast<item_t<To>>(sum + item); });
    } else if constexpr (is_sequence<To>) {
        std::size_t const common = (std::min)(to.size(), from.size());
        for (std::size_t i = 0; i < common; ++i)
            if constexpr (std::is_same_v<typename To::value_type, bool>)
                to[i] = to[i] || from[i];
            else
                detail::add_to(to[i], from[i]);
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(common), from.end());
    } else if constexpr (is_optional<To>) {
        if (to && from)
            detail::add_to(*to, *from);
        else if (from)
            to = from;
    } else if constexpr (requires { to + from; }) {
        to = static_cast<To>(to + from);
    } else {
        to = from;
    }
}

/// The cotangents of a state during a backward pass: that of the state after an iteration, and the one of the
/// state before it, which the body's VJP adds to.
///
/// Why tensors change places and scalars are copied: a copy costs a tensor more than the choice of an
/// address, and the compiler keeps a scalar in registers as long as there is no such choice.
template <class State>
class carried_cotangent {
public:
    explicit carried_cotangent(State&& last) : after_(last), before_(std::move(last)) {}

    State const& after() const { return after_; }
    State& before() { return before_; }
    void step()
    {
        if constexpr (std::is_arithmetic_v<State>)
            after_ = before_;
        else
            std::swap(after_, before_);
    }
    State&& result() { return std::move(after_); }

private:
    State after_;
    State before_;
};
template <tensor State>
class carried_cotangent<State> {
public:
    explicit carried_cotangent(State&& last) : values_{last, std::move(last)} {}

    State const& after() const { return values_[after_]; }
    State& before() { return values_[1 - after_]; }
    void step() { after_ = 1 - after_; }
    State&& result() { return std::move(values_[after_]); }

private:
    State values_[2];
    std::size_t after_ = 0;
};

/// The cotangents of all states, of the type State.
template <class State, class Leaves = leaves_t<State>>
class carried_cotangents;
template <class State, class... States>
class carried_cotangents<State, std::tuple<States&...>> {
public:
    explicit carried_cotangents(State&& last)
        : held_(std::apply([](auto&... each) { return std::tuple<States&&...>(std::move(each)...); },
              detail::leaves(last)))
    {}

    std::tuple<States const&...> after() const
    {
        return std::apply(
            [](auto const&... each) { return std::tuple<States const&...>(each.after()...); }, held_);
    }
    std::tuple<States&...> before()
    {
        return std::apply([](auto&... each) { return std::tuple<States&...>(each.before()...); }, held_);
    }

    /// Ends an iteration: what was before it is after the next one.
    void step()
    {
        std::apply([](auto&... each) { (each.step(), ...); }, held_);
    }

    State result()
    {
        return std::apply([](auto&... each) { return State(each.result()...); }, held_);
    }

private:
    std::tuple<carried_cotangent<States>...> held_;
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
