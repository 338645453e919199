#pragma once
// The values that pure bodies return, and their assignment to carried values.

#include <utility>

#include <xloom/kernel/strided_copy.hpp>
#include <xloom/run/scan/step_memory.hpp>
#include <xloom/tensor/operand_tuple.hpp>

namespace xloom::detail {

/// The type that a step stores for a value: lazy expressions and views become containers while the body's
/// variables exist.
///
/// Why not xtensor's allocator: it allocates aligned memory from the system, three to five times as slow for
/// the small tensors that bodies return. The values are copied into states and outputs at once.
template <class T>
struct stored {
    using type = owned_t<T>;
};
template <class T>
    requires(lazy<T> || tensor_view<T>)
struct stored<T> {
    template <class Item>
    using allocator = std::conditional_t<(alignof(Item) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__),
        step_memory_allocator<Item>, std::allocator<Item>>;
    template <class Owner>
    struct recycled {
        using type = Owner;
    };
    template <class Item, class Allocator, std::size_t Rank, xt::layout_type Layout, class Tag>
    struct recycled<xt::xtensor_container<xt::uvector<Item, Allocator>, Rank, Layout, Tag>> {
        using type = xt::xtensor_container<xt::uvector<Item, allocator<Item>>, Rank, Layout, Tag>;
    };
    template <class Item, class Allocator, xt::layout_type Layout, class Shape, class Tag>
    struct recycled<xt::xarray_container<xt::uvector<Item, Allocator>, Layout, Shape, Tag>> {
        using type = xt::xarray_container<xt::uvector<Item, allocator<Item>>, Layout, Shape, Tag>;
    };
    using type = typename recycled<owned_t<T>>::type;
};
template <class... Ts>
struct stored<std::tuple<Ts...>> {
    using type = std::tuple<typename stored<bare<Ts>>::type...>;
};
template <class T>
using stored_t = typename stored<bare<T>>::type;

/// False if a value may refer to variables of a body that has returned: lazy expressions and views.
template <class T>
inline constexpr bool is_self_contained = !lazy<T> && !tensor_view<T>;
template <class... Ts>
inline constexpr bool is_self_contained<std::tuple<Ts...>> = (is_self_contained<bare<Ts>> && ...);
template <class T>
inline constexpr bool is_self_contained<std::optional<T>> = is_self_contained<T>;
template <class T, class Allocator>
inline constexpr bool is_self_contained<std::vector<T, Allocator>> = is_self_contained<T>;

/// True for a reference, and for a tuple that contains one.
template <class T>
inline constexpr bool is_or_has_reference = std::is_reference_v<T>;
template <class... Ts>
inline constexpr bool is_or_has_reference<std::tuple<Ts...>> = (std::is_reference_v<Ts> || ...);

/// True if the containers that stack values of type Y can construct, copy and align its items; xtensor with
/// xsimd uses one alignment for all items.
template <class Y>
inline constexpr bool every_item_stacks =
    std::is_default_constructible_v<item_t<Y>> && std::is_copy_constructible_v<item_t<Y>> &&
    std::is_copy_assignable_v<item_t<Y>> &&
    (XTENSOR_DEFAULT_ALIGNMENT == 0 || alignof(item_t<Y>) <= XTENSOR_DEFAULT_ALIGNMENT ||
        (tensor<Y> && !expression<Y>));
template <class... Ys>
inline constexpr bool every_item_stacks<std::tuple<Ys...>> = (every_item_stacks<Ys> && ...);

/// A compile-time error of a step, or of a returned value (From) that replaces a carried value (To).
enum class step_fault {
    none,
    reference,
    lazy,
    output,
    output_item,
    count,
    kind,
    item_type,
    rank,
    fixed_shape
};

/// The value type of an optional; T itself for other types.
template <class T>
struct value_in {
    using type = T;
};
template <class T>
struct value_in<std::optional<T>> {
    using type = T;
};

template <class To, class From>
consteval step_fault find_carried_fault()
{
    if constexpr (std::is_same_v<To, From>) {
        return step_fault::none;
    } else if constexpr (tensor<To> && tensor<From>) {
        using to_shape = shape_type_t<To>;
        using from_shape = shape_type_t<From>;
        constexpr std::size_t to_rank = enable_tensor<To>::rank;
        constexpr std::size_t from_rank = enable_tensor<From>::rank;
        if (!std::is_same_v<item_t<To>, item_t<From>>)
            return step_fault::item_type;
        if (to_rank != from_rank && to_rank != dynamic_rank && from_rank != dynamic_rank)
            return step_fault::rank;
        if (is_fixed_shape<to_shape> && is_fixed_shape<from_shape> && !std::is_same_v<to_shape, from_shape>)
            return step_fault::fixed_shape;
        return step_fault::none;
    } else if constexpr (is_optional<To>) {
        if constexpr (std::is_same_v<From, std::nullopt_t>)
            return step_fault::none;
        else
            return find_carried_fault<typename value_in<To>::type, typename value_in<From>::type>();
    } else if constexpr (is_sequence<To>) {
        return step_fault::kind;
    } else {
        return tensor<To> || tensor<From> || has_sequence<From> ? step_fault::kind : step_fault::item_type;
    }
}

template <class State, class Step>
consteval step_fault find_step_fault()
{
    using returned = decltype(Step::state);
    if constexpr (is_or_has_reference<returned> || is_or_has_reference<decltype(Step::scan_outputs)>) {
        return step_fault::reference;
    } else if constexpr (!is_self_contained<returned> || !is_self_contained<decltype(Step::scan_outputs)>) {
        return step_fault::lazy;
    } else if constexpr (!is_stackable<decltype(Step::scan_outputs)>) {
        return step_fault::output;
    } else if constexpr (!every_item_stacks<decltype(Step::scan_outputs)>) {
        return step_fault::output_item;
    } else if constexpr (leaf_count<State> != leaf_count<returned>) {
        return step_fault::count;
    } else {
        return []<class... To, class... From>(std::tuple<To&...> const*, std::tuple<From&...> const*) {
            step_fault first = step_fault::none;
            for (step_fault const each : {step_fault::none, find_carried_fault<To, From>()...})
                if (first == step_fault::none)
                    first = each;
            return first;
        }(static_cast<leaves_t<State>*>(nullptr), static_cast<leaves_t<returned>*>(nullptr));
    }
}

/// False if the type of `to` has a fixed shape or static rank that differs from `from`'s. Two static ones
/// that differ are a step_fault.
template <class To, class From>
bool has_room_for(To const& to, From const& from)
{
    if constexpr (std::is_same_v<To, From> || !tensor<To>)
        return true;
    else if constexpr (is_fixed_shape<shape_type_t<To>>)
        return detail::have_same_shape(to, from);
    else if constexpr (enable_tensor<To>::rank == dynamic_rank ||
                       enable_tensor<To>::rank == enable_tensor<From>::rank)
        return true;
    else
        return enable_tensor<To>::rank == detail::shape_of(from).size();
}

/// Assigns `from` to `to`: moves if the types are equal, otherwise copies the items. Requires types without a
/// step_fault, and has_room_for(to, from).
template <class To, class From>
void assign_carried(To& to, From& from)
{
    if constexpr (std::is_same_v<To, From> || !tensor<To>) {
        to = std::move(from);
    } else {
        if (!detail::have_same_shape(to, from))
            to = enable_tensor<To>::make(detail::shape_of(from));
        detail::copy_items(from, to);
    }
}

} // namespace xloom::detail
