#pragma once
// The operands of a scan: what their types must be, how long they are, and cursors over their elements.

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <xloom/detail/check/scan.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/scan/element_cursor.hpp>
#include <xloom/detail/scan/stacked_outputs.hpp>
#include <xloom/detail/tensor/requirements.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class... Tuples>
using joined_t = decltype(std::tuple_cat(std::declval<Tuples>()...));

template <class X>
using is_scan_output = std::bool_constant<tensor<X> && may_have_axes<X, 1>>;

/// True for what may have a batch and a time axis.
template <class X>
using is_batch_input = std::bool_constant<may_have_axes<X, 2>>;

/// True for any value but a lazy expression.
template <class X>
using is_in_memory = std::bool_constant<!lazy<X>>;

template <class X>
concept has_data_and_size = requires(X const& x) { x.data() + x.size(); };

/// False for contiguous memory that is not a tensor here, such as a std::array, or a matrix of Eigen without
/// interop/eigen.hpp.
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

    /// Returns cursors over the operands' elements of some iterations. Requires the operands' own
    /// `traversals`, checked.
    template <class Traversals>
    static cursors start(std::tuple<Xs...> const& operands, Traversals const& traversals,
        kernel::iterations const& range, write_back when = write_back::each_element,
        scan_workspace* workspace = nullptr)
    {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return cursors{cursor<Xs>(enable_tensor<bare<Xs>>::data(std::get<I>(operands)),
                kernel::time_axis(
                    traversals[I].memory.layout, traversals[I].axis, range.length, traversals[I].reverse)
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

/// Returns the memory of scan inputs or outputs with their time axes and directions.
template <class... Xs>
std::array<traversal, sizeof...(Xs)> traversals_in_time(
    std::tuple<Xs...> const& operands, axes const& axis, directions const& ways)
{
    auto traversals = detail::traversals_of(operands);
    for (std::size_t i = 0; i < traversals.size(); ++i) {
        traversals[i].axis = wrap_axis(axis_option(axis, i), traversals[i].memory.layout.dims.size());
        traversals[i].reverse = is_reverse(ways, i);
    }
    return traversals;
}

/// Makes an input and an output of the same tensor share the memory of the current element. Contiguous
/// elements share it already.
template <class Input, class Output>
void share_element(Input&, Output&)
{}
template <class T, class InputShape, class OutputShape>
void share_element(buffered_cursor<T const, InputShape>& input, buffered_cursor<T, OutputShape>& output)
{
    input.share_buffer_of(output);
}

/// Finds the outputs that are the same tensor as an input, whose elements must not be written before the body
/// runs, and makes the body's writes to them visible through the input. Requires check_in_place.
template <std::size_t M, class... Inputs, std::size_t K, class... Outputs>
std::array<bool, K> join_in_place(std::array<traversal, M> const& input_traversals,
    std::tuple<Inputs...>& inputs, std::array<traversal, K> const& output_traversals,
    std::tuple<Outputs...>& outputs)
{
    std::array<bool, K> is_in_place{};
    detail::for_each_leaf(outputs, [&](auto k, auto& output) {
        detail::for_each_leaf(inputs, [&](auto m, auto& input) {
            if (detail::is_same_memory(output_traversals[k].memory, input_traversals[m].memory)) {
                is_in_place[k] = true;
                detail::share_element(input, output);
            }
        });
    });
    return is_in_place;
}

/// True if every operand has a first axis, of this length.
template <class... Xs>
bool have_leading_length(std::tuple<Xs...> const& operands, std::size_t length)
{
    auto const has_length = [length](auto const& operand) {
        return detail::rank_of(operand) != 0 && detail::length_of_axis_0(operand) == length;
    };
    return std::apply([&](auto const&... each) { return (... && has_length(each)); }, operands);
}

/// Checks the shapes of the operands and the options, and returns the number of iterations.
template <bool LeadingAxis, class Inputs, class Outputs>
XLOOM_NOINLINE std::size_t check_scan_into(
    std::string_view op, Inputs const& inputs, Outputs const& outputs, scan_options const& options)
{
    std::size_t const length = check_scan(op, detail::shapes_of(inputs), std::tuple_size_v<Outputs>, options);
    check_scan_outputs(op, detail::shapes_of(outputs), length, options);
    if constexpr (!LeadingAxis) {
        check_fixed_axes(
            op, "scan_inputs", fixed_ranks<Inputs>::value, "scan_input_axes", options.scan_input_axes);
        check_fixed_axes(
            op, "scan_outputs", fixed_ranks<Outputs>::value, "scan_output_axes", options.scan_output_axes);
    }
    return length;
}

/// Returns the number of iterations, checked. Of operands that are scanned along axis 0 it only compares the
/// lengths, and leaves the rest to check_scan_into where they differ: all checks together would take longer
/// than a short scan of scalars.
template <bool LeadingAxis, class Inputs, class Outputs>
std::size_t scan_length(
    std::string_view op, Inputs const& inputs, Outputs const& outputs, scan_options const& options)
{
    constexpr std::size_t input_count = std::tuple_size_v<Inputs>;
    if constexpr (LeadingAxis && input_count != 0 && input_count <= max_operands &&
                  std::tuple_size_v<Outputs> <= max_operands) {
        auto const& first = std::get<0>(inputs);
        if (detail::rank_of(first) != 0) {
            std::size_t const length = detail::length_of_axis_0(first);
            if (detail::have_leading_length(inputs, length) && detail::have_leading_length(outputs, length))
                return length;
        }
    }
    return detail::check_scan_into<LeadingAxis>(op, inputs, outputs, options);
}

} // namespace xloom::inline XLOOM_ABI::detail
