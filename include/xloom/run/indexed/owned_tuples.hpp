#pragma once
// The index tuples of a rank, grouped by the ranks that own what they name.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <xloom/check/distributed_axis.hpp>
#include <xloom/core/tuning.hpp>
#include <xloom/kernel/offset_reader.hpp>

namespace xloom::detail {

/// An index tuple: the slice that it names, counted from the first one of the rank that has it, and its
/// position among the tuples of the rank that names it.
struct owned_tuple {
    std::size_t slice;
    std::size_t number;

    auto operator<=>(owned_tuple const&) const = default;
};

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

/// Returns the shape of the data of all ranks. Requires a rank of at least 1.
///
/// Errors    shape_error: a part of another length; a size that overflows; no index for the first axis.
template <communicator C>
divided_data check_divided_data(
    std::string_view op, shape const& mine, shape const& indices, distributed_axis<C> const& part)
{
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

/// The index tuples of this rank by owner, in their order. Dropped tuples are omitted. Memory: two integers
/// for each tuple, one for each rank.
class owned_tuples {
public:
    /// `read` gives the slices in row-major order of the data of all ranks.
    template <communicator C>
    owned_tuples(kernel::offset_reader const& read, divided_data const& data, distributed_axis<C> const& part)
        : firsts_(part.ranks().size() + 1)
    {
        std::size_t const of_row = data.slices_of_row();
        if (of_row == 0)
            return; // no slice exists, so that all tuples are dropped
        for_each(read, [&](std::size_t, std::size_t slice) { ++firsts_[part.owner(slice / of_row) + 1]; });
        for (std::size_t rank = 1; rank < firsts_.size(); ++rank)
            firsts_[rank] += firsts_[rank - 1];
        tuples_.resize(firsts_.back());
        std::vector<std::size_t> next(firsts_.begin(), firsts_.end() - 1);
        for_each(read, [&](std::size_t number, std::size_t slice) {
            std::size_t const owner = part.owner(slice / of_row);
            tuples_[next[owner]++] = {slice - part.begin(owner) * of_row, number};
        });
    }

    /// Returns the tuples that name slices of a rank.
    std::span<owned_tuple> of(std::size_t rank)
    {
        return std::span(tuples_).subspan(firsts_[rank], firsts_[rank + 1] - firsts_[rank]);
    }

    /// Returns how many tuples other ranks have for this one.
    template <communicator C>
    std::vector<std::size_t> incoming(C const& ranks)
    {
        std::vector<std::size_t> counts(ranks.size());
        for_each_partner(ranks, [&](std::size_t destination, std::size_t source) {
            std::size_t const count = of(destination).size();
            exchange_values<std::size_t>(
                ranks, destination, std::span(&count, 1), source, std::span(&counts[source], 1));
        });
        return counts;
    }

private:
    /// Calls f(number of the tuple, slice) for each tuple that is not dropped.
    template <class F>
    static void for_each(kernel::offset_reader const& read, F const& f)
    {
        std::array<std::ptrdiff_t, tuning::offsets_per_block> offsets;
        for (std::size_t begin = 0; begin < read.count(); begin += offsets.size()) {
            std::size_t const count = (std::min)(offsets.size(), read.count() - begin);
            read(begin, count, offsets.data());
            for (std::size_t i = 0; i < count; ++i)
                if (offsets[i] != kernel::dropped_offset)
                    f(begin + i, static_cast<std::size_t>(offsets[i]));
        }
    }

    std::vector<std::size_t> firsts_;
    std::vector<owned_tuple> tuples_{};
};

/// Slices of this rank, which others have named, as index tuples of its data.
class named_here {
public:
    explicit named_here(strided_layout const& indexed) : axes_(indexed), indices_{} {}

    /// Makes index tuples of slices, which must be in range. Allocates if there are more than before.
    void assign(std::span<std::size_t const> slices)
    {
        std::size_t const width = axes_.dims.size();
        indices_.resize(slices.size() * width);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            std::size_t slice = slices[i];
            for (std::size_t axis = width; axis-- > 0; slice /= axes_.dims[axis])
                indices_[i * width + axis] = slice % axes_.dims[axis];
        }
    }
    void reserve(std::size_t slices) { indices_.reserve(slices * axes_.dims.size()); }

    kernel::index_tuples<std::size_t> tuples(strides const& steps) const
    {
        return {indices_.data(), indices_.size() / axes_.dims.size(),
            {axes_.dims, strides(steps.begin(), steps.begin() + axes_.dims.size())}, 0, false};
    }

private:
    strided_layout axes_;
    std::vector<std::size_t> indices_;
};

} // namespace xloom::detail
