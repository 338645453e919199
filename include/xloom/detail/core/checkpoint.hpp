#pragma once
// The choice of the states that the forward pass of a derivative keeps, and the order in which the backward
// pass computes the others again.

#include <algorithm>
#include <cstddef>
#include <limits>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

/// The choice of the states that a forward pass keeps. Its backward pass needs the state before every
/// iteration, from the last to the first, and computes those that were not kept again, from the nearest one
/// before them. The results have the same bits for every choice.
///
///     checkpoint       states, at most    runs of the body for T iterations, at most
///     all()            T                  T
///     sqrt()           2 sqrt(T) + 2      2 T
///     binomial(n)      n                  (r + 1) T, smallest r with C(n + r, r) >= T
///     online(n)        n                  (r + 1) T, smallest r >= 1 with C(n/2 + 1 + r, r) >= 4 T / n
///
/// all() and online(n) need not know T in advance; binomial(n) and sqrt() do.
///
/// Source    A. Griewank, A. Walther, Algorithm 799: revolve, ACM TOMS 26 (2000), for binomial(n).
/// Example
/// ```cpp
/// xloom::checkpoint::binomial(8).count(); // = 8
/// ```
class checkpoint {
public:
    enum class kind : unsigned char { all, sqrt, binomial, online };

    static constexpr checkpoint all() noexcept { return {kind::all, 0}; }
    static constexpr checkpoint sqrt() noexcept { return {kind::sqrt, 0}; }
    /// Errors    option_error: no state.
    static constexpr checkpoint binomial(std::size_t count) { return counted(kind::binomial, count); }
    /// Errors    option_error: no state.
    static constexpr checkpoint online(std::size_t count) { return counted(kind::online, count); }

    constexpr checkpoint::kind policy() const noexcept { return policy_; }
    /// Returns the number of states of binomial and online, otherwise 0.
    constexpr std::size_t count() const noexcept { return count_; }

private:
    constexpr checkpoint(checkpoint::kind policy, std::size_t count) noexcept : policy_(policy), count_(count)
    {}

    static constexpr checkpoint counted(checkpoint::kind policy, std::size_t count)
    {
        if (count == 0)
            detail::fail<option_error>(
                "xloom::checkpoint::", policy == kind::binomial ? "binomial" : "online",
                ": at least one state must be kept, but count is 0. Give it 1 or more.");
        return {policy, count};
    }

    checkpoint::kind policy_;
    std::size_t count_;
};

namespace detail {

/// Returns C(states + repeats, repeats), the number of iterations that can be reversed with this many states
/// if no iteration is repeated more often; the largest number if it overflows.
constexpr std::size_t reversible_iterations(std::size_t states, std::size_t repeats) noexcept
{
    constexpr double most = 9e15; // every integer up to here is a double
    auto const [less, more] = std::minmax(states, repeats);
    double count = 1;
    for (std::size_t i = 1; i <= less && count < most; ++i)
        count = count * (static_cast<double>(more) + static_cast<double>(i)) / static_cast<double>(i);
    return count < most ? static_cast<std::size_t>(count + 0.5) : (std::numeric_limits<std::size_t>::max)();
}

/// Returns the smallest number of repeats, at least 1, with which `length` iterations can be reversed, by
/// bisection.
constexpr std::size_t repeats_for(std::size_t length, std::size_t states) noexcept
{
    std::size_t few = 0, enough = length; // of one state, and so of more
    while (enough - few > 1) {
        std::size_t const middle = few + (enough - few) / 2;
        (reversible_iterations(states, middle) < length ? few : enough) = middle;
    }
    return enough;
}

/// Returns how far to advance from the kept state before `length` iterations that are to be reversed, to the
/// next state to keep, with memory for `states` states including the first. The total of repeated iterations
/// is then the smallest. Requires length >= 2 and states >= 2.
constexpr std::size_t binomial_advance(std::size_t length, std::size_t states) noexcept
{
    if (states >= length)
        return 1;
    std::size_t const repeats = repeats_for(length, states);
    // The first part is reversed last, with all states and one repeat less.
    std::size_t const after = reversible_iterations(states - 1, repeats);
    std::size_t const least = length > after ? length - after : 1;
    std::size_t const most = reversible_iterations(states, repeats - 1);
    std::size_t const reserved = reversible_iterations(states - 1, repeats - 1);
    std::size_t const wanted = length > reserved ? (std::min)(most, length - reserved) : 1;
    return std::clamp<std::size_t>((std::max)(wanted, least), 1, length - 1);
}

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
