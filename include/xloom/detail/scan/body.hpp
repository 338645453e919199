#pragma once
// The body of an operator: its call, its mark, and the arguments that it takes by value.

#include <functional>
#include <type_traits>
#include <utility>

#include <xloom/detail/scan/element_cursor.hpp>
#include <xloom/detail/tensor/strided_element.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// A body that takes strided elements: see strided_elements.
template <class Body>
class strided_body {
public:
    explicit strided_body(Body body) : body_(std::move(body)) {}

    template <class... Arguments>
        requires std::is_invocable_v<Body&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments)
    {
        return std::invoke(body_, static_cast<Arguments&&>(arguments)...);
    }
    template <class... Arguments>
        requires std::is_invocable_v<Body const&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const
    {
        return std::invoke(body_, static_cast<Arguments&&>(arguments)...);
    }

private:
    Body body_;
};

} // namespace detail

/// Marks a body of scan_into that takes elements where they are in their tensors, as strided_element, instead
/// of copies with contiguous items. A body that loops over rows of items then takes as long as a hand-written
/// loop along any axis.
///
/// Shapes    operands whose rank is known at compile time; elements of rank 0 are items, as for any body.
/// Cost      nothing beyond the body's.
/// Example
/// ```cpp
/// xt::xtensor<float, 2> const x = {{1, 2, 3}, {10, 20, 30}};
/// auto y = xt::xtensor<float, 2>::from_shape({2, 3});
/// xt::xtensor<float, 1> sums = {0, 0};
/// auto const add = [](auto& h, auto const& x_t, auto& y_t) {
///     for (std::size_t i = 0; i < x_t.shape(0); ++i)
///         y_t(i) = h(i) += x_t(i);
/// };
/// xloom::scan_into(
///     xloom::strided_elements(add), sums, x, y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
/// y; // = [[1, 3, 6], [10, 30, 60]]
/// ```
template <class Body>
detail::strided_body<std::decay_t<Body>> strided_elements(Body&& body)
{
    return detail::strided_body<std::decay_t<Body>>(std::forward<Body>(body));
}

namespace detail {

/// The class of a body: for a function, one that is called alike; for a marked body, that of the body.
template <class Body>
struct body_class {
    using type = Body;
};
template <class Result, class... Parameters>
struct body_class<Result(Parameters...)> {
    struct type {
        Result operator()(Parameters...) const;
    };
};
template <class Result, class... Parameters>
struct body_class<Result(Parameters...) noexcept> : body_class<Result(Parameters...)> {};
template <class Function>
    requires std::is_function_v<Function>
struct body_class<Function*> : body_class<Function> {};
template <class Body>
struct body_class<strided_body<Body>> : body_class<Body> {};
template <class Body>
using body_class_t = typename body_class<bare<Body>>::type;

/// The result of a rival's own overload.
struct rival_result {};

/// A type that every value converts to, by a conversion that is worse than any to a type of numbers.
struct any_value {
    template <class T>
    any_value(T&&);
};

/// A body beside an overload with these parameters, for overload resolution alone. It is const if the body
/// is.
template <class Body, bool IsConst, class... Parameters>
struct rival : Body {
    using Body::operator();
    rival_result operator()(Parameters...) const;
};
template <class Body, class... Parameters>
struct rival<Body, false, Parameters...> : Body {
    using Body::operator();
    rival_result operator()(Parameters...);
};

/// The overload that a call of a rival chooses, or none if it is ambiguous.
enum class chosen_overload { none, body, rival };

template <class Rival, class... Arguments>
consteval chosen_overload overload_for()
{
    if constexpr (!std::is_invocable_v<Rival&, Arguments...>)
        return chosen_overload::none;
    else if constexpr (std::is_same_v<std::invoke_result_t<Rival&, Arguments...>, rival_result>)
        return chosen_overload::rival;
    else
        return chosen_overload::body;
}

/// True if what is written to a copy of an X is written to the X: a view, a pointer.
template <class X>
inline constexpr bool shares_items = is_borrowed<X> || requires(X const& x) { *x = *x; };
template <class T, std::size_t Rank>
inline constexpr bool shares_items<strided_element<T, Rank>> = true;

/// True if a body has a copy in the place of argument I, a variable that it is to write.
///
/// A reference to a volatile variable is as good as a parameter by value, and worse than any other reference.
/// So a rival with such a parameter takes the call from a body, or makes it ambiguous, only if the body's
/// parameter is no reference. A generic body is not instantiated for other types than those of the call.
template <class Body, std::size_t I, class... Arguments>
consteval bool takes_copy_of()
{
    using argument = std::tuple_element_t<I, std::tuple<Arguments...>>;
    using item = std::remove_reference_t<argument>;
    if constexpr (!std::is_lvalue_reference_v<argument> || std::is_const_v<item> || shares_items<item>)
        return false;
    else
        return []<std::size_t... J>(std::index_sequence<J...>) {
            constexpr bool is_const = std::is_invocable_v<Body const&, Arguments...>;
            constexpr chosen_overload beside_reference = detail::overload_for<
                rival<Body, is_const, std::conditional_t<I == J, item const volatile&, Arguments>...>,
                Arguments...>();
            constexpr chosen_overload beside_conversion = detail::overload_for<
                rival<Body, is_const, std::conditional_t<I == J, any_value, Arguments>...>, Arguments...>();
            return beside_reference != beside_conversion &&
                   (beside_conversion == chosen_overload::body || std::is_arithmetic_v<item>);
        }(std::index_sequence_for<Arguments...>{});
}

/// True if a body has a copy in the place of a variable that it is to write, so that what it writes is lost.
template <class Body, class Arguments>
inline constexpr bool takes_copies = false;
template <class Body, class... Arguments>
    requires(std::is_class_v<body_class_t<Body>> && !std::is_final_v<body_class_t<Body>>)
inline constexpr bool takes_copies<Body, std::tuple<Arguments...>> = []<std::size_t... I>(
                                                                         std::index_sequence<I...>) {
    return (detail::takes_copy_of<body_class_t<Body>, I, Arguments...>() || ...);
}(std::index_sequence_for<Arguments...>{});

/// The result type of a body called with these arguments, if it is callable. has_copies is that of
/// takes_copies.
template <class Body, class Arguments>
struct call_of {
    using arguments = Arguments;
    static constexpr bool is_valid = false;
};
template <class Body, class... Arguments>
    requires std::is_invocable_v<Body&, Arguments...>
struct call_of<Body, std::tuple<Arguments...>> {
    using arguments = std::tuple<Arguments...>;
    static constexpr bool is_valid = true;
    static constexpr bool has_copies = takes_copies<Body, std::tuple<Arguments...>>;
    using result = std::invoke_result_t<Body&, Arguments...>;
};

/// True for a body that takes strided elements.
template <class Body>
inline constexpr bool takes_strided_elements = false;
template <class Body>
inline constexpr bool takes_strided_elements<strided_body<Body>> = true;

/// True if a body can refer to no output's tensor: it captures nothing, and the states hold numbers.
template <class Body, class... States>
inline constexpr bool captures_no_tensor =
    std::is_empty_v<Body> && (... && std::is_arithmetic_v<item_t<States>>);

/// When the outputs of such a body, or of another one, are written back.
template <class Body, class... States>
inline constexpr write_back write_back_for =
    captures_no_tensor<Body, States...> ? write_back::blocks : write_back::each_element;

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
