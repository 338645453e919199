#pragma once
// The runs of segment_softmax and of its derivative.

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/row_splits.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/prefix/access.hpp>
#include <xloom/detail/prefix/operands.hpp>
#include <xloom/detail/prefix/requirements.hpp>
#include <xloom/detail/prefix/strips.hpp>
#include <xloom/detail/tensor/row_split_list.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The requirements of a softmax of segments.
template <class X, class Splits, class... Env>
using softmax_types = requirements<at_most_a_policy<Env...>, with_an_axis<X>, floating_point_elements<X>,
    splits_of_rows<Splits>>;

/// The requirements of the derivative of a softmax of segments.
template <class Y, class Splits, class Ct, class... Env>
using softmax_vjp_types =
    requirements<softmax_types<Y, Splits, Env...>, with_an_axis<Ct>, one_element_type<Y, Ct>>;

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

/// Computes the cotangents of a sequence of `count` elements from those of its softmax y, or adds them to
/// ct_x.
template <class T>
void softmax_cotangents(strip_items<T const> const& y, strip_items<T const> const& ct_y,
    strip_items<T> const& ct_x, std::size_t count, bool is_added)
{
    using V = compute_t<T>;
    using sum_type = std::conditional_t<std::same_as<V, float>, double, V>; // long sums of floats stay exact
    auto const at = [](auto const& items, std::size_t t) { return static_cast<V>(items(t, 0)); };
    sum_type sum = 0;
    for (std::size_t t = 0; t < count; ++t)
        sum = kernel::product_plus(static_cast<sum_type>(at(ct_y, t)), static_cast<sum_type>(at(y, t)), sum);
    auto const slope = [&](std::size_t t) { return static_cast<V>(at(ct_y, t) - static_cast<V>(sum)); };
    if (is_added)
        for (std::size_t t = 0; t < count; ++t)
            ct_x(t, 0) = static_cast<T>(kernel::product_plus(at(y, t), slope(t), at(ct_x, t)));
    else
        for (std::size_t t = 0; t < count; ++t)
            ct_x(t, 0) = static_cast<T>(at(y, t) * slope(t));
}

/// Calls f(part, offsets of the first element, number of elements) for each sequence of each segment that has
/// elements.
template <class Sequences, class F, class Policy>
void for_each_segment_sequence(
    row_split_list const& splits, Sequences const& all, std::size_t parts, F const& f, Policy const& policy)
{
    splits.for_each_part(policy, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s) {
            if (splits.length(s) == 0)
                continue; // it may begin past the last row
            for (std::size_t i = 0; i < all.count(); i += all.neighbours()) {
                auto at = all(i);
                for (std::size_t k = 0; k < at.size(); ++k)
                    at[k] += static_cast<std::ptrdiff_t>(splits.begin(s)) * all.time()[k];
                for (std::size_t c = 0; c < all.neighbours(); ++c) {
                    f(part, at, splits.length(s));
                    for (std::size_t k = 0; k < at.size(); ++k)
                        at[k] += all.beside()[k];
                }
            }
        }
    });
}

/// Checks the operands and computes the softmax of each segment. Requires valid types.
template <class X, class Splits, class Y, class Policy>
void run_segment_softmax(
    std::string_view name, X const& x, Splits const& row_splits, Y& y, Policy const& policy)
{
    using T = item_t<X>;
    auto const xs = std::tie(x);
    auto const ys = std::tie(y);
    scanned_operands<false, std::tuple<X const&>, std::tuple<Y&>> const call(
        name, "x", xs, "y", ys, in_place);
    std::size_t const rows = check_segmented_rows(name, call.operands());
    row_split_list const splits(name, row_splits, rows);
    check_written(name, call.results(), call.inputs());
    check_apart_from_splits(name, call.results(), row_splits);
    if (rows == 0)
        return;
    sequences<2> const all(call.layouts(), 0, false);
    std::size_t const parts = detail::parts_for(policy, rows * all.count());
    auto const& time = all.time();
    bool const is_contiguous = std::same_as<T, compute_t<T>> && time[0] == 1 && time[1] == 1;
    std::size_t const longest = is_contiguous ? 0 : splits.longest();
    aligned_vector<compute_t<T>> buffers(parts * longest);
    detail::for_each_segment_sequence(
        splits, all, parts,
        [&](std::size_t part, sequences<2>::offsets const& at, std::size_t length) {
            detail::softmax_sequence<T>({std::get<0>(call.x) + at[0], time[0], 0},
                {std::get<0>(call.y) + at[1], time[1], 0}, length,
                longest == 0 ? nullptr : buffers.data() + part * longest);
        },
        policy);
}

/// Checks the operands and computes the cotangents of each segment, or adds them. Requires valid types.
template <class Y, class Splits, class Ct, class CtX, class Policy>
void run_segment_softmax_vjp(std::string_view name, Y const& y, Splits const& row_splits, Ct const& ct_y,
    CtX& ct_x, bool is_added, Policy const& policy)
{
    using T = item_t<Y>;
    detail::check_named_ranks(name, {"y", "ct_y", "ct_x", "row_splits"}, std::tie(y, ct_y, ct_x, row_splits));
    std::array const memory{detail::memory_of(y), detail::memory_of(ct_y), detail::memory_of(ct_x),
        detail::memory_of(row_splits)};
    operand_memory const result("ct_x", memory[2]);
    std::array<operand_memory, 3> const read{
        {{"y", memory[0]}, {"ct_y", memory[1]}, {"row_splits", memory[3]}}};
    std::size_t const rows = check_segmented_rows(name, std::array{read[0], read[1], result});
    row_split_list const splits(name, row_splits, rows);
    check_written(name, std::array{result}, read);
    if (rows == 0)
        return;
    sequences<3> const all({memory[0].layout, memory[1].layout, memory[2].layout}, 0, false);
    auto const& time = all.time();
    T const* const y_items = enable_tensor<bare<Y>>::data(y);
    T const* const ct_y_items = enable_tensor<bare<Ct>>::data(ct_y);
    T* const ct_x_items = enable_tensor<bare<CtX>>::data(ct_x);
    detail::for_each_segment_sequence(
        splits, all, detail::parts_for(policy, rows * all.count()),
        [&](std::size_t, sequences<3>::offsets const& at, std::size_t length) {
            detail::softmax_cotangents<T>({y_items + at[0], time[0], 0}, {ct_y_items + at[1], time[1], 0},
                {ct_x_items + at[2], time[2], 0}, length, is_added);
        },
        policy);
}

} // namespace xloom::inline XLOOM_ABI::detail
