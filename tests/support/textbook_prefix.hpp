#pragma once
// Parallel scans in the order that docs/parallel_scans.md specifies: groups of 16, blocks of 256, recursive
// trees. The textbook's sequences are vectors, and nothing is done in place.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/reduction.hpp>

#include "rounded.hpp"

namespace textbook {

/// Combines items first .. last - 1, of which there is at least one.
template <class T, class Op>
T tree(std::vector<T> const& items, std::size_t first, std::size_t last, Op const& op)
{
    std::size_t const count = last - first;
    if (count == 1)
        return items[first];
    std::size_t half = 1;
    while (2 * half < count)
        half *= 2;
    return op(tree(items, first, first + half, op), tree(items, first + half, last, op));
}

/// Combines what there is of two values.
template <class T, class Op>
std::optional<T> joined(std::optional<T> const& a, std::optional<T> const& b, Op const& op)
{
    if (a && b)
        return op(*a, *b);
    return a ? a : b;
}

/// The e of the rule on order: 60 for float, 508 for double.
template <class T>
int const safe_exponent = (1 - std::numeric_limits<T>::min_exponent) / 2 - 3;
template <class T>
int const safe_exponent<std::complex<T>> = safe_exponent<T>;

template <class T>
long double size_of(T const& x)
{
    return std::abs(static_cast<long double>(x));
}
template <class T>
long double size_of(std::complex<T> const& x)
{
    return size_of(x.real()) + size_of(x.imag());
}

/// True if a running product permits any grouping.
template <class T>
bool is_safe_product(T const& x)
{
    return size_of(x) >= std::ldexp(1.0L, -safe_exponent<T>) &&
           size_of(x) <= std::ldexp(1.0L, safe_exponent<T>);
}

/// Scans a sequence, which begins with `start` if there is one. From the first element x on for which
/// is_safe(x, running value) is false, a block is computed in order, and all of it if the value before it is
/// no safe start.
template <class T, class Op, class IsSafeStart, class IsSafe>
std::vector<T> ordered_scan(std::vector<T> const& x, Op const& op, std::optional<T> const& start,
    bool exclusive, IsSafeStart const& is_safe_start, IsSafe const& is_safe)
{
    std::vector<T> y;
    std::optional<T> block = start;
    for (std::size_t b = 0; b < x.size(); b += 256) {
        std::size_t const block_end = std::min(b + 256, x.size());
        std::optional<T> groups, running = block;
        bool is_in_order = block && !is_safe_start(*block);
        for (std::size_t g = b; g < block_end; g += 16) {
            std::size_t const group_end = std::min(g + 16, block_end);
            std::optional<T> const base = joined(block, groups, op);
            if (!is_in_order)
                running = base;
            for (std::size_t i = g; i < group_end; ++i) {
                std::optional<T> const before = running;
                running = joined(base, std::optional<T>(tree(x, g, i + 1, op)), op);
                is_in_order = is_in_order || !is_safe(x[i], *running);
                if (is_in_order)
                    running = joined(before, std::optional<T>(x[i]), op);
                y.push_back(exclusive ? *before : *running);
            }
            groups = joined(groups, std::optional<T>(tree(x, g, group_end, op)), op);
        }
        block = is_in_order ? running : joined(block, groups, op);
    }
    return y;
}

/// True if a running value of an operator permits any grouping.
template <class Op, class T>
bool is_safe_result(Op const&, T const& x)
{
    constexpr bool is_rounded = std::numeric_limits<T>::has_quiet_NaN || !std::is_arithmetic_v<T>;
    if constexpr (std::is_same_v<Op, xloom::detail::reduce_mul_t> && is_rounded)
        return is_safe_product(x);
    else
        return true;
}

/// Scans a sequence; it is exclusive if there is an identity.
template <class T, class Op>
std::vector<T> associative_scan(std::vector<T> const& x, Op const& op, std::optional<T> const& identity = {})
{
    return ordered_scan(
        x, op, identity, identity.has_value(), [&](T const& before) { return is_safe_result(op, before); },
        [&](T const&, T const& running) { return is_safe_result(op, running); });
}

/// The running products of a sequence; a block is computed in order from one on that is not safe.
template <class T>
std::vector<T> cumulative_prod(
    std::vector<T> const& x, std::optional<T> const& start = {}, bool exclusive = false)
{
    return ordered_scan(
        x, [](T const& a, T const& b) { return rounded(a, b); }, start, exclusive,
        [](T const& before) { return is_safe_product(before); },
        [](T const&, T const& running) { return is_safe_product(running); });
}

/// The map h -> a h + b.
template <class T>
struct map {
    T a, b;
};

template <class T>
map<T> composed(map<T> const& first, map<T> const& second)
{
    return {rounded(first.a, second.a), rounded(second.a, first.b) + second.b};
}

template <class T>
bool is_decay(T const& a)
{
    return std::abs(a) <= (std::is_same_v<T, float> ? T(1.125) : T(2));
}
template <class T>
bool is_decay(std::complex<T> const& a)
{
    T const largest = std::is_same_v<T, float> ? T(1.125) : T(2);
    return rounded(a.real(), a.real()) + rounded(a.imag(), a.imag()) <= largest * largest;
}

/// The states of a linear recurrence: in order from an element on that is large, or if the state before the
/// block is.
template <class T>
std::vector<T> linear_recurrence(std::vector<map<T>> const& maps, T h0)
{
    auto const is_small = [](map<T> const& x) { return size_of(x.b) <= std::ldexp(1.0L, safe_exponent<T>); };
    auto const states = ordered_scan(maps, composed<T>, std::optional<map<T>>({T(0), h0}), false, is_small,
        [&](map<T> const& x, map<T> const&) { return is_decay(x.a) && is_small(x); });
    std::vector<T> h;
    for (map<T> const& state : states)
        h.push_back(state.b);
    return h;
}

} // namespace textbook
