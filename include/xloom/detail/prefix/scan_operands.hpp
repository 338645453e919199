#pragma once
// Parallel scans of one operand, or of tuples of several.

#include <string_view>
#include <tuple>

#include <xloom/detail/prefix/scan_operator.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>
#include <xloom/detail/prefix/scanned_operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the scan of the operands of a call. `start` is the value before the first element, or null.
template <bool IsTuple, class Call, class V, class Op>
auto scan_of(Call const& call, sequences<Call::count> const& all, V const* start, bool exclusive, Op& op)
{
    if constexpr (IsTuple)
        return std::apply(
            [&]<class... Ts>(Ts*...) {
                return tuple_scan<Op, Ts...>{call.x, call.y, all, start, exclusive, op};
            },
            call.y);
    else
        return item_scan<V, Op>{std::get<0>(call.x), std::get<0>(call.y), all, start, exclusive, op};
}

/// Returns a new tensor of the shape of another one, which an error text calls `name`.
template <class X>
owned_t<X> make_like(std::string_view op, std::string_view name, X const& x)
{
    check_rank(op, name, detail::rank_of(x));
    return make_tensor<owned_t<X>>(op, "the result", detail::shape_of(x));
}

/// Returns a tuple of new tensors of the shapes of others.
template <class Inputs>
auto make_all_like(std::string_view op, Inputs const& inputs)
{
    return std::apply(
        [&](auto const&... x) {
            return std::tuple<owned_t<decltype(x)>...>(detail::make_like(op, "xs", x)...);
        },
        inputs);
}

} // namespace xloom::inline XLOOM_ABI::detail
