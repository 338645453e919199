#pragma once
// exp, log, sin, cos, tanh, pow, sqrt and the sigmoid of the lanes of a scan, defined for every value; log,
// sin and cos of xloom/kernels.hpp, too. An item has the same bits as a number alone and at every place in a
// batch, beside any neighbours.
//
// Errors in units of the last place (ULP), of results that are subnormal in units of the smallest number:
//
//              float   double
//     exp       1.2     1.2
//     log       1       1
//     sin, cos  1       1       beyond 3000 and 800,000 those of <cmath>
//     tanh      1.5     1.5
//     pow       1       1.5     with few or no lanes that of <cmath>
//     sqrt      0.5     0.5
//     sigmoid   2.5     2.5     maybe 0 where it is below 1e-38 or 1e-308
//
// No product is added to a number but by multiply_add, since a compiler may contract the two in one function
// and not in the other. Without SIMD, and with -ffast-math, which cancels what a reduction of arguments adds
// and subtracts, the functions are those of <cmath>.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/reduction.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/batches.hpp>

XLOOM_BEGIN_FALSE_UNINITIALIZED

namespace xloom::inline XLOOM_ABI::kernel {

/// A float, a double, or a batch of them.
template <class V>
concept lane_number = std::floating_point<batch_item_t<V>>;

namespace detail {

/// True if the functions of Ts are those of this file, else those of <cmath>.
template <class T>
inline constexpr bool has_lane_functions = !xloom::detail::is_reassociated && has_simd<T>;

/// Returns of_batch of batches, or of numbers that are put into batches; where there are none of the type,
/// of_item of each item.
template <class Batch, class Item, lane_number V, class... Vs>
V by_lanes(Batch const& of_batch, Item const& of_item, V const& x, Vs const&... others)
{
    using T = batch_item_t<V>;
    if constexpr (!has_lane_functions<T> && is_batch<V>)
        return item_by_item(of_item, x, others...);
    else if constexpr (!has_lane_functions<T>)
        return of_item(x, others...);
    else if constexpr (is_batch<V>)
        return of_batch(x, others...);
    else
        return first_item<T>(of_batch(batch_t<T>(x), batch_t<T>(others)...));
}

/// Returns a product of batches, as it is rounded.
template <class V>
V rounded(V product)
{
    product.data = xloom::detail::uncombined(product.data);
    return product;
}

/// A decomposition x = 2^exponent * (1 + rest), with 1 + rest in [sqrt(1/2), sqrt(2)). Of normal numbers
/// above 0.
template <class V>
struct log_parts {
    V exponent, rest;

    explicit log_parts(V const& x)
    {
        using T = batch_item_t<V>;
        using word = word_t<V>;
        using words = batch_t<word>;
        constexpr word one = std::bit_cast<word>(T(1)), least = std::bit_cast<word>(T(0.70710678118654752));
        constexpr word implicit_one = word(1) << fraction_bits<V>;
        constexpr T scale = static_cast<T>(implicit_one); // its last bit is 1
        words const shifted = words_of(x) + words(one - least);
        words const biased = (shifted >> fraction_bits<V>) | words(std::bit_cast<word>(scale));
        exponent =
            bits_as<T, V>(biased) - V(scale + static_cast<T>(std::numeric_limits<T>::max_exponent - 1));
        rest = bits_as<T, V>((shifted & words(implicit_one - 1)) + words(least)) - V(T(1));
    }

    /// Returns exponent * log(2) + log(1 + rest). Coefficients by Remez's algorithm.
    V log() const
        requires is_float_batch<V>
    {
        // log(1 + r) = r - r^2 / 2 + r^3 p(r).
        V const r2 = rest * rest, r4 = r2 * r2;
        V const p0 = multiply_add(
            polynomial(rest, 0.200012267f, -0.166233569f), r2, polynomial(rest, 0.333333313f, -0.250008196f));
        V const p4 = multiply_add(
            polynomial(rest, 0.12761575f, -0.0763449445f), r2, polynomial(rest, 0.142017588f, -0.131601825f));
        V const cubic = rest * r2 * multiply_add(p4, r4, p0);
        V const low = multiply_add(r2, V(-0.5f), multiply_add(exponent, V(log_2<float>::low), cubic));
        return multiply_add(exponent, V(log_2<float>::high), rest + low);
    }

    V log() const
        requires is_double_batch<V>
    {
        // With s = r / (2 + r): log(1 + r) = 2 s + s z p(z), z = s^2, and 2 s = r - r^2 / 2 + s r^2 / 2.
        V const s = rest / (V(2) + rest), z = s * s, z2 = z * z, z4 = z2 * z2;
        V const p0 = multiply_add(polynomial(z, 0.2857142874201474, 0.22222198610869973), z2,
            polynomial(z, 0.6666666666666734, 0.39999999999416375));
        V const p4 =
            multiply_add(V(0.14795473919839985), z2, polynomial(z, 0.18183562400430578, 0.15314098958512884));
        V const half = rest * V(0.5);
        V const product = s * multiply_add(multiply_add(p4, z4, p0), z, half * rest);
        V const low = multiply_add(-half, rest, multiply_add(exponent, V(log_2<double>::low), product));
        return multiply_add(exponent, V(log_2<double>::high), rest + low);
    }
};

/// The decomposition of a number above 0, which may be subnormal.
template <class V>
log_parts<V> log_parts_of(V const& x)
{
    using T = batch_item_t<V>;
    // Subnormal numbers are scaled by 2^fraction_bits.
    auto const is_small = x < V((std::numeric_limits<T>::min)());
    log_parts<V> parts(select(is_small, x * V(static_cast<T>(word_t<V>(1) << fraction_bits<V>)), x));
    parts.exponent = parts.exponent - select(is_small, V(T(fraction_bits<V>)), V(T(0)));
    return parts;
}

template <class V>
V log_of_batch(V const& x)
{
    using T = batch_item_t<V>;
    V const zero(T(0)), infinite(std::numeric_limits<T>::infinity());
    V const of_others =
        select(x == zero, -infinite, select(x < zero, V(std::numeric_limits<T>::quiet_NaN()), x));
    return select((x > zero) & (x < infinite), log_parts_of(x).log(), of_others);
}

/// pi / 2 as a sum of four numbers, the first three with so few bits that their products with n are exact up
/// to a multiple n of pi / 2 at the limit, and so are the first two subtractions.
template <class T>
struct quarter_turn;
template <>
struct quarter_turn<float> {
    static constexpr float first = 0x1.922p+0f, second = -0x1.2cp-18f, third = 0x1.11p-26f,
                           fourth = 0x1.68c234p-39f;
    static constexpr float limit = 3000; // n < 2^11
};
template <>
struct quarter_turn<double> {
    static constexpr double first = 0x1.921fb544p+0, second = 0x1.0b462p-34, third = -0x1.cb3b399cp-55,
                            fourth = -0x1.747f23e32ed70p-87;
    static constexpr double limit = 800'000; // n < 2^19
};

/// A decomposition x = quadrant * pi / 2 + rest + low, with rest in [-pi / 4, pi / 4] and low its rounding
/// error. Of numbers from 0 to the limit.
template <class V>
struct angle {
    using words = batch_t<word_t<V>>;
    V rest, low;
    words quadrant; ///< its two low bits are valid

    explicit angle(V const& x)
    {
        using T = batch_item_t<V>;
        using parts = quarter_turn<T>;
        V const shifted = shifted_integer<V>(x, T(0.63661977236758134)), n = shifted - V(rounding_shift<V>);
        quadrant = words_of(shifted);
        V const most = multiply_add(n, V(-parts::second), multiply_add(n, V(-parts::first), x));
        rest = multiply_add(n, V(-parts::third), most);
        low = multiply_add(n, V(-parts::fourth), multiply_add(n, V(-parts::third), most - rest));
    }

    /// Returns the sine of rest + low + turns * pi / 2. Coefficients by Remez's algorithm.
    V sin(words const& turns) const
    {
        using T = batch_item_t<V>;
        V const z = rest * rest, z2 = z * z;
        V const sine = rest + multiply_add(rest * z, sine_polynomial(z), low);
        // 1 - z / 2, and what its rounding left.
        V const one(T(1)), half(T(-0.5)), most = multiply_add(z, half, one);
        V const left = multiply_add(z, half, one - most);
        V const cosine = most + multiply_add(-rest, low, multiply_add(z2, cosine_polynomial(z), left));
        constexpr int top = 8 * sizeof(T) - 1;
        auto const is_odd = bits_as<T, V>((turns << top) | words_of(one)) < V(T(0));
        return select(is_odd, cosine, sine) ^ bits_as<T, V>((turns >> 1) << top);
    }

private:
    /// Returns (sin(r) - r) / r^3, with z = r^2.
    static V sine_polynomial(V const& z)
    {
        if constexpr (is_float_batch<V>) {
            return polynomial(z, -0.166666552f, 0.00833215937f, -0.000195151166f);
        } else {
            V const z2 = z * z;
            V const p4 = polynomial(z, -2.505074636136484e-08, 1.589614649171545e-10);
            return multiply_add(
                multiply_add(p4, z2, polynomial(z, -0.00019841269829565413, 2.75573136127167e-06)), z2,
                polynomial(z, -0.1666666666666663, 0.008333333333322089));
        }
    }

    /// Returns (cos(r) - 1 + r^2 / 2) / r^4, with z = r^2.
    static V cosine_polynomial(V const& z)
    {
        if constexpr (is_float_batch<V>) {
            return polynomial(z, 0.0416666456f, -0.00138873141f, 2.44329658e-5f);
        } else {
            V const z2 = z * z;
            V const p4 = polynomial(z, 2.087569974681925e-09, -1.1358478495701613e-11);
            return multiply_add(
                multiply_add(p4, z2, polynomial(z, 2.480158728882519e-05, -2.7557314171434766e-07)), z2,
                polynomial(z, 0.041666666666666595, -0.0013888888888873015));
        }
    }
};

/// Returns y, but of_item(x) for the items of x beyond the limit of an angle.
template <class Item, class V>
XLOOM_COLD V with_large_items(Item const& of_item, V const& x, V const& y)
{
    using T = batch_item_t<V>;
    return item_by_item(
        [&of_item](T each, T known) { return each > quarter_turn<T>::limit ? of_item(each) : known; }, x, y);
}

/// Returns of_angle(an angle of |x|), but of_item(|x|) for the items beyond the limit.
template <class Angle, class Item, class V>
V by_angle(Angle const& of_angle, Item const& of_item, V const& x)
{
    V const size = abs(x);
    V const y = of_angle(angle<V>(size));
    if (any(size > V(quarter_turn<batch_item_t<V>>::limit))) [[unlikely]]
        return with_large_items(of_item, size, y);
    return y;
}

/// True for the items of v >= 0 that are whole numbers.
template <class V>
auto is_whole(V const& v)
{
    V const from_here_all(static_cast<batch_item_t<V>>(word_t<V>(1) << fraction_bits<V>));
    V const limited = min_nan_second(from_here_all, v);
    return (limited + from_here_all) - from_here_all == limited;
}

/// Returns x^y, given of_positive(x, y) of numbers x > 0 and numbers y.
template <class Positive, class V>
V power(Positive const& of_positive, V const& x, V const& y)
{
    using T = batch_item_t<V>;
    V const zero(T(0)), one(T(1)), infinite(std::numeric_limits<T>::infinity()), size = abs(x);
    // A finite exponent, such that 1 to the power of infinity is 1, of other numbers 0 or infinity.
    V const most(T(0x1p70)), exponent = max_nan_second(-most, min_nan_second(most, y));
    V const of_edges = select(y > zero, size, select(y < zero, divide(one, size), y));
    V const magnitude = select((size > zero) & (size < infinite), of_positive(size, exponent), of_edges);
    V const length = abs(y);
    auto const is_integer = is_whole(length);
    V const sign = select(is_whole(length * V(T(0.5))), zero, bitofsign(x));
    V const with_sign = magnitude | select(is_integer, sign, zero);
    auto const is_defined = is_integer | (x >= zero) | (size == infinite);
    V const found = select(is_defined, with_sign, V(std::numeric_limits<T>::quiet_NaN()));
    return select((x == one) | (y == zero), one, found);
}

/// Returns f of floats as doubles, rounded.
template <class F>
batch_t<float> in_doubles(F const& f, batch_t<float> const& x, batch_t<float> const& y)
{
    constexpr std::size_t count = batch_size<float>, step = batch_size<double>;
    float from[2][count];
    double wide[2][count];
    store_batch(from[0], x);
    store_batch(from[1], y);
    for (std::size_t i = 0; i < count; ++i) {
        wide[0][i] = static_cast<double>(from[0][i]);
        wide[1][i] = static_cast<double>(from[1][i]);
    }
    for (std::size_t i = 0; i < count; i += step)
        store_batch(wide[0] + i, f(load_batch(wide[0] + i), load_batch(wide[1] + i)));
    for (std::size_t i = 0; i < count; ++i)
        from[0][i] = static_cast<float>(wide[0][i]);
    return load_batch(from[0]);
}

/// Returns x^y of floats x > 0, computed in doubles.
template <class V>
    requires is_float_batch<V>
V power_of_positive(V const& x, V const& y)
{
    return in_doubles(
        []<class W>(W const& a, W const& b) { return exp_of(b * log_parts<W>(a).log()); }, x, y);
}

/// A number as a sum of two, the second below the last place of the first.
template <class V>
struct double_number {
    V high, low;
};

/// Returns exponent * log(2) + log(1 + rest) with a relative error of about 2^-64. Requires a multiply_add
/// that rounds once: with it, multiply_add(a, b, -(a * b)) is what the rounding of a product left.
template <class V>
double_number<V> accurate_log(log_parts<V> const& x)
{
    // As in log(): s = r / (2 + r), z = s^2, log(1 + r) = 2 s + s z c, c = 2/3 + z p(z).
    V const one(1.0), two(2.0), r = x.rest;
    V const sum = two + r, sum_low = r - (sum - two), inverse = one / sum;
    V const s = r * inverse, s_low = multiply_add(-s, sum_low, multiply_add(-s, sum, r)) * inverse;
    V const twice = two * s;
    V const z = s * s, z_low = multiply_add(twice, s_low, multiply_add(s, s, -z));
    V const z2 = z * z, z4 = z2 * z2;
    V const p0 = multiply_add(polynomial(z, 0.22222222519979065, 0.18181784362498601), z2,
        polynomial(z, 0.40000000000002256, 0.2857142857009924));
    V const p4 =
        multiply_add(V(0.13196369045852652), z2, polynomial(z, 0.15386757533520534, 0.1325681323734934));
    V const p = multiply_add(p4, z4, p0), two_thirds(2.0 / 3);
    V const c = multiply_add(z, p, two_thirds),
            c_low = multiply_add(z, p, two_thirds - c) + V(0x1.5555555555555p-55);
    V const zc = z * c, zc_low = multiply_add(z, c_low, multiply_add(z_low, c, multiply_add(z, c, -zc)));
    V const high = multiply_add(s, zc, twice);
    V const low =
        multiply_add(s, zc, twice - high) + multiply_add(s, zc_low, multiply_add(s_low, zc, two * s_low));
    V const log_2_high(log_2<double>::high), log_2_low(log_2<double>::low);
    V const total = multiply_add(x.exponent, log_2_high, high);
    V const left = multiply_add(x.exponent, log_2_high, -total) + high;
    V const rest = left + multiply_add(x.exponent, log_2_low, low), rounded_sum = total + rest;
    return {rounded_sum, (total - rounded_sum) + rest};
}

/// Returns x^y of doubles x > 0.
template <class V>
    requires is_double_batch<V>
V power_of_positive(V const& x, V const& y)
{
    auto const log = accurate_log(log_parts_of(x));
    V const product = y * log.high, limited = max_nan_second(V(-746), min_nan_second(V(710), product));
    V const low = multiply_add(y, log.low, multiply_add(y, log.high, -product));
    V const rest = exp_parts<V>(limited).rest;
    V const with_low = multiply_add(select(limited == product, low, V(0.0)), V(1) + rest, rest);
    return times_power_of_two(V(1) + with_low, limited);
}

/// True if powers of Ts are computed in batches: of doubles where multiply_add rounds once, of floats where
/// there are more than two doubles in a batch, since <cmath> is faster.
template <class T>
inline constexpr bool has_lane_powers =
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
    has_lane_functions<T>;
#else
    has_lane_functions<T> && std::is_same_v<T, float> && batch_size<double> > 2;
#endif

} // namespace detail

/// Returns e to the power of x.
template <lane_number V>
V lane_exp(V const& x)
{
    return detail::by_lanes([](auto const& v) { return detail::rounded(full_exp(v)); },
        [](auto each) { return std::exp(each); }, x);
}

/// Returns the natural logarithm of x: -infinity for 0, NaN below.
template <lane_number V>
V lane_log(V const& x)
{
    return detail::by_lanes(
        [](auto const& v) { return detail::log_of_batch(v); }, [](auto each) { return std::log(each); }, x);
}

/// Returns the sine of x, NaN for infinities. Items beyond 3000 (float) and 800,000 (double) cost a call of
/// <cmath> each.
template <lane_number V>
V lane_sin(V const& x)
{
    auto const of_batch = []<class B>(B const& v) {
        return detail::by_angle([](auto const& angle) { return angle.sin(angle.quadrant); },
                   [](auto each) { return static_cast<decltype(each)>(std::sin(static_cast<double>(each))); },
                   v) ^
               bitofsign(v);
    };
    return detail::by_lanes(
        of_batch, [](auto each) { return std::sin(each); }, x);
}

/// Returns the cosine of x, NaN for infinities, at the cost of lane_sin.
template <lane_number V>
V lane_cos(V const& x)
{
    auto const of_batch = []<class B>(B const& v) {
        return detail::by_angle(
            [](auto const& angle) { return angle.sin(angle.quadrant + decltype(angle.quadrant)(1)); },
            [](auto each) { return static_cast<decltype(each)>(std::cos(static_cast<double>(each))); }, v);
    };
    return detail::by_lanes(
        of_batch, [](auto each) { return std::cos(each); }, x);
}

// These three by their names in xloom/kernels.hpp.

template <lane_number V>
V log_of(V const& x)
{
    return lane_log(x);
}
template <lane_number V>
V sin_of(V const& x)
{
    return lane_sin(x);
}
template <lane_number V>
V cos_of(V const& x)
{
    return lane_cos(x);
}

/// Returns the hyperbolic tangent of x.
template <lane_number V>
V lane_tanh(V const& x)
{
    return detail::by_lanes(
        [](auto const& v) { return detail::tanh_of(v); }, [](auto each) { return std::tanh(each); }, x);
}

/// Returns x to the power of y, with the special values of <cmath>.
template <lane_number V>
V lane_pow(V const& x, V const& y)
{
    auto const of_item = [](auto each, auto exponent) { return std::pow(each, exponent); };
    if constexpr (detail::has_lane_powers<batch_item_t<V>>)
        return detail::by_lanes(
            []<class B>(B const& base, B const& exponent) {
                return detail::power(
                    [](B const& a, B const& b) { return detail::power_of_positive(a, b); }, base, exponent);
            },
            of_item, x, y);
    else if constexpr (is_batch<V>)
        return item_by_item(of_item, x, y);
    else
        return of_item(x, y);
}

/// Returns the square root of x, rounded once.
template <lane_number V>
V lane_sqrt(V const& x)
{
    if constexpr (!is_batch<V>)
        return std::sqrt(x);
#ifdef __ARM_NEON // where xsimd estimates those of floats
    else if constexpr (std::is_same_v<batch_item_t<V>, float>)
#ifdef __aarch64__
        return vsqrtq_f32(x);
#else
        return item_by_item([](auto each) { return std::sqrt(each); }, x);
#endif
#endif
    else
        return sqrt(x);
}

/// Returns 1 / (1 + exp(-x)).
template <lane_number V>
V lane_sigmoid(V const& x)
{
    return detail::by_lanes(sigmoid{}, sigmoid{}, x);
}

} // namespace xloom::inline XLOOM_ABI::kernel

XLOOM_END_FALSE_WARNINGS
