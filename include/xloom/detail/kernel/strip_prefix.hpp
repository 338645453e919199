#pragma once
// A parallel scan of several sequences at once, element by element: for every callable, type and layout.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/product.hpp>
#include <xloom/detail/kernel/with_count.hpp>

// A group has at least one element.
XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of sequences of a strip: its elements of one time step take 1 KiB, if it has several.
template <class V>
inline constexpr std::size_t strip_width = std::clamp<std::size_t>(1024 / sizeof(V), 1, 64);

/// True if operators on Vs take a few instructions.
template <class V>
inline constexpr bool is_number_or_map = std::is_arithmetic_v<V>;
template <std::floating_point T>
inline constexpr bool is_number_or_map<affine_map<T>> = true;

/// The blocks of a scan of `width` sequences. `Access` reads and writes the element of time t and sequence c:
///
///     read(t, c), write(t, c, v)
///     kept(t, c), keep(t, c, v)   a prefix that waits in the output
///
/// scan(b, before) writes the results of block b and combines `before` with the totals of the block. A second
/// way, of the same bits, is for threads: reduce(b, totals), append(b, before, totals), which replaces the
/// totals by what comes after the block, then finish(b, before). With keeps_prefixes, reduce keeps the
/// prefixes of groups in the output, so that `op` is called as often as by scan.
template <class V, class Op, class Access, bool KeepsPrefixes>
class strip_prefix {
public:
    using value_type = V;

    static constexpr bool keeps_prefixes = KeepsPrefixes;
    static constexpr std::size_t max_width = strip_width<V>;

    strip_prefix(Op const& op, Access const& access, std::size_t length, std::size_t width, bool exclusive)
        : op_(op), access_(access), length_(length), width_(width), exclusive_(exclusive)
    {}

    std::size_t width() const noexcept { return width_; }
    std::size_t length() const noexcept { return length_; }
    bool has_initial() const noexcept { return access_.has_initial(); }
    value_type initial(std::size_t c) const { return access_.initial(c); }

    void scan(std::size_t block, V* before, bool has_before) const
    {
        if constexpr (is_ordered)
            run_ordered<true>(block, before, has_before);
        else
            run<from_inputs>(block, before, has_before);
    }
    /// Writes the results of sequences of one group. There is code for each number of elements, so for
    /// operators of a few instructions.
    void scan_only_group() const
        requires(is_number_or_map<V> && std::is_empty_v<Op>)
    {
        strip_prefix const local = *this; // which no write changes, as the compiler can see
        bool const has_base = has_initial();
        kernel::with_count<1, elements_per_group>(length_, [&](auto count) {
            for (std::size_t c = 0; c < local.width_; ++c) {
                V const start = has_base ? local.access_.initial(c) : V{};
                V const* const base = has_base ? &start : nullptr;
                V x[count], group[count];
                for (std::size_t i = 0; i < count; ++i)
                    group[i] = x[i] = local.access_.read(i, c);
                scan_group<count>(group, local.op_);
                if constexpr (is_ordered)
                    if (!local.are_safe(count, x, group, base)) {
                        last_result last{start, has_base && !Op::is_safe_start(start)};
                        local.template write_ordered<true>(0, c, count, group, has_base, last);
                        continue;
                    }
                local.write(0, c, count, group, base);
            }
        });
    }
    void reduce(std::size_t block, V* totals) const
    {
        if constexpr (is_ordered)
            reduce_clear(block, totals);
        else
            run<only_totals>(block, totals, false);
    }
    void append(std::size_t block, V const* before, V* totals, bool has_before) const
    {
        if constexpr (is_ordered)
            if (!are_clear(before, totals, has_before)) {
                std::array<V, strip_width<V>> after;
                if (has_before)
                    std::copy_n(before, width_, after.begin());
                run_ordered<false>(block, after.data(), has_before);
                std::copy_n(after.begin(), width_, totals);
                return;
            }
        for (std::size_t c = 0; has_before && c < width_; ++c)
            totals[c] = op_(before[c], totals[c]);
    }
    void finish(std::size_t block, V* before, bool has_before) const
    {
        if constexpr (is_ordered)
            run_ordered<true>(block, before, has_before);
        else
            run<KeepsPrefixes ? from_kept : from_inputs>(block, before, has_before);
    }

private:
    enum source { from_inputs, only_totals, from_kept };

    static constexpr bool is_ordered = order_rule<Op, V>::is_ordered;
    static_assert(!is_ordered || !KeepsPrefixes);

    /// The last result of a sequence, from which it is continued in order once one was unsafe.
    struct last_result {
        V value;
        bool is_in_order;
    };

    /// As run, but in order where the rule of the operator says so. Results are written if Writes.
    template <bool Writes>
    void run_ordered(std::size_t block, V* before, bool has_before) const
    {
        std::size_t const begin = block * elements_per_block;
        std::size_t const end = (std::min)(begin + elements_per_block, length_);
        std::array<V, strip_width<V>> totals; // of the groups of the block so far
        std::array<last_result, strip_width<V>> last{};
        for (std::size_t c = 0; has_before && c < width_; ++c)
            last[c] = {before[c], !Op::is_safe_start(before[c])};
        for (std::size_t t = begin; t < end; t += elements_per_group) {
            std::size_t const count = (std::min)(elements_per_group, end - t);
            for (std::size_t c = 0; c < width_; ++c) {
                V group[elements_per_group];
                read_prefixes(t, c, count, group);
                bool const has_base = has_before || t != begin;
                if (has_base && !last[c].is_in_order)
                    last[c].value = !has_before  ? totals[c]
                                    : t == begin ? before[c]
                                                 : op_(before[c], totals[c]);
                write_ordered<Writes>(t, c, count, group, has_base, last[c]);
                totals[c] = t == begin ? group[count - 1] : op_(totals[c], group[count - 1]);
            }
        }
        for (std::size_t c = 0; c < width_; ++c)
            before[c] = last[c].is_in_order ? last[c].value
                        : has_before        ? op_(before[c], totals[c])
                                            : totals[c];
    }

    /// True if all elements x of a group are safe, given their prefixes and what comes before them, if any.
    XLOOM_ALWAYS_INLINE bool are_safe(std::size_t count, V const* x, V const* group, V const* base) const
    {
        bool are_all = base == nullptr || Op::is_safe_start(*base);
        for (std::size_t i = 0; i < count; ++i)
            are_all = are_all & Op::is_safe(x[i], base == nullptr ? group[i] : op_(*base, group[i]));
        return are_all;
    }

    /// Writes the results of a group whose prefixes are given. The base is `last.value`, if there is one.
    template <bool Writes>
    void write_ordered(std::size_t t, std::size_t c, std::size_t count, V const* group, bool has_base,
        last_result& last) const
    {
        V const base = last.value;
        for (std::size_t i = 0; i < count; ++i) {
            V const x = access_.read(t + i, c);
            V result = has_base ? op_(base, group[i]) : group[i];
            last.is_in_order = last.is_in_order || !Op::is_safe(x, result);
            if (last.is_in_order)
                result = has_base || i != 0 ? op_(last.value, x) : x;
            if constexpr (Writes)
                access_.write(t + i, c, exclusive_ ? last.value : result);
            last.value = result;
        }
    }

    /// Computes the totals of a block, or totals that say that it may have to be computed in order.
    void reduce_clear(std::size_t block, V* totals) const
    {
        std::size_t const begin = block * elements_per_block;
        bool is_clear = true;
        for (std::size_t t = begin; t < begin + elements_per_block; t += elements_per_group)
            for (std::size_t c = 0; c < width_; ++c) {
                V group[elements_per_group];
                read_prefixes(t, c, elements_per_group, group);
                for (std::size_t i = 0; i < elements_per_group; ++i)
                    is_clear = is_clear && kernel::is_clear<Op>(access_.read(t + i, c),
                                               t == begin ? group[i] : op_(totals[c], group[i]));
                totals[c] = t == begin ? group[elements_per_group - 1]
                                       : op_(totals[c], group[elements_per_group - 1]);
            }
        for (std::size_t c = 0; !is_clear && c < width_; ++c)
            totals[c] = Op::unclear(totals[c]);
    }
    bool are_clear(V const* before, V const* totals, bool has_before) const
    {
        bool are_all = true;
        for (std::size_t c = 0; c < width_; ++c)
            are_all =
                are_all && Op::is_clear_total(totals[c]) && (!has_before || Op::is_clear_start(before[c]));
        return are_all;
    }

    template <source Source>
    void run(std::size_t block, V* before, bool has_before) const
    {
        constexpr bool is_whole = Source == only_totals && !KeepsPrefixes; // not the last block
        std::size_t const begin = block * elements_per_block;
        std::size_t const end =
            is_whole ? begin + elements_per_block : (std::min)(begin + elements_per_block, length_);
        std::array<V, strip_width<V>> totals; // of the groups of the block so far
        for (std::size_t t = begin; t < end; t += elements_per_group) {
            std::size_t const count = is_whole ? elements_per_group : (std::min)(elements_per_group, end - t);
            for (std::size_t c = 0; c < width_; ++c) {
                V group[elements_per_group];
                if constexpr (Source == from_kept)
                    read_kept(t, c, count, group);
                else
                    read_prefixes(t, c, count, group);
                V const& last = group[count - 1];
                if constexpr (Source == only_totals) {
                    if constexpr (KeepsPrefixes)
                        keep(t, c, count, group);
                } else if (has_before && t != begin) {
                    V const base = op_(before[c], totals[c]);
                    write(t, c, count, group, &base);
                } else {
                    write(t, c, count, group, has_before ? &before[c] : t != begin ? &totals[c] : nullptr);
                }
                if (t == begin)
                    totals[c] = last;
                else
                    totals[c] = op_(totals[c], last);
            }
        }
        for (std::size_t c = 0; c < width_; ++c)
            if (has_before)
                before[c] = op_(before[c], totals[c]);
            else
                before[c] = totals[c];
    }

    /// Why only the steps of cheap operators and of numbers are unrolled: others would be inlined dozens of
    /// times.
    void read_prefixes(std::size_t t, std::size_t c, std::size_t count, V* group) const
    {
        constexpr bool is_unrolled = !KeepsPrefixes || std::is_arithmetic_v<V>;
        if (is_unrolled && count == elements_per_group) {
            for (std::size_t i = 0; i < elements_per_group; ++i)
                group[i] = access_.read(t + i, c);
            if constexpr (is_unrolled)
                scan_group<elements_per_group>(group, op_);
        } else {
            for (std::size_t i = 0; i < count; ++i)
                group[i] = access_.read(t + i, c);
            scan_group(group, count, op_);
        }
    }

    /// Keeps the prefixes where the results will be; an exclusive scan, whose first result is no combination
    /// of them, keeps the last one there.
    void keep(std::size_t t, std::size_t c, std::size_t count, V const* group) const
    {
        std::size_t const shift = exclusive_ ? 1 : 0;
        if (exclusive_)
            access_.keep(t, c, group[count - 1]);
        for (std::size_t i = shift; i < count; ++i)
            access_.keep(t + i, c, group[i - shift]);
    }
    void read_kept(std::size_t t, std::size_t c, std::size_t count, V* group) const
    {
        std::size_t const shift = exclusive_ ? 1 : 0;
        for (std::size_t i = shift; i < count; ++i)
            group[i - shift] = access_.kept(t + i, c);
        if (exclusive_)
            group[count - 1] = access_.kept(t, c);
    }

    /// Writes the results of a group. Without a base, its prefixes are the results.
    void write(std::size_t t, std::size_t c, std::size_t count, V const* group, V const* base) const
    {
        if (exclusive_) // which has a base
            access_.write(t, c, *base);
        std::size_t const shift = exclusive_ ? 1 : 0;
        if (base == nullptr)
            for (std::size_t i = 0; i < count; ++i)
                access_.write(t + i, c, group[i]);
        else if (!exclusive_ && count == elements_per_group)
            for (std::size_t i = 0; i < elements_per_group; ++i)
                access_.write(t + i, c, op_(*base, group[i]));
        else
            for (std::size_t i = shift; i < count; ++i)
                access_.write(t + i, c, op_(*base, group[i - shift]));
    }

    Op op_;
    Access access_;
    std::size_t length_;
    std::size_t width_;
    bool exclusive_;
};

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
