// linear_recurrence and linear_recurrence_into: the textbook's scan of affine maps, bit by bit, and the
// serial loop within rounding errors.

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/textbook_prefix.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace linear_recurrence_test {

/// 2x2 matrices of integers modulo 2^32.
struct matrix {
    std::array<std::uint32_t, 4> entries{};

    matrix() = default;
    matrix(std::uint32_t p, std::uint32_t q, std::uint32_t r, std::uint32_t s) : entries{p, q, r, s} {}

    friend matrix operator*(matrix const& a, matrix const& b)
    {
        auto const& [p, q, r, s] = a.entries;
        auto const& [t, u, v, w] = b.entries;
        return {p * t + q * v, p * u + q * w, r * t + s * v, r * u + s * w};
    }
    friend matrix operator+(matrix const& a, matrix const& b)
    {
        matrix sum;
        for (std::size_t i = 0; i < 4; ++i)
            sum.entries[i] = a.entries[i] + b.entries[i];
        return sum;
    }
    friend matrix operator/(matrix const& a, matrix const&) { return a; } // required, but not called
    bool operator==(matrix const&) const = default;
};

namespace {

template <class T>
T number(std::size_t i)
{
    return static_cast<T>(static_cast<float>(std::sin(static_cast<double>(i) * 1.7) * 0.99));
}

/// Coefficients that are all decays; large ones in some blocks; coefficients and states of any size.
enum class sizes { ordinary, large_decays, any };

template <class T>
T coefficient(std::size_t i, sizes of)
{
    if (of == sizes::large_decays && i % 331 == 17)
        return T(3e10);
    if (of == sizes::any)
        return number<T>(i) * std::pow(T(10), static_cast<T>(static_cast<int>(i * i % 17) - 8));
    return number<T>(i);
}

template <class T>
bool are_same(T const& a, T const& b)
{
    return a == b || (a != a && b != b);
}

template <class T>
void compare(std::size_t length, std::size_t channels, bool time_is_last, bool reverse, std::size_t threads,
    sizes of = sizes::ordinary)
{
    std::array<std::size_t, 2> const dims = time_is_last ? std::array<std::size_t, 2>{channels, length}
                                                         : std::array<std::size_t, 2>{length, channels};
    auto a = xt::xtensor<T, 2>::from_shape(dims), b = a, h = a;
    auto h0 = xt::xtensor<T, 1>::from_shape({channels});
    for (std::size_t i = 0; i < a.size(); ++i) {
        a.data()[i] = coefficient<T>(i, of);
        b.data()[i] = number<T>(3 * i + 1);
    }
    for (std::size_t c = 0; c < channels; ++c)
        h0(c) = number<T>(c + 5);
    xloom::linear_recurrence_into(
        a, b, h0, h, {.axis = time_is_last ? -1 : 0, .reverse = reverse}, xloom::thread_policy(threads));
    for (std::size_t c = 0; c < channels; ++c) {
        auto const at = [&](auto& x, std::size_t t) -> auto& {
            std::size_t const time = reverse ? length - 1 - t : t;
            return time_is_last ? x(c, time) : x(time, c);
        };
        std::vector<textbook::map<T>> maps;
        for (std::size_t t = 0; t < length; ++t)
            maps.push_back({at(a, t), at(b, t)});
        auto const expected = textbook::linear_recurrence<T>(maps, h0(c));
        T serial = h0(c);
        for (std::size_t t = 0; t < length; ++t) {
            REQUIRE(are_same(at(h, t), expected[t]));
            serial = textbook::rounded(maps[t].a, serial) + maps[t].b;
            if (of == sizes::ordinary)
                REQUIRE(std::abs(at(h, t) - serial) < T(2e-5));
            else if (std::isfinite(serial))
                REQUIRE(std::isfinite(at(h, t)));
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("linear_recurrence: the textbook's bits", T, float, double)
{
    for (std::size_t const length :
        std::initializer_list<std::size_t>{0, 1, 2, 15, 16, 17, 255, 256, 257, 600})
        for (std::size_t const channels : std::initializer_list<std::size_t>{1, 3, 16, 37})
            for (bool const time_is_last : {false, true})
                compare<T>(length, channels, time_is_last, length % 2 == 1, 1);
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3}) {
        compare<T>(40'000, 1, false, false, threads);
        compare<T>(40'000, 1, true, true, threads);
        compare<T>(20'001, 3, false, false, threads);
        compare<T>(3000, 20, false, true, threads);
    }
}

TEST_CASE_TEMPLATE("linear_recurrence: channels of a wider tensor, whose others stay", T, float, double)
{
    auto a = xt::xtensor<T, 2>::from_shape({35, 40}), b = a;
    for (std::size_t i = 0; i < a.size(); ++i) {
        a.data()[i] = coefficient<T>(i, sizes::ordinary);
        b.data()[i] = number<T>(i);
    }
    for (std::size_t channels = 1; channels <= 33; ++channels) {
        auto const some = [&](auto& of) { return xt::view(of, xt::all(), xt::range(4, 4 + channels)); };
        auto h = b;
        auto inner = some(h);
        xloom::linear_recurrence_into(some(a), inner, T(2), inner);
        bool are_all = true;
        for (std::size_t c = 0; c < 40; ++c) {
            bool const is_inner = c >= 4 && c < 4 + channels;
            std::vector<textbook::map<T>> maps;
            for (std::size_t t = 0; t < 35; ++t)
                maps.push_back({a(t, c), b(t, c)});
            auto const expected = textbook::linear_recurrence<T>(maps, T(2));
            for (std::size_t t = 0; t < 35; ++t)
                are_all = are_all && h(t, c) == (is_inner ? expected[t] : b(t, c));
        }
        CHECK(are_all);
    }
}

TEST_CASE_TEMPLATE("linear_recurrence: decays of which a product overflows", T, float, double)
{
    for (sizes const of : {sizes::large_decays, sizes::any}) {
        for (std::size_t const length :
            std::initializer_list<std::size_t>{1, 3, 7, 12, 16, 17, 255, 257, 600})
            for (std::size_t const channels : std::initializer_list<std::size_t>{1, 3, 37})
                for (bool const time_is_last : {false, true})
                    compare<T>(length, channels, time_is_last, length % 2 == 1, 1, of);
        for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3}) {
            compare<T>(40'000, 1, true, true, threads, of);
            compare<T>(20'001, 3, false, false, threads, of);
            compare<T>(3000, 20, false, true, threads, of);
        }
    }
}

TEST_CASE("linear_recurrence: as many neighbours as are scanned together")
{
    for (sizes const of : {sizes::ordinary, sizes::large_decays, sizes::any})
        compare<float>(20, 512, false, false, 1, of);
}

TEST_CASE_TEMPLATE("linear_recurrence: never NaN where the loop is finite", T, float, double, long double,
    std::complex<float>)
{
    for (std::size_t const channels : std::initializer_list<std::size_t>{1, 37}) {
        xt::xtensor<T, 2> const a = xt::ones<T>({std::size_t{600}, channels}) * T(1e10F),
                                b = xt::zeros<T>({std::size_t{600}, channels});
        CHECK(xloom::linear_recurrence(a, b, T(0)) == b);
    }
    xt::xtensor<T, 1> const decays = {T(1e-25F), T(1e-25F), T(1e25F), T(1e25F)}, zero = xt::zeros<T>({4});
    auto const h = xloom::linear_recurrence(decays, zero, T(1e30F));
    CHECK(std::abs(h(1) - T(1e-20F)) < 1e-26F);
    CHECK(std::abs(h(2) - T(1e5F)) < 0.1F);
    CHECK(std::abs(h(3) - T(1e30F)) < 1e24F);
}

TEST_CASE_TEMPLATE("linear_recurrence: decays, inputs and first states at their limits", T, float, double,
    std::complex<float>, std::complex<double>)
{
    using real = decltype(std::abs(T()));
    T const decay(std::is_same_v<real, float> ? 1.125f : 2.0f);
    T const input(std::ldexp(real(1), textbook::safe_exponent<T>));
    T turn = decay * T(1.5f); // beyond, and of another direction
    if constexpr (!std::is_floating_point_v<T>)
        turn = T(0, turn.real());
    struct limits {
        T decay, input, state;
    };
    for (limits const& of : {limits{decay, T(1), T(1)}, limits{turn, T(1), T(1)},
             limits{T(0.7f), input, T(1)}, limits{T(0.7f), T(1), input}}) {
        std::vector<textbook::map<T>> maps;
        for (std::size_t t = 0; t < 16; ++t) {
            float const s = static_cast<float>(std::sin(static_cast<double>(t) * 1.7)) * 0.9f;
            maps.push_back({T(s), T(1 - s)});
        }
        maps[0] = {of.decay, of.input};
        auto const expected = textbook::linear_recurrence<T>(maps, of.state);
        for (std::size_t const channels : std::initializer_list<std::size_t>{1, 19}) {
            auto a = xt::xtensor<T, 2>::from_shape({maps.size(), channels}), b = a;
            for (std::size_t t = 0; t < maps.size(); ++t) {
                xt::view(a, t).fill(maps[t].a);
                xt::view(b, t).fill(maps[t].b);
            }
            auto const h = xloom::linear_recurrence(a, b, of.state);
            for (std::size_t t = 0; t < maps.size(); ++t) {
                CHECK(h(t, 0) == expected[t]);
                CHECK(h(t, channels - 1) == expected[t]);
            }
        }
    }
}

TEST_CASE_TEMPLATE("linear_recurrence: a large decay changes no earlier state", T, float, double)
{
    for (std::size_t const channels : std::initializer_list<std::size_t>{1, 3, 37}) {
        auto a = xt::xtensor<T, 2>::from_shape({std::size_t{256}, channels}), b = a;
        for (std::size_t i = 0; i < a.size(); ++i) {
            a.data()[i] = number<T>(i);
            b.data()[i] = number<T>(3 * i + 1);
        }
        auto large = a;
        large(200, channels / 2) = 4;
        auto const h = xloom::linear_recurrence(a, b, T(1)), other = xloom::linear_recurrence(large, b, T(1));
        auto const in_columns = xloom::linear_recurrence(
            xt::xtensor<T, 2>(xt::transpose(large)), xt::xtensor<T, 2>(xt::transpose(b)), T(1), {.axis = 1});
        CHECK(xt::view(other, xt::range(0, 200)) == xt::view(h, xt::range(0, 200)));
        CHECK(other(200, channels / 2) == 4 * h(199, channels / 2) + b(200, channels / 2));
        CHECK(xt::transpose(in_columns) == other);
    }
}

TEST_CASE_TEMPLATE("linear_recurrence: large decays of neighbours in successive steps", T, float, double)
{
    constexpr std::size_t length = 40, channels = 37;
    for (std::size_t step = 0; step + 1 < length; ++step) {
        auto a = xt::xtensor<T, 2>::from_shape({length, channels}), b = a;
        for (std::size_t i = 0; i < a.size(); ++i) {
            a.data()[i] = number<T>(i);
            b.data()[i] = number<T>(3 * i + 1);
        }
        a(step, 35) = 4;
        a(step + 1, 0) = 4;
        auto const h = xloom::linear_recurrence(a, b, T(1));
        for (std::size_t c = 0; c < channels; ++c) {
            std::vector<textbook::map<T>> maps;
            for (std::size_t t = 0; t < length; ++t)
                maps.push_back({a(t, c), b(t, c)});
            auto const expected = textbook::linear_recurrence<T>(maps, T(1));
            for (std::size_t t = 0; t < length; ++t)
                REQUIRE(h(t, c) == expected[t]);
        }
    }
}

TEST_CASE("linear_recurrence: complex numbers, storage floats, one number as h0, lazy operands")
{
    using complex = std::complex<double>;
    xt::xtensor<complex, 1> const a = {complex(0, 1), complex(0, 1), complex(0.5, 0)};
    xt::xtensor<complex, 1> const b = {complex(1, 0), complex(0, 0), complex(0, 2)};
    CHECK(xloom::linear_recurrence(a, b, complex(1, 1)) ==
          xt::xtensor<complex, 1>{complex(0, 1), complex(-1, 0), complex(-0.5, 2)});
    xt::xtensor<xloom::float16, 1> const half = {xloom::float16(0.5f), xloom::float16(0.5f)};
    auto const h = xloom::linear_recurrence(half, half, xloom::float16(3));
    CHECK(static_cast<float>(h(0)) == 2.0f);
    CHECK(static_cast<float>(h(1)) == 1.5f);
    xt::xtensor<double, 2> const ones = xt::ones<double>({3, 2});
    CHECK(xloom::linear_recurrence(2.0 * ones, ones, 0.0) == xt::xtensor<double, 2>{{1, 1}, {3, 3}, {7, 7}});
}

TEST_CASE("linear_recurrence: scalars of a user, whose products depend on the order")
{
    constexpr std::size_t steps = 40'000; // enough for three threads, of one sequence for two
    xt::xtensor<matrix, 2> a = xt::xtensor<matrix, 2>::from_shape({steps, 3}), b = a, expected = a;
    std::uint32_t next = 1;
    for (auto* const operand : {&a, &b})
        for (matrix& item : *operand)
            for (std::uint32_t& entry : item.entries)
                entry = next = next * 1664525u + 1013904223u;
    xt::xtensor<matrix, 1> const h0 = xt::view(b, 5);
    for (std::size_t t = 0; t < steps; ++t)
        for (std::size_t j = 0; j < 3; ++j)
            expected(t, j) = a(t, j) * (t == 0 ? h0(j) : expected(t - 1, j)) + b(t, j);
    CHECK(xloom::linear_recurrence(a, b, h0) == expected);
    std::atomic<std::size_t> parts = 1;
    threads_or_backwards const threads{3, false, &parts};
    CHECK(xloom::linear_recurrence(a, b, h0, {}, threads) == expected);
    CHECK(parts == 3);
    parts = 1;
    xt::xtensor<matrix, 1> const a_0 = xt::view(a, xt::all(), 0), b_0 = xt::view(b, xt::all(), 0);
    CHECK(xloom::linear_recurrence(a_0, b_0, h0(0), {}, threads) == xt::view(expected, xt::all(), 0));
    CHECK(parts > 1);
}

TEST_CASE_TEMPLATE("linear_recurrence: states that decay end at 0", T, float, double)
{
    std::size_t const length = std::is_same_v<T, float> ? 3000 : 20'000, channels = 21;
    constexpr T least = std::numeric_limits<T>::min();
    xt::xtensor<T, 2> const a = 0.95 * xt::ones<T>({length, channels});
    xt::xtensor<T, 2> const silence = xt::zeros<T>({length, channels});
    xt::xtensor<T, 2> const h = xloom::linear_recurrence(a, silence, T(1));
    bool are_zeros = true, are_close = true;
    for (std::size_t t = 0; t < length; ++t) {
        // The logarithm of the state, which is exact enough far below the smallest number.
        double const size = static_cast<double>(t + 1) * std::log2(static_cast<double>(a(0, 0)));
        for (std::size_t c = 0; c < channels; ++c) {
            if (size > std::log2(least) + 1)
                are_close = are_close && std::fabs(std::log2(static_cast<double>(h(t, c))) - size) < 1e-3;
            else if (size < std::log2(least) - 1)
                are_zeros =
                    are_zeros && (xloom::flush_subnormals::is_supported ? h(t, c) == 0 : h(t, c) < least);
        }
    }
    CHECK(are_close);
    CHECK(are_zeros);
    // The bits are those of any threads and layout.
    CHECK(xloom::linear_recurrence(a, silence, T(1), {}, xloom::thread_policy(3)) == h);
    xt::xtensor<T, 1> const one = xt::view(a, xt::all(), 0), silent = xt::view(silence, xt::all(), 0);
    CHECK(xloom::linear_recurrence(one, silent, T(1)) == xt::view(h, xt::all(), 0));
    xt::xtensor<T, 2> const by_channel = xt::transpose(a), silent_by_channel = xt::transpose(silence);
    CHECK(xloom::linear_recurrence(by_channel, silent_by_channel, T(1), {.axis = 1}) == xt::transpose(h));
}

TEST_CASE("linear_recurrence: in place, and errors")
{
    xt::xtensor<double, 1> a = {2, 2, 2}, b = {1, 1, 1};
    xloom::linear_recurrence_into(a, b, 0.0, b);
    CHECK(b == xt::xtensor<double, 1>{1, 3, 7});
    xloom::linear_recurrence_into(a, b, 1.0, a);
    CHECK(a == xt::xtensor<double, 1>{3, 9, 25});
    xt::xtensor<double, 1> const h0 = {1, 2};
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence(a, b, h0),
        "xloom::linear_recurrence: h0 must be a number or have the shape of a without the axis of time, [], "
        "but it "
        "has [2]. Give it that shape.",
        xloom::shape_error);
    xt::xtensor<double, 1> const longer = {1, 2, 3, 4};
    CHECK_THROWS_AS(xloom::linear_recurrence(a, longer, 0.0), xloom::shape_error);
    CHECK_THROWS_AS(xloom::linear_recurrence(a, b, 0.0, {.axis = 1}), xloom::shape_error);
    xt::xtensor<double, 2> m = {{1, 2}, {3, 4}};
    CHECK_THROWS_AS(xloom::linear_recurrence_into(m, m, xt::view(m, 0), m), xloom::overlap_error);
    xt::xtensor<double, 1> h = a;
    auto part = xt::view(a, xt::range(0, 2));
    CHECK_THROWS_AS(
        xloom::linear_recurrence_into(xt::view(a, xt::range(1, 3)), xt::view(b, xt::range(1, 3)), 0.0, part),
        xloom::overlap_error);
}

} // namespace linear_recurrence_test
