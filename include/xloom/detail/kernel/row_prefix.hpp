#pragma once
// A parallel scan of neighbouring sequences, row by row: a row is one time step of all of them, in vectors.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The maximum number of vectors of a row.
template <class V>
inline constexpr std::size_t row_width = 4096 / sizeof(V);

/// The blocks of a scan of the lanes of `width` vectors, which begins with a value. `Access` reads and writes
/// vector c of row t: read(t, c), write(t, c, v).
///
/// scan(b, before) writes the results of block b and combines `before` with the totals of the block, unless
/// it is not a whole one. reduce(b, totals) computes the totals of a block that is not the last one, and
/// append(b, before, totals) replaces them by what comes after the block.
///
/// Why row by row: only the trees of each column are read again, so that rows may evict each other from a set
/// of the cache, and hardware prefetches what comes next.
template <class V, class Op, class Access>
class row_prefix {
public:
    using value_type = V;

    static constexpr bool keeps_prefixes = false;
    static constexpr std::size_t max_width = row_width<V>;

    row_prefix(Op const& op, Access const& access, std::size_t length, std::size_t width, bool exclusive)
        : op_(op), access_(access), length_(length), width_(width), exclusive_(exclusive)
    {}

    std::size_t width() const noexcept { return width_; }
    std::size_t length() const noexcept { return length_; }
    static constexpr bool has_initial() noexcept { return true; }
    value_type initial(std::size_t c) const { return access_.initial(c); }

    void scan(std::size_t block, V* before, bool = true) const
    {
        if constexpr (requires { Op::neutral(); })
            if (exclusive_)
                return scan<results::exclusive>(block, before);
        scan<results::inclusive>(block, before);
    }
    void finish(std::size_t block, V* before, bool = true) const { scan(block, before); }

    void reduce(std::size_t block, V* totals) const
    {
        std::size_t const begin = block * elements_per_block;
        row_prefix const local = *this; // which no write changes, as the compiler can see
        columns group;
        bool is_in_order = false; // from a row on that has a result which is not safe
        for (std::size_t t = begin; t < begin + elements_per_block; t += elements_per_group) {
            if constexpr (needs_results)
                for (std::size_t c = 0; c < width_; ++c)
                    group.all[c].base = t == begin ? rule::template neutral<V>() : totals[c];
            local.template run_rows<results::total>(
                group, t, elements_per_group, is_in_order, rows_of_group{});
            append_group(group, t == begin, totals);
        }
        if constexpr (is_ordered)
            if (is_in_order)
                totals[0] = rule::unclear(totals[0]);
    }
    void append(std::size_t block, V const* before, V* totals, bool = true) const
    {
        if constexpr (is_ordered)
            if (!are_clear(before, totals)) {
                std::copy_n(before, width_, totals);
                scan<results::none>(block, totals);
                return;
            }
        for (std::size_t c = 0; c < width_; ++c)
            totals[c] = op_(before[c], totals[c]);
    }

private:
    /// The results that are written; `total` computes the total of a block only.
    enum class results { total, none, inclusive, exclusive };

    using rows_of_group = std::make_index_sequence<elements_per_group>;
    using rule = element_of<Op>;

    static constexpr bool is_ordered = order_rule<Op, V>::is_ordered;
    static constexpr bool needs_results = is_ordered && !is_clear_by_elements<rule, V>;

    /// Sklansky's network, whose elements come one by one. The bits of the number of an element say what
    /// comes before it in its group: 11 = 8 + 2 + 1 elements, whose trees are kept. Element 11 itself is
    /// combined with the nearest of them first.
    struct column {
        V trees[5]; // the last ones of 1, 2, 4, 8 and 16 elements
        V base;     // what comes before the group

        V const& total() const { return trees[4]; }
    };

    /// The columns of a row. Why three arrays: the first alone, which sums need, takes 24 KiB of the L1
    /// cache.
    struct columns {
        std::array<column, max_width> all;
        /// The results of the row before, see set_previous.
        std::array<V, max_width> previous;
        /// False from a result on that is not safe.
        std::array<typename order_rule<Op, V>::condition, max_width> is_safe;
    };

    template <results Results>
    void scan(std::size_t block, V* before) const
    {
        std::size_t const begin = block * elements_per_block;
        std::size_t const end = (std::min)(begin + elements_per_block, length_);
        row_prefix const local = *this; // which no write changes, as the compiler can see
        columns group;
        bool is_in_order = false;
        std::array<V, max_width> totals; // of the groups of the block so far
        if constexpr (is_ordered)
            for (std::size_t c = 0; c < width_; ++c) {
                group.is_safe[c] = rule::is_safe_start(before[c]);
                group.previous[c] = before[c];
                is_in_order = is_in_order || !all_of(group.is_safe[c]);
            }
        for (std::size_t t = begin; t < end; t += elements_per_group) {
            for (std::size_t c = 0; c < width_; ++c)
                start_group(group, c, t == begin ? before[c] : op_(before[c], totals[c]), is_in_order);
            local.template run_rows<Results>(group, t, end - t, is_in_order, rows_of_group{});
            if (end - t >= elements_per_group)
                append_group(group, t == begin, totals.data());
        }
        if (end - begin != elements_per_block)
            return;
        for (std::size_t c = 0; c < width_; ++c)
            before[c] = last_of(group, c, op_(before[c], totals[c]), is_in_order);
    }

    /// Returns the last result of column c, given what it is in any grouping.
    static V last_of(columns const& group, std::size_t c, V const& grouped, bool is_in_order)
    {
        if constexpr (is_ordered)
            if (is_in_order)
                return choose(group.is_safe[c], grouped, group.previous[c]);
        return grouped;
    }
    void start_group(columns& group, std::size_t c, V const& base, bool is_in_order) const
    {
        group.all[c].base = base;
        if (is_ordered || exclusive_)
            group.previous[c] = last_of(group, c, base, is_in_order);
    }

    /// Appends the totals of a group to those of the groups before it.
    void append_group(columns const& group, bool is_first, V* totals) const
    {
        for (std::size_t c = 0; c < width_; ++c)
            totals[c] = is_first ? group.all[c].total() : op_(totals[c], group.all[c].total());
    }

    bool are_clear(V const* before, V const* totals) const
    {
        bool are_all = true;
        for (std::size_t c = 0; c < width_; ++c)
            are_all =
                are_all && all_of(rule::is_clear_total(totals[c])) && all_of(rule::is_clear_start(before[c]));
        return are_all;
    }

    template <results Results, std::size_t... I>
    XLOOM_ALWAYS_INLINE void run_rows(
        columns& group, std::size_t t, std::size_t count, bool& is_in_order, std::index_sequence<I...>) const
    {
        static_cast<void>(((I < count && (run_row<Results, I>(group, t + I, is_in_order), true)) && ...));
    }

    template <results Results, std::size_t I>
    XLOOM_ALWAYS_INLINE void run_row(columns& group, std::size_t t, bool& is_in_order) const
    {
        constexpr bool is_total = Results == results::total, has_prefix = !is_total || needs_results;
        std::size_t c = 0;
        if (!is_ordered || is_total || !is_in_order)
            for (; c < width_; ++c) {
                column& at = group.all[c];
                V const x = access_.read(t, c);
                V const prefix = combine<has_prefix, I, 0>(at, x);
                if constexpr (is_total) {
                    if constexpr (is_ordered)
                        is_in_order = is_in_order || !all_of(is_clear(x, at, prefix));
                } else {
                    V const result = op_(at.base, prefix);
                    if constexpr (is_ordered)
                        if (!all_of(rule::is_safe(x, result)))
                            break;
                    write<Results>(group, t, c, result);
                }
            }
        if constexpr (is_ordered && !is_total)
            if (c < width_) {
                if (!is_in_order)
                    set_previous(group, I, c);
                is_in_order = true;
                run_row_in_order<Results>(group, t, I, c);
            }
    }

    /// True, for each lane, if the result after element x is clear.
    XLOOM_ALWAYS_INLINE auto is_clear(V const& x, column const& at, V const& prefix) const
    {
        if constexpr (needs_results)
            return rule::is_clear(x, op_(at.base, prefix));
        else
            return rule::is_clear(x);
    }

    template <results Results>
    XLOOM_ALWAYS_INLINE void write(columns& group, std::size_t t, std::size_t c, V const& result) const
    {
        if constexpr (Results == results::inclusive) {
            access_.write(t, c, result);
        } else if constexpr (Results == results::exclusive) {
            access_.write(t, c, group.previous[c]);
            group.previous[c] = result;
        }
    }

    /// Sets the last result of every column, of which the first ones have that of row i of the group.
    XLOOM_NOINLINE void set_previous(columns& group, std::size_t i, std::size_t first) const
    {
        for (std::size_t c = 0; c < width_; ++c)
            group.previous[c] = last_result(group.all[c], c < first ? i + 1 : i);
    }
    /// Returns the result of a column after `count` rows of the group, or the base.
    V last_result(column const& at, std::size_t count) const
    {
        if (count == 0)
            return at.base;
        auto level = static_cast<std::size_t>(std::countr_zero(count));
        V prefix = at.trees[level];
        while ((count >> ++level) != 0)
            if ((count >> level) % 2 != 0)
                prefix = op_(at.trees[level], prefix);
        return op_(at.base, prefix);
    }

    /// Runs a row from column `first` on: in order in the lanes where a result was not safe.
    template <results Results>
    XLOOM_NOINLINE void run_row_in_order(
        columns& group, std::size_t t, std::size_t i, std::size_t first) const
    {
        for (std::size_t c = first; c < width_; ++c) {
            column& at = group.all[c];
            V const x = access_.read(t, c);
            V const result = op_(at.base, combine(at, i, x));
            group.is_safe[c] = both(group.is_safe[c], rule::is_safe(x, result));
            V const chosen = choose(group.is_safe[c], result, op_(group.previous[c], x));
            write<Results>(group, t, c, chosen);
            group.previous[c] = chosen;
        }
    }

    /// Combines x, element I of its group, with what comes before it there, from this level of the tree on,
    /// and keeps the tree that ends with it.
    template <bool HasPrefix, std::size_t I, std::size_t Level>
    XLOOM_ALWAYS_INLINE V combine(column& at, V const& x) const
    {
        constexpr bool ends_tree = (I + 1) % (std::size_t{1} << Level) == 0;
        if constexpr ((I >> Level) % 2 != 0 && (ends_tree || HasPrefix)) {
            return combine<HasPrefix, I, Level + 1>(at, op_(at.trees[Level], x));
        } else {
            if constexpr (ends_tree)
                at.trees[Level] = x;
            if constexpr ((I >> Level) != 0)
                return combine<HasPrefix, I, Level + 1>(at, x);
            else
                return x;
        }
    }
    /// Combines x likewise, for any i.
    V combine(column& at, std::size_t i, V x) const
    {
        for (std::size_t level = 0;; ++level)
            if ((i >> level) % 2 != 0) {
                x = op_(at.trees[level], x);
            } else {
                if ((i + 1) % (std::size_t{1} << level) == 0)
                    at.trees[level] = x;
                if ((i >> level) == 0)
                    return x;
            }
    }

    Op op_;
    Access access_;
    std::size_t length_;
    std::size_t width_;
    bool exclusive_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
