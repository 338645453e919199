#pragma once
// Overlap of strided arrays. Exact up to 10,000 attempts, then conservative: interleaved and adjacent
// views do not overlap.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The memory of one operand: address, bytes per item and layout.
struct memory_block {
    std::uintptr_t address = 0;
    std::size_t item_bytes = 1;
    strided_layout layout{};
};

/// A bounded linear Diophantine equation: sum of count * stride = target, with 0 <= count <= limit for each
/// term. A solution is a byte that two arrays share. Terms whose sums are the multiples of one stride are
/// merged, then divisibility is tested, then counts are tried by descending stride: for nested strides one or
/// two counts of each remain. After a fixed number of attempts the result is conservatively true.
class overlap_equation {
public:
    constexpr void add(std::uintmax_t stride, std::uintmax_t limit)
    {
        if (stride != 0 && limit != 0)
            terms_.push_back({stride, limit});
    }

    constexpr bool is_soluble(std::uintmax_t target)
    {
        std::sort(
            terms_.begin(), terms_.end(), [](term const& a, term const& b) { return a.stride > b.stride; });
        merge_terms();
        return is_divisible(target) && is_soluble_from(0, target);
    }

private:
    struct term {
        std::uintmax_t stride = 0;
        std::uintmax_t limit = 0;
    };

    /// Merges terms. Requires descending strides. A stride that is m times the next one is merged into it if
    /// the limit of the next one is at least m - 1: together they reach every multiple. So the same axis of
    /// two views becomes one term, whatever its length.
    constexpr void merge_terms()
    {
        for (std::size_t i = terms_.size(); i-- > 1;) {
            auto const [larger, count] = terms_[i - 1];
            std::uintmax_t const multiple = larger / terms_[i].stride;
            if (larger % terms_[i].stride == 0 && multiple - 1 <= terms_[i].limit) {
                terms_[i].limit += multiple * count;
                terms_.erase(i - 1);
            }
        }
    }

    /// False if the larger strides have a common divisor whose multiples all differ from the target by more
    /// than the smaller terms can add up to.
    constexpr bool is_divisible(std::uintmax_t target) const
    {
        std::uintmax_t rest = 0;
        for (term const& t : terms_)
            rest += t.stride * t.limit;
        std::uintmax_t divisor = 0;
        for (auto const& [stride, limit] : terms_) {
            rest -= stride * limit;
            divisor = std::gcd(divisor, stride);
            if (target % divisor > rest)
                return false;
        }
        return true;
    }

    constexpr bool is_soluble_from(std::size_t first, std::uintmax_t target)
    {
        if (target == 0 || attempts_left_ == 0)
            return true;
        --attempts_left_;
        if (first == terms_.size())
            return false;
        std::uintmax_t rest = 0;
        for (std::size_t i = first + 1; i < terms_.size(); ++i)
            rest += terms_[i].stride * terms_[i].limit;
        auto const [stride, limit] = terms_[first];
        std::uintmax_t const least = target > rest ? ceil_div(target - rest, stride) : 0;
        for (std::uintmax_t count = (std::min)(limit, target / stride) + 1; count-- > least;)
            if (is_soluble_from(first + 1, target - count * stride))
                return true;
        return false;
    }

    static_vector<term, 2 * max_rank + 2> terms_{};
    int attempts_left_ = 10'000;
};

/// The range from the lowest byte of a block to its highest, inclusive. That of an empty block, {max, 0},
/// intersects none.
struct byte_range {
    std::uintptr_t lowest = (std::numeric_limits<std::uintptr_t>::max)();
    std::uintptr_t highest = 0;
};

constexpr bool intersect(byte_range const& a, byte_range const& b) noexcept
{
    return a.lowest <= b.highest && b.lowest <= a.highest;
}

constexpr std::uintmax_t stride_in_bytes(memory_block const& block, std::size_t axis)
{
    std::ptrdiff_t const stride = block.layout.strides[axis];
    return static_cast<std::uintmax_t>(stride < 0 ? -stride : stride) * block.item_bytes;
}

/// Returns the byte range of a block.
constexpr byte_range bytes_of(memory_block const& block)
{
    byte_range range{block.address, block.address + block.item_bytes - 1};
    for (std::size_t axis = 0; axis < block.layout.dims.size(); ++axis) {
        if (block.layout.dims[axis] == 0)
            return {};
        auto const reach =
            static_cast<std::uintptr_t>(stride_in_bytes(block, axis) * (block.layout.dims[axis] - 1));
        if (block.layout.strides[axis] < 0)
            range.lowest -= reach;
        else
            range.highest += reach;
    }
    return range;
}

/// True if two blocks whose byte ranges intersect share a byte.
///
/// The bytes of a are lowest_a + sum(i * stride), those of b lowest_b + sum(j * stride). Counting those of b
/// down from its highest byte puts both sums on one side, with positive signs.
XLOOM_NOINLINE constexpr bool share_byte(
    memory_block const& a, memory_block const& b, std::uintmax_t highest_b_from_lowest_a)
{
    overlap_equation equation;
    for (memory_block const* const block : {&a, &b}) {
        equation.add(1, block->item_bytes - 1);
        for (std::size_t axis = 0; axis < block->layout.dims.size(); ++axis)
            equation.add(stride_in_bytes(*block, axis), block->layout.dims[axis] - 1);
    }
    return equation.is_soluble(highest_b_from_lowest_a);
}

/// True if the blocks share a byte. Cost: a few ns if their ranges do not intersect, else 0.1 to 0.3 us for
/// usual layouts of any size.
XLOOM_NOINLINE constexpr bool overlap(memory_block const& a, memory_block const& b)
{
    detail::byte_range const in_a = detail::bytes_of(a), in_b = detail::bytes_of(b);
    return detail::intersect(in_a, in_b) && detail::share_byte(a, b, in_b.highest - in_a.lowest);
}

/// True if distinct indices map to distinct elements (mdspan's is_unique) and the strides nest: each exceeds
/// the extent of all smaller ones, as in every view of a container. Conservative: for strides that do not
/// nest, such as [2, 3] for the shape [3, 2], false.
constexpr bool is_unique(strided_layout const& layout)
{
    if (is_row_major(layout))
        return true;
    struct axis {
        std::uintmax_t stride = 0;
        std::uintmax_t last = 0;
    };
    static_vector<axis, max_rank> all;
    for (std::size_t i = 0; i < layout.dims.size(); ++i) {
        if (layout.dims[i] == 0)
            return true;
        std::ptrdiff_t const stride = layout.strides[i];
        if (layout.dims[i] > 1)
            all.push_back({static_cast<std::uintmax_t>(stride < 0 ? -stride : stride), layout.dims[i] - 1});
    }
    std::sort(all.begin(), all.end(), [](axis const& a, axis const& b) { return a.stride < b.stride; });
    std::uintmax_t reach = 0;
    for (auto const& [stride, last] : all) {
        if (stride <= reach)
            return false;
        reach += stride * last;
    }
    return true;
}

} // namespace xloom::inline XLOOM_ABI::detail
