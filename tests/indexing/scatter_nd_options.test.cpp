// What ScatterND can do beyond ONNX: other rules for indices outside and for duplicates, the mean, reductions
// of one's own.

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <xloom/indexing/at.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/xtensor_extras.hpp"

namespace scatter_nd_options_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<double, 1>;
using indices_2d = xt::xtensor<std::int64_t, 2>;

vector const data = {10, 20, 30, 40};

} // namespace

TEST_CASE("bounds: what is outside is dropped or clipped, negative indices count from the end")
{
    indices_2d const indices = {{4}, {-5}, {-1}, {1}, {100}};
    vector const updates = {1, 2, 3, 4, 5};
    CHECK(scatter_nd(data, indices, updates, {.bounds = bounds::drop}) == vector{10, 4, 30, 3});
    CHECK(scatter_nd(data, indices, updates, {.bounds = bounds::clip}) == vector{2, 4, 30, 5});
    CHECK(scatter_nd(reduction::add, data, indices, updates, {.bounds = bounds::clip}) ==
          vector{12, 24, 30, 49});
    indices_2d const inside = {{3}, {-4}};
    CHECK(scatter_nd(data, inside, vector{1, 2}, {.bounds = bounds::assume}) == vector{2, 20, 30, 1});
}

TEST_CASE("bounds: extreme indices")
{
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           largest = std::numeric_limits<std::int64_t>::max();
    indices_2d const indices = {{least}, {largest}, {2}};
    vector const updates = {1, 2, 3};
    CHECK(scatter_nd(data, indices, updates, {.bounds = bounds::drop}) == vector{10, 20, 3, 40});
    CHECK(scatter_nd(data, indices, updates, {.bounds = bounds::clip}) == vector{1, 20, 3, 2});
    xt::xtensor<std::uint64_t, 2> const unsigned_indices = {{~std::uint64_t{0}}, {1}};
    CHECK(
        scatter_nd(data, unsigned_indices, vector{1, 2}, {.bounds = bounds::drop}) == vector{10, 2, 30, 40});
    CHECK(scatter_nd(data, unsigned_indices, vector{1, 2}, {.bounds = bounds::clip}) == vector{10, 2, 30, 1});
}

TEST_CASE("bounds: one index of a tuple outside drops its whole slice")
{
    xt::xtensor<double, 3> const cube = xt::zeros<double>({2, 2, 2});
    indices_2d const indices = {{0, 2}, {1, 1}, {-3, 0}};
    xt::xtensor<double, 2> const updates = {{1, 2}, {3, 4}, {5, 6}};
    auto const result = scatter_nd(cube, indices, updates, {.bounds = bounds::drop});
    CHECK(result == xt::xtensor<double, 3>{{{0, 0}, {0, 0}}, {{0, 0}, {3, 4}}});
}

TEST_CASE("bounds::drop: of an axis without items every update is dropped, of slices too")
{
    auto const none = xt::xtensor<double, 2>::from_shape({0, 3});
    xt::xtensor<double, 2> const rows = {{1, 2, 3}, {4, 5, 6}};
    for (reduction const kind : {reduction::none, reduction::add, reduction::mean})
        CHECK(scatter_nd(kind, none, indices_2d{{0}, {-1}}, rows, {.bounds = bounds::drop}) == none);
}

TEST_CASE("duplicates: the first stays, or none may be there")
{
    indices_2d const indices = {{1}, {-3}, {0}, {1}};
    vector const updates = {1, 2, 3, 4};
    CHECK(scatter_nd(data, indices, updates) == vector{3, 4, 30, 40});
    CHECK(scatter_nd(data, indices, updates, {.duplicates = duplicates::first}) == vector{3, 1, 30, 40});
    CHECK_THROWS_AS(scatter_nd(data, indices, updates, {.duplicates = duplicates::error}), index_error);
    CHECK(scatter_nd(data, indices_2d{{1}, {0}}, vector{1, 2}, {.duplicates = duplicates::error}) ==
          vector{2, 1, 30, 40});
    // What is dropped is no duplicate.
    CHECK(scatter_nd(data, indices_2d{{9}, {9}}, vector{1, 2},
              {.bounds = bounds::drop, .duplicates = duplicates::error}) == data);
}

TEST_CASE("include_self = false: the first update replaces the old value")
{
    indices_2d const indices = {{1}, {1}, {3}};
    vector const updates = {2, 3, 7};
    CHECK(
        scatter_nd(reduction::add, data, indices, updates, {.include_self = false}) == vector{10, 5, 30, 7});
    CHECK(
        scatter_nd(reduction::mul, data, indices, updates, {.include_self = false}) == vector{10, 6, 30, 7});
    CHECK(
        scatter_nd(reduction::max, data, indices, updates, {.include_self = false}) == vector{10, 3, 30, 7});
    CHECK(
        scatter_nd(reduction::min, data, indices, updates, {.include_self = false}) == vector{10, 2, 30, 7});
    CHECK(scatter_nd(data, indices, updates, {.include_self = false}) == vector{10, 3, 30, 7});
}

TEST_CASE("mean: the sum by the number, the old value counted or not")
{
    indices_2d const indices = {{1}, {1}, {3}};
    vector const updates = {2, 5, 7};
    CHECK(scatter_nd(reduction::mean, data, indices, updates) == vector{10, 9, 30, 23.5});
    CHECK(scatter_nd(reduction::mean, data, indices, updates, {.include_self = false}) ==
          vector{10, 3.5, 30, 7});
    xt::xtensor<int, 1> const whole = {-10, 20};
    auto const result = scatter_nd(reduction::mean, whole, indices_2d{{0}, {1}}, xt::xtensor<int, 1>{-3, 3});
    CHECK(result == xt::xtensor<int, 1>{-7, 11}); // -6.5 and 11.5, rounded down
    xt::xtensor<std::complex<double>, 1> const plane = {{1, 2}};
    CHECK(scatter_nd(reduction::mean, plane, indices_2d{{0}}, xt::xtensor<std::complex<double>, 1>{{3, 4}})(
              0) == std::complex<double>(2, 3));
    // An infinite part leaves the other one finite.
    double const infinity = std::numeric_limits<double>::infinity();
    xt::xtensor<std::complex<double>, 1> const edge = {{infinity, 2}};
    CHECK(scatter_nd(reduction::mean, edge, indices_2d{{0}}, plane)(0) == std::complex<double>(infinity, 2));
}

namespace {

/// Requires the mean of `values`, the first of which is the old one, with each function, option and policy.
template <class T>
void check_mean(std::vector<T> const& values, T all, T updates_only)
{
    xt::xtensor<T, 1> const one = {values[0]};
    std::size_t const count = values.size() - 1;
    xt::xtensor<T, 1> updates = xt::adapt(values, {values.size()});
    updates = xt::eval(xt::view(updates, xt::range(1, values.size())));
    xt::xtensor<int, 2> const tuples = xt::zeros<int>({count, std::size_t{1}});
    xt::xtensor<int, 1> const indices = xt::zeros<int>({count});
    for (bool const include_self : {true, false}) {
        T const expected = include_self ? all : updates_only;
        CHECK(
            scatter_nd(reduction::mean, one, tuples, updates, {.include_self = include_self})(0) == expected);
        CHECK(scatter_elements(reduction::mean, one, indices, updates, {.include_self = include_self})(0) ==
              expected);
        xt::xtensor<T, 1> x = one;
        at(reduction::mean, x, indices, updates, {.include_self = include_self});
        CHECK(x(0) == expected);
        xt::xtensor<T, 2> spread = {{values[0], 0}, {0, 0}};
        auto column = xt::view(spread, xt::range(0, 1), 0);
        scatter_nd_into(
            reduction::mean, column, tuples, updates, {.include_self = include_self}, thread_policy{3});
        CHECK(spread(0, 0) == expected);
    }
}

} // namespace

TEST_CASE("mean of integers: the sum may exceed their type")
{
    check_mean<std::int8_t>({100, 100, 100}, 100, 100);
    check_mean<std::int8_t>({-128, -128, -127}, -128, -128); // -127.67 and -127.5
    check_mean<std::uint8_t>({255, 255}, 255, 255);
    check_mean<std::uint8_t>({0, 255, 254}, 169, 254); // 169.67 and 254.5
    check_mean<std::int16_t>({32767, 32767, 32766}, 32766, 32766);
    constexpr auto int_max = std::numeric_limits<std::int32_t>::max();
    check_mean<std::int32_t>({int_max, int_max, int_max}, int_max, int_max);
    check_mean<std::uint32_t>({4294967295U, 4294967295U}, 4294967295U, 4294967295U);
    constexpr auto long_min = std::numeric_limits<std::int64_t>::min();
    check_mean<std::int64_t>({long_min, long_min, long_min + 1}, long_min, long_min);
    constexpr auto unsigned_max = std::numeric_limits<std::uint64_t>::max();
    check_mean<std::uint64_t>({0, unsigned_max, unsigned_max}, unsigned_max / 3 * 2, unsigned_max);
    check_mean<int4>({7, 7, 7}, 7, 7);
    check_mean<uint2>({3, 3}, 3, 3);
}

TEST_CASE("mean of integers on threads")
{
    constexpr std::size_t rows = 64, count = 200'000;
    xt::xtensor<std::uint8_t, 1> const old = 250 * xt::ones<std::uint8_t>({rows});
    xt::xtensor<int, 2> indices = xt::zeros<int>({count, std::size_t{1}});
    for (std::size_t i = 0; i < count; ++i)
        indices(i, 0) = static_cast<int>(i * 7919 % rows);
    xt::xtensor<std::uint8_t, 1> const updates = 250 * xt::ones<std::uint8_t>({count});
    CHECK(scatter_nd(reduction::mean, old, indices, updates, {}, thread_policy{8}) == old);
}

TEST_CASE("mean of slices")
{
    xt::xtensor<double, 2> const table = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<double, 2> const updates = {{10, 20}, {30, 40}};
    auto const result =
        scatter_nd(reduction::mean, table, indices_2d{{2}, {2}}, updates, {.include_self = false});
    CHECK(result == xt::xtensor<double, 2>{{1, 2}, {3, 4}, {20, 30}});
}

TEST_CASE("a reduction of one's own gets the old value and the update, in order")
{
    indices_2d const indices = {{1}, {1}};
    vector const updates = {2, 5};
    auto const twice_and_add = [](double old, double update) { return 2 * old + update; };
    CHECK(scatter_nd(twice_and_add, data, indices, updates) == vector{10, 89, 30, 40}); // 2 (2 * 20 + 2) + 5
    CHECK(
        scatter_nd(twice_and_add, data, indices, updates, {.include_self = false}) == vector{10, 9, 30, 40});
    CHECK(scatter_nd(std::minus<>{}, data, indices, updates) == vector{10, 13, 30, 40});
    std::string calls;
    vector in_place = data;
    scatter_nd_into(
        [&calls](double old, double update) {
            calls +=
                std::to_string(static_cast<int>(old)) + "+" + std::to_string(static_cast<int>(update)) + " ";
            return old + update;
        },
        in_place, indices, updates);
    CHECK(calls == "20+2 22+5 ");
    CHECK(in_place == vector{10, 27, 30, 40});
}

TEST_CASE("the reductions as function objects do what their names do")
{
    indices_2d const indices = {{0}, {0}, {2}};
    vector const updates = {3, 4, 50};
    auto const named = [&](reduction kind) { return scatter_nd(kind, data, indices, updates); };
    CHECK(scatter_nd(reduce_none, data, indices, updates) == named(reduction::none));
    CHECK(scatter_nd(reduce_add, data, indices, updates) == named(reduction::add));
    CHECK(scatter_nd(reduce_mul, data, indices, updates) == named(reduction::mul));
    CHECK(scatter_nd(reduce_max, data, indices, updates) == named(reduction::max));
    CHECK(scatter_nd(reduce_min, data, indices, updates) == named(reduction::min));
    CHECK(named(reduction::add) == vector{17, 20, 80, 40});
}

TEST_CASE("a reduction may be known at run time only")
{
    indices_2d const indices = {{0}, {0}, {2}};
    vector const updates = {3, 4, 50};
    CHECK(scatter_nd(reduction::none, data, indices, updates) == vector{4, 20, 50, 40});
    CHECK(scatter_nd(reduction::add, data, indices, updates) == vector{17, 20, 80, 40});
    CHECK(scatter_nd(reduction::mul, data, indices, updates, {.include_self = false}) ==
          vector{12, 20, 50, 40});
    CHECK(scatter_nd(reduction::max, data, indices, updates, {}, serial) == vector{10, 20, 50, 40});
    CHECK(scatter_nd(reduction::mean, data, indices, updates) == vector{17.0 / 3, 20, 40, 40});
    vector in_place = data;
    reduction const kind = reduction::min;
    scatter_nd_into(kind, in_place, indices, updates, serial);
    CHECK(in_place == vector{3, 20, 30, 40});
    CHECK_THROWS_WITH_AS(
        scatter_nd(reduction::add, data, indices, updates, {.duplicates = duplicates::first}),
        "xloom::scatter_nd: duplicates::first requires reduction::none, but reduction is add. Choose "
        "duplicates::last, with which every update counts.",
        option_error);
}

TEST_CASE("promises that are kept change nothing")
{
    indices_2d const ascending = {{0}, {1}, {1}, {-1}};
    vector const updates = {1, 2, 3, 4};
    CHECK(scatter_nd(reduction::add, data, ascending, updates, {.sorted = true}) == vector{11, 25, 30, 44});
    indices_2d const once = {{3}, {0}};
    CHECK(scatter_nd(reduction::add, data, once, vector{1, 2}, {.unique = true}) == vector{12, 20, 30, 41});
}

} // namespace scatter_nd_options_test
