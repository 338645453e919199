#pragma once
// A scatter in place, into a copy of data, or into data that is moved in.

#include <utility>

#include <xloom/detail/indexed/scatter_copy.hpp>
#include <xloom/detail/indexed/updates_operand.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// True if data is updated in place and then moved into the result. A trivially copyable type is copied: it
/// may be a view.
template <class Data>
inline constexpr bool is_moved_in = !std::is_reference_v<Data> && !std::is_const_v<Data> &&
                                    !tensor_view<Data> && !std::is_trivially_copyable_v<Data>;

/// Runs a scatter in place, in a copy of data, or in data that is moved in; the latter is moved into the
/// result last, so that no error loses it. Call<Indices, Updates, IsBroadcast> checks the operands: its
/// constructor has the parameters of scatter_call's, and `more`.
template <bool InPlace, template <class, class, bool> class Call, class Data, class Indices, class Updates,
    class Reduce, class Policy, class... More>
auto scatter(indexed_names const& op, Data&& data, Indices const& indices, Updates const& updates,
    Reduce& reduce, scatter_rules const& options, Policy const& policy, More const&... more)
{
    if constexpr (lazy<bare<Data>>) {
        detail::check_evaluated_size(data);
        return detail::scatter<false, Call>(
            op, owned_t<Data>(data), indices, updates, reduce, options, policy, more...);
    } else {
        auto const& operand = detail::operand_of<item_t<Data>>(op, updates);
        auto const [index_tensor, update_tensor] = detail::evaluated_inputs(std::tie(indices, operand));
        check_rank(op, op.data, detail::rank_of(data));
        check_rank(op, "indices", detail::rank_of(index_tensor));
        check_rank(op, op.updates, detail::rank_of(update_tensor));
        scatter_rules const chosen = detail::rules_with(reduce, options);
        constexpr bool is_copying = !InPlace && !is_moved_in<Data>;
        index_check when = index_check::before_use;
        if constexpr (is_copying)
            when = detail::index_check_of<bare<Data>, Reduce, Policy>(chosen, reduce);
        Call<bare<decltype(index_tensor)>, bare<decltype(update_tensor)>, is_broadcast<Updates>> const call(
            op, data, index_tensor, update_tensor, chosen, when, more...);
        check_reduction<item_t<Data>, Reduce>(op, chosen);
        if constexpr (is_copying) {
            return detail::scattered_copy(call, data, reduce, policy);
        } else {
            check_scatter_overlap(op, detail::memory_of(data), detail::memory_of(index_tensor),
                detail::memory_of(update_tensor));
            detail::run_scatter_nd(call, data, reduce, policy);
            if constexpr (!InPlace)
                return owned_t<Data>(std::move(data));
        }
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
