#pragma once
// Function objects that compare, combine truth values, and choose. Comparisons of batches give masks.

#include <cmath>
#include <limits>

#include <xloom_onnx/batch.hpp>

namespace xloom_onnx {

namespace detail {

/// F::of(a, b) of two operands of one type, or a number beside a batch.
template <class F>
struct comparison {
    template <class A, class B>
    auto operator()(A const& a, B const& b) const
    {
        using V = common_t<A, B>;
        if constexpr (is_batch<V>)
            return F::of(static_cast<V>(a), static_cast<V>(b));
        else
            return F::of(a, b); // strings are not copied
    }
};

struct less_function : comparison<less_function> {
    static auto of(auto const& a, auto const& b) { return a < b; }
};
struct less_or_equal_function : comparison<less_or_equal_function> {
    static auto of(auto const& a, auto const& b) { return a <= b; }
};
struct greater_function : comparison<greater_function> {
    static auto of(auto const& a, auto const& b) { return a > b; }
};
struct greater_or_equal_function : comparison<greater_or_equal_function> {
    static auto of(auto const& a, auto const& b) { return a >= b; }
};
struct equal_function : comparison<equal_function> {
    static auto of(auto const& a, auto const& b) { return a == b; }
};

struct and_function {
    template <class A>
    A operator()(A const& a, A const& b) const
    {
        return a && b;
    }
};
struct or_function {
    template <class A>
    A operator()(A const& a, A const& b) const
    {
        return a || b;
    }
};
struct xor_function {
    template <class A>
    A operator()(A const& a, A const& b) const
    {
        return a != b;
    }
};
struct not_function {
    template <class A>
    A operator()(A const& a) const
    {
        return !a;
    }
};

struct is_nan_function {
    template <class V>
    auto operator()(V const& x) const
    {
        if constexpr (is_batch<V>)
            return !(x == x);
        else
            return std::isnan(+x);
    }
};

struct where_function {
    template <class Condition, class A, class B>
    auto operator()(Condition const& condition, A const& a, B const& b) const
    {
        if constexpr (is_mask<Condition>) {
            using V = kernels::batch_t<batch_item_t<Condition>>;
            return V(kernels::select(condition, static_cast<V>(a), static_cast<V>(b)));
        } else {
            using V = common_t<A, B>;
            return condition ? static_cast<V>(a) : static_cast<V>(b);
        }
    }
};

} // namespace detail

inline constexpr detail::less_function less{};
inline constexpr detail::less_or_equal_function less_or_equal{};
inline constexpr detail::greater_function greater{};
inline constexpr detail::greater_or_equal_function greater_or_equal{};
/// Of strings, too.
inline constexpr detail::equal_function equal{};
inline constexpr detail::and_function and_{};
inline constexpr detail::or_function or_{};
inline constexpr detail::xor_function xor_{};
inline constexpr detail::not_function not_{};
inline constexpr detail::is_nan_function is_nan{};
/// where(condition, x, y): x where the condition is true, else y. Of items of any type.
inline constexpr detail::where_function where{};

/// True for the infinities that it detects.
struct is_inf {
    explicit is_inf(bool negative = true, bool positive = true)
        : detect_negative(negative), detect_positive(positive)
    {}
    bool detect_negative, detect_positive;

    template <class V>
    auto operator()(V const& x) const
    {
        if constexpr (detail::is_batch<V>) {
            using limits = std::numeric_limits<detail::batch_item_t<V>>;
            auto const nothing = limits::quiet_NaN(); // equals no item
            return x == V(detect_negative ? -limits::infinity() : nothing) ||
                   x == V(detect_positive ? limits::infinity() : nothing);
        } else {
            return std::isinf(+x) && (+x < 0 ? detect_negative : detect_positive);
        }
    }
};

} // namespace xloom_onnx
