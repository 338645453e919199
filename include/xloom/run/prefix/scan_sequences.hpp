#pragma once
// The choice of a kernel for a parallel scan, by layout, element type and operator.

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <xloom/core/number.hpp>
#include <xloom/core/partition.hpp>
#include <xloom/core/tuning.hpp>
#include <xloom/kernel/lane_prefix.hpp>
#include <xloom/kernel/lane_reduction.hpp>
#include <xloom/kernel/row_prefix.hpp>
#include <xloom/kernel/strip_prefix.hpp>
#include <xloom/run/prefix/access.hpp>
#include <xloom/run/prefix/run_strips.hpp>
#include <xloom/run/prefix/sequences.hpp>

namespace xloom::detail {

/// An operator on elements of type V, by reference: it is called by several threads.
template <class V, class Op>
struct operator_ref {
    Op* op;

    V operator()(V const& a, V const& b) const { return static_cast<V>((*op)(a, b)); }
};

/// True if the operator is a reduction of numbers, so that it costs less than to read a prefix again.
template <class V, class Op>
inline constexpr bool is_cheap = kernel::has_lane_form<std::remove_const_t<Op>> && (std::is_arithmetic_v<V>);

/// Returns the number of parts for a scan: at least 1.
template <class V, class Op, class Policy>
std::size_t scan_parts(std::size_t elements, Policy const& policy)
{
    constexpr std::size_t least =
        is_cheap<V, Op> ? tuning::elements_per_thread : tuning::scanned_elements_per_thread;
    return std::max<std::size_t>(std::min<std::size_t>(elements / least, policy.concurrency()), 1);
}

/// The strips of at most `width` neighbours into which `neighbours` of them are divided.
struct strip_grid {
    std::size_t neighbours;
    std::size_t width;

    std::size_t per_row() const { return (neighbours + width - 1) / width; }
    std::size_t begin(std::size_t strip) const { return strip % per_row() * width; }
    std::size_t size(std::size_t strip) const { return (std::min)(width, neighbours - begin(strip)); }
};

/// Runs strips of the neighbours begin .. end - 1 of every row of sequences. make(first sequence, neighbours)
/// makes one.
template <class Sequences, class Make, class Policy>
void run_strips_of_rows(Sequences const& all, std::size_t begin, std::size_t end, std::size_t width,
    std::size_t parts, Make const& make, Policy const& policy)
{
    if (begin == end)
        return;
    strip_grid const grid{end - begin, width};
    std::size_t const rows = all.count() / all.neighbours();
    detail::run_strips(
        rows * grid.per_row(), parts,
        [&](std::size_t i) {
            std::size_t const row = i / grid.per_row();
            return make(row * all.neighbours() + begin + grid.begin(i), grid.size(i));
        },
        policy);
}

/// Scans sequences of items, operands x and y, item by item.
template <class T, class Op, class Policy>
void scan_items(T const* x, T* y, sequences<2> const& all, std::size_t begin, T const* start, bool exclusive,
    Op& op, std::size_t parts, Policy const& policy)
{
    using ref = operator_ref<T, Op>;
    using strip = kernel::strip_prefix<T, ref, item_access<T>, !is_cheap<T, Op>>;
    auto const make = [&](std::size_t first, std::size_t width) {
        auto const at = all(first);
        return strip(ref{&op},
            {{x + at[0], all.time()[0], all.beside()[0]}, {y + at[1], all.time()[1], all.beside()[1]}, start},
            all.length(), width, exclusive);
    };
    detail::run_strips_of_rows(all, begin, all.neighbours(), kernel::strip_width<T>, parts, make, policy);
}

/// Scans sequences whose items are consecutive, each in vectors.
template <bool Reverse, class Ops, class T, class Policy>
void scan_consecutive(T const* x, T* y, sequences<2> const& all, T const* start, bool exclusive,
    std::size_t parts, Policy const& policy)
{
    using access = consecutive_access<T, Reverse>;
    auto const make = [&](std::size_t first, std::size_t) {
        auto const at = all(first);
        return kernel::lane_prefix<Ops, access>(
            access{{x + at[0]}, {y + at[1]}, start != nullptr ? *start : Ops::neutral()}, all.length(),
            exclusive);
    };
    detail::run_strips_of_rows(all, 0, all.neighbours(), 1, parts, make, policy);
}

/// Scans sequences whose neighbours are consecutive, in vectors of neighbours. Returns the number of
/// neighbours of each row that are done: whole vectors.
template <class Ops, class T, class Policy>
std::size_t scan_neighbours(T const* x, T* y, sequences<2> const& all, T const* start, bool exclusive,
    std::size_t parts, Policy const& policy)
{
    using lanes = kernel::lanes_t<T>;
    using strip = kernel::row_prefix<lanes, Ops, lane_access<T>>;
    constexpr std::size_t count = kernel::lane_count<T>;
    std::size_t const whole = all.neighbours() / count * count;
    auto const make = [&](std::size_t first, std::size_t width) {
        auto const at = all(first);
        return strip(Ops{},
            {{x + at[0], all.time()[0], 1}, {y + at[1], all.time()[1], 1},
                start != nullptr ? *start : Ops::neutral()},
            all.length(), width / count, exclusive);
    };
    detail::run_strips_of_rows(all, 0, whole, count * kernel::row_width<lanes>, parts, make, policy);
    return whole;
}

/// True if the elements of all operands follow each other with this step.
template <std::size_t K>
bool are_consecutive(std::array<std::ptrdiff_t, K> const& steps, std::ptrdiff_t step)
{
    return std::all_of(steps.begin(), steps.end(), [&](std::ptrdiff_t each) { return each == step; });
}

/// Scans the sequences of x into y, beginning with *start if it is given.
template <class T, class Op, class Policy>
void scan_sequences(
    T const* x, T* y, sequences<2> const& all, T const* start, bool exclusive, Op& op, Policy const& policy)
{
    if (all.length() == 0 || all.count() == 0)
        return;
    std::size_t const parts = detail::scan_parts<T, Op>(all.length() * all.count(), policy);
    std::size_t done = 0;
    if constexpr (kernel::has_lane_form<std::remove_const_t<Op>> && kernel::has_lanes<T>) {
        using ops = kernel::lane_reduction<std::remove_const_t<Op>, T>;
        if (all.length() >= kernel::elements_per_group) {
            if (detail::are_consecutive(all.time(), 1))
                return detail::scan_consecutive<false, ops>(x, y, all, start, exclusive, parts, policy);
            if (detail::are_consecutive(all.time(), -1))
                return detail::scan_consecutive<true, ops>(x, y, all, start, exclusive, parts, policy);
        }
        if (detail::are_consecutive(all.beside(), 1))
            done = detail::scan_neighbours<ops>(x, y, all, start, exclusive, parts, policy);
    }
    detail::scan_items(x, y, all, done, start, exclusive, op, parts, policy);
}

} // namespace xloom::detail
