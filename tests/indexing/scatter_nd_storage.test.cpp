// ScatterND on the storage types.

#include <doctest/doctest.h>

#include <xloom/indexing/scatter_nd.hpp>

#include "support/one_item.hpp"

namespace scatter_nd_storage_test {

using namespace xloom;

namespace {

/// Whole numbers that every type can hold, and their sums.
template <class T>
void check_whole_numbers()
{
    CHECK(static_cast<int>(reduced<T>(1, {T(1), T(2)}, {})) == static_cast<int>(T(2)));
    CHECK(static_cast<int>(reduced<T>(1, {T(0), T(1)}, {.reduction = reduction::max})) == 1);
    CHECK(static_cast<int>(reduced<T>(1, {T(0), T(1)}, {.reduction = reduction::min})) ==
          static_cast<int>(T(0)));
    CHECK(static_cast<int>(reduced<T>(1, {T(1), T(1)}, {.reduction = reduction::mul})) == 1);
}

} // namespace

TEST_CASE("small floats: whole numbers are exact")
{
    check_whole_numbers<float16>();
    check_whole_numbers<bfloat16>();
    check_whole_numbers<float8_e4m3fn>();
    check_whole_numbers<float8_e4m3fnuz>();
    check_whole_numbers<float8_e5m2>();
    check_whole_numbers<float8_e5m2fnuz>();
    check_whole_numbers<float4_e2m1>();
    CHECK(static_cast<float>(reduced<float8_e8m0>(2, {float8_e8m0(4)}, {.reduction = reduction::mul})) == 8);
}

TEST_CASE("small integers wrap")
{
    CHECK(reduced<int4>(7, {int4(1)}, {.reduction = reduction::add}) == -8);
    CHECK(reduced<uint4>(15, {uint4(1)}, {.reduction = reduction::add}) == 0);
    CHECK(reduced<int2>(1, {int2(1)}, {.reduction = reduction::add}) == -2);
    CHECK(reduced<uint2>(3, {uint2(3)}, {.reduction = reduction::mul}) == 1);
    CHECK(reduced<int4>(-8, {int4(3), int4(5)}, {.reduction = reduction::max}) == 5);
}

// 2048 is the first whole number whose successor float16 does not have; ties go to even.
TEST_CASE("16-bit floats are rounded after each update, or once with accumulate_in_float")
{
    CHECK(reduced<float16>(2048, {1, 1, 1, 1}, {.reduction = reduction::add}) == 2048);
    CHECK(reduced<float16>(2048, {1, 1, 1, 1}, {.reduction = reduction::add, .accumulate_in_float = true}) ==
          2052);
    CHECK(reduced<bfloat16>(256, {1, 1, 1, 1}, {.reduction = reduction::add}) == 256);
    CHECK(reduced<bfloat16>(256, {1, 1, 1, 1}, {.reduction = reduction::add, .accumulate_in_float = true}) ==
          260);
    CHECK(reduced<float16>(60000, {60000, -60000}, {.reduction = reduction::add}) ==
          std::numeric_limits<float>::infinity());
    CHECK(reduced<float16>(
              60000, {60000, -60000}, {.reduction = reduction::add, .accumulate_in_float = true}) == 60000);
    CHECK(reduced<float16>(9, {1, 2}, {.reduction = reduction::mean, .accumulate_in_float = true}) == 4);
    CHECK(reduced<float16>(9, {1, 2}, {.include_self = true, .accumulate_in_float = true}) == 2);
}

TEST_CASE("16-bit floats: NaN wins in max and min")
{
    float16 const nan = std::numeric_limits<float16>::quiet_NaN();
    CHECK(isnan(reduced<float16>(1, {nan, 5}, {.reduction = reduction::max})));
    CHECK(isnan(reduced<float16>(nan, {1, 5}, {.reduction = reduction::min})));
    CHECK(isnan(reduced<bfloat16>(1, {bfloat16(nan), 5}, {.reduction = reduction::min})));
}

TEST_CASE("the mean of 4-bit and 2-bit integers rounds down, as that of all integers")
{
    CHECK(reduced<int4>(-4, {int4(1)}, {.reduction = reduction::mean}) == -2); // -3 / 2
    CHECK(reduced<int4>(3, {int4(2)}, {.reduction = reduction::mean}) == 2);
    CHECK(reduced<int2>(-1, {int2(0)}, {.reduction = reduction::mean}) == -1); // -1 / 2
    CHECK(reduced<uint4>(4, {uint4(1)}, {.reduction = reduction::mean}) == 2);
}

TEST_CASE("a generic callable is called with data's own type")
{
    xt::xtensor<float16, 1> const data = {float16(1.0f)}, updates = {float16(2.0f)};
    xt::xtensor<int, 2> const indices = {{0}};
    auto const add = [](auto a, auto b) {
        static_assert(std::is_same_v<decltype(a), float16>);
        return decltype(a)(static_cast<float>(a) + static_cast<float>(b));
    };
    CHECK(scatter_nd(add, data, indices, updates)(0) == 3);
    CHECK_THROWS_WITH_AS(scatter_nd(add, data, indices, updates, {.accumulate_in_float = true}),
        "xloom::scatter_nd: accumulate_in_float requires a reduction of xloom, but a callable reduces. Omit "
        "it, or convert data and updates to float.",
        option_error);
}

} // namespace scatter_nd_storage_test
