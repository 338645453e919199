#pragma once
// The sequences of a parallel scan, one along the scanned axis for each index of the other axes, and the
// engine that runs strips of them.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/progress.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/tuning.hpp>
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
        bool const is_reversed = reverse && element_count(layouts[0].dims) != 0;
        for (std::size_t k = 0; k < K; ++k) {
            time_[k] = layouts[k].strides[axis];
            if (is_reversed) {
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
        auto const add = [&](std::size_t axis, std::size_t index) {
            for (std::size_t k = 0; k < K; ++k)
                at[k] += static_cast<std::ptrdiff_t>(index) * strides_[axis][k];
        };
        for (std::size_t axis = dims_.size() - 1; axis != 0; i /= dims_[axis--])
            add(axis, i % dims_[axis]);
        add(0, i);
        return at;
    }

private:
    void append(std::size_t dim, offsets const& strides)
    {
        if (dim == 1)
            return;
        bool is_merged = !dims_.empty();
        for (std::size_t k = 0; k < K && is_merged; ++k)
            is_merged = continues(strides_.back()[k], strides[k], dim);
        if (is_merged) {
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
    return ceil_div(strip.length(), kernel::elements_per_block);
}

/// Computes the totals of some blocks.
template <class Strip>
void reduce_blocks(Strip const& strip, std::size_t begin, std::size_t end, typename Strip::value_type* totals)
{
    if constexpr (requires { strip.reduce_several(begin, totals); })
        for (; end - begin >= Strip::blocks_at_once;
             begin += Strip::blocks_at_once, totals += Strip::blocks_at_once)
            strip.reduce_several(begin, totals);
    for (; begin < end; ++begin, totals += strip.width())
        strip.reduce(begin, totals);
}

/// Scans the sequences of a strip, block by block.
template <class Strip>
void scan_blocks(Strip const& strip)
{
    std::array<typename Strip::value_type, Strip::max_width> before;
    detail::start_strip(strip, before.data());
    std::size_t const blocks = detail::blocks_of(strip);
    for (std::size_t b = 0; b < blocks; ++b)
        strip.scan(b, before.data(), b != 0 || strip.has_initial());
}

/// Scans the sequences of a strip.
template <class Strip>
XLOOM_ALWAYS_INLINE inline void scan_strip(Strip const& strip)
{
    if constexpr (requires { strip.scan_only_group(); })
        if (strip.length() <= kernel::elements_per_group)
            return strip.scan_only_group();
    detail::scan_blocks(strip);
}

/// The chunks of a scan, each of which a thread takes. What comes before chunk k is known once chunk k - 1
/// has handed it on.
class chunk_order {
public:
    /// A thread that takes chunks. Ends the waiting of the others if it leaves by an exception.
    class member {
    public:
        explicit member(chunk_order& order) : order_(order)
        {
            order_.members_.fetch_add(1, std::memory_order_relaxed);
        }
        member(member const&) = delete;
        ~member()
        {
            order_.members_.fetch_sub(1, std::memory_order_relaxed);
            if (!has_finished_)
                order_.known_.give_up();
        }

        /// Returns the next chunk that nobody has taken.
        std::size_t take() { return order_.taken_.fetch_add(1, std::memory_order_relaxed); }
        void finish() noexcept { has_finished_ = true; }

    private:
        chunk_order& order_;
        bool has_finished_ = false;
    };

    /// True if what comes before chunk k is known, and no other thread waits for what comes after it.
    bool is_alone_at(std::size_t k) const noexcept
    {
        return members_.load(std::memory_order_relaxed) == 1 && known_.has_reached(k);
    }
    /// Waits until what comes before chunk k is known. Returns false if another thread has thrown.
    bool wait_for(std::size_t k) { return known_.wait_for(k); }
    /// Says that what comes after chunk k is known, unless another thread has thrown.
    void announce(std::size_t k) noexcept { known_.reach(k + 1); }

private:
    alignas(cache_line) std::atomic<std::size_t> members_ = 0;
    alignas(cache_line) std::atomic<std::size_t> taken_ = 0;
    progress known_{}; ///< has reached k once what comes before chunk k is known
};

/// A scan of `count` strips, made by make(i), in chunks of some blocks. A thread takes the next chunk,
/// computes the totals of its blocks, waits for what comes before it, hands on what comes after it, and
/// writes the results while the chunk is in its cache (Merrill and Garland's decoupled look-back). The bits
/// are those of scan_blocks.
///
/// Why it may wait: for chunks that other threads have taken, so that the parts may run in any order, also
/// one after another.
template <class Make>
class chunked_strips {
public:
    chunked_strips(std::size_t count, std::size_t parts, Make const& make) : count_(count), make_(make)
    {
        strip const first = make_(0); // the others are as long and at most as wide
        std::size_t const blocks = detail::blocks_of(first);
        std::size_t const block_bytes = kernel::elements_per_block * first.width() * sizeof(value_type);
        std::size_t const most =
            (std::min)(tuning::scanned_bytes_per_chunk / block_bytes, max_values / first.width() - 1);
        blocks_ = std::max<std::size_t>((std::min)(blocks / (4 * parts), most), 1);
        chunks_ = ceil_div(blocks, blocks_);
    }

    /// Scans chunks until there are no more, or another thread has thrown.
    void run()
    {
        chunk_order::member thread(order_);
        for (std::size_t k = thread.take(); k < count_ * chunks_; k = thread.take())
            if (!run_chunk(make_(k / chunks_), k))
                return;
        thread.finish();
    }

private:
    using strip = std::remove_const_t<decltype(std::declval<Make const&>()(std::size_t{}))>;
    using value_type = typename strip::value_type;

    /// The values before the blocks of a chunk and after the last one, of all sequences.
    static constexpr std::size_t max_values = (std::max)(2 * strip::max_width,
        tuning::scanned_bytes_per_chunk / (kernel::elements_per_block * sizeof(value_type)) + 1);

    bool run_chunk(strip const& of, std::size_t k)
    {
        std::size_t const blocks = detail::blocks_of(of), width = of.width();
        std::size_t const begin = k % chunks_ * blocks_, end = (std::min)(begin + blocks_, blocks);
        std::array<value_type, max_values> values;
        auto const before = [&](std::size_t b) { return values.data() + (b - begin) * width; };
        auto const has_before = [&](std::size_t b) { return b != 0 || of.has_initial(); };
        if (order_.is_alone_at(k)) { // one pass is enough
            receive(of, begin, before(begin));
            for (std::size_t b = begin; b < end; ++b)
                of.scan(b, before(begin), has_before(b));
            hand_on(of, end, before(begin), k);
            return true;
        }
        bool const has_last_total = strip::keeps_prefixes || end != blocks;
        detail::reduce_blocks(of, begin, has_last_total ? end : end - 1, before(begin + 1));
        if (!order_.wait_for(k))
            return false;
        receive(of, begin, before(begin));
        for (std::size_t b = begin; b < end && b + 1 < blocks; ++b)
            of.append(b, before(b), before(b + 1), has_before(b));
        hand_on(of, end, before(end), k);
        for (std::size_t b = begin; b < end; ++b)
            of.finish(b, before(b), has_before(b));
        return true;
    }

    /// Assigns what comes before block `begin`.
    void receive(strip const& of, std::size_t begin, value_type* before) const
    {
        if (begin == 0)
            detail::start_strip(of, before);
        else
            std::copy_n(handed_on_.begin(), of.width(), before);
    }
    /// Hands on what comes before block `end`, if there is one.
    void hand_on(strip const& of, std::size_t end, value_type const* after, std::size_t k)
    {
        if (end != detail::blocks_of(of))
            std::copy_n(after, of.width(), handed_on_.begin());
        order_.announce(k);
    }

    std::size_t count_;
    Make const& make_;
    std::size_t blocks_, chunks_; ///< blocks of a chunk, chunks of a strip
    chunk_order order_{};
    std::array<value_type, strip::max_width> handed_on_{};
};

/// Runs `count` strips, made by make(i), in `parts` parts: whole strips where there are enough of them, else
/// chunks of strips.
template <class Make, class Policy>
void run_strips(std::size_t count, std::size_t parts, Make const& make, Policy const& policy)
{
    if (parts != 1 && count % parts != 0 && count < 4 * parts) {
        chunked_strips<Make> chunks(count, parts, make);
        policy.for_each(parts, [&](std::size_t) { chunks.run(); });
        return;
    }
    auto const run_part = [&](std::size_t part) {
        auto const [begin, end] = range_of_part(part, parts, count);
        for (std::size_t i = begin; i < end; ++i)
            detail::scan_strip(make(i));
    };
    if (parts == 1)
        run_part(0);
    else
        policy.for_each(parts, run_part);
}

} // namespace xloom::inline XLOOM_ABI::detail
