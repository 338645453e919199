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
#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/prefix/rank_operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A box of the axes that are not scanned: where it begins, and its shape.
struct sequence_box {
    shape first;
    shape dims;
};

/// Calls f(box) for boxes of at most `most` sequences, or of one. Axes that are not scanned are divided from
/// the first one on.
template <class F>
void for_each_box(sequence_box const& all, std::size_t axis, std::size_t most, F const& f)
{
    shape const others = drop_axis(all.dims, axis);
    std::size_t const count = element_count(others);
    if (count == 0)
        return;
    if (count <= most || count == 1)
        return f(all);
    std::size_t divided = axis == 0 ? 1 : 0;
    while (all.dims[divided] == 1 || divided == axis)
        ++divided;
    std::size_t const length = all.dims[divided];
    std::size_t const step = (std::max)(most / (count / length), std::size_t{1});
    for (std::size_t begin = 0; begin < length; begin += step) {
        sequence_box part = all;
        part.first[divided] = all.first[divided] + begin;
        part.dims[divided] = (std::min)(step, length - begin);
        detail::for_each_box(part, axis, most, f);
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
          totals_(sequences_ * whole_blocks_of(detail::begin_in_scan(part, reverse), dims[axis]).blocks)
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
    std::size_t const most = memory.sequences();
    detail::for_each_box({shape(dims.size(), 0), dims}, axis, most, [&](sequence_box const& box) {
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
