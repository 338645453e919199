#pragma once
// A parallel scan of neighbouring sequences, row by row: a row is one time step of all of them, in vectors.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <xloom/kernel/prefix_group.hpp>

namespace xloom::kernel {

/// The maximum number of vectors of a row.
template <class V>
inline constexpr std::size_t row_width = 4096 / sizeof(V);

/// The blocks of a scan of the lanes of `width` vectors, which begins with a value. `Access` reads and writes
/// vector c of row t: read(t, c), write(t, c, v).
///
/// scan(b, before) writes the results of block b and combines `before` with the totals of the block, unless
/// it is the last one. reduce(b, totals) computes the totals of a block that is not the last one.
///
/// Why row by row: memory is read in its order, so that the processor fetches it ahead. The trees of the rows
/// before, of which a group has few, stay in the cache.
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
        if (exclusive_)
            scan<results::exclusive>(block, before);
        else
            scan<results::inclusive>(block, before);
    }
    void finish(std::size_t block, V* before, bool = true) const { scan(block, before); }

    void reduce(std::size_t block, V* totals) const
    {
        std::size_t const begin = block * elements_per_block;
        row_prefix const local = *this; // which no write changes, as the compiler can see
        columns group;
        for (std::size_t t = begin; t < begin + elements_per_block; t += elements_per_group) {
            local.template run_rows<results::none>(group, t, elements_per_group, rows_of_group{});
            append(group, t == begin, totals);
        }
    }
    void combine(V& before, V const& total) const { before = op_(before, total); }

private:
    enum class results { none, inclusive, exclusive };

    using rows_of_group = std::make_index_sequence<elements_per_group>;

    /// Sklansky's network, whose elements come one by one. The bits of the number of an element say what
    /// comes before it in its group: 11 = 8 + 2 + 1 elements, whose trees are kept. Element 11 itself is
    /// combined with the nearest of them first.
    struct column {
        V trees[5]; // the last ones of 1, 2, 4, 8 and 16 elements
        V base;     // what comes before the group
        V previous; // the prefix of the row before; for exclusive scans

        V const& total() const { return trees[4]; }
    };
    using columns = std::array<column, max_width>;

    template <results Results>
    void scan(std::size_t block, V* before) const
    {
        std::size_t const begin = block * elements_per_block;
        std::size_t const end = (std::min)(begin + elements_per_block, length_);
        row_prefix const local = *this; // which no write changes, as the compiler can see
        columns group;
        std::array<V, max_width> totals; // of the groups of the block so far
        for (std::size_t t = begin; t < end; t += elements_per_group) {
            for (std::size_t c = 0; c < width_; ++c)
                group[c].base = t == begin ? before[c] : op_(before[c], totals[c]);
            local.template run_rows<Results>(group, t, end - t, rows_of_group{});
            if (end - t >= elements_per_group)
                append(group, t == begin, totals.data());
        }
        if (end == length_)
            return;
        for (std::size_t c = 0; c < width_; ++c)
            before[c] = op_(before[c], totals[c]);
    }

    /// Appends the totals of a group to those of the groups before it.
    void append(columns const& group, bool is_first, V* totals) const
    {
        for (std::size_t c = 0; c < width_; ++c)
            totals[c] = is_first ? group[c].total() : op_(totals[c], group[c].total());
    }

    template <results Results, std::size_t... I>
    [[gnu::always_inline]] void run_rows(
        columns& group, std::size_t t, std::size_t count, std::index_sequence<I...>) const
    {
        static_cast<void>(((I < count && (run_row<Results, I>(group, t + I), true)) && ...));
    }

    template <results Results, std::size_t I>
    [[gnu::always_inline]] void run_row(columns& group, std::size_t t) const
    {
        for (std::size_t c = 0; c < width_; ++c) {
            column& at = group[c];
            V const prefix = combine<Results, I, 0>(at, access_.read(t, c));
            if constexpr (Results == results::inclusive) {
                access_.write(t, c, op_(at.base, prefix));
            } else if constexpr (Results == results::exclusive) {
                access_.write(t, c, I == 0 ? at.base : op_(at.base, at.previous));
                at.previous = prefix;
            }
        }
    }

    /// Combines x, element I of its group, with what comes before it there, from this level of the tree on,
    /// and keeps the tree that ends with it.
    template <results Results, std::size_t I, std::size_t Level>
    [[gnu::always_inline]] V combine(column& at, V const& x) const
    {
        constexpr bool ends_tree = (I + 1) % (std::size_t{1} << Level) == 0;
        if constexpr ((I >> Level) % 2 != 0 && (ends_tree || Results != results::none)) {
            return combine<Results, I, Level + 1>(at, op_(at.trees[Level], x));
        } else {
            if constexpr (ends_tree)
                at.trees[Level] = x;
            if constexpr ((I >> Level) != 0)
                return combine<Results, I, Level + 1>(at, x);
            else
                return x;
        }
    }

    Op op_;
    Access access_;
    std::size_t length_;
    std::size_t width_;
    bool exclusive_;
};

} // namespace xloom::kernel
