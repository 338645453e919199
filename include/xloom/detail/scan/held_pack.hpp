#pragma once
// Operands that a function object keeps for a later call.

#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI::detail {

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

} // namespace xloom::inline XLOOM_ABI::detail
