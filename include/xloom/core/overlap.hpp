#pragma once
// Whether two strided arrays have a byte in common: exact, so that interleaved and neighbouring views are told from overlapping ones.

#include <algorithm>
#include <cstdint>

#include <xloom/core/layout.hpp>

namespace xloom {

/// The bytes of one operand.
struct memory_block {
    std::uintptr_t address = 0;
    std::size_t item_bytes = 1;
    strided_layout layout{};
};

namespace detail {

/// Solves  sum of count * step = target  with 0 <= count <= limit for each term: does a common byte exist?
/// Terms are tried by falling step, so that for the usual nested strides one or two counts of each remain; after a fixed number of
/// attempts the answer is "perhaps", which counts as yes.
class overlap_equation {
public:
    constexpr void add(std::uintmax_t step, std::uintmax_t limit)
    {
        if (step != 0 && limit != 0)
            terms_.push_back({step, limit});
    }

    constexpr bool is_soluble(std::uintmax_t target)
    {
        std::sort(terms_.begin(), terms_.end(), [](term const& a, term const& b) { return a.step > b.step; });
        return is_soluble_from(0, target);
    }

private:
    struct term {
        std::uintmax_t step = 0;
        std::uintmax_t limit = 0;
    };

    constexpr bool is_soluble_from(std::size_t first, std::uintmax_t target)
    {
        if (target == 0 || attempts_left_ == 0)
            return true;
        --attempts_left_;
        if (first == terms_.size())
            return false;
        std::uintmax_t rest = 0;
        for (std::size_t i = first + 1; i < terms_.size(); ++i)
            rest += terms_[i].step * terms_[i].limit;
        auto const [step, limit] = terms_[first];
        std::uintmax_t const least = target > rest ? (target - rest + step - 1) / step : 0;
        for (std::uintmax_t count = std::min(limit, target / step) + 1; count-- > least;)
            if (is_soluble_from(first + 1, target - count * step))
                return true;
        return false;
    }

    static_vector<term, 2 * max_rank + 2> terms_{};
    int attempts_left_ = 10'000;
};

} // namespace detail

/// True if the blocks share a byte. Cost: a few dozen operations for the layouts that occur.
constexpr bool overlap(memory_block const& a, memory_block const& b)
{
    if (element_count(a.layout.dims) == 0 || element_count(b.layout.dims) == 0)
        return false;

    // a's bytes are lowest_a + sum(i * step), b's are lowest_b + sum(j * step). Counting b's from its highest byte downwards brings
    // both sums to one side, with positive signs.
    detail::overlap_equation equation;
    std::uintptr_t lowest[2] = {a.address, b.address};
    std::uintptr_t highest[2] = {};
    memory_block const* const blocks[2] = {&a, &b};
    for (int side = 0; side < 2; ++side) {
        auto const& [dims, steps] = blocks[side]->layout;
        std::uintmax_t extent = blocks[side]->item_bytes - 1;
        equation.add(1, extent);
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            std::uintmax_t const step =
                static_cast<std::uintmax_t>(steps[axis] < 0 ? -steps[axis] : steps[axis]) * blocks[side]->item_bytes;
            equation.add(step, dims[axis] - 1);
            extent += step * (dims[axis] - 1);
            if (steps[axis] < 0)
                lowest[side] -= step * (dims[axis] - 1);
        }
        highest[side] = lowest[side] + extent;
    }
    if (highest[0] < lowest[1] || highest[1] < lowest[0])
        return false;
    return equation.is_soluble(highest[1] - lowest[0]);
}

} // namespace xloom
