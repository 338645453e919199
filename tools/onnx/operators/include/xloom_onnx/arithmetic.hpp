#pragma once
// Function objects of arithmetic, for numbers of every type and SIMD batches: integers wrap around, 16-bit
// floating-point numbers are computed in float.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/kernels.hpp>
#include <xloom_onnx/batch.hpp>
#include <xloom_onnx/cast.hpp>

namespace xloom_onnx {

namespace detail {

/// Converts a number for + - *: 16-bit floats to float; integers to unsigned ones, so that they wrap around.
template <class T>
constexpr auto modular(T const& x)
{
    if constexpr (std::is_integral_v<T>)
        return static_cast<
            std::conditional_t<sizeof(T) < sizeof(std::uint32_t), std::uint32_t, std::make_unsigned_t<T>>>(x);
    else if constexpr (is_batch<T>)
        return x;
    else
        return +x;
}

inline void refuse_zero(bool is_zero)
{
    if (is_zero)
        xloom::kernels::fail<xloom::option_error>("xloom_onnx: a whole number is divided by zero");
}

/// A function of two or more operands, F::of(a, b): batches, numbers, or numbers beside batches.
template <class F>
struct binary_function {
    template <class A, class B>
    auto operator()(A const& a, B const& b) const
    {
        using V = common_t<A, B>;
        return F::of(static_cast<V>(a), static_cast<V>(b));
    }
    template <class A, class B, class... Others>
    auto operator()(A const& a, B const& b, Others const&... others) const
    {
        return (*this)((*this)(a, b), others...);
    }
};

struct add_function : binary_function<add_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        return static_cast<V>(modular(a) + modular(b));
    }
};
struct sub_function : binary_function<sub_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        return static_cast<V>(modular(a) - modular(b));
    }
};
struct mul_function : binary_function<mul_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        return static_cast<V>(modular(a) * modular(b));
    }
};

struct neg_function {
    template <class V>
    V operator()(V const& a) const
    {
        if constexpr (std::is_integral_v<V>)
            return static_cast<V>(0 - modular(a));
        else if constexpr (is_batch<V>)
            return V(typename V::value_type(-0.0)) - a; // -a of xsimd 8.1 is 0 - a with AVX-512
        else
            return static_cast<V>(-a);
    }
};

struct div_function : binary_function<div_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        if constexpr (is_batch<V>) {
            return kernels::divide(a, b);
        } else {
            if constexpr (std::is_integral_v<V>) {
                refuse_zero(b == 0);
                if (std::is_signed_v<V> && b == static_cast<V>(-1))
                    return neg_function()(a);
            }
            return static_cast<V>(a / b);
        }
    }
};

struct mod_function : binary_function<mod_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        static_assert(std::is_integral_v<V>, "xloom_onnx: mod is for integers; fmod for all numbers.");
        refuse_zero(b == 0);
        if constexpr (std::is_signed_v<V>) {
            if (b == -1)
                return 0;
            V const rest = static_cast<V>(a % b);
            return rest != 0 && (rest < 0) != (b < 0) ? static_cast<V>(rest + b) : rest;
        } else {
            return static_cast<V>(a % b);
        }
    }
};

struct fmod_function : binary_function<fmod_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        if constexpr (is_batch<V>) {
            return kernels::item_by_item([](auto x, auto y) { return std::fmod(x, y); }, a, b);
        } else if constexpr (std::is_integral_v<V>) {
            refuse_zero(b == 0);
            return std::is_signed_v<V> && b == static_cast<V>(-1) ? V{0} : static_cast<V>(a % b);
        } else {
            return static_cast<V>(std::fmod(+a, +b));
        }
    }
};

struct abs_function {
    template <class V>
    V operator()(V const& a) const
    {
        using std::abs;
        if constexpr (is_batch<V>)
            return abs(a);
        else if constexpr (std::is_integral_v<V>)
            return a < V{0} ? neg_function()(a) : a;
        else
            return static_cast<V>(std::fabs(+a));
    }
};

struct sign_function {
    template <class V>
    V operator()(V const& a) const
    {
        if constexpr (is_batch<V>) {
            V const sign = kernels::select(a > V(0), V(1), kernels::select(a < V(0), V(-1), V(0)));
            return kernels::select(a == a, sign, a);
        } else {
            if (+a != +a)
                return a;
            return static_cast<V>(static_cast<int>(+a > 0) - static_cast<int>(+a < 0));
        }
    }
};

struct max_function : binary_function<max_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        if constexpr (is_batch<V>)
            return kernels::select(a == a, kernels::select(a > b, a, b), a);
        else
            return +a != +a || +a > +b ? a : b;
    }
    using binary_function::operator();
    template <class A>
    A operator()(A const& a) const
    {
        return a;
    }
};
struct min_function : binary_function<min_function> {
    template <class V>
    static V of(V const& a, V const& b)
    {
        if constexpr (is_batch<V>)
            return kernels::select(a == a, kernels::select(a < b, a, b), a);
        else
            return +a != +a || +a < +b ? a : b;
    }
    using binary_function::operator();
    template <class A>
    A operator()(A const& a) const
    {
        return a;
    }
};

/// Integers to a power below zero are 0, but for those of 1 and -1.
template <class T>
T whole_power(T a, std::uint64_t exponent, bool is_negative)
{
    bool const is_unit = a == 1 || (std::is_signed_v<T> && a == static_cast<T>(-1));
    if (is_negative) {
        refuse_zero(a == 0);
        if (!is_unit)
            return 0;
    }
    T result = 1;
    for (; exponent != 0; exponent /= 2, a = mul_function::of(a, a))
        if (exponent % 2 != 0)
            result = mul_function::of(result, a);
    return result;
}

struct pow_function {
    template <class A, class B>
    auto operator()(A const& a, B const& b) const
    {
        if constexpr (is_batch<A> || is_batch<B>) {
            using V = common_t<A, B>;
            V const base = static_cast<V>(a), exponent = static_cast<V>(b);
            if (all_are_2(exponent))
                return V(base * base);
            return kernels::item_by_item(*this, base, exponent);
        } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
            bool is_negative = false;
            if constexpr (std::is_signed_v<B>)
                is_negative = b < 0;
            auto const size = static_cast<std::uint64_t>(b);
            return whole_power(a, is_negative ? 0 - size : size, is_negative);
        } else if constexpr (std::is_same_v<A, B> && std::is_floating_point_v<A>) {
            return b == A(2) ? a * a : std::pow(a, b); // squares, most often, as in batches
        } else {
            double const base = static_cast<double>(a), exponent = static_cast<double>(b);
            return cast_item<A>(exponent == 2 ? base * base : std::pow(base, exponent));
        }
    }

private:
    template <class V>
    static bool all_are_2(V const& exponent)
    {
        batch_item_t<V> items[V::size];
        kernels::store_batch(items, exponent);
        for (auto const item : items)
            if (item != 2)
                return false;
        return true;
    }
};

struct clip_function {
    template <class X, class Least, class Most>
    auto operator()(X const& x, Least const& least, Most const& most) const
    {
        return min_function()(most, max_function()(x, least));
    }
};

struct mean_function {
    template <class A, class... Others>
    A operator()(A const& a, Others const&... others) const
    {
        constexpr auto count = static_cast<float>(1 + sizeof...(Others));
        A sum = a;
        ((sum = add_function()(sum, others)), ...);
        if constexpr (is_batch<A>)
            return sum / A(static_cast<batch_item_t<A>>(count));
        else
            return static_cast<A>(sum / count);
    }
};

struct identity_function {
    template <class V>
    V operator()(V const& a) const
    {
        return a;
    }
};

} // namespace detail

/// Sums of two or more.
inline constexpr detail::add_function add{};
inline constexpr detail::sub_function sub{};
inline constexpr detail::mul_function mul{};
/// Quotients of integers are truncated; the one that is out of range wraps around. option_error: an integer
/// is divided by zero, here and in mod, fmod and pow.
inline constexpr detail::div_function div{};
/// Remainders of integers with the divisor's sign.
inline constexpr detail::mod_function mod{};
/// Remainders with the dividend's sign.
inline constexpr detail::fmod_function fmod{};
/// Powers have the type of the base. The exponent may have another type.
inline constexpr detail::pow_function pow{};
inline constexpr detail::neg_function neg{};
inline constexpr detail::abs_function abs{};
/// -1, 0, 1 or NaN.
inline constexpr detail::sign_function sign{};
/// The largest of one or more; NaN if one is NaN.
inline constexpr detail::max_function max{};
/// The smallest of one or more; NaN if one is NaN.
inline constexpr detail::min_function min{};
/// clip(x, least, most).
inline constexpr detail::clip_function clip{};
/// The mean of one or more floating-point numbers.
inline constexpr detail::mean_function mean{};
inline constexpr detail::identity_function identity{};

} // namespace xloom_onnx
