#pragma once
// The index tuples of a rank, and the ranks that own their slices.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/indexed/slice_index.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The shape of the data of all ranks, whose first axis is divided, and of its slices.
struct divided_data {
    shape whole;       ///< of all ranks
    std::size_t width; ///< the number of indexed axes, at least 1

    shape indexed() const { return shape(whole.begin(), whole.begin() + width); }
    shape slice() const { return shape(whole.begin() + width, whole.end()); }
    /// The number of slices for each element of the divided axis.
    std::size_t slices_of_row() const
    {
        return element_count(shape(whole.begin() + 1, whole.begin() + width));
    }
};

/// Returns the shape of the data of all ranks.
///
/// Errors    shape_error: data or indices of rank 0; a part of another length; a size that overflows; no
///           index for the first axis.
template <communicator C>
divided_data check_divided_data(
    std::string_view op, shape const& mine, shape const& indices, distributed_axis<C> const& part)
{
    check_not_scalar(op, "data", mine);
    check_not_scalar(op, "indices", indices);
    check_own_part(op, "data", mine, 0, part);
    divided_data data{mine, indices.back()};
    data.whole[0] = part.length();
    if (!has_strides(data.whole))
        fail<shape_error>(op, ": the size of a tensor must fit in memory, its strides too, but data is ",
            data.whole, " on all ranks together. Reduce a dimension.");
    if (data.width == 0)
        fail<shape_error>(op,
            ": an index tuple must name the rank, so indices' last axis must be at least 1, "
            "but indices is ",
            indices, ". Index the first axis of data.");
    return data;
}

/// The slices of the data of all ranks, in row-major order: each rank has a range of them.
class divided_slices {
public:
    template <communicator C>
    divided_slices(divided_data const& data, distributed_axis<C> const& part)
        : begins_(part.ranks().size() + 1)
    {
        for (std::size_t rank = 0; rank < begins_.size(); ++rank)
            begins_[rank] = part.begin(rank) * data.slices_of_row();
    }

    std::size_t ranks() const { return begins_.size() - 1; }
    std::size_t count() const { return begins_.back(); }
    std::size_t begin(std::size_t rank) const { return begins_[rank]; }

    /// Returns the rank that has a slice. Without branches, which random slices would mispredict.
    std::size_t owner(std::size_t slice) const
    {
        std::size_t first = 0;
        for (std::size_t left = ranks(); left > 1; left -= left / 2)
            first += begins_[first + left / 2] <= slice ? left / 2 : 0;
        return first;
    }

private:
    std::vector<std::size_t> begins_;
};

/// An index tuple: its slice, counted from the first one of the rank that has it, and its position among the
/// tuples of the rank that passes it.
struct owned_tuple {
    std::size_t slice;
    std::size_t number;

    auto operator<=>(owned_tuple const&) const = default;
};

/// The index tuples of this rank by slice, and so by owner; those of one slice are in their order. Dropped
/// tuples are omitted. Memory: two integers for each tuple, one for each rank.
class sorted_tuples {
public:
    /// `read` gives the slices in row-major order of the data of all ranks.
    sorted_tuples(kernel::offset_reader const& read, divided_slices const& all) : firsts_(all.ranks() + 1)
    {
        if (all.count() == 0)
            return; // no slice exists, so that all tuples are dropped
        sort(read, all.count());
        for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
            owned_tuple const end{all.begin(rank + 1), 0};
            auto const first = tuples_.begin() + static_cast<std::ptrdiff_t>(firsts_[rank]);
            auto const last = std::lower_bound(first, tuples_.end(), end);
            std::for_each(first, last, [&](owned_tuple& each) { each.slice -= all.begin(rank); });
            firsts_[rank + 1] = static_cast<std::size_t>(last - tuples_.begin());
        }
    }

    /// Returns the tuples whose slices a rank has.
    std::span<owned_tuple const> of(std::size_t rank) const
    {
        return std::span(tuples_).subspan(firsts_[rank], firsts_[rank + 1] - firsts_[rank]);
    }

    /// Counts the tuples that each rank has for this one.
    template <communicator C>
    void count_incoming(C const& ranks, std::vector<std::size_t>& counts) const
    {
        for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
            std::size_t const count = of(destination).size();
            exchange_values<std::size_t>(
                ranks, destination, std::span(&count, 1), source, std::span(&counts[source], 1));
        });
    }

private:
    /// Distributes the tuples to ranges of 2^shift slices, and sorts each range that is not in order.
    void sort(kernel::offset_reader const& read, std::size_t slices)
    {
        std::size_t const max_ranges = (std::min)(read.count(), tuning::sorting_ranges);
        unsigned shift = 0;
        while ((slices - 1) >> shift > max_ranges)
            ++shift;
        std::vector<std::size_t> next(((slices - 1) >> shift) + 2);
        auto const range_of = [&](std::ptrdiff_t slice) { return static_cast<std::size_t>(slice) >> shift; };
        kernel::for_each_indexed(
            read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t) { ++next[range_of(slice) + 1]; });
        for (std::size_t range = 1; range < next.size(); ++range)
            next[range] += next[range - 1];
        tuples_.resize(next.back());
        kernel::for_each_indexed(read, 0, read.count(), [&](std::ptrdiff_t slice, std::size_t number) {
            tuples_[next[range_of(slice)]++] = {static_cast<std::size_t>(slice), number};
        });
        if (shift == 0)
            return; // a range is a slice, and has its tuples in their order
        auto begin = tuples_.begin();
        for (std::size_t range = 0; range + 1 < next.size(); ++range) {
            auto const end = tuples_.begin() + static_cast<std::ptrdiff_t>(next[range]);
            if (!std::is_sorted(begin, end))
                std::sort(begin, end);
            begin = end;
        }
    }

    std::vector<std::size_t> firsts_;
    aligned_vector<owned_tuple> tuples_{};
};

/// Slices of this rank, whose numbers others have sent, as index tuples of its data.
class local_slices {
public:
    explicit local_slices(shape const& indexed) : dims_(indexed) {}

    /// Makes index tuples of slices, which must be in range. Those of one axis are read where they are, so
    /// they must outlive their use; for others allocates if there are more than before.
    void assign(std::span<std::size_t const> slices)
    {
        std::size_t const width = dims_.size();
        count_ = slices.size();
        if (width == 1) {
            first_ = slices.data();
            return;
        }
        indices_.resize(slices.size() * width);
        first_ = indices_.data();
        for (std::size_t i = 0; i < slices.size(); ++i) {
            std::size_t slice = slices[i];
            for (std::size_t axis = width; axis-- > 0; slice /= dims_[axis])
                indices_[i * width + axis] = slice % dims_[axis];
        }
    }
    /// Returns the number of slices in this rank's data.
    std::size_t slices() const { return element_count(dims_); }
    void reserve(std::size_t slices) { indices_.reserve(slices * integers()); }
    /// Returns the number of integers that a slice takes.
    std::size_t integers() const { return dims_.size() == 1 ? 0 : dims_.size(); }

    /// Returns the slices in this rank's data. This object must outlive them.
    slices_in_memory in(strided_layout const& data) const
    {
        kernel::index_tuples<std::size_t> const tuples{
            first_, count_, axes_of(data, 0, dims_.size()), kernel::index_signs::nonnegative};
        return {{tuples, bounds::assume}, axes_of(data, dims_.size(), data.dims.size())};
    }

private:
    shape dims_;
    std::size_t count_ = 0;
    std::size_t const* first_ = nullptr;
    std::vector<std::size_t> indices_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
