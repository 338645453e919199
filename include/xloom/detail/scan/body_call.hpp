#pragma once
// Compile-time traits of operands and bodies, and the call of a body on the current elements.

#include <array>
#include <memory>
#include <string>
#include <utility>

#include <xloom/detail/scan/element_cursor.hpp>
#include <xloom/detail/scan/stacked_outputs.hpp>
#include <xloom/detail/scan/strided_body.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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
    static constexpr bool is_valid = false;
};
template <class Body, class... Arguments>
    requires std::is_invocable_v<Body&, Arguments...>
struct call_of<Body, std::tuple<Arguments...>> {
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

template <class... Tuples>
using joined_t = decltype(std::tuple_cat(std::declval<Tuples>()...));

/// True if a condition holds for every leaf type, references removed.
template <template <class> class Condition, class Leaves>
inline constexpr bool every_leaf = true;
template <template <class> class Condition, class... Xs>
inline constexpr bool every_leaf<Condition, std::tuple<Xs...>> =
    (Condition<std::remove_reference_t<Xs>>::value && ...);

/// True for a scan input: a tensor or a lazy expression, of a rank that is not known to be 0.
template <class X>
struct is_scan_input : std::bool_constant<lazy<X>> {};
template <tensor X>
struct is_scan_input<X> : std::bool_constant<enable_tensor<bare<X>>::rank != 0> {};

template <class X>
using is_scan_output = std::bool_constant<tensor<X> && is_scan_input<X>::value>;

/// True for a scan input of a batch: a tensor that is not statically known to lack batch and time axes, or a
/// lazy expression.
template <class X>
struct is_batch_input : std::bool_constant<lazy<X>> {};
template <tensor X>
struct is_batch_input<X> : std::bool_constant<(enable_tensor<bare<X>>::rank > 1)> {};

/// True for any value but a lazy expression.
template <class X>
using is_in_memory = std::bool_constant<!lazy<X>>;

template <class X>
concept has_data_and_size = requires(X const& x) { x.data() + x.size(); };

/// False for contiguous memory that is not a tensor here, such as a std::vector or an Eigen matrix.
template <class X>
struct is_no_foreign_memory : std::bool_constant<!has_data_and_size<X>> {};
template <class X>
    requires(tensor<X> || lazy<X>)
struct is_no_foreign_memory<X> : std::true_type {};

template <class X>
using is_scan_state = std::bool_constant<!lazy<X> && !has_sequence<bare<X>>>;

/// The static length of axis 0; dynamic_length unless the shape is fixed.
template <class X>
struct leading_length : std::integral_constant<std::size_t, dynamic_length> {};
template <std::size_t First, std::size_t... Rest>
struct leading_length<xt::fixed_shape<First, Rest...>> : std::integral_constant<std::size_t, First> {};
template <tensor X>
struct leading_length<X> : leading_length<shape_type_t<X>> {};

/// The number of iterations that operands of fixed shapes agree on; dynamic_length if one is not fixed.
template <class Leaves>
struct static_length {
    static constexpr bool agrees = true;
    static constexpr std::size_t value = dynamic_length;
};
template <class X, class... Xs>
struct static_length<std::tuple<X, Xs...>> {
    using rest = static_length<std::tuple<Xs...>>;
    static constexpr std::size_t first = leading_length<bare<X>>::value;
    static constexpr bool agrees =
        rest::agrees && ((first == leading_length<bare<Xs>>::value || first == dynamic_length ||
                             leading_length<bare<Xs>>::value == dynamic_length) &&
                            ...);
    static constexpr std::size_t value = sizeof...(Xs) == 0 || first == rest::value ? first : dynamic_length;
};

/// The rank of a type with a fixed shape, 0 for other types. check_fixed_axes requires that time is axis 0 of
/// the former.
template <class X>
inline constexpr std::size_t fixed_rank = 0;
template <tensor X>
    requires is_fixed_shape<shape_type_t<X>>
inline constexpr std::size_t fixed_rank<X> = enable_tensor<X>::rank;

/// The ranks of the leaves whose types have fixed shapes, 0 for the others.
template <class Leaves>
struct fixed_ranks;
template <class... Xs>
struct fixed_ranks<std::tuple<Xs...>> {
    static constexpr std::array<std::size_t, sizeof...(Xs)> value{fixed_rank<bare<Xs>>...};
};

/// Cursors over operands, and the argument types that a body receives from them. Time is axis 0 of every
/// operand (LeadingAxis), or else of those whose types have fixed shapes.
template <class Leaves, bool LeadingAxis, bool Strided = false>
struct cursor_set;
template <class... Xs, bool LeadingAxis, bool Strided>
struct cursor_set<std::tuple<Xs...>, LeadingAxis, Strided> {
    template <class X>
    using cursor = cursor_for<std::remove_reference_t<X>, LeadingAxis || fixed_rank<bare<X>> != 0, Strided>;

    using cursors = std::tuple<cursor<Xs>...>;
    using input_arguments = std::tuple<decltype(std::as_const(std::declval<cursor<Xs>&>().element()))...>;
    using output_arguments = std::tuple<decltype(std::declval<cursor<Xs>&>().element())...>;

    /// Returns cursors over the operands' elements of some iterations. Requires the operands' own `places`,
    /// checked.
    template <class Places>
    static cursors start(std::tuple<Xs...> const& operands, Places const& places,
        kernel::iterations const& range, write_back when = write_back::each_element,
        scan_workspace* workspace = nullptr)
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return cursors{cursor<Xs>(enable_tensor<bare<Xs>>::data(std::get<I>(operands)),
                kernel::time_axis(places[I].memory.layout, places[I].axis, range.length, places[I].reverse)
                    .from(range.begin),
                range.count(), when, workspace)...};
        }(std::index_sequence_for<Xs...>{});
    }
};

template <class... Cursors>
void enter_all(std::tuple<Cursors...>& cursors)
{
    std::apply([](auto&... each) { (each.enter(), ...); }, cursors);
}

template <class... Cursors>
void leave_all(std::tuple<Cursors...>& cursors)
{
    std::apply([](auto&... each) { (each.leave(), ...); }, cursors);
}

/// Returns the current elements as a body's arguments: inputs are const, outputs are not.
template <class... Cursors>
auto input_elements(std::tuple<Cursors...>& cursors)
{
    return std::apply(
        [](auto&... each) {
            return std::tuple<decltype(std::as_const(each.element()))...>(each.element()...);
        },
        cursors);
}
template <class... Cursors>
auto output_elements(std::tuple<Cursors...>& cursors)
{
    return std::apply(
        [](auto&... each) { return std::tuple<decltype(each.element())...>(each.element()...); }, cursors);
}

template <class... Xs>
std::tuple<Xs const&...> const_leaves(std::tuple<Xs&...> const& leaves)
{
    return leaves;
}

/// Returns body(arguments of the first tuple..., of the second tuple..., ...).
template <class Body, class... Arguments>
decltype(auto) call_body(Body& body, Arguments&&... arguments)
{
    return std::apply(body, std::tuple_cat(static_cast<Arguments&&>(arguments)...));
}

/// The guards of several values.
template <class... Xs>
class shape_guards {
public:
    explicit shape_guards(std::tuple<Xs&...> const& values) : guards_(values) {}

    /// Requires that the values have their shapes after an iteration.
    ///
    /// Errors    body_error.
    void check_shapes(std::string_view op, std::string_view name, std::tuple<Xs&...> const& values,
        std::size_t iteration) const
    {
        detail::for_each_leaf(guards_, [&](auto i, auto const& guard) {
            if (!guard.holds(std::get<i>(values)))
                detail::fail_reshaped(
                    op, name, i, guard.expected(), detail::describe_shape(std::get<i>(values)), iteration);
        });
    }

private:
    std::tuple<shape_guard<Xs>...> guards_;
};

/// Throws a body_error that names the operand if the element that was assigned another shape is one of its
/// elements.
template <class... Cursors>
void fail_if_own(std::string_view op, std::string_view name, std::tuple<Cursors...> const& operands,
    element_reshaped const& found, std::size_t iteration, std::optional<std::size_t> row = {})
{
    detail::for_each_leaf(operands, [&](auto k, auto const& cursor) {
        if (cursor.is_own(found))
            detail::fail_reshaped(op, name, k, found.is(), found.assigned(), iteration, row);
    });
    detail::for_each_leaf(operands, [&](auto k, auto const& cursor) {
        if (cursor.is_copy(found))
            detail::fail_reshaped(op, name, k, found.is(), found.assigned(), iteration, row);
    });
}

/// Throws a body_error that names the operand if the element that was assigned another shape is one of these
/// values: a state, for example, that is an element of an outer operator.
template <class... Xs>
void fail_if_value(std::string_view op, std::string_view name, std::tuple<Xs&...> const& values,
    element_reshaped const& found, std::size_t iteration)
{
    detail::for_each_leaf(values, [&](auto i, auto const& value) {
        if (found.view() == std::addressof(value))
            detail::fail_reshaped(op, name, i, found.is(), found.assigned(), iteration);
    });
}

/// Runs a function that calls the body, and replaces xtensor's error about shapes that do not broadcast by a
/// body_error with the shapes of the states that are tensors, if there are any.
template <class... Xs, class Run>
void name_states(
    [[maybe_unused]] std::string_view op, [[maybe_unused]] std::tuple<Xs&...> const& states, Run const& run)
{
#ifdef __cpp_exceptions
    if constexpr ((tensor<Xs> || ...)) {
        try {
            run();
        } catch (xt::broadcast_error const& found) {
            fact_list shapes;
            detail::for_each_leaf(states, [&]<class X>(auto i, X const& state) {
                if constexpr (tensor<X>)
                    shapes.add("states[", i(), "] is ", detail::describe_shape(state));
            });
            std::string report = found.what();
            std::erase(report, '\n');
            fail<body_error>(op,
                ": the shapes in a body's expressions must broadcast, but some do not, where ", shapes,
                ". Give them shapes that broadcast to the state's. xtensor reports: ", report);
        }
        return;
    }
#endif
    run();
}

/// Runs a function that calls the body, and passes an element_reshaped to `fail`, which throws an error with
/// the operand's name if it knows the element. Without exceptions it is reported without the name.
template <class Fail, class Run>
void run_bodies([[maybe_unused]] Fail const& fail, Run const& run)
{
#ifdef __cpp_exceptions
    try {
        run();
    } catch (element_reshaped const& found) {
        fail(found);
        throw;
    }
#else
    run();
#endif
}

} // namespace xloom::inline XLOOM_ABI::detail
