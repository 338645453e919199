#pragma once
// A parallel scan along contiguous elements: a group of elements is one or more vectors, whose lanes are
// combined in registers.

#include <cstddef>

#include <xloom/kernel/lanes.hpp>
#include <xloom/kernel/prefix_group.hpp>

namespace xloom::kernel {

/// The blocks of a scan of one sequence. `Ops` combines vectors of lanes; `Access` loads and stores them:
///
///     load(i)               elements i, i + 1, ..., one for each lane
///     load_first(i, count)  the same, if the sequence has only `count` elements from there; other lanes are
///                           unspecified
///     store(i, lanes), store_first(i, lanes, count)
///
/// scan(b, before) writes the results of block b and combines `before` with the total of the block.
/// reduce(b, total) computes the total of a block that is not the last one.
template <class Ops, class Access>
class lane_prefix {
public:
    using value_type = typename Ops::value_type;

    static constexpr bool keeps_prefixes = false;
    static constexpr std::size_t max_width = 1;

    lane_prefix(Access const& access, std::size_t length, bool exclusive)
        : access_(access), length_(length), exclusive_(exclusive)
    {}

    static constexpr std::size_t width() noexcept { return 1; }
    std::size_t length() const noexcept { return length_; }
    static constexpr bool has_initial() noexcept { return true; }
    value_type initial(std::size_t) const { return access_.initial(0); }

    void scan(std::size_t block, value_type* before, bool = true) const
    {
        if constexpr (requires { Ops::neutral(); }) {
            if (exclusive_) {
                *before = scan<true>(block, *before);
                return;
            }
        }
        *before = scan<false>(block, *before);
    }
    void finish(std::size_t block, value_type* before, bool = true) const { scan(block, before); }

    void reduce(std::size_t block, value_type* total) const
    {
        std::size_t const begin = block * elements_per_block;
        vector sum = group_at(begin).total();
        for (std::size_t g = 1; g < elements_per_block / elements_per_group; ++g)
            sum = Ops{}(sum, group_at(begin + g * elements_per_group).total());
        *total = Ops::first_lane(sum);
    }

    void combine(value_type& before, value_type const& total) const
    {
        before = Ops::first_lane(Ops{}(Ops::broadcast(before), Ops::broadcast(total)));
    }

private:
    using vector = typename Ops::lanes;

    static constexpr std::size_t lanes = Ops::lane_count;
    static constexpr std::size_t vectors = elements_per_group / lanes;

    /// The prefixes of a group, in one or more vectors.
    struct group {
        vector v[vectors];

        vector total() const { return Ops::last(v[vectors - 1]); }

        [[gnu::always_inline]] void scan()
        {
            for (vector& x : v)
                x = combine_from<1>(x);
            for (std::size_t half = 1; half < vectors; half *= 2)
                for (std::size_t i = half; i < vectors; ++i)
                    if ((i & half) != 0)
                        v[i] = Ops{}(Ops::last(v[i / half * half - 1]), v[i]);
        }

        template <std::size_t Half>
        [[gnu::always_inline]] static vector combine_from(vector const& x)
        {
            if constexpr (Half < lanes)
                return combine_from<2 * Half>(Ops{}.template combine_halves<Half>(x));
            else
                return x;
        }
    };

    [[gnu::always_inline]] group group_at(std::size_t begin) const
    {
        group g;
        for (std::size_t i = 0; i < vectors; ++i)
            g.v[i] = access_.load(begin + i * lanes);
        g.scan();
        return g;
    }

    /// Returns a group of which the sequence has only `count` elements.
    group group_at(std::size_t begin, std::size_t count) const
    {
        group g;
        for (std::size_t i = 0; i < vectors; ++i)
            g.v[i] = access_.load_first(begin + i * lanes, count < i * lanes ? 0 : count - i * lanes);
        g.scan();
        return g;
    }

    template <bool Exclusive>
    [[gnu::always_inline]] static void apply(vector const& base, group& g)
    {
        if constexpr (Exclusive) {
            for (std::size_t i = vectors; i-- > 1;)
                g.v[i] = Ops::shift(g.v[i - 1], g.v[i]);
            g.v[0] = Ops::shift(Ops::broadcast(Ops::neutral()), g.v[0]);
        }
        for (vector& x : g.v)
            x = Ops{}(base, x);
    }

    template <bool Exclusive>
    value_type scan(std::size_t block, value_type const& before) const
    {
        std::size_t const begin = block * elements_per_block;
        std::size_t const end = length_ - begin < elements_per_block ? length_ : begin + elements_per_block;
        std::size_t const last = begin + (end - begin) / elements_per_group * elements_per_group;
        vector const carry = Ops::broadcast(before);
        if (last == begin) {
            scan_last<Exclusive>(begin, end, carry);
            return before;
        }
        vector sum = scan_group<Exclusive>(begin, carry);
        for (std::size_t i = begin + elements_per_group; i < last; i += elements_per_group) {
            vector const total = scan_group<Exclusive>(i, Ops{}(carry, sum));
            sum = Ops{}(sum, total);
        }
        vector const base = Ops{}(carry, sum);
        if (last != end)
            scan_last<Exclusive>(last, end, base);
        return Ops::first_lane(base);
    }

    /// Writes the results of a group and returns its total.
    template <bool Exclusive>
    [[gnu::always_inline]] vector scan_group(std::size_t begin, vector const& base) const
    {
        group g = group_at(begin);
        vector const total = g.total();
        apply<Exclusive>(base, g);
        for (std::size_t k = 0; k < vectors; ++k)
            access_.store(begin + k * lanes, g.v[k]);
        return total;
    }

    /// Writes the results of the group with which the sequence ends, if it is not full.
    template <bool Exclusive>
    void scan_last(std::size_t begin, std::size_t end, vector const& base) const
    {
        group g = group_at(begin, end - begin);
        apply<Exclusive>(base, g);
        for (std::size_t k = 0; k < vectors && begin + k * lanes < end; ++k)
            access_.store_first(begin + k * lanes, g.v[k], end - begin - k * lanes);
    }

    Access access_;
    std::size_t length_;
    bool exclusive_;
};

} // namespace xloom::kernel
