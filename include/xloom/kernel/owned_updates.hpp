#pragma once
// Scatter on several threads with the bits of one: every slice has one owner, who applies its updates in their order.

#include <memory>

#include <xloom/kernel/offset_blocks.hpp>

namespace xloom::kernel {

/// An update and the slice that it goes to.
struct owned_update {
    std::ptrdiff_t offset;
    std::size_t number;
};

/// Who owns a slice, by its offset: neighbours within at least `neighbourhood` items have one owner.
class slice_owner {
public:
    slice_owner(std::size_t neighbourhood, std::size_t owners) : owners_(owners)
    {
        while (std::size_t{1} << shift_ < neighbourhood)
            ++shift_;
    }

    /// Why no division: it would cost more than the update.
    std::size_t operator()(std::ptrdiff_t offset) const
    {
        return ((static_cast<std::size_t>(offset) >> shift_) % classes) * owners_ / classes;
    }

private:
    static constexpr std::size_t classes = 1024;

    std::size_t owners_;
    int shift_ = 0;
};

/// Calls apply(owned_update) for every update; those of one slice in their order and from one part at a time. In rounds: first each part
/// sorts its share of the updates by owner, then each owner takes what is his, share after share.
///
/// Cost: 16 bytes for each update of a round and each part.
template <class Policy, class Apply>
void for_each_owned(Policy const& policy, std::size_t parts, offset_reader const& read, slice_owner const& owner_of, Apply const& apply)
{
    constexpr std::size_t share_size = std::size_t{1} << 16;
    std::size_t const count = read.count();
    auto const lists = std::make_unique_for_overwrite<owned_update[]>(parts * parts * share_size); // [share][owner], as long as may be
    auto const sizes = std::make_unique<std::size_t[]>(parts * parts);
    for (std::size_t begin = 0; begin < count; begin += parts * share_size) {
        policy.for_each(parts, [&](std::size_t share) {
            std::size_t* const own_sizes = sizes.get() + share * parts;
            owned_update* const own_lists = lists.get() + share * parts * share_size;
            std::fill_n(own_sizes, parts, std::size_t{0});
            std::ptrdiff_t offsets[offset_block];
            std::size_t const first_of_share = std::min(begin + share * share_size, count);
            std::size_t const end = std::min(first_of_share + share_size, count);
            for (std::size_t first = first_of_share; first < end; first += offset_block) {
                std::size_t const block = std::min(offset_block, end - first);
                read(first, block, offsets);
                for (std::size_t i = 0; i < block; ++i) {
                    if (offsets[i] == dropped)
                        continue;
                    std::size_t const owner = owner_of(offsets[i]);
                    own_lists[owner * share_size + own_sizes[owner]++] = {offsets[i], first + i};
                }
            }
        });
        policy.for_each(parts, [&](std::size_t owner) {
            for (std::size_t share = 0; share < parts; ++share) {
                std::size_t const list = share * parts + owner;
                owned_update const* const updates = lists.get() + list * share_size;
                for (std::size_t i = 0; i < sizes[list]; ++i)
                    apply(updates[i]);
            }
        });
    }
}

} // namespace xloom::kernel
