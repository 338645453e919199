#pragma once
// Operand tuples (packs): one value or a flat std::tuple of values, for an operator's states, inputs or
// outputs.

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<std::tuple<Ts...>> = true;

template <class T>
inline constexpr bool is_sequence = false;
template <class T, class Allocator>
inline constexpr bool is_sequence<std::vector<T, Allocator>> = !tensor<std::vector<T, Allocator>>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool has_sequence = is_sequence<T> || is_optional<T>;

/// True for an operand, as opposed to a reduction, an operator or a VJP, in whose place it may be by mistake.
template <class X>
inline constexpr bool is_operand =
    tensor<X> || lazy<bare<X>> || is_tuple<bare<X>> || std::is_arithmetic_v<bare<X>>;

/// Returns the values of an argument, one or a flat std::tuple of them (its leaves, as in JAX), as a
/// std::tuple of lvalue references.
template <class Operands>
constexpr auto leaves(Operands& operands)
{
    if constexpr (is_tuple<std::remove_const_t<Operands>>) {
        return std::apply([](auto&... leaf) { return std::tie(leaf...); }, operands);
    } else {
        return std::tie(operands);
    }
}

/// The tuple type of the leaves of an argument: std::tuple<T&...>.
template <class Operands>
using leaves_t = decltype(detail::leaves(std::declval<std::remove_reference_t<Operands>&>()));

template <class Operands>
inline constexpr std::size_t leaf_count = std::tuple_size_v<leaves_t<Operands>>;

/// True if a condition holds for every leaf type, references removed.
template <template <class> class Condition, class Leaves>
inline constexpr bool every_leaf = true;
template <template <class> class Condition, class... Xs>
inline constexpr bool every_leaf<Condition, std::tuple<Xs...>> =
    (Condition<std::remove_reference_t<Xs>>::value && ...);

/// False if a std::tuple is nested in a std::tuple.
template <class Operands>
inline constexpr bool is_flat = true;
template <class... Ts>
inline constexpr bool is_flat<std::tuple<Ts...>> = !(is_tuple<bare<Ts>> || ...);

/// True if every value can be a scan output: a tensor or a scalar.
template <class Operands>
inline constexpr bool is_stackable = !has_sequence<Operands>;
template <class... Ts>
inline constexpr bool is_stackable<std::tuple<Ts...>> =
    !((has_sequence<bare<Ts>> || is_tuple<bare<Ts>>) || ...);

/// Calls f(std::integral_constant<i>, leaf) for every leaf of a tuple.
template <class Tuple, class F>
constexpr void for_each_leaf(Tuple&& tuple, F&& f)
{
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(std::integral_constant<std::size_t, I>{}, std::get<I>(tuple)), ...);
    }(std::make_index_sequence<std::tuple_size_v<bare<Tuple>>>{});
}

template <class... Ts>
struct owned<std::tuple<Ts...>> {
    using type = std::tuple<owned_t<Ts>...>;
};

/// Requires that a copy of a tensor or lazy expression fits in memory: a view may repeat items. More axes
/// than max_rank are for check_rank to report.
///
/// Errors    shape_error
template <class X>
void check_copied_size([[maybe_unused]] X const& value)
{
    if constexpr (lazy<X>) {
        if (detail::rank_of(value) <= max_rank)
            check_fits_in_memory<item_t<X>>(shape(value.shape().begin(), value.shape().end()));
    } else if constexpr (tensor<X> && !is_always_row_major<X>) {
        if (detail::rank_of(value) <= max_rank)
            check_fits_in_memory<item_t<X>>(detail::shape_of(value));
    }
}

/// Requires that the items of lazy expressions among the values fit in memory.
///
/// Errors    shape_error
template <class Operands>
void check_evaluated_sizes(Operands const& operands)
{
    detail::for_each_leaf(detail::leaves(operands), []<class X>(auto, [[maybe_unused]] X const& value) {
        if constexpr (lazy<X>)
            check_copied_size(value);
    });
}

/// Returns a value that owns its items, or a std::tuple of such values: `value`, moved if it is an rvalue, or
/// a copy of what a view refers to.
///
/// Errors    shape_error: the items of a lazy expression, or of a view that repeats them, do not fit in
///           memory.
template <class T>
owned_t<T> to_owned(T&& value)
{
    using result_type = owned_t<T>;
    detail::for_each_leaf(detail::leaves(value), [](auto, auto const& each) { check_copied_size(each); });
    if constexpr (std::is_constructible_v<result_type, T>) {
        return result_type(std::forward<T>(value));
    } else if constexpr (is_tuple<bare<T>>) {
        return std::apply(
            [](auto&&... each) {
                return result_type(detail::to_owned(std::forward<decltype(each)>(each))...);
            },
            std::forward<T>(value));
    } else {
        return detail::copy_as<result_type>(value);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
