#pragma once
// A parallel scan in vectors: the sizes and the tree of groups and blocks, which decide about the bits of all
// results, the reductions of lanes, and the scan of one sequence whose items are consecutive.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <xloom/detail/core/abi.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/monoid.hpp>
#include <xloom/detail/kernel/lane_transpose.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// The number of elements whose prefixes are combined by one tree.
inline constexpr std::size_t elements_per_group = 16;

/// The number of elements of a block, which is the unit of work of a thread.
inline constexpr std::size_t elements_per_block = 256;

namespace detail {

template <std::size_t Half, std::size_t I, class V, class Op>
XLOOM_ALWAYS_INLINE inline void combine_with_lower_half(V* group, Op const& op)
{
    if constexpr ((I & Half) != 0)
        group[I] = op(group[I / Half * Half - 1], group[I]);
}

template <std::size_t Half, class V, class Op, std::size_t... I>
XLOOM_ALWAYS_INLINE inline void scan_group(V* group, Op const& op, std::index_sequence<I...> all)
{
    if constexpr (Half < sizeof...(I)) {
        (detail::combine_with_lower_half<Half, I>(group, op), ...);
        detail::scan_group<2 * Half>(group, op, all);
    }
}

} // namespace detail

/// Replaces the first `Count` elements of a group by their prefixes. In each step the upper half of every 2,
/// 4, 8, 16 elements takes the last one of the lower half before it (Sklansky's network).
template <std::size_t Count, class V, class Op>
XLOOM_ALWAYS_INLINE inline void scan_group(V* group, Op const& op)
{
    detail::scan_group<1>(group, op, std::make_index_sequence<Count>{});
}

/// Replaces the first `count` elements, in the same steps.
template <class V, class Op>
void scan_group(V* group, std::size_t count, Op const& op)
{
    for (std::size_t half = 1; half < count; half *= 2)
        for (std::size_t upper = half; upper < count; upper += 2 * half)
            for (std::size_t i = upper, end = (std::min)(upper + half, count); i < end; ++i)
                group[i] = op(group[upper - 1], group[i]);
}

/// True for the reductions that lane_reduction has: add, mul, max and min.
template <class Reduce>
inline constexpr bool has_lane_form =
    std::same_as<Reduce, reduce_add_t> || std::same_as<Reduce, reduce_mul_t> ||
    std::same_as<Reduce, reduce_max_t> || std::same_as<Reduce, reduce_min_t>;

/// The reduction `Reduce` of Ts, lane by lane. Its results have the bits of Reduce.
template <class Reduce, class T>
    requires(has_lane_form<Reduce> && has_lanes<T>)
struct lane_reduction {
    using value_type = T;
    using lanes = lanes_t<T>;

    static constexpr std::size_t lane_count = kernel::lane_count<T>;

    /// The x with op(x, y) = y, bit by bit: the identity, but -0 of floating-point sums, as 0 + -0 is 0.
    static constexpr T neutral()
    {
        if constexpr (std::same_as<Reduce, reduce_add_t> && std::floating_point<T>)
            return static_cast<T>(-0.0);
        else
            return xloom::detail::identity_of<T>(Reduce{});
    }

    XLOOM_ALWAYS_INLINE lanes operator()(lanes const& a, lanes const& b) const
    {
        if constexpr (std::same_as<Reduce, reduce_max_t>)
            return or_nan(b, a < b ? b : a);
        else if constexpr (std::same_as<Reduce, reduce_min_t>)
            return or_nan(b, b < a ? b : a);
        else if constexpr (std::integral<T>)
            return wrapped(a, b);
        else if constexpr (std::same_as<Reduce, reduce_mul_t>)
            return a * b;
        else
            return a + b;
    }

    XLOOM_ALWAYS_INLINE static lanes broadcast(T x) { return kernel::broadcast(x); }
    XLOOM_ALWAYS_INLINE static lanes last(lanes const& x) { return last_lane<T>(x); }
    XLOOM_ALWAYS_INLINE static T first_lane(lanes const& x) { return x[0]; }
    /// Combines lane 0 with 1, 2 with 3, ..., of a and then of b.
    XLOOM_ALWAYS_INLINE lanes combine_pairs(lanes const& a, lanes const& b) const
    {
        return (*this)(even_lanes<T>(a, b), odd_lanes<T>(a, b));
    }
    /// Exchanges lane j of vector i with lane i of vector j.
    XLOOM_ALWAYS_INLINE static void transpose(lanes (&rows)[lane_count]) { transpose_lanes<T>(rows); }
    /// Moves every lane one further; the first one becomes the last one of `before`.
    XLOOM_ALWAYS_INLINE static lanes shift(lanes const& before, lanes const& x)
    {
        return shift_lanes<T>(before, x);
    }

    static T get(lanes const& x, std::size_t lane) { return x[lane]; }
    static void set(lanes& x, std::size_t lane, T value) { x[lane] = value; }

    /// Combines the last lane of every lower half with the upper half after it.
    template <std::size_t Half>
    XLOOM_ALWAYS_INLINE lanes combine_halves(lanes const& x) const
    {
        return (*this)(spread_lanes<T, Half>(x, kernel::broadcast(neutral())), x);
    }

    /// The operator on elements, and its rule on lanes.
    using element = scanned_by<T, Reduce>;

private:
    /// Returns b in the lanes where it is NaN, else x, a maximum or minimum.
    ///
    /// Why uncombined: g++ would merge the two comparisons, in place of an instruction for x.
    XLOOM_ALWAYS_INLINE static lanes or_nan(lanes const& b, lanes const& x)
    {
        if constexpr (std::floating_point<T>)
            return b != b ? b : xloom::detail::uncombined(x);
        else
            return x;
    }
    /// Integers wrap around.
    XLOOM_ALWAYS_INLINE static lanes wrapped(lanes const& a, lanes const& b)
    {
        using modular = lanes_t<std::make_unsigned_t<T>>;
        auto const u = reinterpret_cast<modular>(a);
        auto const v = reinterpret_cast<modular>(b);
        if constexpr (std::same_as<Reduce, reduce_mul_t>)
            return reinterpret_cast<lanes>(u * v);
        else
            return reinterpret_cast<lanes>(u + v);
    }
};

/// The blocks of a scan of one sequence. `Ops` combines vectors of lanes; `Access` loads and stores them:
///
///     load(i)               elements i, i + 1, ..., one for each lane
///     prefetch(i)           the same, some vectors later
///     load_first(i, count)  the same, if the sequence has only `count` elements from there; other lanes are
///                           unspecified
///     store(i, lanes), store_first(i, lanes, count)
///
/// scan(b, before) writes the results of block b and combines `before` with the total of the block.
/// reduce(b, total) computes the total of a block that is not the last one, reduce_several(b, totals) those
/// of `blocks_at_once`, and append(b, before, total) replaces a total by what comes after the block.
template <class Ops, class Access>
class lane_prefix {
    using vector = typename Ops::lanes;
    using rule = element_of<Ops>;

    static constexpr bool is_ordered = order_rule<Ops, vector>::is_ordered;
    static constexpr bool needs_results = is_ordered && !is_clear_by_elements<rule, vector>;

    static constexpr std::size_t lanes = Ops::lane_count;
    static constexpr std::size_t vectors = elements_per_group / lanes;

public:
    using value_type = typename Ops::value_type;

    static constexpr bool keeps_prefixes = false;
    static constexpr std::size_t max_width = 1;
    static constexpr std::size_t blocks_at_once = Ops::lane_count;

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
                *before = scan<output::exclusive>(block, *before);
                return;
            }
        }
        *before = scan<output::inclusive>(block, *before);
    }
    /// Writes the results of a sequence of one group.
    XLOOM_ALWAYS_INLINE void scan_only_group() const
    {
        if constexpr (requires { Ops::neutral(); })
            if (exclusive_)
                return scan_only_group<output::exclusive>();
        scan_only_group<output::inclusive>();
    }
    void finish(std::size_t block, value_type* before, bool = true) const { scan(block, before); }

    void reduce(std::size_t block, value_type* total) const
    {
        std::size_t const begin = block * elements_per_block, end = begin + elements_per_block;
        bool is_clear = true;
        vector sum{};
        for (std::size_t i = begin; i < end; i += elements_per_group) {
            group const x = load(i);
            group prefixes = x;
            prefixes.scan();
            if constexpr (is_ordered) {
                group results = prefixes;
                if (i != begin)
                    results.append_to(sum);
                is_clear = is_clear && are_all(x, results, [](auto const& each, auto const& result) {
                    return kernel::is_clear<rule>(each, result);
                });
            }
            sum = i == begin ? prefixes.total() : Ops{}(sum, prefixes.total());
        }
        *total = Ops::first_lane(sum);
        if constexpr (is_ordered)
            if (!is_clear)
                *total = rule::unclear(*total);
    }

    /// Computes the totals of `blocks_at_once` blocks, one in each lane, by the trees of their groups alone.
    void reduce_several(std::size_t block, value_type* totals) const
        requires(!needs_results)
    {
        bool are_clear = true;
        vector sum{};
        for (std::size_t i = 0; i < elements_per_block; i += elements_per_group * lanes) {
            vector groups[lanes];
            for (std::size_t lane = 0; lane < lanes; ++lane)
                groups[lane] =
                    combine<elements_per_group>((block + lane) * elements_per_block + i, are_clear);
            Ops::transpose(groups);
            sum = i == 0 ? groups[0] : Ops{}(sum, groups[0]);
            for (std::size_t k = 1; k < lanes; ++k)
                sum = Ops{}(sum, groups[k]);
        }
        for (std::size_t lane = 0; lane < lanes; ++lane)
            totals[lane] = Ops::get(sum, lane);
        if constexpr (is_ordered)
            for (std::size_t lane = 0; lane < lanes && !are_clear; ++lane)
                totals[lane] = rule::unclear(totals[lane]);
    }

    void append(std::size_t block, value_type const* before, value_type* total, bool = true) const
    {
        if constexpr (is_ordered)
            if (!rule::is_clear_total(*total) || !rule::is_clear_start(*before)) {
                *total = scan<output::none>(block, *before);
                return;
            }
        *total = Ops::first_lane(Ops{}(Ops::broadcast(*before), Ops::broadcast(*total)));
    }

private:
    enum class output { none, inclusive, exclusive };

    /// The elements of a group, or their prefixes, in one or more vectors.
    struct group {
        vector v[vectors];

        vector total() const { return Ops::last(v[vectors - 1]); }

        XLOOM_ALWAYS_INLINE void append_to(vector const& base)
        {
            for (vector& x : v)
                x = Ops{}(base, x);
        }
        /// Moves every lane one further, after `base`.
        XLOOM_ALWAYS_INLINE void shift_in(vector const& base)
        {
            for (std::size_t i = vectors; i-- > 1;)
                v[i] = Ops::shift(v[i - 1], v[i]);
            v[0] = Ops::shift(base, v[0]);
        }

        value_type get(std::size_t i) const { return Ops::get(v[i / lanes], i % lanes); }
        void set(std::size_t i, value_type const& x) { Ops::set(v[i / lanes], i % lanes, x); }

        XLOOM_ALWAYS_INLINE void scan()
        {
            for (vector& x : v)
                x = combine_from<1>(x);
            for (std::size_t half = 1; half < vectors; half *= 2)
                for (std::size_t i = half; i < vectors; ++i)
                    if ((i & half) != 0)
                        v[i] = Ops{}(Ops::last(v[i / half * half - 1]), v[i]);
        }

        template <std::size_t Half>
        XLOOM_ALWAYS_INLINE static vector combine_from(vector const& x)
        {
            if constexpr (Half < lanes)
                return combine_from<2 * Half>(Ops{}.template combine_halves<Half>(x));
            else
                return x;
        }
    };

    XLOOM_ALWAYS_INLINE group load(std::size_t begin) const
    {
        group g;
        for (std::size_t i = 0; i < vectors; ++i)
            g.v[i] = access_.load(begin + i * lanes);
        return g;
    }
    /// Loads a group of which the sequence has only `count` elements.
    XLOOM_ALWAYS_INLINE group load(std::size_t begin, std::size_t count) const
    {
        group g;
        for (std::size_t i = 0; i < vectors; ++i)
            g.v[i] = access_.load_first(begin + i * lanes, count - (std::min)(count, i * lanes));
        return g;
    }
    XLOOM_ALWAYS_INLINE void store(std::size_t begin, group const& g) const
    {
        for (std::size_t i = 0; i < vectors; ++i)
            access_.store(begin + i * lanes, g.v[i]);
    }
    XLOOM_ALWAYS_INLINE void store(std::size_t begin, group const& g, std::size_t count) const
    {
        for (std::size_t i = 0; i < vectors; ++i)
            access_.store_first(begin + i * lanes, g.v[i], count - (std::min)(count, i * lanes));
    }

    /// True if a condition on elements and their results is true for all of a group.
    template <class Condition>
    XLOOM_ALWAYS_INLINE static bool are_all(group const& x, group const& results, Condition const& condition)
    {
        auto are_true = condition(x.v[0], results.v[0]);
        for (std::size_t i = 1; i < vectors; ++i)
            are_true = both(are_true, condition(x.v[i], results.v[i]));
        return all_of(are_true);
    }
    XLOOM_ALWAYS_INLINE static bool are_safe(group const& x, group const& results)
    {
        return are_all(
            x, results, [](auto const& each, auto const& result) { return rule::is_safe(each, result); });
    }
    static bool are_safe(group const& x, group const& results, std::size_t count)
    {
        std::size_t safe = 0;
        while (safe < count && rule::is_safe(x.get(safe), results.get(safe)))
            ++safe;
        return safe == count;
    }

    /// Combines every `Count` elements by a tree.
    template <std::size_t Count>
    XLOOM_ALWAYS_INLINE vector combine(std::size_t begin, bool& is_clear) const
    {
        if constexpr (Count == 1) {
            access_.prefetch(begin);
            vector const x = access_.load(begin);
            if constexpr (is_ordered)
                is_clear = is_clear && all_of(rule::is_clear(x));
            return x;
        } else {
            vector const a = combine<Count / 2>(begin, is_clear);
            return Ops{}.combine_pairs(a, combine<Count / 2>(begin + Count / 2 * lanes, is_clear));
        }
    }

    /// Writes the results of a block, and returns what comes before the next one.
    template <output Output>
    value_type scan(std::size_t block, value_type const& before) const
    {
        std::size_t const begin = block * elements_per_block;
        std::size_t const end = length_ - begin < elements_per_block ? length_ : begin + elements_per_block;
        std::size_t const last = begin + (end - begin) / elements_per_group * elements_per_group;
        if constexpr (is_ordered)
            if (!rule::is_safe_start(before))
                return scan_in_order<Output>(begin, end, before, true);
        vector const carry = Ops::broadcast(before);
        vector sum = carry, base = carry;
        for (std::size_t i = begin; i < last; i += elements_per_group) {
            group const x = load(i);
            group g = x;
            g.scan();
            vector const total = g.total();
            g.append_to(base);
            if constexpr (is_ordered)
                if (!are_safe(x, g))
                    return scan_in_order<Output>(i, end, Ops::first_lane(base), false);
            if constexpr (Output == output::exclusive)
                g.shift_in(base);
            if constexpr (Output != output::none)
                store(i, g);
            sum = i == begin ? total : Ops{}(sum, total);
            base = Ops{}(carry, sum);
        }
        if (last == end)
            return Ops::first_lane(base);
        scan_last_group<Output>(last, end, base);
        return before; // nobody reads it
    }

    template <output Output>
    XLOOM_ALWAYS_INLINE void scan_only_group() const
    {
        value_type const before = initial(0);
        if constexpr (is_ordered)
            if (!rule::is_safe_start(before)) {
                scan_in_order<Output>(0, length_, before, true);
                return;
            }
        scan_last_group<Output>(0, length_, Ops::broadcast(before));
    }

    /// Writes the results of the last group of a sequence, which follows `base`.
    template <output Output>
    XLOOM_ALWAYS_INLINE void scan_last_group(std::size_t begin, std::size_t end, vector const& base) const
    {
        group const x = load(begin, end - begin);
        group g = x;
        g.scan();
        g.append_to(base);
        if constexpr (is_ordered)
            if (!are_safe(x, g, end - begin)) {
                scan_in_order<Output>(begin, end, Ops::first_lane(base), false);
                return;
            }
        if constexpr (Output == output::exclusive)
            g.shift_in(base);
        if constexpr (Output != output::none)
            store(begin, g, end - begin);
    }

    /// Writes the results of the rest of a block: in order from the first one on that is not safe. Returns
    /// the last one.
    template <output Output>
    XLOOM_NOINLINE value_type scan_in_order(
        std::size_t begin, std::size_t end, value_type last, bool is_in_order) const
    {
        for (std::size_t i = begin; i < end; i += elements_per_group) {
            std::size_t const count = end - i < elements_per_group ? end - i : elements_per_group;
            group const x = load(i, count);
            group g = x;
            g.scan();
            g.append_to(Ops::broadcast(last));
            for (std::size_t k = 0; k < count; ++k) {
                is_in_order = is_in_order || !rule::is_safe(x.get(k), g.get(k));
                value_type const result = is_in_order ? rule{}(last, x.get(k)) : g.get(k);
                g.set(k, Output == output::exclusive ? last : result);
                last = result;
            }
            if constexpr (Output != output::none)
                store(i, g, count);
        }
        return last;
    }

    Access access_;
    std::size_t length_;
    bool exclusive_;
};

} // namespace xloom::inline XLOOM_ABI::kernel
