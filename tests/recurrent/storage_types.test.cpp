// The storage types as elements of xtensor's containers, and of scan.

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <xloom/control_flow/scan.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/xtensor_extras.hpp"

namespace storage_types_test {

using namespace xloom;

namespace {

/// As xt::operator==, which would be compiled anew for each pair of expressions.
template <class A, class B>
bool same_items(A const& a, B const& b)
{
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < b.size(); ++i)
        same = a(i) == b(i);
    return same;
}

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Every pattern, through a container of floats and back, must fare as a single number does.
template <class T>
bool containers_convert_as_single_numbers_do()
{
    constexpr std::size_t patterns = std::size_t{1} << (8 * sizeof(T));
    auto x = xt::xtensor<T, 1>::from_shape({patterns}); // ({patterns}) would be a list of one T
    x.fill(T(1));
    bool ok = x(patterns - 1) == T(1);
    for (std::size_t i = 0; i < patterns; ++i)
        x(i) = T::from_bits(static_cast<unsigned>(i));

    xt::xtensor<T, 1> const copy = x;
    xt::xtensor<float, 1> const floats = x;
    xt::xtensor<T, 1> const back = floats;
    for (std::size_t i = 0; i < patterns; ++i) {
        auto const value = static_cast<float>(x(i));
        ok = ok && copy(i).bits() == x(i).bits() && bits_of(floats(i)) == bits_of(value) &&
             back(i).bits() == T(value).bits();
    }
    return ok;
}

} // namespace

TEST_CASE("filled, copied, converted: every type")
{
    CHECK(containers_convert_as_single_numbers_do<float16>());
    CHECK(containers_convert_as_single_numbers_do<bfloat16>());
    CHECK(containers_convert_as_single_numbers_do<float8_e4m3fn>());
    CHECK(containers_convert_as_single_numbers_do<float8_e4m3fnuz>());
    CHECK(containers_convert_as_single_numbers_do<float8_e5m2>());
    CHECK(containers_convert_as_single_numbers_do<float8_e5m2fnuz>());
    CHECK(containers_convert_as_single_numbers_do<float8_e8m0>());
    CHECK(containers_convert_as_single_numbers_do<float4_e2m1>());
    CHECK(containers_convert_as_single_numbers_do<int4>());
    CHECK(containers_convert_as_single_numbers_do<uint4>());
    CHECK(containers_convert_as_single_numbers_do<int2>());
    CHECK(containers_convert_as_single_numbers_do<uint2>());
}

// The rest is one template for every floating-point type, and one for every integer.

TEST_CASE_TEMPLATE("containers of every kind, views, builders", T, float16, int4)
{
    xt::xtensor<T, 1> const x = {T(1), T(2), T(3)};
    xt::xarray<T> const dynamic = x;
    CHECK(same_items(dynamic, x));
    xt::xtensor_fixed<T, xt::xshape<2>> const fixed = {T(1), T(2)};
    CHECK(fixed(1) == 2);
    CHECK(xt::view(x, xt::range(1, 3))(1) == 3);
    CHECK(xt::zeros<T>({2})(1) == 0);
    CHECK(xt::cast<double>(x)(2) == 3.0);
    xt::xtensor<bfloat16, 1> const other = x;
    CHECK(other(2) == 3);
}

TEST_CASE_TEMPLATE("expressions compute in float or int and round when assigned", T, float16, int4)
{
    using list = xt::xtensor<T, 1>;
    list const a = {T(1), T(2)}, b = {T(3), T(-1)};
    list c = a + b;
    CHECK(same_items(c, list{T(4), T(1)}));
    xt::noalias(c) = 2 * a - b;
    CHECK(same_items(c, list{T(-1), T(5)}));
    c += a;
    c *= 2;
    CHECK(same_items(c, list{T(0), T(14)}));
    CHECK((a < b)(0));
    CHECK(xt::sum(a)() == 3);
    CHECK(xt::amax(b)() == 3);
    CHECK(xt::amin(b)() == -1);
    CHECK(xt::where(a < b, a, b)(1) == -1);
    CHECK(xt::maximum(a, b)(1) == 2);
    CHECK(xt::abs(b)(1) == 1);
}

TEST_CASE("rounding on assignment, exact values in between")
{
    using halves = xt::xtensor<float16, 1>;
    halves x = {float16(2048), float16(65504)};
    xt::xtensor<float, 1> const sum = x + 1;
    CHECK(same_items(sum, xt::xtensor<float, 1>{2049, 65505}));
    x = x + 1;
    CHECK(same_items(x, halves{float16(2048), float16(65504)}));
    x = x * 2;
    CHECK(xt::isinf(x)(1));
    x(0) = std::numeric_limits<float16>::quiet_NaN();
    CHECK(xt::isnan(x)(0));
    CHECK(!xt::isnan(x)(1));
}

namespace {

template <class T>
T running_sum_of_eight_ones()
{
    xt::xtensor<T, 2> const x = xt::ones<T>({8, 2});
    xt::xtensor<T, 1> state = xt::zeros<T>({2});
    xt::xtensor<T, 2> y({8, 2});
    xloom::scan_into(
        [](auto& sum, auto const& x_t, auto& y_t) {
            xt::noalias(sum) = sum + x_t;
            xt::noalias(y_t) = sum;
        },
        state, x, y);
    CHECK(y(3, 1) == T(4));
    CHECK(y(7, 0) == state(0));
    return state(1);
}

} // namespace

TEST_CASE("as states, elements and outputs of scan")
{
    CHECK(running_sum_of_eight_ones<float16>() == 8);
    CHECK(running_sum_of_eight_ones<float4_e2m1>() == 4); // 4 + 1 is a tie between 4 and 6
    CHECK(running_sum_of_eight_ones<int4>() == -8);
}

TEST_CASE("one item a step: the elements are the storage types themselves")
{
    xt::xtensor<bfloat16, 1> const x = {1, 2, 4};
    auto y = xt::xtensor<bfloat16, 1>::from_shape({3});
    bfloat16 sum = 0;
    xloom::scan_into(
        [](bfloat16& h, bfloat16 const& x_t, bfloat16& y_t) {
            h += x_t;
            y_t = h / 2;
        },
        sum, x, y);
    CHECK(sum == 7);
    CHECK(same_items(y, xt::xtensor<bfloat16, 1>{0.5f, 1.5f, 3.5f}));

    auto const [total, running] = xloom::scan(
        [](float8_e5m2 h, float8_e5m2 x_t) {
            return xloom::scan_step{float8_e5m2(h * x_t), h};
        },
        float8_e5m2(1), xt::xtensor<float8_e5m2, 1>{2, 3, 4});
    CHECK(total == 24);
    CHECK(running(2) == 6);
}

} // namespace storage_types_test
