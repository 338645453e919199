#pragma once
// The engine of parallel scans: reduce blocks, scan the totals of blocks, apply these to the blocks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/kernel/prefix_group.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Sets `before`, one value for each sequence, to the values that the scans of a strip begin with, if there
/// are any.
template <class Strip>
void start_strip(Strip const& strip, typename Strip::value_type* before)
{
    if (strip.has_initial())
        for (std::size_t c = 0; c < strip.width(); ++c)
            before[c] = strip.initial(c);
}

template <class Strip>
std::size_t blocks_of(Strip const& strip)
{
    return (strip.length() + kernel::elements_per_block - 1) / kernel::elements_per_block;
}

/// Scans the sequences of a strip, block by block.
template <class Strip>
void scan_strip(Strip const& strip)
{
    std::array<typename Strip::value_type, Strip::max_width> before;
    detail::start_strip(strip, before.data());
    std::size_t const blocks = detail::blocks_of(strip);
    for (std::size_t b = 0; b < blocks; ++b)
        strip.scan(b, before.data(), b != 0 || strip.has_initial());
}

/// The memory for the totals of the blocks of one strip at a time. Until it is allocated, it only notes how
/// much the largest strip takes, so that a call allocates before it writes.
class totals_memory {
public:
    totals_memory() = default;
    totals_memory(totals_memory const&) = delete;
    ~totals_memory() { ::operator delete(first_, std::align_val_t{alignment_}); }

    bool only_counts() const noexcept { return !is_allocated_; }

    template <class V>
    void count(std::size_t values)
    {
        bytes_ = (std::max)(bytes_, values * sizeof(V));
        alignment_ = (std::max)(alignment_, alignof(V));
    }
    void allocate()
    {
        if (bytes_ != 0)
            first_ = ::operator new(bytes_, std::align_val_t{alignment_});
        is_allocated_ = true;
    }
    void* first() const noexcept { return first_; }

private:
    void* first_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t alignment_ = alignof(std::max_align_t);
    bool is_allocated_ = false;
};

/// The totals of the blocks of a strip; after `scan`, what comes before each block.
template <class Strip>
class block_totals {
    using value_type = typename Strip::value_type;

public:
    block_totals(Strip const& strip, totals_memory const& memory)
        : strip_(strip), blocks_(detail::blocks_of(strip)), values_(static_cast<value_type*>(memory.first()))
    {
        std::uninitialized_value_construct_n(values_, count_of(strip));
        detail::start_strip(strip, at(0));
    }
    block_totals(block_totals const&) = delete;
    ~block_totals() { std::destroy_n(values_, count_of(strip_)); }

    /// The number of values of a strip: one for each sequence, before each block and after the last one.
    static std::size_t count_of(Strip const& strip) { return (detail::blocks_of(strip) + 1) * strip.width(); }

    std::size_t blocks() const { return blocks_; }

    /// Computes the totals of some blocks. The last block has a total only where its prefixes are kept.
    void reduce(std::size_t begin, std::size_t end)
    {
        for (std::size_t b = begin; b < end; ++b)
            if (Strip::keeps_prefixes || b + 1 < blocks_)
                strip_.reduce(b, at(b + 1));
    }

    /// Combines the totals in the order of the blocks.
    void scan()
    {
        for (std::size_t b = 1; b < blocks_; ++b)
            strip_.append(b - 1, at(b - 1), at(b), b != 1 || strip_.has_initial());
    }

    /// Writes the results of some blocks.
    void apply(std::size_t begin, std::size_t end)
    {
        for (std::size_t b = begin; b < end; ++b)
            strip_.finish(b, at(b), b != 0 || strip_.has_initial());
    }

private:
    /// The value before block b, for every sequence.
    value_type* at(std::size_t b) { return values_ + b * strip_.width(); }

    Strip const& strip_;
    std::size_t blocks_;
    value_type* values_;
};

/// Scans the sequences of a strip by several threads, each of which has some of the blocks.
template <class Strip, class Policy>
void scan_strip_in_parallel(
    Strip const& strip, std::size_t parts, Policy const& policy, totals_memory const& memory)
{
    block_totals<Strip> totals(strip, memory);
    std::size_t const blocks = totals.blocks();
    policy.for_each(parts, [&](std::size_t part) {
        totals.reduce(
            detail::begin_of_part(part, parts, blocks), detail::begin_of_part(part + 1, parts, blocks));
    });
    totals.scan();
    policy.for_each(parts, [&](std::size_t part) {
        totals.apply(
            detail::begin_of_part(part, parts, blocks), detail::begin_of_part(part + 1, parts, blocks));
    });
}

/// Runs `count` strips, made by make(i), in `parts` parts: whole strips where there are enough of them, else
/// the blocks of each strip, whose totals are in `memory`. Writes nothing while that only counts.
template <class Make, class Policy>
void run_strips(
    std::size_t count, std::size_t parts, Make const& make, Policy const& policy, totals_memory& memory)
{
    bool const divides_strips = count % parts != 0 && count < 4 * parts;
    if (memory.only_counts()) {
        for (std::size_t i = 0; divides_strips && i < count; ++i) {
            auto const strip = make(i);
            using totals = block_totals<std::remove_const_t<decltype(strip)>>;
            memory.count<typename decltype(strip)::value_type>(totals::count_of(strip));
        }
    } else if (divides_strips) {
        for (std::size_t i = 0; i < count; ++i) {
            auto const strip = make(i);
            std::size_t const at_once = (std::min)(parts, detail::blocks_of(strip));
            detail::scan_strip_in_parallel(strip, at_once, policy, memory);
        }
    } else {
        auto const run_part = [&](std::size_t part) {
            std::size_t const end = detail::begin_of_part(part + 1, parts, count);
            for (std::size_t i = detail::begin_of_part(part, parts, count); i < end; ++i)
                detail::scan_strip(make(i));
        };
        if (parts == 1)
            run_part(0);
        else
            policy.for_each(parts, run_part);
    }
}

} // namespace xloom::inline XLOOM_ABI::detail
