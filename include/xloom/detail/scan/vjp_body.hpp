#pragma once
// A body with parameters, and the recording of its states in a forward pass.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A body for scan, scan_into or loop that calls a body with parameters, and first notes the states of the
/// iteration. The arguments are those of the operator: States of them from FirstState on are states, and the
/// parameters are inserted after the first Before ones.
template <std::size_t FirstState, std::size_t States, std::size_t Before, class Kept, class Body,
    class Params>
class recording_body {
    template <class... Arguments>
    static constexpr bool is_callable()
    {
        using arguments = std::tuple<Arguments...>;
        if constexpr (sizeof...(Arguments) < Before)
            return false;
        else
            return []<std::size_t... I, std::size_t... J, class... Ps>(
                       std::index_sequence<I...>, std::index_sequence<J...>, std::tuple<Ps...> const*) {
                return std::is_invocable_v<Body&, std::tuple_element_t<I, arguments>..., Ps...,
                    std::tuple_element_t<Before + J, arguments>...>;
            }(std::make_index_sequence<Before>{}, std::make_index_sequence<sizeof...(Arguments) - Before>{},
                       static_cast<Params const*>(nullptr));
    }

public:
    recording_body(Kept& kept, Body& body, Params const& params) : kept_(kept), body_(body), params_(params)
    {}

    template <class... Arguments>
        requires(is_callable<Arguments...>())
    decltype(auto) operator()(Arguments&&... arguments)
    {
        std::tuple<Arguments&&...> all(static_cast<Arguments&&>(arguments)...);
        return [&]<std::size_t... S, std::size_t... I, std::size_t... J>(std::index_sequence<S...>,
                   std::index_sequence<I...>,
                   std::index_sequence<J...>) -> decltype(auto) {
            kept_.visit(std::tie(std::as_const(std::get<FirstState + S>(all))...));
            return std::apply(
                body_, std::tuple_cat(std::forward_as_tuple(std::get<I>(std::move(all))...), params_,
                           std::forward_as_tuple(std::get<Before + J>(std::move(all))...)));
        }(std::make_index_sequence<States>{}, std::make_index_sequence<Before>{},
                                                  std::make_index_sequence<sizeof...(Arguments) - Before>{});
    }

private:
    Kept& kept_;
    Body& body_;
    Params const& params_; ///< a tuple of references
};

} // namespace xloom::inline XLOOM_ABI::detail
