#pragma once
// The execution of a GatherND call over ranks: requests for slices, and replies.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/indexed/gather.hpp>
#include <xloom/detail/indexed/owned_tuples.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A rank's gather: requests for the slices of its index tuples, round by round, and replies to the
/// requests of others.
template <class T>
class rank_gather {
public:
    template <communicator C>
    rank_gather(kernel::offset_reader const& read, divided_data const& whole, strided_layout const& layout,
        T const* data, distributed_axis<C> const& part)
        : read_(read),
          slices_(whole, part),
          slice_size_(element_count(whole.slice())),
          layout_(layout),
          data_(data),
          here_(shape(layout.dims.begin(), layout.dims.begin() + whole.width))
    {}

    /// Allocates buffers for a round, where no rank has more than `max_count` index tuples.
    void allocate(std::size_t max_count, std::size_t buffer_bytes)
    {
        max_count_ = slice_size_ == 0 ? 0 : max_count;
        std::size_t const bytes = saturating_add(
            (3 + here_.integers()) * sizeof(std::size_t), saturating_mul(2 * sizeof(T), slice_size_));
        tuples_per_round_ = std::max<std::size_t>(buffer_bytes / bytes, 1);
        std::size_t const mine = (std::min)(read_.count(), tuples_per_round_),
                          theirs = (std::min)(max_count_, tuples_per_round_);
        firsts_.resize(slices_.ranks() + 1);
        next_.resize(slices_.ranks());
        requested_.resize(mine);
        positions_.resize(mine);
        received_.resize({mine * slice_size_});
        sent_slices_.resize(theirs);
        here_.reserve(theirs);
        replied_.resize({theirs * slice_size_});
    }

    /// Writes the slices to `output`, in the order of the tuples.
    template <communicator C, class Policy>
    void run(T* output, C const& ranks, rank_attempt& attempt, Policy const& policy)
    {
        for (std::size_t begin = 0; begin < max_count_; begin += tuples_per_round_) {
            group((std::min)(begin, read_.count()), (std::min)(begin + tuples_per_round_, read_.count()));
            for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
                std::size_t const first = firsts_[destination], count = firsts_[destination + 1] - first;
                auto const mine = std::span<std::size_t const>(requested_).subspan(first, count);
                if (destination == ranks.rank()) {
                    attempt([&] { copy_slices(mine, received_.data(), policy); });
                } else {
                    std::size_t theirs = 0;
                    exchange_values<std::size_t>(
                        ranks, destination, std::span(&count, 1), source, std::span(&theirs, 1));
                    auto const wanted = std::span(sent_slices_).first(theirs);
                    exchange_values<std::size_t>(ranks, destination, mine, source, wanted);
                    attempt([&] { copy_slices(wanted, replied_.data(), policy); });
                    exchange_values<T>(ranks, source, std::span(replied_.data(), theirs * slice_size_),
                        destination, std::span(received_.data(), count * slice_size_));
                }
                kernel::copy_contiguous_slices{slice_size_}(
                    slices_at{std::span(positions_).subspan(first, count), slice_size_}, received_.data(),
                    output);
            });
        }
    }

private:
    /// Contiguous slices and their positions in the output.
    struct slices_at {
        std::span<std::size_t const> positions;
        std::size_t size;

        template <class F>
        void for_each(F const& f) const
        {
            for (std::size_t i = 0; i < positions.size(); ++i)
                f(static_cast<std::ptrdiff_t>(i * size), positions[i]);
        }
    };

    /// Groups tuples begin .. end - 1 by owner, those of each owner in their order. Dropped ones are omitted.
    void group(std::size_t begin, std::size_t end)
    {
        std::fill(firsts_.begin(), firsts_.end(), 0);
        if (slices_.count() == 0)
            return; // no slice exists, so that all tuples are dropped
        kernel::for_each_indexed(read_, begin, end, [&](std::ptrdiff_t slice, std::size_t) {
            ++firsts_[slices_.owner(static_cast<std::size_t>(slice)) + 1];
        });
        for (std::size_t rank = 0; rank < next_.size(); ++rank) {
            next_[rank] = firsts_[rank];
            firsts_[rank + 1] += firsts_[rank];
        }
        kernel::for_each_indexed(read_, begin, end, [&](std::ptrdiff_t slice, std::size_t position) {
            std::size_t const owner = slices_.owner(static_cast<std::size_t>(slice));
            std::size_t const to = next_[owner]++;
            requested_[to] = static_cast<std::size_t>(slice) - slices_.begin(owner);
            positions_[to] = position;
        });
    }

    /// Copies slices of this rank's data, in this order.
    template <class Policy>
    void copy_slices(std::span<std::size_t const> slices, T* to, Policy const& policy)
    {
        if (slices.empty())
            return;
        here_.assign(slices);
        detail::run_gather(here_.in(layout_), data_, to, policy);
    }

    kernel::offset_reader read_;
    divided_slices slices_;
    std::size_t slice_size_;
    strided_layout layout_;
    T const* data_;
    local_slices here_;
    std::size_t max_count_ = 0;
    std::size_t tuples_per_round_ = 1; ///< the number of tuples of a round
    std::vector<std::size_t> firsts_{}, next_{}, requested_{}, positions_{}, sent_slices_{};
    xt::xtensor<T, 1> received_{}, replied_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
