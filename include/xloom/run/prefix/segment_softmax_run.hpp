#pragma once
// The run of segment_softmax.

#include <concepts>
#include <string_view>
#include <tuple>

#include <xloom/core/aligned_vector.hpp>
#include <xloom/core/cast.hpp>
#include <xloom/kernel/softmax.hpp>
#include <xloom/run/prefix/access.hpp>
#include <xloom/run/prefix/scanned_operands.hpp>
#include <xloom/run/prefix/sequences.hpp>
#include <xloom/tensor/row_split_list.hpp>

namespace xloom::detail {

/// Computes the softmax of a sequence of `count` elements: in place, or in a buffer if there is one.
template <class T>
void softmax_sequence(
    strip_items<T const> const& x, strip_items<T> const& y, std::size_t count, compute_t<T>* buffer)
{
    if constexpr (std::same_as<T, compute_t<T>>)
        if (buffer == nullptr)
            return kernel::softmax(x.first, y.first, count);
    for (std::size_t t = 0; t < count; ++t)
        buffer[t] = static_cast<compute_t<T>>(x(t, 0));
    kernel::softmax(buffer, buffer, count);
    for (std::size_t t = 0; t < count; ++t)
        y(t, 0) = static_cast<T>(buffer[t]);
}

/// Checks the operands and computes the softmax of each segment. Requires valid types.
template <class X, class Splits, class Y, class Policy>
void run_segment_softmax(
    std::string_view name, X const& x, Splits const& row_splits, Y& y, Policy const& policy)
{
    using T = item_t<X>;
    auto const xs = std::tie(x);
    auto const ys = std::tie(y);
    detail::check_ranks(name, "x", xs);
    detail::check_ranks(name, "y", ys);
    scanned_operands<false, std::tuple<X const&>, std::tuple<Y&>> const call("x", xs, "y", ys);
    std::size_t const rows = check_segmented_rows(name, call.operands());
    row_split_list const splits(name, row_splits, rows);
    check_scan_memory(name, call.inputs(), call.results());
    check_splits_memory(name, detail::memory_of(row_splits), call.results());
    sequences<2> const all(call.layouts(), 0, false);
    std::size_t const parts = detail::parts_for(policy, rows * all.count());
    auto const& time = all.time();
    bool const is_contiguous = std::same_as<T, compute_t<T>> && time[0] == 1 && time[1] == 1;
    std::size_t const longest = is_contiguous ? 0 : splits.longest();
    aligned_vector<compute_t<T>> buffers(parts * longest);
    policy.for_each(parts, [&](std::size_t part) {
        std::size_t const end = splits.begin_of_part(part + 1, parts);
        for (std::size_t s = splits.begin_of_part(part, parts); s < end; ++s)
            for (std::size_t i = 0; i < all.count(); i += all.neighbours()) {
                auto const at = all(i);
                auto const first = static_cast<std::ptrdiff_t>(splits.begin(s));
                for (std::size_t c = 0; c < all.neighbours(); ++c) {
                    auto const column = static_cast<std::ptrdiff_t>(c);
                    detail::softmax_sequence<T>(
                        {std::get<0>(call.x) + at[0] + first * time[0] + column * all.beside()[0], time[0],
                            0},
                        {std::get<0>(call.y) + at[1] + first * time[1] + column * all.beside()[1], time[1],
                            0},
                        splits.length(s), longest == 0 ? nullptr : buffers.data() + part * longest);
                }
            }
    });
}

} // namespace xloom::detail
