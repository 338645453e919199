#pragma once
// The execution of a ScatterND call over ranks: updates are sent to the owners of their slices, which apply
// them in the order of ranks.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <xloom/detail/indexed/checked_indices.hpp>
#include <xloom/detail/indexed/owned_tuples.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/kernel/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Updates that a rank has received, as a call of ScatterND on its part of data.
template <class T>
class received_updates : public row_major_updates {
public:
    static constexpr bool is_broadcast = false;

    received_updates(shape const& data, std::size_t width, scatter_rules const& options)
        : data_(data), width_(width), options_(options), here_(shape(data.begin(), data.begin() + width))
    {
        options_.bounds = bounds::assume;
        options_.sorted = true; // so that several threads need no memory to divide them
    }

    void reserve(std::size_t count) { here_.reserve(count); }
    /// Returns the number of bytes that an update takes in buffers.
    std::size_t bytes() const
    {
        return (1 + here_.integers()) * sizeof(std::size_t) + slice_size() * sizeof(T);
    }
    /// Takes updates of these slices, which are in row-major order. Both must outlive their use.
    void assign(std::span<std::size_t const> slices, T const* updates)
    {
        here_.assign(slices);
        count_ = slices.size();
        updates_ = updates;
    }

    scatter_rules const& options() const { return options_; }
    std::size_t slices() const { return element_count(shape(data_.begin(), data_.begin() + width_)); }
    std::size_t slice_size() const { return element_count(shape(data_.begin() + width_, data_.end())); }
    bool is_empty() const { return count_ == 0 || slice_size() == 0 || slices() == 0; }
    std::size_t first_slice_axis() const { return width_; }
    T const* updates() const { return updates_; }

    kernel::index_tuples<std::size_t> tuples(strides const& steps) const { return here_.tuples(steps); }
    kernel::offset_reader reader(kernel::index_tuples<std::size_t> const& tuples, strides const&) const
    {
        return {tuples, bounds::assume};
    }

private:
    shape data_;
    std::size_t width_;
    scatter_rules options_;
    named_here here_;
    std::size_t count_ = 0;
    T const* updates_ = nullptr;
};

/// Applies received updates to this rank's part of data, in as many steps as they come.
template <class Sum, tensor Data, class Reduce>
class rank_updates {
    using T = item_t<Data>;

public:
    rank_updates(received_updates<T> const& call, Data& data, Reduce& reduce) : data_(data), reduce_(reduce)
    {
        kernel::tracking const rule = tracking_of(call.options(), replaces(reduce));
        if (!std::is_same_v<T, Sum> || needs_tracking(rule, replaces(reduce)))
            tracked_.emplace(call, data, rule);
    }

    template <class Policy>
    void apply(received_updates<T> const& call, Policy const& policy)
    {
        if (call.is_empty())
            return;
        if (tracked_)
            tracked_->apply(call, reduce_, policy);
        else
            run_untracked(call, data_, reduce_, policy);
    }
    template <class Policy>
    void finish(Policy const& policy)
    {
        if (tracked_)
            tracked_->finish(policy);
    }

private:
    Data& data_;
    Reduce& reduce_;
    std::optional<tracked_scatter<Sum, Data>> tracked_{};
};

/// The updates of one rank that wait for their turn, by slice.
struct waiting_updates {
    std::size_t begin = 0;   ///< where they are in the buffer
    std::size_t room = 0;    ///< for how many
    std::size_t filled = 0;  ///< how many are there
    std::size_t to_come = 0; ///< how many are not yet sent
};

/// The exchange of updates. Each owner has room for some updates of each rank, and applies what is there in
/// the order of slices, and of ranks for each slice: up to the last slice that a rank with more to come has
/// sent.
///
/// The constructor allocates nothing.
///
/// Why by slice: the updates of a slice are applied in the order of ranks, so if they came in their own
/// order, one rank after the other would send.
template <class T>
class update_exchange {
public:
    update_exchange(sorted_tuples const& tuples, T const* updates, std::size_t slice_size)
        : tuples_(tuples), updates_(updates), slice_size_(slice_size)
    {}

    /// Allocates buffers for what other ranks send.
    void allocate(
        std::vector<std::size_t> const& incoming, std::size_t buffer_bytes, received_updates<T>& call)
    {
        std::size_t const capacity = buffer_bytes / 2 / call.bytes();
        std::size_t all = 0, senders = 0, most = 0;
        for (std::size_t const count : incoming) {
            all += count;
            senders += count != 0 ? 1 : 0;
        }
        std::size_t const share = senders == 0 ? 0 : std::max<std::size_t>(capacity / senders, 1);
        waiting_.resize(incoming.size());
        to_send_.resize(incoming.size());
        for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
            std::size_t const room = all <= capacity ? incoming[rank] : (std::min)(incoming[rank], share);
            waiting_[rank] = {room_, room, 0, incoming[rank]};
            room_ += room;
            to_send_[rank] = tuples_.of(rank);
            most = (std::max)(most, to_send_[rank].size());
        }
        std::size_t const sent = (std::min)(most, std::max<std::size_t>(capacity, 1));
        slices_.resize(room_);
        values_ = std::make_unique_for_overwrite<T[]>(room_ * slice_size_);
        sent_slices_.resize(sent);
        sent_values_ = std::make_unique_for_overwrite<T[]>(sent * slice_size_);
        call.reserve(room_);
    }

    /// Exchanges all updates. apply(slices, values) is called for those that can be applied.
    template <communicator C, class Apply>
    void run(C const& ranks, Apply const& apply)
    {
        while (is_waiting()) {
            for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
                exchange_room(ranks, destination, source);
            });
            apply_what_is_complete(apply);
        }
    }

private:
    bool is_waiting() const
    {
        return std::any_of(waiting_.begin(), waiting_.end(), [](waiting_updates const& each) {
            return each.to_come != 0 || each.filled != 0;
        }) || std::any_of(to_send_.begin(), to_send_.end(), [](auto const& each) { return !each.empty(); });
    }

    /// Sends updates to `destination`, as many as it has room for, and receives those of `source`.
    template <communicator C>
    void exchange_room(C const& ranks, std::size_t destination, std::size_t source)
    {
        waiting_updates& from = waiting_[source];
        std::span<owned_tuple const>& to = to_send_[destination];
        std::size_t const in = (std::min)(from.room - from.filled, from.to_come),
                          end = from.begin + from.filled;
        std::size_t out = in;
        if (destination == ranks.rank()) {
            take(to.first(out), slices_.data() + end, values_.get() + end * slice_size_);
        } else {
            out = 0;
            exchange_values<std::size_t>(ranks, source, std::span(&in, from.to_come != 0 ? 1 : 0),
                destination, std::span(&out, to.empty() ? 0 : 1));
            take(to.first(out), sent_slices_.data(), sent_values_.get());
            exchange_values<std::size_t>(ranks, destination, std::span(sent_slices_.data(), out), source,
                std::span(slices_.data() + end, in));
            exchange_values<T>(ranks, destination, std::span(sent_values_.get(), out * slice_size_), source,
                std::span(values_.get() + end * slice_size_, in * slice_size_));
        }
        to = to.subspan(out);
        from.filled += in;
        from.to_come -= in;
    }

    /// Writes the slices and the updates of tuples.
    void take(std::span<owned_tuple const> tuples, std::size_t* slices, T* values) const
    {
        std::transform(
            tuples.begin(), tuples.end(), slices, [](owned_tuple const& tuple) { return tuple.slice; });
        kernel::copy_contiguous_slices{slice_size_}(updates_of{tuples, slice_size_}, updates_, values);
    }

    /// The updates of tuples, which are contiguous slices at their numbers.
    struct updates_of {
        std::span<owned_tuple const> tuples;
        std::size_t size;

        template <class F>
        void for_each(F const& f) const
        {
            for (std::size_t i = 0; i < tuples.size(); ++i)
                f(static_cast<std::ptrdiff_t>(tuples[i].number * size), i);
        }
    };

    /// Applies the updates of slices for which no rank has more to come, and keeps the others.
    template <class Apply>
    void apply_what_is_complete(Apply const& apply)
    {
        std::size_t last_slice = (std::numeric_limits<std::size_t>::max)(), last_rank = waiting_.size();
        for (std::size_t rank = 0; rank < waiting_.size(); ++rank) {
            waiting_updates const& of = waiting_[rank];
            if (of.to_come != 0 && slices_[of.begin + of.filled - 1] < last_slice) {
                last_slice = slices_[of.begin + of.filled - 1];
                last_rank = rank;
            }
        }
        for (std::size_t rank = 0; rank < waiting_.size(); ++rank) {
            waiting_updates& of = waiting_[rank];
            auto const begin = slices_.begin() + static_cast<std::ptrdiff_t>(of.begin),
                       end = begin + static_cast<std::ptrdiff_t>(of.filled);
            auto const complete = last_rank == waiting_.size() ? end
                                  : rank <= last_rank          ? std::upper_bound(begin, end, last_slice)
                                                               : std::lower_bound(begin, end, last_slice);
            auto const count = static_cast<std::size_t>(complete - begin);
            T* const values = values_.get() + of.begin * slice_size_;
            if (count != 0)
                apply(std::span(slices_).subspan(of.begin, count), values);
            std::copy(complete, end, begin);
            std::copy(values + count * slice_size_, values + of.filled * slice_size_, values);
            of.filled -= count;
        }
    }

    sorted_tuples const& tuples_;
    T const* updates_;
    std::size_t slice_size_;
    std::size_t room_ = 0;
    std::vector<waiting_updates> waiting_{};
    std::vector<std::span<owned_tuple const>> to_send_{};
    std::vector<std::size_t> slices_{}, sent_slices_{};
    std::unique_ptr<T[]> values_{}, sent_values_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
