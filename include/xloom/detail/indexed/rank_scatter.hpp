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

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/indexed/owned_tuples.hpp>
#include <xloom/detail/indexed/scatter_run.hpp>
#include <xloom/detail/kernel/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The updates of one rank, by slice, that are buffered until those of lower ranks are applied.
struct waiting_updates {
    std::size_t begin = 0;   ///< their position in the buffer
    std::size_t room = 0;    ///< the number that the buffer has room for
    std::size_t filled = 0;  ///< the number received
    std::size_t to_come = 0; ///< the number not yet sent
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

    /// Allocates buffers for what other ranks send, also in `here`, which applies it.
    void allocate(std::vector<std::size_t> const& incoming, std::size_t buffer_bytes, local_slices& here)
    {
        std::size_t const update_bytes = saturating_add(
            (1 + here.integers()) * sizeof(std::size_t), saturating_mul(slice_size_, sizeof(T)));
        std::size_t const capacity = buffer_bytes / 2 / update_bytes;
        std::size_t all = 0, senders = 0, max_sent = 0;
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
            max_sent = (std::max)(max_sent, to_send_[rank].size());
        }
        std::size_t const sent = (std::min)(max_sent, std::max<std::size_t>(capacity, 1));
        check_fits_in_memory<T>(saturating_mul((std::max)(room_, sent), slice_size_));
        slices_.resize(room_);
        values_ = std::make_unique_for_overwrite<T[]>(room_ * slice_size_);
        sent_slices_.resize(sent);
        sent_values_ = std::make_unique_for_overwrite<T[]>(sent * slice_size_);
        here.reserve(room_);
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
        kernel::copy_contiguous_slices{slice_size_}(numbered_updates{tuples, slice_size_}, updates_, values);
    }

    /// The updates of tuples, which are contiguous slices at their numbers.
    struct numbered_updates {
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
            if (count == 0)
                continue;
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

/// Applies received updates to this rank's part of data, in as many rounds as they come. The constructor
/// allocates all memory, that of the exchange too.
template <class Sum, class T, class Reduce>
class rank_updates {
public:
    rank_updates(strided_items<T> const& data, std::size_t width, scatter_rules const& options,
        std::vector<std::size_t> const& incoming, std::size_t buffer_bytes, update_exchange<T>& exchange,
        Reduce& reduce)
        : data_(data),
          slice_(data.layout.dims.begin() + width, data.layout.dims.end()),
          options_(options),
          here_(shape(data.layout.dims.begin(), data.layout.dims.begin() + width)),
          reduce_(reduce)
    {
        options_.bounds = bounds::assume;
        options_.sorted = true; // so that several threads need no memory to divide them
        exchange.allocate(incoming, buffer_bytes, here_);
        kernel::count_rule const rule = count_rule_of(options, replaces(reduce));
        if (!std::is_same_v<T, Sum> || needs_counts(rule, replaces(reduce)))
            counted_.emplace(data, here_.slices(), rule);
    }

    /// Applies updates of these slices, which are in row-major order.
    template <class Policy>
    void apply(std::span<std::size_t const> slices, T const* updates, Policy const& policy)
    {
        if (slices.empty() || element_count(data_.layout.dims) == 0)
            return;
        here_.assign(slices);
        auto const values = row_major_updates(updates, slice_);
        if (counted_)
            counted_->apply(
                here_.in(row_major_layout(data_.layout.dims)).read, values, options_, reduce_, policy);
        else
            detail::run_uncounted(here_.in(data_.layout), values, options_, data_.first, reduce_, policy);
    }
    template <class Policy>
    void finish(Policy const& policy)
    {
        if (counted_)
            counted_->finish(policy);
    }

private:
    strided_items<T> data_;
    shape slice_;
    scatter_rules options_;
    local_slices here_;
    Reduce& reduce_;
    std::optional<counted_scatter<Sum, T>> counted_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
