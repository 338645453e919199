// ScatterND into a copy of data that is so large that the copy is made row by row: the bits of the updates in
// their order.

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>

#include <xloom/indexing/scatter_nd.hpp>

#include "../support/reduced_options.hpp"
#include "support/every_reduction.hpp"

namespace scatter_nd_copy_test {

using namespace xloom;

namespace {

using indices_2d = xt::xtensor<std::int64_t, 2>;

constexpr std::size_t rows = 300;

/// This number of items makes a row of 3.5 kB, and no whole number of cache lines.
template <class T>
constexpr std::size_t columns = 3500 / sizeof(T) + 4;

/// Numbers of many magnitudes, whose sum depends on their order; other items as they come.
template <class T>
xt::xtensor<T, 2> made_up(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    auto result = xt::xtensor<T, 2>::from_shape({count, columns<T>});
    for (auto& item : result.storage())
        if constexpr (std::is_floating_point_v<T>)
            item = static_cast<T>(
                std::ldexp(static_cast<double>(random() % 1000) - 500, static_cast<int>(random() % 40) - 30));
        else
            item = item_from<T>(static_cast<int>(random() % 7) - 3);
    return result;
}

/// Rows counted from either end, some of them more than once.
indices_2d random_rows(std::size_t count)
{
    std::mt19937 random(7);
    auto indices = indices_2d::from_shape({count, 1});
    for (std::int64_t& index : indices)
        index = static_cast<std::int64_t>(random() % (2 * rows)) - static_cast<std::int64_t>(rows);
    return indices;
}

/// Update after update, row by row of a table.
template <class T>
xt::xtensor<T, 2> expected_of(
    reduction kind, xt::xtensor<T, 2> table, indices_2d const& indices, xt::xtensor<T, 2> const& updates)
{
    for (std::size_t i = 0; i < indices.shape(0); ++i) {
        std::int64_t const index = indices(i, 0);
        auto const row =
            static_cast<std::size_t>(index < 0 ? index + static_cast<std::int64_t>(rows) : index);
        for (std::size_t j = 0; j < columns<T>; ++j)
            table(row, j) = textbook_reduce<T>(kind, table(row, j), updates(i, j));
    }
    return table;
}

template <class T>
bool have_same_bits(xt::xtensor<T, 2> const& a, xt::xtensor<T, 2> const& b)
{
    if constexpr (std::is_trivially_copyable_v<T>)
        return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    else
        return a == b;
}

template <class T>
void check_rows(indices_2d const& indices, std::initializer_list<reduction> kinds)
{
    auto const data = made_up<T>(rows, 1), updates = made_up<T>(indices.shape(0), 2);
    for (reduction const kind : kinds) {
        CAPTURE(name_of(kind));
        auto const result = scatter_nd(kind, data, indices, updates);
        CHECK(have_same_bits(result, expected_of(kind, data, indices, updates)));
        auto in_place = data;
        scatter_nd_into(kind, in_place, indices, updates);
        CHECK(have_same_bits(result, in_place));
    }
}

indices_2d one_row(std::size_t count, std::int64_t row)
{
    auto indices = indices_2d::from_shape({count, 1});
    std::fill(indices.begin(), indices.end(), row);
    return indices;
}

} // namespace

TEST_CASE_TEMPLATE(
    "all five reductions, with duplicates", T, float, double, std::int64_t, std::uint8_t, float16)
{
    check_rows<T>(random_rows(rows), all_five);
}

TEST_CASE("bools, strings and complex numbers")
{
    check_rows<bool>(random_rows(rows), all_five);
    check_rows<std::string>(random_rows(rows), {reduction::none, reduction::add});
    check_rows<std::complex<float>>(random_rows(rows), {reduction::none, reduction::add, reduction::mul});
}

TEST_CASE("every row, few rows, one row, no update")
{
    auto every = indices_2d::from_shape({rows, 1});
    std::iota(every.rbegin(), every.rend(), 0);
    check_rows<double>(every, all_five);
    check_rows<double>(random_rows(rows / 4), all_five);
    check_rows<double>(random_rows(4 * rows), {reduction::add});
    for (std::int64_t const row : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{77}})
        check_rows<double>(one_row(rows, row), {reduction::none, reduction::add});
    check_rows<double>(one_row(0, 0), all_five);
}

TEST_CASE("what is outside is dropped or clipped")
{
    auto const data = made_up<double>(rows, 1), updates = made_up<double>(rows, 2);
    CHECK(scatter_nd(data, one_row(rows, 300), updates, {.bounds = bounds::drop}) == data);
    CHECK(scatter_nd(reduction::add, data, one_row(rows, 300), updates, {.bounds = bounds::clip}) ==
          expected_of(reduction::add, data, one_row(rows, 299), updates));
    auto indices = random_rows(rows);
    indices(0, 0) = indices(150, 0) = indices(299, 0) = -301;
    auto in_place = data;
    scatter_nd_into(reduction::add, in_place, indices, updates, {.bounds = bounds::drop});
    CHECK(have_same_bits(
        scatter_nd(reduction::add, data, indices, updates, {.bounds = bounds::drop}), in_place));
}

TEST_CASE("k = 2, and k = 0")
{
    auto const table = made_up<double>(rows, 1), update_table = made_up<double>(rows, 2);
    auto const indices = random_rows(rows);
    xt::xarray<double> cube = table, updates = update_table;
    cube.reshape({std::size_t{20}, std::size_t{15}, columns<double>});
    updates.reshape({std::size_t{50}, std::size_t{6}, columns<double>});
    auto pairs = xt::xtensor<std::int32_t, 3>::from_shape({50, 6, 2});
    for (std::size_t i = 0; i < rows; ++i) {
        auto const row = static_cast<std::int32_t>((indices(i, 0) + 300) % 300);
        pairs.data()[2 * i] = row / 15 - 20;
        pairs.data()[2 * i + 1] = row % 15;
    }
    auto const result = scatter_nd(reduction::add, cube, pairs, updates);
    CHECK(result.shape() == cube.shape());
    auto const expected = expected_of(reduction::add, table, indices, update_table);
    CHECK(std::equal(result.begin(), result.end(), expected.begin(), expected.end()));

    xt::xtensor<double, 3> wholes = xt::xtensor<double, 3>::from_shape({2, rows, columns<double>});
    std::copy(update_table.begin(), update_table.end(), wholes.begin());
    std::copy(table.begin(), table.end(), wholes.begin() + static_cast<std::ptrdiff_t>(table.size()));
    auto twice = table;
    for (std::size_t i = 0; i < table.size(); ++i)
        twice.data()[i] = (table.data()[i] + update_table.data()[i]) + table.data()[i];
    CHECK(have_same_bits(scatter_nd(reduction::add, table, indices_2d::from_shape({2, 0}), wholes), twice));
}

TEST_CASE("xloom's reductions as callables")
{
    auto const data = made_up<double>(rows, 1), updates = made_up<double>(rows, 2);
    auto const indices = random_rows(rows);
    CHECK(have_same_bits(scatter_nd(reduce_none, data, indices, updates),
        expected_of(reduction::none, data, indices, updates)));
    CHECK(have_same_bits(
        scatter_nd(reduce_max, data, indices, updates), expected_of(reduction::max, data, indices, updates)));
    CHECK(have_same_bits(
        scatter_nd(reduce_add, data, indices, data), expected_of(reduction::add, data, indices, data)));
}

TEST_CASE("a callable of the caller's gets the updates in their order; what it throws leaves data as it was")
{
    auto const data = made_up<double>(rows, 1);
    auto updates = made_up<double>(rows, 2);
    for (std::size_t i = 0; i < updates.size(); ++i)
        updates.data()[i] = static_cast<double>(i);
    double next = 0;
    auto const in_order = [&next](double, double update) {
        return update == next++ ? update : throw std::runtime_error("out of order");
    };
    auto const indices = random_rows(rows);
    CHECK(have_same_bits(
        scatter_nd(in_order, data, indices, updates), expected_of(reduction::none, data, indices, updates)));
    auto const before = data;
    next = -1;
    CHECK_THROWS_WITH_AS(scatter_nd(in_order, data, indices, updates), "out of order", std::runtime_error);
    CHECK(have_same_bits(data, before));
}

TEST_CASE("other rules for the first update, and the mean")
{
    auto const data = made_up<double>(rows, 1), updates = made_up<double>(rows, 2);
    auto const indices = random_rows(rows);
    for (reduced_options const& options : {reduced_options{.duplicates = duplicates::first},
             reduced_options{.reduction = reduction::add, .include_self = false},
             reduced_options{.reduction = reduction::mean}}) {
        auto in_place = data;
        scatter_nd_into(options.reduction, in_place, indices, updates, options);
        CHECK(have_same_bits(scatter_nd(options.reduction, data, indices, updates, options), in_place));
    }
}

} // namespace scatter_nd_copy_test
