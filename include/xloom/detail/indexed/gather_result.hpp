#pragma once
// The result of a gather: a new container, or the caller's output.

#include <algorithm>
#include <string_view>

#include <xloom/detail/indexed/checked_indices.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The time at which indices are checked if the result is new: copies of trivial items have no effect but on
/// the result, which is lost if an index is wrong.
template <class Data>
inline constexpr index_check index_check_of_copy =
    std::is_trivially_copyable_v<item_t<Data>> ? index_check::by_block : index_check::before_use;

/// The container of a gathered result: Data's family with this rank.
template <class Data, std::size_t Rank>
using gathered_t = typename enable_tensor<owned_t<Data>>::template rebind<Rank>;

/// Gathers into output, through a row-major copy if its layout is not row-major. Dropped slices keep their
/// values.
template <class Call, tensor Output, class Policy>
void gather_to(Call const& call, Output& output, Policy const& policy)
{
    strided_layout const layout = detail::layout_of(output);
    auto* const items = enable_tensor<Output>::data(output);
    if (is_row_major(layout))
        return call.run(items, policy);
    auto copy = call.may_drop() ? pack_items<item_t<Output>>(items, layout)
                                : make_items<item_t<Output>>(element_count(layout.dims));
    call.run(copy.data(), policy);
    unpack_items(copy, items, layout);
}

/// Returns the output of a call as a new container of Data's family.
///
/// Errors    shape_error: the output does not have the requested rank.  index_error, with
///           index_check::by_block.
template <std::size_t Rank, class Data, class Call, class Policy>
auto gathered(std::string_view op, Call const& call, Policy const& policy)
{
    using result_type = gathered_t<Data, Rank>;
    shape const& dims = call.output_shape();
    if (Rank != dynamic_rank && dims.size() != Rank) {
        call.require_in_range();
        fail<shape_error>(op, ": the output must have the requested rank, but its shape is ", dims,
            " and the requested rank is ", Rank, ". Request ", dims.size(), ".");
    }
    result_type result = enable_tensor<result_type>::make(dims);
    if (call.may_drop())
        std::fill_n(enable_tensor<result_type>::data(result), element_count(dims), item_t<Data>{});
    gather_to(call, result, policy);
    return result;
}

} // namespace xloom::inline XLOOM_ABI::detail
