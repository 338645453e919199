#pragma once
// The run of a linear recurrence: a scan of affine maps.

#include <array>
#include <cstddef>

#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/lane_prefix.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/affine_access.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// An operand of any layout.
template <class T>
struct strided_operand {
    T* data;
    strided_layout layout;
};

/// The operands of recurrences. The layout of h0 has the axis of time, with the stride 0.
template <class T>
struct recurrence_operands {
    strided_operand<T const> a, b, h0;
    strided_operand<T> h;

    sequences<4> along(std::size_t axis, bool reverse) const
    {
        return {{a.layout, b.layout, h0.layout, h.layout}, axis, reverse};
    }
};

/// True if a, b and h follow each other with this step.
inline bool are_consecutive_states(sequences<4>::offsets const& steps, std::ptrdiff_t step)
{
    return steps[0] == step && steps[1] == step && steps[3] == step;
}

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
        if (kernel::has_masked_lanes || run.is_long()) {
            if (detail::are_consecutive_states(all.time(), 1))
                return run_consecutive<false>(run);
            if (detail::are_consecutive_states(all.time(), -1))
                return run_consecutive<true>(run);
        }
        bool const has_vectors_of_h0 = all.beside()[2] == 0 || all.beside()[2] == 1;
        return detail::are_consecutive_states(all.beside(), 1) && has_vectors_of_h0 ? run_neighbours(run) : 0;
    }

private:
    template <bool Reverse, class Run>
    std::size_t run_consecutive(Run const& run) const
    {
        using access = affine_consecutive_access<T, Reverse>;
        run(0, all.neighbours(), 1, [this](offsets const& at, std::size_t length, std::size_t) {
            return kernel::lane_prefix<kernel::lane_compose<T>, access>(
                access{{of.a.data + at[0]}, {of.b.data + at[1]}, {of.h.data + at[3]}, of.h0.data[at[2]]},
                length, false);
        });
        return all.neighbours();
    }

    template <class Run>
    std::size_t run_neighbours(Run const& run) const
    {
        using map = kernel::affine_map<kernel::lanes_t<T>>;
        using strip = kernel::row_prefix<map, kernel::compose, affine_lane_access<T>>;
        constexpr std::size_t count = kernel::lane_count<T>;
        std::size_t const whole = all.neighbours() / count * count;
        auto const& time = all.time();
        run(0, whole, count * strip::max_width,
            [&](offsets const& at, std::size_t length, std::size_t width) {
                return strip({},
                    {{of.a.data + at[0], time[0], 1}, {of.b.data + at[1], time[1], 1},
                        {of.h0.data + at[2], 0, all.beside()[2]}, {of.h.data + at[3], time[3], 1}},
                    length, width / count, false);
            });
        return whole;
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
                {{of.a.data + at[0], time[0], beside[0]}, {of.b.data + at[1], time[1], beside[1]},
                    {of.h0.data + at[2], 0, beside[2]}, {of.h.data + at[3], time[3], beside[3]}},
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
    auto const scan = [&](auto const& run) {
        std::size_t done = 0;
        if constexpr (kernel::has_lanes<T>)
            done = detail::scan_lanes(vector_level(), lane_recurrences<T>{of, all}, run);
        detail::run_items(of, all, done, run);
    };
    detail::scan_whole_axis(scan, all, detail::parts_for(policy, all.length() * all.count()), policy);
}

/// Returns the layout of h0 with the axis of time; of a single number, the same for all sequences.
inline strided_layout layout_in_time(strided_layout const& h0, shape const& dims, std::size_t axis)
{
    if (h0.dims.empty())
        return {dims, strides(dims.size(), 0)};
    return {dims, insert_axis(h0.strides, axis, std::ptrdiff_t{0})};
}

} // namespace xloom::inline XLOOM_ABI::detail
