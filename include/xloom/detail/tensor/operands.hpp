#pragma once
// The operands of a call: inputs evaluated into memory, shapes and memory blocks.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The type of an input during a call: a reference to a tensor, or a container for a lazy expression, which
/// is evaluated once, before the first iteration.
template <class X>
using input_t = std::conditional_t<lazy<X>, owned_t<X> const, X const&>;

template <class Operands>
auto evaluated_inputs(Operands const& inputs)
{
    detail::check_evaluated_sizes(inputs);
    return std::apply([](auto&... input) { return std::tuple<input_t<bare<decltype(input)>>...>(input...); },
        detail::leaves(inputs));
}

/// The values of an argument, evaluated when it is constructed.
template <class Operands>
struct evaluated_argument {
    decltype(detail::evaluated_inputs(std::declval<Operands const&>())) values;

    explicit evaluated_argument(Operands const& inputs) : values(detail::evaluated_inputs(inputs)) {}
};

/// True unless the type of an operand shows that its rank is at most max_rank.
template <class X>
inline constexpr bool may_exceed_max_rank = lazy<X>;
template <tensor X>
inline constexpr bool may_exceed_max_rank<X> = (enable_tensor<bare<X>>::rank > max_rank); // or dynamic_rank

/// True unless the type of an operand shows that its items are as many as its memory holds.
template <class X>
inline constexpr bool may_repeat_items = tensor<X> && !is_always_row_major<bare<X>>;

/// Requires that operand i of a name, a tensor or a scalar, has a rank of at most max_rank and a
/// representable size.
template <class X>
void check_extent(std::string_view op, std::string_view name, std::size_t i, X const& operand)
{
    check_rank(op, name, detail::rank_of(operand), i);
    if constexpr (may_repeat_items<X>)
        check_operand_size(op, name, detail::shape_of(operand), sizeof(item_t<X>), i);
}

/// Requires that every operand, a tensor or a scalar, has a rank of at most max_rank and a representable
/// size. Costs nothing in a loop whose types show it.
template <class... Xs>
void check_extents(std::string_view op, std::string_view name, std::tuple<Xs...> const& operands)
{
    if constexpr (((may_exceed_max_rank<bare<Xs>> || may_repeat_items<bare<Xs>>) || ...))
        detail::for_each_leaf(
            operands, [&](auto i, auto const& operand) { detail::check_extent(op, name, i, operand); });
}
template <class X>
void check_extents(std::string_view op, std::string_view name, std::vector<X> const& operands)
{
    for (std::size_t i = 0; i < operands.size(); ++i)
        detail::check_extent(op, name, i, operands[i]);
}

/// Requires that operands that have names of their own have a rank of at most max_rank.
template <class... Xs>
void check_named_ranks(std::string_view op, std::array<std::string_view, sizeof...(Xs)> const& names,
    std::tuple<Xs...> const& operands)
{
    if constexpr ((may_exceed_max_rank<bare<Xs>> || ...))
        detail::for_each_leaf(operands,
            [&](auto i, auto const& operand) { check_rank(op, names[i], detail::rank_of(operand)); });
}

template <class... Xs>
std::array<shape, sizeof...(Xs)> shapes_of(std::tuple<Xs...> const& operands)
{
    return std::apply(
        [](auto const&... operand) { return std::array<shape, sizeof...(Xs)>{detail::shape_of(operand)...}; },
        operands);
}

template <class X>
memory_block memory_of(X const& value)
{
    if constexpr (tensor<X>)
        return {reinterpret_cast<std::uintptr_t>(enable_tensor<bare<X>>::data(value)), sizeof(item_t<X>),
            detail::layout_of(value)};
    else
        return {reinterpret_cast<std::uintptr_t>(std::addressof(value)), sizeof(X), {}};
}

/// Returns the operands' memory blocks; the caller sets the time axis and the direction of inputs and
/// outputs.
template <class... Xs>
std::array<traversal, sizeof...(Xs)> traversals_of(std::tuple<Xs...> const& operands)
{
    return std::apply(
        [](auto const&... operand) {
            return std::array<traversal, sizeof...(Xs)>{traversal{detail::memory_of(operand)}...};
        },
        operands);
}

/// True if the operand is neither const nor a view of const memory.
template <class X>
struct is_writable : std::bool_constant<!std::is_const_v<X>> {};
template <tensor X>
struct is_writable<X>
    : std::bool_constant<!std::is_const_v<X> &&
                         !std::is_const_v<std::remove_pointer_t<decltype(enable_tensor<bare<X>>::data(
                             std::declval<X&>()))>>> {};

/// Calls f(tensor) for the tensors in a sequence or an optional.
template <class X, class F>
void for_each_held_tensor([[maybe_unused]] X const& value, [[maybe_unused]] F const& f)
{
    if constexpr (tensor<X>) {
        f(value);
    } else if constexpr (is_optional<X>) {
        if (value)
            detail::for_each_held_tensor(*value, f);
    } else if constexpr (is_sequence<X>) {
        for (auto const& each : value)
            detail::for_each_held_tensor(each, f);
    }
}

/// True for a tensor that does not own its items, and for a sequence or an optional of such tensors.
template <class X>
inline constexpr bool holds_views = tensor_view<X>;
template <class X, class Allocator>
inline constexpr bool holds_views<std::vector<X, Allocator>> =
    !tensor<std::vector<X, Allocator>> && holds_views<X>;
template <class X>
inline constexpr bool holds_views<std::optional<X>> = holds_views<X>;

/// Requires that the tensors that sequences and optionals among written values hold share no memory with each
/// other, unless both are views of const memory. Requires ranks of at most max_rank.
///
/// Errors    overlap_error
/// Cost      nothing without views; with views a comparison for every pair.
template <class... Xs>
void check_held_views(std::string_view op, std::string_view name, std::tuple<Xs...> const& values)
{
    if constexpr ((holds_views<bare<Xs>> || ...)) {
        std::vector<std::pair<std::size_t, traversal>> writable, constant;
        detail::for_each_leaf(values, [&]<class X>(auto i, X const& value) {
            if constexpr (has_sequence<X>)
                detail::for_each_held_tensor(value, [&]<class Item>(Item const& item) {
                    auto& memory = is_writable<Item>::value ? writable : constant;
                    memory.emplace_back(i, traversal{detail::memory_of(item)});
                });
        });
        auto const named = [&](auto const& memory, std::string_view may_be) {
            std::vector<operand_memory> all;
            for (auto const& [i, along] : memory)
                all.emplace_back(name, i, along, may_be);
            return all;
        };
        check_written(op, named(writable, "no other tensor"), named(constant, name));
    }
}

/// Requires that the tensors that sequences and optionals among values hold share no memory with what is
/// written: `others`, and the other values where the values are written, too.
///
/// Errors    overlap_error; shape_error: a tensor's rank exceeds max_rank.
template <bool AreWritten, class... Xs>
void check_held_tensors(std::string_view op, std::string_view name, std::tuple<Xs...> const& values,
    std::span<operand_memory const> others)
{
    auto const traversals = detail::traversals_of(values);
    detail::for_each_leaf(values, [&]<class X>(auto i, X const& value) {
        if constexpr (has_sequence<X>)
            detail::for_each_held_tensor(value, [&](auto const& item) {
                check_rank(op, name, detail::rank_of(item), i);
                traversal const memory{detail::memory_of(item)};
                std::array const held{operand_memory(name, i, memory, "no other tensor")};
                if constexpr (AreWritten) {
                    auto rest = numbered(name, traversals);
                    rest[i] = {};
                    check_written(op, held, rest);
                    check_written(op, held, others);
                } else {
                    check_written(op, others, held);
                }
            });
    });
    if constexpr (AreWritten)
        detail::check_held_views(op, name, values);
}

/// True if an X refers to items of another object, so that what a call writes to a temporary one is not lost.
/// Weaker than is_borrowed: that object may be a temporary, too, which lives until the call's end.
template <class X>
inline constexpr bool refers_to_items = is_borrowed<X>;

/// True if no value of an argument is a temporary that owns its items: lvalues, std::tie, views of variables
/// by value.
template <class Operands>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<Operands> || refers_to_items<std::remove_cvref_t<Operands>>;
template <class... Ts>
inline constexpr bool outlives_call<std::tuple<Ts...>> = (outlives_call<Ts> && ...);

} // namespace xloom::inline XLOOM_ABI::detail
