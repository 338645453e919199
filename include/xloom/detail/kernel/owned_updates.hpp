#pragma once
// A parallel scatter, bitwise equal to a serial one: every slice has one owner, which applies its updates in
// order.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/offsets.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// An update: the offset of its slice and its position among all updates.
struct owned_update {
    std::ptrdiff_t offset;
    std::size_t number;
};

/// The updates of one owner.
struct owned_updates {
    std::span<owned_update const> updates;

    /// Calls f(offset, position) for each update in order.
    template <class F>
    void for_each(F const& f) const
    {
        for (owned_update const& update : updates)
            f(update.offset, update.number);
    }
};

/// A map from the offset of a slice to its owner. Each aligned range of at least `neighbourhood` offsets has
/// one owner. Ranges are hashed to groups, and groups are assigned so that all owners have about equally many
/// updates of a sample.
class slice_owners {
public:
    /// Requires at least one update, and what offset_reader::read_checked requires.
    slice_owners(std::size_t neighbourhood, std::size_t owners, offset_reader const& read) : owners_(owners)
    {
        while (std::size_t{1} << shift_ < neighbourhood)
            ++shift_;
        std::size_t const samples = (std::min)(std::size_t{1024}, read.count());
        std::size_t const distance =
            read.count() / 8 * 5 | 1; // not a multiple of a likely period of the indices
        std::array<std::size_t, groups> sizes{};
        for (std::size_t i = 0; i < samples; ++i) {
            std::ptrdiff_t const offset = read[i * distance % read.count()];
            if (offset != dropped_offset)
                ++sizes[group_of(offset)];
        }
        deal_out(sizes, samples);
    }

    std::size_t count() const { return owners_; }
    std::size_t operator()(std::ptrdiff_t offset) const { return owner_of_[group_of(offset)]; }

    /// Returns the fraction of the sampled updates that the owner with the most has.
    double load() const { return load_; }

private:
    static constexpr std::size_t groups = 256;

    /// Returns the group by Fibonacci hashing: the upper bits of a product with 2^64 / 1.618...
    std::size_t group_of(std::ptrdiff_t offset) const
    {
        return static_cast<std::size_t>(
            (static_cast<std::uint64_t>(offset) >> shift_) * 0x9E37'79B9'7F4A'7C15u >> 56);
    }

    /// Assigns consecutive groups to each owner until the owners so far have their parts of the sum.
    void deal_out(std::array<std::size_t, groups> const& sizes, std::size_t sum)
    {
        std::size_t owner = 0, taken = 0, of_owner = 0, largest = 0;
        for (std::size_t group = 0; group < groups; ++group) {
            owner_of_[group] = owner;
            taken += sizes[group];
            of_owner += sizes[group];
            largest = (std::max)(largest, of_owner);
            if (owner + 1 < owners_ && taken * owners_ >= sum * (owner + 1)) {
                ++owner;
                of_owner = 0;
            }
        }
        load_ = static_cast<double>(largest) / static_cast<double>(sum);
    }

    std::size_t owners_;
    int shift_ = 0;
    std::array<std::size_t, groups> owner_of_{};
    double load_ = 1;
};

/// A share of the updates, stably sorted by owner.
class sorted_share {
public:
    /// The maximum number of updates in a share, which then fits in a core's L2 cache.
    static constexpr std::size_t max_size = tuning::updates_per_share;

    sorted_share(std::size_t size, std::size_t owners)
        : updates_(std::make_unique_for_overwrite<owned_update[]>(size)), ends_(owners)
    {}

    /// Sorts updates `from` .. `to` - 1 by owner.
    void sort(offset_reader const& read, slice_owners const& owner_of, std::size_t from, std::size_t to)
    {
        std::fill(ends_.begin(), ends_.end(), std::size_t{0});
        for_each_indexed(
            read, from, to, [&](std::ptrdiff_t offset, std::size_t) { ++ends_[owner_of(offset)]; });
        std::size_t begin = 0;
        for (std::size_t& end : ends_)
            begin += std::exchange(end, begin);
        // Counting sort: ends_[owner] is the owner's first position, and each of its updates increments it.
        for_each_indexed(read, from, to, [&](std::ptrdiff_t offset, std::size_t number) {
            updates_[ends_[owner_of(offset)]++] = {offset, number};
        });
    }

    owned_updates updates_of(std::size_t owner) const
    {
        return {{updates_.get() + (owner == 0 ? 0 : ends_[owner - 1]), updates_.get() + ends_[owner]}};
    }

private:
    std::unique_ptr<owned_update[]> updates_;
    std::vector<std::size_t> ends_;
};

/// The updates in rounds: each part first sorts its share of the updates by owner, then each owner applies
/// its updates, share by share.
///
/// Cost: 16 bytes for each update of a round, at most 128 KiB for each owner, allocated by the constructor;
/// offsets are read twice.
class owned_rounds {
public:
    owned_rounds(offset_reader const& read, slice_owners const& owner_of)
        : size_((std::min)(sorted_share::max_size, read.count() / owner_of.count() + 1))
    {
        shares_.reserve(owner_of.count());
        for (std::size_t share = 0; share < owner_of.count(); ++share)
            shares_.emplace_back(size_, owner_of.count());
    }

    /// Calls apply(owned_updates) for all updates, those of a slice in order and by one part at a time.
    /// Requires the arguments of the constructor.
    template <class Policy, class Apply>
    void for_each(
        Policy const& policy, offset_reader const& read, slice_owners const& owner_of, Apply const& apply)
    {
        std::size_t const count = read.count(), parts = owner_of.count();
        for (std::size_t begin = 0; begin < count; begin += parts * size_) {
            policy.for_each(parts, [&](std::size_t share) {
                std::size_t const from = (std::min)(begin + share * size_, count);
                shares_[share].sort(read, owner_of, from, (std::min)(from + size_, count));
            });
            policy.for_each(parts, [&](std::size_t owner) {
                for (sorted_share const& share : shares_)
                    apply(share.updates_of(owner));
            });
        }
    }

private:
    std::size_t size_;
    std::vector<sorted_share> shares_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
