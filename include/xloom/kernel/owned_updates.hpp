#pragma once
// Scatter on several threads with the bits of one: every slice has one owner, who applies its updates in their order.

#include <vector>

#include <xloom/kernel/offset_blocks.hpp>

namespace xloom::kernel {

/// An update and the slice that it goes to.
struct owned_update {
    std::ptrdiff_t offset;
    std::size_t number;
};

/// Calls apply(owned_update) for every update; those of one slice in their order and from one part at a time. In rounds: first each part
/// sorts its share of the updates by owner, then each owner takes what is his, share after share.
///
/// `parts` is the number of both; a slice's owner goes by its offset, neighbours within `neighbourhood` items share one.
/// Cost: 16 bytes for each update of a round.
template <class Policy, class Apply>
void for_each_owned(Policy const& policy, std::size_t parts, offset_reader const& read, std::size_t neighbourhood, Apply const& apply)
{
    constexpr std::size_t round = std::size_t{1} << 18;
    std::size_t const count = read.count();
    std::vector<std::vector<owned_update>> lists(parts * parts); // [share][owner]
    for (std::size_t begin = 0; begin < count; begin += round) {
        std::size_t const size = std::min(round, count - begin);
        policy.for_each(parts, [&](std::size_t share) {
            std::vector<owned_update>* const own = lists.data() + share * parts;
            std::ptrdiff_t offsets[offset_block];
            std::size_t const end = begin + size * (share + 1) / parts;
            for (std::size_t first = begin + size * share / parts; first < end; first += offset_block) {
                std::size_t const block = std::min(offset_block, end - first);
                read(first, block, offsets);
                for (std::size_t i = 0; i < block; ++i)
                    if (offsets[i] != dropped)
                        own[static_cast<std::size_t>(offsets[i]) / neighbourhood % parts].push_back({offsets[i], first + i});
            }
        });
        policy.for_each(parts, [&](std::size_t owner) {
            for (std::size_t share = 0; share < parts; ++share) {
                std::vector<owned_update>& list = lists[share * parts + owner];
                for (owned_update const& update : list)
                    apply(update);
                list.clear();
            }
        });
    }
}

} // namespace xloom::kernel
