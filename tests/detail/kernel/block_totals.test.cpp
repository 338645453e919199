// Parallel scans by the totals of their blocks, as threads compute them: the bits of the textbook, for each
// kind of strip. No total needs more room than its block has sequences.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/kernel/affine.hpp>
#include <xloom/detail/kernel/lane_scan.hpp>
#include <xloom/detail/kernel/row_prefix.hpp>
#include <xloom/detail/kernel/strip_prefix.hpp>

#include "support/textbook_prefix.hpp"

namespace block_totals_test {

namespace {

using namespace xloom::kernel;

/// The elements of sequences, row by row: maps, or numbers a to multiply.
template <class T, bool IsMaps>
struct operands {
    std::size_t length, columns;
    T start;
    std::vector<T> a, b, y;
};

/// Reads and writes Vs, numbers or lanes.
template <class T, bool IsMaps, class V>
struct item_access {
    operands<T, IsMaps>* of;

    using value = std::conditional_t<IsMaps, affine_map<V>, V>;
    static constexpr std::size_t lanes = sizeof(V) / sizeof(T);

    static constexpr bool has_initial() { return true; }
    value initial(std::size_t) const
    {
        if constexpr (IsMaps)
            return {V{}, V{} + of->start};
        else
            return V{} + of->start;
    }
    value read(std::size_t t, std::size_t c) const
    {
        if constexpr (IsMaps)
            return {get(of->a, t, c), get(of->b, t, c)};
        else
            return get(of->a, t, c);
    }
    void write(std::size_t t, std::size_t c, value const& v) const
    {
        T* const to = &of->y[t * of->columns + c * lanes];
        V result;
        if constexpr (IsMaps)
            result = v.b;
        else
            result = v;
        if constexpr (lanes == 1)
            *to = result;
        else
            store_lanes(to, result);
    }

private:
    V get(std::vector<T> const& from, std::size_t t, std::size_t c) const
    {
        T const* const at = &from[t * of->columns + c * lanes];
        if constexpr (lanes == 1)
            return *at;
        else
            return load_lanes(at);
    }
};

/// Reads and writes the lanes of one sequence.
template <class T, bool IsMaps>
struct consecutive_access {
    operands<T, IsMaps>* of;

    using lanes = lanes_t<T>;
    using items = item_access<T, IsMaps, lanes>;
    using value = typename items::value;

    auto initial(std::size_t c) const { return item_access<T, IsMaps, T>{of}.initial(c); }
    value load(std::size_t i) const { return items{of}.read(i, 0); }
    void prefetch(std::size_t) const {}
    value load_first(std::size_t i, std::size_t count) const
    {
        if constexpr (IsMaps)
            return {load_first_lanes(&of->a[0] + i, count, lanes{}),
                load_first_lanes(&of->b[0] + i, count, lanes{})};
        else
            return load_first_lanes(&of->a[0] + i, count, lanes{});
    }
    void store(std::size_t i, value const& v) const { items{of}.write(i, 0, v); }
    void store_first(std::size_t i, value const& v, std::size_t count) const
    {
        if constexpr (IsMaps)
            store_first_lanes(&of->y[0] + i, v.b, count);
        else
            store_first_lanes(&of->y[0] + i, v, count);
    }
};

/// Scans a strip as threads do: the totals of all blocks but the last, the values before them, the results.
template <class Strip>
void scan_by_totals(Strip const& strip)
{
    using V = typename Strip::value_type;
    std::size_t const blocks = xloom::detail::ceil_div(strip.length(), elements_per_block),
                      width = strip.width();
    std::vector<std::vector<V>> totals;
    if constexpr (requires(V* to) { strip.reduce_several(0, to); })
        while (totals.size() + Strip::blocks_at_once < blocks) {
            std::vector<V> some(Strip::blocks_at_once);
            strip.reduce_several(totals.size(), some.data());
            for (V const& total : some)
                totals.push_back({total});
        }
    while (totals.size() + 1 < blocks) {
        std::vector<V> total(width, strip.initial(0));
        strip.reduce(totals.size(), total.data());
        totals.push_back(total);
    }
    std::vector<V> before(width);
    for (std::size_t c = 0; c < width; ++c)
        before[c] = strip.initial(c);
    for (std::size_t block = 0; block < blocks; ++block) {
        std::vector<V> after(width);
        if (block < totals.size()) {
            after = totals[block];
            strip.append(block, before.data(), after.data(), true);
        }
        strip.finish(block, before.data(), true);
        before = after;
    }
}

/// Requires the results of the textbook.
template <class T, bool IsMaps>
void require_textbook(operands<T, IsMaps> const& of)
{
    bool are_same = true;
    for (std::size_t c = 0; c < of.columns; ++c) {
        std::vector<T> expected;
        std::vector<textbook::map<T>> maps;
        std::vector<T> numbers;
        for (std::size_t i = c; i < of.a.size(); i += of.columns) {
            maps.push_back({of.a[i], of.b[i]});
            numbers.push_back(of.a[i]);
        }
        if constexpr (IsMaps)
            expected = textbook::linear_recurrence<T>(maps, of.start);
        else
            expected = textbook::cumulative_prod<T>(numbers, of.start);
        for (std::size_t t = 0; t < of.length; ++t) {
            T const found = of.y[t * of.columns + c];
            are_same = are_same && (found == expected[t] || (found != found && expected[t] != expected[t]));
        }
    }
    CHECK(are_same);
}

/// Compares all kinds of strips with the textbook. number(t, c) is a map; its a is a factor of products too.
template <class T, bool IsMaps, class Number>
void compare(T start, Number const& number)
{
    using op = std::conditional_t<IsMaps, compose, ordered_product<T>>;
    constexpr std::size_t lanes = lane_count<T>, length = 6 * elements_per_block + 40;
    for (std::size_t const columns : {std::size_t{1}, 2 * lanes}) {
        operands<T, IsMaps> of{length, columns, start, {}, {}, std::vector<T>(length * columns)};
        for (std::size_t t = 0; t < length; ++t)
            for (std::size_t c = 0; c < columns; ++c) {
                auto const [a, b] = number(t, c);
                of.a.push_back(a);
                of.b.push_back(b);
            }
        using items = item_access<T, IsMaps, T>;
        scan_by_totals(
            strip_prefix<typename items::value, op, items, false>(op{}, items{&of}, length, columns, false));
        require_textbook(of);
        if constexpr (has_lanes<T>) {
            of.y.assign(of.y.size(), T{});
            if (columns == 1) {
                using lane_op = std::conditional_t<IsMaps, lane_compose<T>,
                    lane_reduction<xloom::detail::reduce_mul_t, T>>;
                using access = consecutive_access<T, IsMaps>;
                scan_by_totals(lane_prefix<lane_op, access>(access{&of}, length, false));
            } else {
                using row_op =
                    std::conditional_t<IsMaps, compose, lane_reduction<xloom::detail::reduce_mul_t, T>>;
                using access = item_access<T, IsMaps, lanes_t<T>>;
                scan_by_totals(row_prefix<typename access::value, row_op, access>(
                    row_op{}, access{&of}, length, columns / lanes, false));
            }
            require_textbook(of);
        }
    }
}

/// Number i of a sequence of any signs, or of positive ones around 1.
template <class T>
T ordinary(std::size_t i)
{
    return static_cast<T>(static_cast<float>(std::sin(static_cast<double>(i) * 1.7) * 0.99));
}
template <class T>
T around_1(std::size_t i)
{
    return static_cast<T>(i % 2 == 0 ? 1.01f : 0.99f) +
           static_cast<T>(static_cast<float>(i % 7)) * T(0.001f) - T(0.003f);
}

} // namespace

TEST_CASE("has_lanes: numbers of 4 and 8 bytes")
{
    static_assert(!has_lanes<short> && has_lanes<int> == has_lanes<float> && !has_lanes<long double>);
#if defined(__SIZEOF_INT128__) // an integer with GNU extensions and in libc++
    __extension__ using wide = __int128;
    static_assert(!has_lanes<wide>);
#endif
}

TEST_CASE_TEMPLATE("block totals of maps", T, float, double)
{
    using map = textbook::map<T>;
    T const large = std::ldexp(T(1), textbook::safe_exponent<T> + 2);
    auto const plain = [](std::size_t t, std::size_t c) {
        return map{ordinary<T>(t + 5 * c), ordinary<T>(3 * t + c)};
    };
    compare<T, true>(T(1), plain);
    compare<T, true>(large, plain);
    compare<T, true>(T(1), [](std::size_t t, std::size_t c) {
        return map{around_1<T>(t + c), ordinary<T>(t)};
    });
    // A large decay or input at each position of a group, in one sequence and block; or everywhere.
    for (std::size_t const position : {0u, 15u})
        for (std::size_t const column : {std::size_t{0}, lane_count<T>})
            compare<T, true>(T(1), [&](std::size_t t, std::size_t c) {
                map m = plain(t, c);
                if (c == column && t % 512 == 64 + position)
                    m.a = 4;
                if (c == column && t % 768 == 336 + position)
                    m.b = large;
                return m;
            });
    compare<T, true>(T(1), [&](std::size_t t, std::size_t c) {
        return map{T(0.9f), large * ordinary<T>(t + c)};
    });
}

TEST_CASE_TEMPLATE("block totals of products", T, float, double)
{
    using map = textbook::map<T>;
    T const margin = std::ldexp(T(1), textbook::safe_exponent<T> / 2 + 10);
    auto const plain = [](std::size_t t, std::size_t c) { return map{around_1<T>(t + c), T(0)}; };
    compare<T, false>(T(1), plain);
    compare<T, false>(margin, plain);
    // Products that leave the margin for some groups, in one sequence.
    for (std::size_t const column : {std::size_t{0}, lane_count<T>})
        for (T const factor : {margin, 1 / margin})
            compare<T, false>(factor, [&](std::size_t t, std::size_t c) {
                map m = plain(t, c);
                if (c == column && t % 300 == 16)
                    m.a = factor;
                if (c == column && t % 300 == 66)
                    m.a = 1 / factor;
                return m;
            });
    // Groups whose own products stay within the margin, though those of the block do not.
    T const half = std::ldexp(T(1), textbook::safe_exponent<T> / 2 - 5);
    compare<T, false>(half, [&](std::size_t t, std::size_t c) {
        map m = plain(t, c);
        if (t % 256 == 20 || t % 256 == 40)
            m.a = half;
        if (t % 256 == 100 || t % 256 == 130)
            m.a = 1 / half;
        return m;
    });
}

} // namespace block_totals_test
