#pragma once
// The run of a linear recurrence: a scan of affine maps.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/prefix.hpp>
#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/access.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>
#include <xloom/detail/tensor/operands.hpp>
#include <xloom/detail/tensor/strided_items.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The operands of recurrences: a, b, h0 and h are operands 0 to 3 of their sequences. The layout of h0 has
/// the axis of time, with the stride 0.
template <class T>
struct recurrence_operands {
    strided_items<T const> a, b, h0;
    strided_items<T> h;

    sequences<4> along(std::size_t axis, bool reverse) const
    {
        return {{a.layout, b.layout, h0.layout, h.layout}, axis, reverse};
    }
};

/// The part of recurrences that is done in vectors.
template <class T>
struct lane_recurrences {
    using item = T;
    using offsets = sequences<4>::offsets;

    recurrence_operands<T> const& of;
    sequences<4> const& all;

    /// Runs what is done in vectors. Returns the number of neighbours of each row that are done.
    template <class Run>
    std::size_t operator()(Run const& run) const
    {
        if (run.suits_vectors()) {
            if (detail::are_consecutive<0, 1, 3>(all.time(), 1))
                return run_consecutive<false>(run);
            if (detail::are_consecutive<0, 1, 3>(all.time(), -1))
                return run_consecutive<true>(run);
        }
        bool const has_vectors_of_h0 = all.beside()[2] == 0 || all.beside()[2] == 1;
        return detail::are_consecutive<0, 1, 3>(all.beside(), 1) && has_vectors_of_h0 ? run_neighbours(run)
                                                                                      : 0;
    }

private:
    template <bool Reverse, class Run>
    std::size_t run_consecutive(Run const& run) const
    {
        using access = affine_consecutive_access<T, Reverse>;
        run(0, all.neighbours(), 1, [this](offsets const& at, std::size_t length, std::size_t) {
            return kernel::lane_prefix<kernel::lane_compose<T>, access>(
                access{{of.a.first + at[0]}, {of.b.first + at[1]}, {of.h.first + at[3]}, of.h0.first[at[2]]},
                length, false);
        });
        return all.neighbours();
    }

    template <class Run>
    std::size_t run_neighbours(Run const& run) const
    {
        using map = kernel::affine_map<kernel::lanes_t<T>>;
        return detail::run_vectors_of<T>(all.neighbours(), [&]<class Vectors>(std::size_t neighbours) {
            using strip = kernel::row_prefix<map, kernel::compose, affine_lane_access<T, Vectors>>;
            auto const& time = all.time();
            run(0, neighbours, kernel::lane_count<T> * strip::max_width,
                [&](offsets const& at, std::size_t length, std::size_t width) {
                    return strip({},
                        {{of.a.first + at[0], time[0], 1}, {of.b.first + at[1], time[1], 1},
                            {of.h0.first + at[2], 0, all.beside()[2]}, {of.h.first + at[3], time[3], 1},
                            Vectors{width}},
                        length, vectors_for<T>(width), false);
                });
        });
    }
};

/// Runs the recurrences of the neighbours from `begin` on item by item.
template <class T, class Run>
void run_items(recurrence_operands<T> const& of, sequences<4> const& all, std::size_t begin, Run const& run)
{
    using map = kernel::affine_map<compute_t<T>>;
    using strip = kernel::strip_prefix<map, kernel::compose, affine_access<T>, false>;
    auto const& time = all.time();
    auto const& beside = all.beside();
    run(begin, all.neighbours(), kernel::strip_width<map>,
        [&](auto const& at, std::size_t length, std::size_t width) {
            return strip({},
                {{of.a.first + at[0], time[0], beside[0]}, {of.b.first + at[1], time[1], beside[1]},
                    {of.h0.first + at[2], 0, beside[2]}, {of.h.first + at[3], time[3], beside[3]}},
                length, width, false);
        });
}

/// Runs recurrences along an axis. Requires operands of one shape.
template <class T>
void run_recurrences(
    recurrence_operands<T> const& of, std::size_t axis, bool reverse, policy_ref const& policy)
{
    sequences<4> const all = of.along(axis, reverse);
    if (all.length() == 0 || all.count() == 0)
        return;
    flush_subnormals const flushing;
    whole_axis<sequences<4>> const run{all, detail::parts_for(policy, all.length() * all.count()), policy};
    std::size_t done = 0;
    if constexpr (kernel::has_lanes<T>)
        done = detail::run_in_vectors(vector_level(), lane_recurrences<T>{of, all}, run);
    detail::run_items(of, all, done, run);
}

/// Returns the layout of h0 with the axis of time; of a single number, the same for all sequences.
inline strided_layout layout_in_time(strided_layout const& h0, shape const& dims, std::size_t axis)
{
    if (h0.dims.empty())
        return {dims, strides(dims.size(), 0)};
    return {dims, insert_axis(h0.strides, axis, std::ptrdiff_t{0})};
}

/// Returns a number as a tensor of rank 0, or a tensor of the caller as it is.
template <class T, class H0>
decltype(auto) initial_state(H0 const& h0)
{
    if constexpr (tensor<H0>)
        return (h0);
    else if constexpr (lazy<H0>)
        return detail::to_owned(h0);
    else
        return xt::xtensor_fixed<T, xt::xshape<>>(static_cast<T>(h0));
}

/// The operands of a call, checked, and its axis of time.
template <class T>
struct recurrence_call {
    recurrence_operands<T> operands;
    std::size_t axis;

    shape const& dims() const { return operands.h.layout.dims; }
};

/// Checks the operands of a call. Requires valid types and no lazy operands.
template <class A, class B, class H0, class H>
recurrence_call<item_t<A>> checked_recurrence(
    std::string_view op, A const& a, B const& b, H0 const& h0, H& h, std::int64_t time_axis)
{
    using T = item_t<A>;
    detail::check_named_ranks(op, {"a", "b", "h0", "h"}, std::tie(a, b, h0, h));
    std::array const memory{
        detail::memory_of(a), detail::memory_of(b), detail::memory_of(h0), detail::memory_of(h)};
    std::array<operand_memory, 3> const read{
        {{"a", memory[0], "h"}, {"b", memory[1], "h"}, {"h0", memory[2]}}};
    operand_memory const result("h", memory[3]);
    shape const& dims = read[0].dims();
    std::size_t const axis = check_scanned_axis(op, std::array{read[0], read[1], result}, time_axis);
    check_initial_state(op, read[2], dims, axis);
    check_written(op, std::array{result}, read);
    strided_items<T const> first = detail::items_in<T const>(h0);
    first.layout = layout_in_time(first.layout, dims, axis);
    return {
        {detail::items_in<T const>(a), detail::items_in<T const>(b), first, detail::items_in<T>(h)}, axis};
}

/// Checks the operands and runs the recurrences. Requires valid types and no lazy operands.
template <class A, class B, class H0, class H, class Options, class Policy>
void run_linear_recurrence(std::string_view op, A const& a, B const& b, H0 const& h0, H& h,
    Options const& options, Policy const& policy)
{
    auto const call = detail::checked_recurrence(op, a, b, h0, h, options.axis);
    detail::run_recurrences(call.operands, call.axis, options.reverse, policy_ref(policy));
}

} // namespace xloom::inline XLOOM_ABI::detail
