#pragma once
// The engine of scans over ranks: each rank reduces its whole blocks, receives the state of the scan from the
// rank before it, passes it on, and writes its results.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>
#include <xloom/detail/prefix/access.hpp>
#include <xloom/detail/prefix/rank_blocks.hpp>
#include <xloom/detail/prefix/scan_sequences.hpp>
#include <xloom/detail/prefix/strips.hpp>

namespace xloom::inline XLOOM_ABI::detail {

// Each of these types has
//
//     value_type, op()         the values and the operation
//     state, count             the index of the state among the operands, and their number; the last operand
//                              is the result
//     moved(offsets)           the same scan of operands that begin at other elements
//     has_initial(), initial(offsets)
//     access(offsets, sequences)       elements one by one
//     with_strips(sequences, f)        calls f(strips...), which together are all sequences

/// A scan of one operand x into y.
template <class T, class Op>
struct rank_item_scan {
    using value_type = T;
    static constexpr std::size_t state = 1, count = 3;
    using all_sequences = sequences<count>;
    using offsets = typename all_sequences::offsets;

    T const* x;
    T* y;
    T const* start; ///< the value before the first element, or null
    bool exclusive;
    Op* function;

    /// The scan of operands that begin at other elements.
    rank_item_scan moved(offsets const& to) const
    {
        return {detail::moved_by(x, to[0]), detail::moved_by(y, to[2]), start, exclusive, function};
    }

    element_operator<T, Op> op() const { return detail::element_operator_of<T>(*function); }
    bool has_initial() const { return start != nullptr; }
    T const& initial(offsets const&) const { return *start; }

    item_access<T> access(offsets const& at, all_sequences const& all) const
    {
        return {{x + at[0], all.time()[0], all.beside()[0]}, {y + at[2], all.time()[2], all.beside()[2]},
            nullptr};
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        if constexpr (kernel::has_lane_form<std::remove_const_t<Op>> && kernel::has_lanes<T>) {
            if (detail::are_consecutive<0, 2>(all.time(), 1))
                return f(consecutive<false>(all));
            if (detail::are_consecutive<0, 2>(all.time(), -1))
                return f(consecutive<true>(all));
            if (detail::are_consecutive<0, 2>(all.beside(), 1)) {
                std::size_t const whole = all.neighbours() / kernel::lane_count<T> * kernel::lane_count<T>;
                return f(vectors(all, whole), items(all, whole));
            }
        }
        f(items(all, 0));
    }

private:
    auto items(all_sequences const& all, std::size_t begin) const
    {
        using strip = kernel::strip_prefix<T, element_operator<T, Op>, item_access<T>, keeps_prefixes<T, Op>>;
        return strips_between<T>(begin, all.neighbours(), kernel::strip_width<T>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip(op(), access(at, all), length, width, exclusive);
            });
    }
    template <bool Reverse>
    auto consecutive(all_sequences const& all) const
    {
        using ops = kernel::lane_reduction<std::remove_const_t<Op>, T>;
        using access_type = consecutive_access<T, Reverse>;
        return strips_between<T>(
            0, all.neighbours(), 1,
            [this](offsets const& at, std::size_t length, std::size_t) {
                return kernel::lane_prefix<ops, access_type>(
                    access_type{{x + at[0]}, {y + at[2]}, ops::neutral()}, length, exclusive);
            },
            ops::neutral());
    }
    auto vectors(all_sequences const& all, std::size_t end) const
    {
        using ops = kernel::lane_reduction<std::remove_const_t<Op>, T>;
        using lanes = kernel::lanes_t<T>;
        return strips_between<lanes>(
            0, end, kernel::lane_count<T> * kernel::row_width<lanes>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return kernel::row_prefix<lanes, ops, lane_access<T, whole_vectors>>(ops{},
                    {{x + at[0], all.time()[0], 1}, {y + at[2], all.time()[2], 1}, ops::neutral(),
                        ops::neutral(), whole_vectors{width}},
                    length, width / kernel::lane_count<T>, exclusive);
            },
            kernel::broadcast(ops::neutral()));
    }
};

/// A scan of tuples, of which each operand holds one member.
template <class Op, class... Ts>
struct rank_tuple_scan {
    using value_type = std::tuple<Ts...>;
    static constexpr std::size_t state = sizeof...(Ts), count = 2 * sizeof...(Ts) + 1;
    using all_sequences = sequences<count>;
    using offsets = typename all_sequences::offsets;

    std::tuple<Ts const*...> x;
    std::tuple<Ts*...> y;
    value_type const* start;
    bool exclusive;
    Op* function;

    rank_tuple_scan moved(offsets const& to) const
    {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return rank_tuple_scan{{detail::moved_by(std::get<K>(x), to[K])...},
                {detail::moved_by(std::get<K>(y), to[state + 1 + K])...}, start, exclusive, function};
        }(std::index_sequence_for<Ts...>{});
    }

    operator_ref<value_type, Op> op() const { return {function}; }
    bool has_initial() const { return start != nullptr; }
    value_type const& initial(offsets const&) const { return *start; }

    tuple_access<Ts...> access(offsets const& at, all_sequences const& all) const
    {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            constexpr std::size_t first = state + 1;
            return tuple_access<Ts...>{{{std::get<K>(x) + at[K], all.time()[K], all.beside()[K]}...},
                {{std::get<K>(y) + at[first + K], all.time()[first + K], all.beside()[first + K]}...},
                nullptr};
        }(std::index_sequence_for<Ts...>{});
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        using strip =
            kernel::strip_prefix<value_type, operator_ref<value_type, Op>, tuple_access<Ts...>, true>;
        f(strips_between<value_type>(0, all.neighbours(), kernel::strip_width<value_type>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip(op(), access(at, all), length, width, exclusive);
            }));
    }
};

/// Linear recurrences with the coefficients a and b, the first states h0 and the states h.
template <class T>
struct rank_recurrence {
    using number = typename affine_access<T>::C;
    using value_type = kernel::affine_map<number>;
    static constexpr std::size_t state = 3, count = 5;
    static constexpr bool exclusive = false;
    using all_sequences = sequences<count>;
    using offsets = all_sequences::offsets;

    T const* a;
    T const* b;
    T const* h0;
    T* h;

    rank_recurrence moved(offsets const& to) const
    {
        return {detail::moved_by(a, to[0]), detail::moved_by(b, to[1]), detail::moved_by(h0, to[2]),
            detail::moved_by(h, to[4])};
    }

    static constexpr kernel::compose op() { return {}; }
    static constexpr bool has_initial() { return true; }
    value_type initial(offsets const& at) const { return {number{}, static_cast<number>(h0[at[2]])}; }

    affine_access<T> access(offsets const& at, all_sequences const& all) const
    {
        auto const& time = all.time();
        auto const& beside = all.beside();
        return {{a + at[0], time[0], beside[0]}, {b + at[1], time[1], beside[1]}, {h0 + at[2], 0, beside[2]},
            {h + at[4], time[4], beside[4]}};
    }

    template <class F>
    void with_strips(all_sequences const& all, F const& f) const
    {
        if constexpr (kernel::has_lanes<T>) {
            if (detail::are_consecutive<0, 1, 4>(all.time(), 1))
                return f(consecutive<false>(all));
            if (detail::are_consecutive<0, 1, 4>(all.time(), -1))
                return f(consecutive<true>(all));
            if (detail::are_consecutive<0, 1, 4>(all.beside(), 1)) {
                std::size_t const whole = all.neighbours() / kernel::lane_count<T> * kernel::lane_count<T>;
                return f(vectors(all, whole), items(all, whole));
            }
        }
        f(items(all, 0));
    }

private:
    auto items(all_sequences const& all, std::size_t begin) const
    {
        using strip = kernel::strip_prefix<value_type, kernel::compose, affine_access<T>, false>;
        return strips_between<value_type>(begin, all.neighbours(), kernel::strip_width<value_type>,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                return strip({}, access(at, all), length, width, false);
            });
    }
    template <bool Reverse>
    auto consecutive(all_sequences const& all) const
    {
        using access_type = affine_consecutive_access<T, Reverse>;
        return strips_between<value_type>(
            0, all.neighbours(), 1, [this](offsets const& at, std::size_t length, std::size_t) {
                return kernel::lane_prefix<kernel::lane_compose<T>, access_type>(
                    access_type{{a + at[0]}, {b + at[1]}, {h + at[4]}, T{}}, length, false);
            });
    }
    auto vectors(all_sequences const& all, std::size_t end) const
    {
        using map = kernel::affine_map<kernel::lanes_t<T>>;
        using strip = kernel::row_prefix<map, kernel::compose, affine_lane_access<T, whole_vectors>>;
        return strips_between<map>(0, end, kernel::lane_count<T> * strip::max_width,
            [this, &all](offsets const& at, std::size_t length, std::size_t width) {
                auto const& time = all.time();
                return strip({},
                    {{a + at[0], time[0], 1}, {b + at[1], time[1], 1}, {h0 + at[2], 0, 0},
                        {h + at[4], time[4], 1}, whole_vectors{width}},
                    length, width / kernel::lane_count<T>, false);
            });
    }
};

/// A box of the axes that are not scanned: where it begins, and its shape.
struct sequence_box {
    shape first;
    shape dims;
};

/// Calls f(box) for boxes of at most `max_sequences` sequences, or of one. Axes that are not scanned are
/// divided from the first one on.
template <class F>
void for_each_box(sequence_box const& all, std::size_t axis, std::size_t max_sequences, F const& f)
{
    shape const others = drop_axis(all.dims, axis);
    std::size_t const count = element_count(others);
    if (count == 0)
        return;
    if (count <= max_sequences || count == 1)
        return f(all);
    std::size_t divided = axis == 0 ? 1 : 0;
    while (all.dims[divided] == 1 || divided == axis)
        ++divided;
    std::size_t const length = all.dims[divided];
    std::size_t const width = (std::max)(max_sequences / (count / length), std::size_t{1});
    for (std::size_t begin = 0; begin < length; begin += width) {
        sequence_box part = all;
        part.first[divided] = all.first[divided] + begin;
        part.dims[divided] = (std::min)(width, length - begin);
        detail::for_each_box(part, axis, max_sequences, f);
    }
}

/// Returns where this rank's part of a divided axis begins, in the direction of a scan.
template <communicator C>
std::size_t begin_in_scan(distributed_axis<C> const& axis, bool reverse)
{
    return reverse ? axis.length() - axis.end() : axis.begin();
}

/// The memory of a rank's scans, allocated before the first write: the state of the sequences that are sent
/// at once, and the totals of their whole blocks.
template <class V>
class rank_scan_memory {
public:
    template <communicator C>
    rank_scan_memory(shape const& dims, std::size_t axis, bool reverse, distributed_axis<C> const& part)
        : sequences_((std::clamp)(part.buffer_bytes() / prefix_state<V>::bytes_per_sequence, std::size_t{1},
              (std::max)(element_count(drop_axis(dims, axis)), std::size_t{1}))),
          state_(sequences_),
          totals_(element_count(drop_axis(dims, axis)) == 0
                      ? 0
                      : sequences_ * whole_blocks_of(detail::begin_in_scan(part, reverse), dims[axis]).blocks)
    {}

    /// The largest number of sequences whose state is sent at once.
    std::size_t sequences() const { return sequences_; }
    prefix_state<V>& state() { return state_; }
    V* totals() { return reinterpret_cast<V*>(totals_.data()); }

private:
    /// Not V itself: a std::vector of bool has no memory of bools.
    struct total {
        V value;
    };

    std::size_t sequences_;
    prefix_state<V> state_;
    aligned_vector<total> totals_;
};

/// The neighbours of this rank along a divided axis, in the direction of a scan, and where its part begins.
template <communicator C>
struct scan_neighbours_of {
    C const& ranks;
    bool is_first, is_last;
    std::size_t before, after;
    scan_position begin;

    scan_neighbours_of(distributed_axis<C> const& axis, bool reverse, bool has_initial, bool is_ordered)
        : ranks(axis.ranks()),
          is_first(reverse ? ranks.rank() + 1 == ranks.size() : ranks.rank() == 0),
          is_last(reverse ? ranks.rank() == 0 : ranks.rank() + 1 == ranks.size()),
          before(ranks.rank() + (is_first     ? 0
                                    : reverse ? 1
                                              : std::size_t(-1))),
          after(ranks.rank() + (is_last      ? 0
                                   : reverse ? std::size_t(-1)
                                             : 1)),
          begin{detail::begin_in_scan(axis, reverse), has_initial, is_ordered}
    {}

    void receive(std::span<std::byte> bytes) const
    {
        if (!is_first)
            ranks.exchange(before, {}, before, bytes);
    }
    void send(std::span<std::byte const> bytes) const
    {
        if (!is_last)
            ranks.exchange(after, bytes, after, {});
    }
};

/// This rank's part of the scans of one box.
template <class Scan, communicator C>
class rank_scan_of_box {
    using V = typename Scan::value_type;
    using all_sequences = typename Scan::all_sequences;
    using offsets = typename Scan::offsets;

public:
    rank_scan_of_box(Scan const& scan, all_sequences const& all, scan_neighbours_of<C> const& place,
        rank_scan_memory<V>& memory)
        : scan_(scan),
          all_(all),
          place_(place),
          memory_(memory),
          state_(memory.state()),
          whole_(whole_blocks_of(place.begin.element, all.length()))
    {}

    template <class Policy>
    void run(rank_attempt& attempt, Policy const& policy)
    {
        scan_.with_strips(all_, [&]<class... Strips>(Strips const&... strips) {
            run_blocks(attempt, policy,
                whole_blocks<V, Scan::state, all_sequences, Strips>(all_, strips, whole_)...);
        });
    }

private:
    template <class Policy, class... Blocks>
    void run_blocks(rank_attempt& attempt, Policy const& policy, Blocks... blocks)
    {
        std::size_t const count = all_.count();
        std::size_t const parts = detail::parts_for(policy, all_.length() * count);
        scan_position const middle = place_.begin + whole_.head,
                            tail = middle + whole_.blocks * kernel::elements_per_block,
                            end = place_.begin + all_.length();
        attempt([&] {
            V* memory = memory_.totals();
            if (whole_.blocks != 0)
                ((memory = blocks.reduce(memory, parts, policy)), ...);
        });
        place_.receive(state_.bytes(place_.begin, count));
        attempt([&] {
            if (place_.is_first)
                start();
            else
                state_.read_bytes(place_.begin, count);
            continue_scans(place_.begin, 0, whole_.head);
            if (whole_.blocks != 0)
                (blocks.combine(state_, middle.has_before()), ...);
            continue_scans(tail, tail.element - place_.begin.element, all_.length());
            state_.write_bytes(end, count);
        });
        place_.send(state_.bytes(end, count));
        attempt([&] {
            if (whole_.blocks != 0)
                (blocks.finish(middle.has_before(), parts, policy), ...);
        });
    }

    /// Begins all sequences with their initial values, if they have some.
    void start()
    {
        if (scan_.has_initial())
            for_each_sequence([&](offsets const& at, std::size_t sequence) {
                state_.before(sequence) = scan_.initial(at);
            });
    }

    void continue_scans(scan_position const& at, std::size_t begin, std::size_t end)
    {
        if (begin == end)
            return;
        for_each_sequence([&](offsets const& first, std::size_t sequence) {
            continued_scan(scan_.op(), scan_.access(first, all_), state_, sequence, scan_.exclusive)(
                at, begin, end);
        });
    }

    /// Calls f(offsets of the first element, index in the state) for every sequence.
    template <class F>
    void for_each_sequence(F const& f) const
    {
        for (std::size_t i = 0; i < all_.count(); ++i) {
            offsets const at = all_(i);
            f(at, static_cast<std::size_t>(at[Scan::state]));
        }
    }

    Scan const& scan_;
    all_sequences const& all_;
    scan_neighbours_of<C> const& place_;
    rank_scan_memory<V>& memory_;
    prefix_state<V>& state_;
    block_range whole_;
};

/// Runs this rank's part of scans. `layouts` are those of the operands, without the state. Requires operands
/// that are checked and agreed on; an exception of a callable is left to `attempt`. Allocates nothing.
template <class Scan, communicator C, class Policy>
void run_rank_scan(Scan const& scan, std::array<strided_layout, Scan::count - 1> const& layouts,
    std::size_t axis, bool reverse, distributed_axis<C> const& part,
    rank_scan_memory<typename Scan::value_type>& memory, rank_attempt& attempt, Policy const& policy)
{
    using V = typename Scan::value_type;
    shape const& dims = layouts.back().dims;
    if (part.length() == 0)
        return;
    constexpr bool is_ordered = kernel::order_rule<decltype(scan.op()), V>::is_ordered;
    scan_neighbours_of<C> const place(part, reverse, scan.has_initial(), is_ordered);
    detail::for_each_box(
        {shape(dims.size(), 0), dims}, axis, memory.sequences(), [&](sequence_box const& box) {
            std::array<strided_layout, Scan::count> in_box;
            std::array<std::ptrdiff_t, Scan::count> first{};
            for (std::size_t k = 0, of = 0; k < Scan::count; ++k) {
                if (k == Scan::state) {
                    in_box[k] = {box.dims,
                        insert_axis(row_major_strides(drop_axis(box.dims, axis)), axis, std::ptrdiff_t{0})};
                    continue;
                }
                in_box[k] = {box.dims, layouts[of].strides};
                for (std::size_t a = 0; a < dims.size(); ++a)
                    first[k] += static_cast<std::ptrdiff_t>(box.first[a]) * layouts[of].strides[a];
                ++of;
            }
            Scan const moved = scan.moved(first);
            typename Scan::all_sequences const all(in_box, axis, reverse);
            rank_scan_of_box<Scan, C>(moved, all, place, memory).run(attempt, policy);
        });
}

} // namespace xloom::inline XLOOM_ABI::detail
