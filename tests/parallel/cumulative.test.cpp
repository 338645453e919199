// cumulative_sum and cumulative_prod: the examples of ONNX CumSum, and sums in double.

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/threads.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/larger_error.hpp"
#include "support/textbook_prefix.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace cumulative_test {

namespace {

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

vector const x = {1, 2, 3, 4, 5};
matrix const m = {{1, 2, 3}, {4, 5, 6}};

} // namespace

TEST_CASE("cumulative_sum: the examples of ONNX CumSum")
{
    CHECK(xloom::cumulative_sum(x) == vector{1, 3, 6, 10, 15});
    CHECK(xloom::cumulative_sum(x, {.exclusive = true}) == vector{0, 1, 3, 6, 10});
    CHECK(xloom::cumulative_sum(x, {.reverse = true}) == vector{15, 14, 12, 9, 5});
    CHECK(xloom::cumulative_sum(x, {.reverse = true, .exclusive = true}) == vector{14, 12, 9, 5, 0});
    CHECK(xloom::cumulative_sum(m, {.axis = 0}) == matrix{{1, 2, 3}, {5, 7, 9}});
    CHECK(xloom::cumulative_sum(m, {.axis = 1}) == matrix{{1, 3, 6}, {4, 9, 15}});
    CHECK(xloom::cumulative_sum(m, {.axis = -1}) == matrix{{1, 3, 6}, {4, 9, 15}});
    xt::xtensor<std::int32_t, 1> const n = {1, 2, 3, 4, 5};
    CHECK(xloom::cumulative_sum(n, {.exclusive = true}) == xt::xtensor<std::int32_t, 1>{0, 1, 3, 6, 10});
}

TEST_CASE("cumulative_prod: NumPy's cumprod, and the options of CumSum")
{
    CHECK(xloom::cumulative_prod(x) == vector{1, 2, 6, 24, 120});
    CHECK(xloom::cumulative_prod(x, {.exclusive = true}) == vector{1, 1, 2, 6, 24});
    CHECK(xloom::cumulative_prod(x, {.reverse = true}) == vector{120, 120, 60, 20, 5});
    CHECK(xloom::cumulative_prod(m, {.axis = 0}) == matrix{{1, 2, 3}, {4, 10, 18}});
}

namespace {

/// Numbers whose running products leave the safe range, and come back: every 97th is large, small or 0.
template <class T>
T wild(std::size_t i)
{
    float const ordinary = static_cast<float>(std::sin(static_cast<double>(i) * 1.7) + 1.6);
    float const wild[] = {1e30f, 1e-30f, 1e-30f, 1e30f, -3e18f, 3e-19f};
    return T(i % 97 == 40 ? wild[i / 97 % 6] : i == 20'000 ? 0.0f : ordinary);
}

template <class T>
bool are_same(T const& a, T const& b)
{
    return a == b || (a != a && b != b);
}

/// Compares the products of neighbours along both axes with the textbook.
template <class T>
void compare_products(std::size_t length, std::size_t neighbours, bool reverse, bool exclusive)
{
    xt::xtensor<T, 2> rows = xt::zeros<T>({length, neighbours});
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows.data()[i] = wild<T>(i * 31 % 50'021);
    xt::xtensor<T, 2> expected = rows;
    for (std::size_t c = 0; c < neighbours; ++c) {
        auto const at = [&](std::size_t t) { return reverse ? length - 1 - t : t; };
        std::vector<T> sequence;
        for (std::size_t t = 0; t < length; ++t)
            sequence.push_back(rows(at(t), c));
        auto const products =
            textbook::cumulative_prod(sequence, exclusive ? std::optional<T>(T(1)) : std::nullopt, exclusive);
        for (std::size_t t = 0; t < length; ++t)
            expected(at(t), c) = products[t];
    }
    xt::xtensor<T, 2> const columns = xt::transpose(rows);
    for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2, 3}) {
        auto y = rows;
        xloom::cumulative_prod_into(
            y, y, {.reverse = reverse, .exclusive = exclusive}, xloom::thread_policy(threads));
        auto const z = xloom::cumulative_prod(
            columns, {.axis = 1, .reverse = reverse, .exclusive = exclusive}, xloom::thread_policy(threads));
        for (std::size_t c = 0; c < neighbours; ++c)
            for (std::size_t t = 0; t < length; ++t) {
                REQUIRE(are_same(y(t, c), expected(t, c)));
                REQUIRE(are_same(z(c, t), expected(t, c)));
            }
    }
}

} // namespace

TEST_CASE_TEMPLATE("cumulative_prod: the textbook's bits", T, float, double, long double, std::complex<float>)
{
    for (bool const exclusive : {false, true}) {
        for (std::size_t const length : std::initializer_list<std::size_t>{1, 15, 17, 256, 300, 1000})
            for (std::size_t const neighbours : std::initializer_list<std::size_t>{1, 19})
                compare_products<T>(length, neighbours, exclusive, exclusive);
        compare_products<T>(70'000, 1, false, exclusive);
        compare_products<T>(30'000, 3, true, exclusive);
    }
}

TEST_CASE_TEMPLATE("cumulative_prod: products at and beyond the ends of the safe range", T, float, double,
    long double, std::complex<float>)
{
    auto const compare = [](std::vector<T> const& numbers) {
        auto const expected = textbook::cumulative_prod(numbers);
        xt::xtensor<T, 1> const one = xt::adapt(numbers, std::array<std::size_t, 1>{numbers.size()});
        xt::xtensor<T, 2> rows = xt::zeros<T>({numbers.size(), std::size_t{19}});
        for (std::size_t i = 0; i < numbers.size(); ++i)
            xt::view(rows, i).fill(numbers[i]);
        auto const alone = xloom::cumulative_prod(one);
        auto const neighbours = xloom::cumulative_prod(rows);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            CHECK(alone(i) == expected[i]);
            CHECK(neighbours(i, 0) == expected[i]);
            CHECK(neighbours(i, 18) == expected[i]);
        }
    };
    using real = decltype(std::abs(T()));
    for (bool const is_large : {false, true}) {
        T const end(std::ldexp(real(1), is_large ? textbook::safe_exponent<T> : -textbook::safe_exponent<T>));
        float const inwards = is_large ? -0.01f : 0.01f;
        for (std::size_t const length : std::initializer_list<std::size_t>{4, 9, 16, 23}) {
            std::vector<T> numbers;
            for (std::size_t i = 0; i < length; ++i)
                numbers.push_back(T(1 + inwards * static_cast<float>(i % 5 + 1)));
            numbers[0] = end; // and inwards
            compare(numbers);
            numbers[0] = end * T(1 - 30 * inwards); // from beyond the end back
            numbers[1] = T(1 + 50 * inwards);
            compare(numbers);
        }
        // A block that begins beyond the end, and goes back at once.
        std::vector<T> numbers(300, T(1));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = T(i % 2 == 0 ? 1.01f : 0.99f);
        numbers[255] = end * T(1 - 30 * inwards);
        numbers[256] = T(1 + 50 * inwards);
        compare(numbers);
    }
}

TEST_CASE("cumulative_prod: products are right wherever the loop's are")
{
    xt::xtensor<float, 1> growth(std::array<std::size_t, 1>{512}, 1.5f);
    growth(0) = 0;
    for (float const product : xloom::cumulative_prod(growth))
        REQUIRE(product == 0);
    using three = xt::xtensor<float, 1>;
    CHECK(xloom::cumulative_prod(three{1e30f, 1, 1e-30f, 1e-30f}) ==
          three{1e30f, 1e30f, 1e30f * 1e-30f, 1e30f * 1e-30f * 1e-30f});
    float const infinity = std::numeric_limits<float>::infinity();
    CHECK(xloom::cumulative_prod(three{3e37f, 1, 100, .01f}) == three{3e37f, 3e37f, infinity, infinity});
}

TEST_CASE("cumulative_sum: in place, on threads, of storage floats")
{
    vector y = x;
    xloom::cumulative_sum_into(y, y);
    CHECK(y == vector{1, 3, 6, 10, 15});
    xloom::cumulative_prod_into(x, y, {.axis = 0}, xloom::thread_policy(2));
    CHECK(y == vector{1, 2, 6, 24, 120});
    xt::xtensor<xloom::float16, 1> const ones(std::array<std::size_t, 1>{100}, xloom::float16(1));
    CHECK(static_cast<float>(xloom::cumulative_sum(ones, {}, xloom::thread_policy(2))(99)) == 100.0f);
}

TEST_CASE("cumulative_sum: storage floats on threads have the bits of one thread")
{
    auto wide = xt::xtensor<xloom::bfloat16, 2>::from_shape({300, 500});
    for (std::size_t i = 0; i < wide.size(); ++i)
        wide.data()[i] = xloom::bfloat16(static_cast<float>(i % 7) - 2.75f);
    for (std::ptrdiff_t const axis : {0, 1})
        for (bool const reverse : {false, true}) {
            xloom::cumulative_options const how{.axis = axis, .reverse = reverse};
            auto const expected = xloom::cumulative_sum(wide, how);
            auto found = expected;
            std::atomic<std::size_t> parts = 0;
            xloom::cumulative_sum_into(wide, found, how, threads_or_backwards{3, false, &parts});
            CHECK(parts > 1);
            CHECK(found == expected);
        }
}

TEST_CASE("cumulative_sum: its errors are smaller than those of a serial sum")
{
    std::size_t const length = 200'000;
    auto tenths = xt::xtensor<float, 1>::from_shape({length});
    tenths.fill(0.1f);
    auto const sums = xloom::cumulative_sum(tenths);
    float serial = 0;
    double exact = 0, largest = 0, largest_serial = 0;
    for (std::size_t i = 0; i < length; ++i) {
        serial += 0.1f;
        exact += static_cast<double>(0.1f);
        largest = larger_error(largest, std::abs(static_cast<double>(sums(i)) - exact) / exact);
        largest_serial = std::max(largest_serial, std::abs(static_cast<double>(serial) - exact) / exact);
    }
    CHECK(largest < 0.1 * largest_serial);
}

TEST_CASE("cumulative_sum: elements without a zero")
{
    using scale = xloom::float8_e8m0; // powers of two
    xt::xtensor<scale, 1> const powers = {scale(1.0f), scale(1.0f), scale(2.0f)};
    auto const sums = xloom::cumulative_sum(powers);
    CHECK(static_cast<float>(sums(1)) == 2);
    CHECK(static_cast<float>(sums(2)) == 4);
    CHECK_THROWS_WITH_AS(xloom::cumulative_sum(powers, {.exclusive = true}),
        "xloom::cumulative_sum: an exclusive scan begins with the identity of its operator, but that of this "
        "reduction is not known for the elements. Pass xloom::monoid{op, identity}; in place of a cumulative "
        "sum or product, call associative_scan with it.",
        xloom::option_error);
    auto const after_four =
        xloom::associative_scan(xloom::monoid{xloom::reduce_add, scale(4.0f)}, powers, {.exclusive = true});
    CHECK(static_cast<float>(after_four(0)) == 4);
}

TEST_CASE("cumulative_sum: errors")
{
    xt::xarray<float> const scalar = 1.0f;
    CHECK_THROWS_WITH_AS(xloom::cumulative_prod(scalar),
        "xloom::cumulative_prod: x must have at least one axis, but it has rank 0. Give it an axis for the "
        "scan.",
        xloom::shape_error);
    CHECK_THROWS_AS(xloom::cumulative_sum(m, {.axis = -3}), xloom::shape_error);
    vector y(std::array<std::size_t, 1>{4});
    CHECK_THROWS_AS(xloom::cumulative_sum_into(x, y), xloom::shape_error);
}

} // namespace cumulative_test
