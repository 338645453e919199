#pragma once
// Compile-time traits of operands and bodies, and the call of a body on the current elements.

#include <array>
#include <utility>

#include <xloom/run/scan/element_cursor.hpp>
#include <xloom/run/scan/stacked_outputs.hpp>
#include <xloom/run/scan/strided_body.hpp>
#include <xloom/tensor/operands.hpp>

namespace xloom::detail {

/// The result type of a body called with these arguments, if it is callable.
template <class Body, class Arguments>
struct call_of {
    static constexpr bool is_valid = false;
};
template <class Body, class... Arguments>
    requires std::is_invocable_v<Body&, Arguments...>
struct call_of<Body, std::tuple<Arguments...>> {
    static constexpr bool is_valid = true;
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

} // namespace xloom::detail
