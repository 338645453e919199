// bincount: counts and sums compared with loops, of every integer type, few and many bins, with threads.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <xloom/indexing/bincount.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/xtensor_extras.hpp"

namespace bincount_test {

using namespace xloom;

namespace {

using counts = xt::xtensor<std::int64_t, 1>;
using sums = xt::xtensor<double, 1>;

template <class Index, class Policy = serial_policy>
void check_random_case(std::size_t count, std::size_t bins, Policy const& policy = {})
{
    std::mt19937 random(static_cast<unsigned>(count + bins));
    auto x = xt::xtensor<Index, 1>::from_shape({count});
    auto weights = sums::from_shape({count});
    std::vector<std::int64_t> expected(bins);
    std::vector<double> expected_sums(bins);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const bin = i == count / 2 ? bins - 1 : random() % (i < count / 2 ? bins / 2 + 1 : bins);
        x(i) = static_cast<Index>(bin);
        weights(i) = static_cast<double>(random() % 1000) / 7;
        ++expected[bin];
        expected_sums[bin] += weights(i);
    }
    CAPTURE(count);
    CAPTURE(bins);
    counts const result = bincount(x, {}, policy);
    CHECK(std::vector<std::int64_t>(result.begin(), result.end()) == expected);
    sums const weighted = bincount(x, weights, {}, policy);
    CHECK(std::vector<double>(weighted.begin(), weighted.end()) == expected_sums);
}

} // namespace

TEST_CASE("few and many bins, more integers than are counted at a time")
{
    for (std::size_t const bins :
        std::initializer_list<std::size_t>{1, 2, 256, 1000, 1024, 1025, 3000, 100'000})
        for (std::size_t const count : std::initializer_list<std::size_t>{1, 7, 2048, 2049, 20'000})
            check_random_case<std::int64_t>(count, bins);
}

TEST_CASE("every integer type")
{
    check_random_case<std::int8_t>(5000, 128);
    check_random_case<std::uint8_t>(5000, 256);
    check_random_case<std::int16_t>(5000, 2000);
    check_random_case<std::uint32_t>(5000, 2000);
    check_random_case<std::uint64_t>(5000, 2000);
}

TEST_CASE("threads give the same counts, and sums of the same bits")
{
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 8})
        for (std::size_t const bins : std::initializer_list<std::size_t>{5, 300, 5000, 90'000})
            check_random_case<std::int32_t>(100'000, bins, thread_policy{threads});
}

TEST_CASE("minlength, empty operands, views, weights of other types")
{
    xt::xtensor<int, 1> const x = {0, 1, 1, 3};
    CHECK(bincount(x, {.minlength = 6}) == counts{1, 2, 0, 1, 0, 0});
    CHECK(bincount(x, {.minlength = 2}) == counts{1, 2, 0, 1});
    auto const none = xt::xtensor<int, 1>::from_shape({0});
    CHECK(bincount(none).size() == 0);
    CHECK(bincount(none, {.minlength = 2}) == counts{0, 0});
    CHECK(bincount(none, sums::from_shape({0}), {.minlength = 1}) == sums{0});
    CHECK(bincount(xt::strided_view(x, {xt::range(0, 4, 3)})) == counts{1, 0, 0, 1});
    CHECK(bincount(x + 1) == counts{0, 1, 2, 0, 1});
    CHECK(bincount(x, x) == sums{0, 2, 0, 3});
    CHECK(bincount(x, xt::xtensor<float16, 1>{float16(1), float16(2), float16(3), float16(4)}) ==
          sums{1, 5, 0, 4});
    CHECK(bincount(x, 2.0 * xt::xtensor<double, 1>{1, 2, 3, 4}, {.minlength = 5}) == sums{2, 10, 0, 8, 0});
}

TEST_CASE("errors")
{
    CHECK_THROWS_WITH_AS(bincount(xt::xtensor<int, 1>{1, -2, 3, -1}),
        "xloom::bincount: the integers that are counted must not be negative, but x[1] is -2 and x[3] is -1. "
        "Add an offset to all.",
        index_error);
    CHECK_THROWS_AS(bincount(xt::xtensor<int, 1>{-1}, sums{1}), index_error);
    xt::xtensor<int, 1> x = xt::zeros<int>({100'000});
    x(99'999) = -5;
    CHECK_THROWS_WITH_AS(bincount(x, {}, thread_policy{2}),
        "xloom::bincount: the integers that are counted must not be negative, but x[99999] is -5. Add an "
        "offset to all.",
        index_error);
    xt::xtensor<std::int64_t, 1> late = xt::zeros<std::int64_t>({3'000});
    late(0) = std::int64_t{1} << 58; // whose bins would take all memory
    late(2'999) = -1;
    for (std::size_t const threads : {1u, 2u})
        CHECK_THROWS_WITH_AS(bincount(late, {}, thread_policy{threads}),
            "xloom::bincount: the integers that are counted must not be negative, but x[2999] is -1. Add an "
            "offset to all.",
            index_error);
    CHECK_THROWS_WITH_AS(bincount(xt::xtensor<int, 2>{{1}}),
        "xloom::bincount: x must have one axis, but its shape is [1, 1]. Flatten it.", shape_error);
    CHECK_THROWS_WITH_AS(bincount(xt::xtensor<int, 1>{1, 2}, sums{1}),
        "xloom::bincount: weights must have the shape of x [2], but it is [1]. Give each integer a weight.",
        shape_error);
    CHECK_THROWS_WITH_AS(bincount(xt::xtensor<std::uint64_t, 1>{std::numeric_limits<std::uint64_t>::max()}),
        "xloom::bincount: the size of a result must fit in memory, but x holds 18446744073709551615, which "
        "would be the last bin. Count smaller integers.",
        shape_error);
    CHECK_THROWS_AS(
        bincount(xt::xtensor<std::int64_t, 1>{std::numeric_limits<std::int64_t>::max()}), shape_error);
}

} // namespace bincount_test
