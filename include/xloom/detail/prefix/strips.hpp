#pragma once
// The sequences of a parallel scan, one along the scanned axis for each index of the other axes, and the
// engine that runs strips of them: reduce blocks, scan the totals of blocks, apply these to the blocks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The sequences of K operands of one shape. The axes other than the scanned one are merged where all
/// operands permit it; the last of them, whose stride in the last operand is the smallest, is that of the
/// neighbours, which a strip consists of.
template <std::size_t K>
class sequences {
public:
    using offsets = std::array<std::ptrdiff_t, K>;

    /// A reverse scan begins at the end of the axis.
    sequences(std::array<strided_layout, K> const& layouts, std::size_t axis, bool reverse)
        : length_(layouts[0].dims[axis])
    {
        for (std::size_t k = 0; k < K; ++k) {
            time_[k] = layouts[k].strides[axis];
            if (reverse && length_ != 0) {
                first_[k] = time_[k] * static_cast<std::ptrdiff_t>(length_ - 1);
                time_[k] = -time_[k];
            }
        }
        static_vector<std::size_t, max_rank> order;
        for (std::size_t other = 0; other < layouts[0].dims.size(); ++other)
            if (other != axis)
                order.push_back(other);
        auto const abs_stride = [&](std::size_t other) { return std::abs(layouts[K - 1].strides[other]); };
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { // stable_sort allocates
            return std::pair(abs_stride(b), a) < std::pair(abs_stride(a), b);
        });
        for (std::size_t const other : order) {
            offsets strides;
            for (std::size_t k = 0; k < K; ++k)
                strides[k] = layouts[k].strides[other];
            append(layouts[0].dims[other], strides);
        }
        if (dims_.empty())
            append_axis(1, offsets{});
    }

    /// The number of elements of each sequence.
    std::size_t length() const { return length_; }
    /// The number of sequences.
    std::size_t count() const { return element_count(dims_); }
    std::size_t neighbours() const { return dims_.back(); }
    /// The distance from one element of a sequence to the next one.
    offsets const& time() const { return time_; }
    /// The distance from a sequence to its neighbour.
    offsets const& beside() const { return strides_.back(); }

    /// Returns where sequence number i begins.
    offsets operator()(std::size_t i) const
    {
        offsets at = first_;
        for (std::size_t axis = dims_.size(); axis-- > 0; i /= dims_[axis])
            for (std::size_t k = 0; k < K; ++k)
                at[k] += static_cast<std::ptrdiff_t>(i % dims_[axis]) * strides_[axis][k];
        return at;
    }

private:
    void append(std::size_t dim, offsets const& strides)
    {
        if (dim == 1)
            return;
        bool continues = !dims_.empty();
        for (std::size_t k = 0; k < K && continues; ++k)
            continues = strides_.back()[k] == strides[k] * static_cast<std::ptrdiff_t>(dim);
        if (continues) {
            dims_.back() *= dim;
            strides_.back() = strides;
        } else {
            append_axis(dim, strides);
        }
    }
    void append_axis(std::size_t dim, offsets const& strides)
    {
        dims_.push_back(dim);
        strides_.push_back(strides);
    }

    std::size_t length_;
    offsets time_{}, first_{};
    shape dims_{};
    static_vector<offsets, max_rank> strides_{};
};

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
