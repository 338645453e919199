#pragma once
// Operands that a function object keeps for a later call.

#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/tensor/operand_tuple.hpp>

namespace xloom::detail {

/// The type in which an argument X&& is kept: variables of tensor types by reference, other values as owned
/// ones.
template <class X>
using held_t =
    std::conditional_t<std::is_lvalue_reference_v<X> && tensor<bare<X>>, bare<X> const&, owned_t<X>>;

/// Returns the values of a pack to keep, as a tuple.
template <class Pack>
auto hold(Pack&& pack)
{
    if constexpr (is_tuple<bare<Pack>>)
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<held_t<decltype(std::get<I>(static_cast<Pack&&>(pack)))>...>(
                std::get<I>(static_cast<Pack&&>(pack))...);
        }(std::make_index_sequence<std::tuple_size_v<bare<Pack>>>{});
    else
        return std::tuple<held_t<Pack&&>>(static_cast<Pack&&>(pack));
}

template <class Pack>
using held_pack_t = decltype(detail::hold(std::declval<Pack>()));

/// Returns a value of 0 for a cotangent of `value`: a tensor of its shape, or a scalar.
template <class X>
owned_t<X> zeros_like(X const& value)
{
    if constexpr (tensor<X>) {
        auto zeros = enable_tensor<owned_t<X>>::make(detail::shape_of(value));
        std::fill_n(
            enable_tensor<owned_t<X>>::data(zeros), element_count(detail::shape_of(value)), item_t<X>(0));
        return zeros;
    } else {
        return owned_t<X>(0);
    }
}

/// Returns zeros for the cotangents of the values of a pack, as a pack of owned values.
template <class Pack, class... Xs>
owned_t<Pack> zeros_like_pack(std::tuple<Xs...> const& values)
{
    return std::apply(
        [](auto const&... value) { return owned_t<Pack>(detail::zeros_like(value)...); }, values);
}

} // namespace xloom::detail
