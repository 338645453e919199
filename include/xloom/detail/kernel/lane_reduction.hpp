#pragma once
// The reductions add, mul, max and min on vectors of lanes.

#include <concepts>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/kernel/lanes.hpp>
#include <xloom/detail/kernel/product.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

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

    /// The x with op(x, y) = y, bit by bit.
    static constexpr T neutral()
    {
        using limits = std::numeric_limits<T>;
        if constexpr (std::same_as<Reduce, reduce_add_t>)
            return std::floating_point<T> ? static_cast<T>(-0.0) : T{};
        else if constexpr (std::same_as<Reduce, reduce_mul_t>)
            return T{1};
        else if constexpr (std::same_as<Reduce, reduce_max_t>)
            return limits::has_infinity ? -limits::infinity() : limits::lowest();
        else
            return limits::has_infinity ? limits::infinity() : (limits::max)();
    }

    [[gnu::always_inline]] lanes operator()(lanes const& a, lanes const& b) const
    {
        if constexpr (std::same_as<Reduce, reduce_max_t>)
            return b != b ? b : a < b ? b : a;
        else if constexpr (std::same_as<Reduce, reduce_min_t>)
            return b != b ? b : b < a ? b : a;
        else if constexpr (std::integral<T>)
            return wrapped(a, b);
        else if constexpr (std::same_as<Reduce, reduce_mul_t>)
            return a * b;
        else
            return a + b;
    }

    [[gnu::always_inline]] static lanes broadcast(T x) { return kernel::broadcast(x); }
    [[gnu::always_inline]] static lanes last(lanes const& x) { return last_lane<T>(x); }
    [[gnu::always_inline]] static T first_lane(lanes const& x) { return x[0]; }
    /// Moves every lane one further; the first one becomes the last one of `before`.
    [[gnu::always_inline]] static lanes shift(lanes const& before, lanes const& x)
    {
        return shift_lanes<T>(before, x);
    }

    static T get(lanes const& x, std::size_t lane) { return x[lane]; }
    static void set(lanes& x, std::size_t lane, T value) { x[lane] = value; }

    /// Combines the last lane of every lower half with the upper half after it.
    template <std::size_t Half>
    [[gnu::always_inline]] lanes combine_halves(lanes const& x) const
    {
        return (*this)(spread_lanes<T, Half>(x, kernel::broadcast(neutral())), x);
    }

    /// The operator on elements, and its rule on lanes.
    using element = scanned_by<T, Reduce>;

private:
    /// Integers wrap around.
    [[gnu::always_inline]] static lanes wrapped(lanes const& a, lanes const& b)
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

} // namespace xloom::inline XLOOM_ABI::kernel
