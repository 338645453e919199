// linear_recurrence_vjp against the loop of its definition, in exact arithmetic.

#include <atomic>
#include <complex>
#include <cstddef>

#include <doctest/doctest.h>

#include <xloom/gradients/linear_recurrence_vjp.hpp>
#include <xloom/interop/threads.hpp>

#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace linear_recurrence_vjp_test {

namespace {

using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

/// Small halves, whose sums and products over a few steps are exact.
matrix made_up(std::size_t rows, std::size_t columns, std::size_t seed)
{
    matrix x = matrix::from_shape({rows, columns});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = static_cast<double>((i * 7 + seed * 5) % 5) * 0.5 - 1;
    return x;
}

} // namespace

TEST_CASE("linear_recurrence_vjp: the definition, along both axes, forward and reverse")
{
    for (std::size_t const length : std::initializer_list<std::size_t>{1, 2, 5, 20})
        for (bool const reverse : {false, true})
            for (std::size_t const threads : std::initializer_list<std::size_t>{1, 2}) {
                matrix const a = made_up(length, 3, 1), b = made_up(length, 3, 2), ct = made_up(length, 3, 3);
                vector const h0 = {1, -1, 0.5};
                xloom::linear_recurrence_options const options{.reverse = reverse};
                matrix const h = xloom::linear_recurrence(a, b, h0, options);
                auto const [ct_a, ct_b, ct_h0] =
                    xloom::linear_recurrence_vjp(a, b, h0, h, ct, options, xloom::thread_policy(threads));
                auto const turned =
                    xloom::linear_recurrence_vjp(xt::transpose(a), xt::transpose(b), h0, xt::transpose(h),
                        xt::transpose(ct), {.axis = 1, .reverse = reverse}, xloom::thread_policy(threads));
                CHECK(turned.a == xt::transpose(ct_a));
                CHECK(turned.b == xt::transpose(ct_b));
                CHECK(turned.h0 == ct_h0);
                for (std::size_t c = 0; c < 3; ++c) {
                    double carried = 0;
                    for (std::size_t step = length; step-- > 0;) {
                        std::size_t const t = reverse ? length - 1 - step : step;
                        double const before = step == 0 ? h0(c) : h(reverse ? t + 1 : t - 1, c);
                        carried += ct(t, c);
                        CHECK(ct_b(t, c) == doctest::Approx(carried).epsilon(1e-12));
                        CHECK(ct_a(t, c) == doctest::Approx(carried * before).epsilon(1e-12));
                        carried *= a(t, c);
                    }
                    CHECK(ct_h0(c) == doctest::Approx(carried).epsilon(1e-12));
                }
            }
}

TEST_CASE("linear_recurrence_vjp: the bits of one thread on several")
{
    std::size_t const length = 20'000;
    matrix const a = made_up(length, 3, 1), b = made_up(length, 3, 2), ct = made_up(length, 3, 3);
    vector const h0 = {1, -1, 0.5};
    for (bool const reverse : {false, true}) {
        xloom::linear_recurrence_options const options{.reverse = reverse};
        matrix const h = xloom::linear_recurrence(a, b, h0, options);
        auto const expected = xloom::linear_recurrence_vjp(a, b, h0, h, ct, options);
        for (bool const is_backwards : {false, true}) {
            std::atomic<std::size_t> parts = 1;
            auto const found = xloom::linear_recurrence_vjp(
                a, b, h0, h, ct, options, threads_or_backwards{3, is_backwards, &parts});
            CHECK(parts == 3);
            CHECK(found.a == expected.a);
            CHECK(found.b == expected.b);
            CHECK(found.h0 == expected.h0);
        }
    }
}

TEST_CASE("linear_recurrence_vjp: complex numbers, which are not conjugated")
{
    using number = std::complex<double>;
    using sequence = xt::xtensor<number, 1>;
    sequence const a = {{0, 1}, {2, -1}}, b = {{1, 0}, {0, 3}}, ct = {{1, 1}, {0, 2}};
    number const h0{2, -3};
    sequence const h = xloom::linear_recurrence(a, b, h0);
    auto const [ct_a, ct_b, ct_h0] = xloom::linear_recurrence_vjp(a, b, h0, h, ct);
    number const d1 = ct(1), d0 = ct(0) + a(1) * d1; // small integers: exact
    CHECK(ct_b == sequence{d0, d1});
    CHECK(ct_a == sequence{d0 * h0, d1 * h(0)});
    CHECK(ct_h0 == a(0) * d0);
}

TEST_CASE("linear_recurrence_vjp_into: any layout, gradients are added to, nothing written after an error")
{
    matrix const a = made_up(5, 3, 1), b = made_up(5, 3, 2), ct = made_up(5, 3, 3);
    vector const h0 = {1, -1, 0.5};
    matrix const h = xloom::linear_recurrence(a, b, h0);
    auto const expected = xloom::linear_recurrence_vjp(a, b, h0, h, ct);
    xt::xtensor<double, 2, xt::layout_type::column_major> ct_a = xt::ones<double>({5, 3}) * 3;
    matrix ct_b = made_up(5, 3, 4);
    vector ct_h0 = {7, 8, 9};
    xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.a = ct_a, .b = ct_b, .h0 = ct_h0});
    CHECK(ct_a == expected.a + 3);
    CHECK(ct_b == expected.b + made_up(5, 3, 4)); // halves and their products: exact
    vector const added = expected.h0 + vector{7, 8, 9};
    CHECK(ct_h0 == added);

    double sum = 7;
    xloom::linear_recurrence_vjp_into(
        a, b, 1.0, xloom::linear_recurrence(a, b, 1.0), ct, {.a = ct_a, .b = ct_b, .h0 = sum});
    CHECK(sum == 7 + xloom::linear_recurrence_vjp(a, b, 1.0, xloom::linear_recurrence(a, b, 1.0), ct).h0);

    matrix shared = h;
    CHECK_THROWS_WITH_AS(
        xloom::linear_recurrence_vjp_into(a, b, h0, shared, ct, {.a = shared, .b = ct_b, .h0 = ct_h0}),
        "xloom::linear_recurrence_vjp_into: an operand that is written must have memory of its own, but "
        "ct_a overlaps h. Copy one of the two.",
        xloom::overlap_error);
    CHECK_THROWS_AS(xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.a = ct_b, .b = ct_b, .h0 = ct_h0}),
        xloom::overlap_error);
    matrix same = ct;
    CHECK_THROWS_AS(xloom::linear_recurrence_vjp_into(a, b, h0, h, same, {.b = same}), xloom::overlap_error);
    CHECK(same == ct);
    vector short_h0 = {7, 7};
    CHECK_THROWS_WITH_AS(
        xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.a = ct_a, .b = ct_b, .h0 = short_h0}),
        "xloom::linear_recurrence_vjp_into: ct_h0 must have the shape of h0, [3], but it has [2]. Give it "
        "that "
        "shape.",
        xloom::shape_error);
    CHECK(shared == h);
    CHECK(ct_h0 == added);
}

TEST_CASE("linear_recurrence_vjp: a number as h0, no steps, errors")
{
    vector const a = {2, 3}, b = {1, 1}, ct = {0, 1};
    auto const h = xloom::linear_recurrence(a, b, 5.0);
    auto const gradients = xloom::linear_recurrence_vjp(a, b, 5.0, h, ct);
    CHECK(gradients.a == vector{15, 11});
    CHECK(gradients.b == vector{3, 1});
    CHECK(gradients.h0 == 6);
    matrix const none = matrix::from_shape({0, 2});
    CHECK(xloom::linear_recurrence_vjp(none, none, vector{1, 2}, none, none).h0 == vector{0, 0});
    CHECK_THROWS_AS(xloom::linear_recurrence_vjp(a, b, 5.0, h, vector{1}), xloom::shape_error);
}

// Sums of bfloat16 would end at 256, whose successor is 258.
TEST_CASE("linear_recurrence_vjp: the gradient of a number as h0 is added up in float")
{
    using storage = xloom::bfloat16;
    xt::xtensor<storage, 2> const ones({1, 10'000}, storage(1)), zeros({1, 10'000}, storage(0));
    auto const h = xloom::linear_recurrence(ones, zeros, storage(1));
    CHECK(static_cast<float>(xloom::linear_recurrence_vjp(ones, zeros, storage(1), h, ones).h0) == 9984);
}

TEST_CASE("linear_recurrence_vjp_into: gradients that are omitted, a first state of rank 0")
{
    matrix const a = made_up(5, 3, 1), b = made_up(5, 3, 2), ct = made_up(5, 3, 3);
    xt::xtensor<double, 0> const h0 = 0.5;
    matrix const h = xloom::linear_recurrence(a, b, h0);
    auto const expected = xloom::linear_recurrence_vjp(a, b, 0.5, h, ct);
    CHECK(xloom::linear_recurrence_vjp(a, b, h0, h, ct).h0() == expected.h0); // the sum of three
    matrix ct_a = ct, ct_b = ct;
    xt::xtensor<double, 0> ct_h0 = 2;
    xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.b = ct_b}, xloom::serial);
    CHECK(ct_b == expected.b + ct);
    xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.a = ct_a});
    CHECK(ct_a == expected.a + ct);
    xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {.h0 = ct_h0});
    CHECK(ct_h0() == expected.h0 + 2);
    xloom::linear_recurrence_vjp_into(a, b, h0, h, ct, {});
    matrix const other = made_up(4, 3, 2);
    CHECK_THROWS_WITH_AS(xloom::linear_recurrence_vjp_into(a, other, h0, h, ct, {.b = ct_b}),
        "xloom::linear_recurrence_vjp_into: all operands must have the same shape, but a has [5, 3] and b "
        "has [4, 3]. Give them one shape.",
        xloom::shape_error);
}

TEST_CASE("linear_recurrence_vjp: never NaN where the loop is finite")
{
    xt::xtensor<float, 1> const zero = xt::zeros<float>({600}), a = zero + 1e10f;
    auto const [ct_a, ct_b, ct_h0] = xloom::linear_recurrence_vjp(a, zero, 0.0f, zero, zero);
    CHECK(ct_a == zero);
    CHECK(ct_b == zero);
    CHECK(ct_h0 == 0.0f);
}

} // namespace linear_recurrence_vjp_test
