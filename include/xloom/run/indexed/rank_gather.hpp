#pragma once
// The execution of a GatherND call over ranks: requests for slices, and replies.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <xloom/run/indexed/checked_indices.hpp>
#include <xloom/run/indexed/gather_run.hpp>
#include <xloom/run/indexed/owned_tuples.hpp>

namespace xloom::detail {

/// The index tuples of a rank's gather, and the data from which it replies to others.
template <class T>
class rank_gather {
public:
    template <communicator C>
    rank_gather(kernel::offset_reader const& read, divided_data const& whole, strided_layout const& layout,
        T const* data, distributed_axis<C> const& part)
        : tuples_(read, whole, part),
          width_(whole.width),
          slice_size_(element_count(whole.slice())),
          layout_(layout),
          data_(data),
          here_({shape(layout.dims.begin(), layout.dims.begin() + width_), {}})
    {}

    template <communicator C>
    std::vector<std::size_t> incoming(C const& ranks)
    {
        return tuples_.incoming(ranks);
    }

    /// Allocates buffers for as many slices as have room, but no more than are exchanged with one rank.
    void allocate(std::vector<std::size_t> const& incoming, std::size_t buffer_bytes)
    {
        std::size_t const bytes = (2 + width_) * sizeof(std::size_t) + 2 * slice_size_ * sizeof(T);
        at_once_ = std::max<std::size_t>(buffer_bytes / bytes, 1);
        std::size_t most_in = 0, most_out = 0;
        for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
            most_in = (std::max)(most_in, (std::min)(incoming[rank], at_once_));
            most_out = (std::max)(most_out, (std::min)(tuples_.of(rank).size(), at_once_));
        }
        requested_.resize(most_out);
        received_.resize({most_out * slice_size_});
        named_.resize(most_in);
        here_.reserve(most_in);
        replied_.resize({most_in * slice_size_});
    }

    /// Writes the slices to `output`, in the order of the tuples.
    template <communicator C, class Policy>
    void run(std::vector<std::size_t> const& incoming, T* output, C const& ranks, rank_attempt& attempt,
        Policy const& policy)
    {
        if (slice_size_ == 0)
            return;
        std::size_t most = 0;
        for (std::size_t rank = 0; rank < incoming.size(); ++rank)
            most = (std::max)({most, incoming[rank], tuples_.of(rank).size()});
        for (std::size_t begin = 0; begin < most; begin += at_once_)
            for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
                auto const mine = part_of(tuples_.of(destination), begin);
                std::size_t const theirs =
                    (std::min)(incoming[source], begin + at_once_) - (std::min)(incoming[source], begin);
                std::transform(mine.begin(), mine.end(), requested_.begin(),
                    [](owned_tuple const& tuple) { return tuple.slice; });
                exchange_values<std::size_t>(
                    ranks, destination, first(requested_, mine.size()), source, first(named_, theirs));
                attempt([&] { reply(theirs, policy); });
                exchange_values<T>(ranks, source, first(replied_, theirs * slice_size_), destination,
                    first(received_, mine.size() * slice_size_));
                for (std::size_t i = 0; i < mine.size(); ++i)
                    std::copy_n(received_.data() + i * slice_size_, slice_size_,
                        output + mine[i].number * slice_size_);
            });
    }

private:
    template <class Values>
    static auto first(Values& values, std::size_t count)
    {
        return std::span(values.data(), count);
    }

    std::span<owned_tuple> part_of(std::span<owned_tuple> tuples, std::size_t begin) const
    {
        begin = (std::min)(begin, tuples.size());
        return tuples.subspan(begin, (std::min)(at_once_, tuples.size() - begin));
    }

    /// Gathers the first slices that another rank has named.
    template <class Policy>
    void reply(std::size_t count, Policy const& policy)
    {
        if (count == 0)
            return;
        here_.assign(first(named_, count));
        auto const tuples = here_.tuples(layout_.strides);
        strided_layout const slice{shape(layout_.dims.begin() + width_, layout_.dims.end()),
            strides(layout_.strides.begin() + width_, layout_.strides.end())};
        detail::run_gather(
            kernel::offset_reader(tuples, bounds::assume), slice, data_, replied_.data(), policy);
    }

    owned_tuples tuples_;
    std::size_t width_, slice_size_;
    strided_layout layout_;
    T const* data_;
    named_here here_;
    std::size_t at_once_ = 1; ///< the number of slices that a pair of ranks exchanges at once
    std::vector<std::size_t> requested_{}, named_{};
    xt::xtensor<T, 1> received_{}, replied_{};
};

} // namespace xloom::detail
