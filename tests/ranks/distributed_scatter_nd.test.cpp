// Scatters over ranks: the updates are applied in the order of ranks, whatever buffers they pass.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <xloom/interop/threads.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/on_ranks.hpp"

namespace distributed_scatter_nd_test {

using namespace xloom;

namespace {

/// Data [rows, 3], updates of single items, and indices that often name the first row.
template <class T>
struct scatter_case {
    xt::xtensor<T, 2> data;
    xt::xtensor<int, 2> indices;
    xt::xtensor<T, 1> updates;

    scatter_case(std::size_t rows, std::size_t count)
        : data(xt::zeros<T>({rows, std::size_t{3}})),
          indices(xt::zeros<int>({count, std::size_t{2}})),
          updates(xt::zeros<T>({count}))
    {
        std::mt19937 next(1);
        auto const some = [&] {
            float const number = static_cast<float>(next() % 2001) / 64 - 15;
            if constexpr (std::is_integral_v<T>)
                return static_cast<T>(static_cast<int>(number)); // wraps around
            else
                return static_cast<T>(number);
        };
        for (T& each : data)
            each = some();
        for (T& each : updates)
            each = some();
        for (std::size_t i = 0; i < count; ++i) {
            int const row = static_cast<int>(next() % rows);
            indices(i, 0) = i % 3 == 0 ? 0 : i % 3 == 1 ? row : row - static_cast<int>(rows);
            indices(i, 1) = static_cast<int>(next() % 6) - 3;
        }
    }

    std::size_t row(std::size_t i) const
    {
        return static_cast<std::size_t>(indices(i, 0)) + (indices(i, 0) < 0 ? data.shape(0) : 0);
    }
    std::size_t column(std::size_t i) const
    {
        return static_cast<std::size_t>(indices(i, 1)) + (indices(i, 1) < 0 ? 3 : 0);
    }
};

/// The updates of each item of data, in their order.
template <class T>
std::vector<std::vector<T>> updates_by_item(scatter_case<T> const& of)
{
    std::vector<std::vector<T>> all(of.data.size());
    for (std::size_t i = 0; i < of.updates.size(); ++i)
        all[of.row(i) * 3 + of.column(i)].push_back(of.updates(i));
    return all;
}

/// True on all ranks if item i becomes expected(old value, its updates).
template <class T, class Reduce, class Expected>
bool becomes(std::size_t rows, std::size_t count, division how, std::size_t buffer, Reduce const& reduce,
    scatter_nd_options const& options, Expected const& expected)
{
    scatter_case<T> const all(rows, count);
    auto const updates = updates_by_item(all);
    xt::xtensor<T, 2> result = all.data;
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!updates[i].empty())
            result.flat(i) = expected(all.data.flat(i), updates[i]);
    return on_ranks([&](auto const& ranks) {
        range const part = part_of(how, ranks, rows), named = part_of(division::ragged, ranks, count);
        distributed_axis const axis(ranks, part.length(), buffer);
        xt::xtensor<T, 2> data = rows_of(all.data, part);
        auto columns = in_columns(data);
        xt::xtensor<int, 2> const indices = rows_of(all.indices, named);
        xt::xtensor<T, 1> const values = rows_of(all.updates, named);
        xt::xtensor<T, 2> const wanted = rows_of(result, part);
        distributed_scatter_nd_into(reduce, data, indices, values, options, axis);
        distributed_scatter_nd_into(reduce, columns, indices, values, options, axis, thread_policy(2));
        return are_equal(data, wanted) && are_equal(columns, wanted);
    });
}

/// A fold of the updates in their order.
template <class Op>
auto folded(Op const& op)
{
    return [op](auto old, auto const& updates) {
        for (auto const& update : updates)
            old = static_cast<decltype(old)>(op(old, update));
        return old;
    };
}

constexpr auto smoothed = [](float old, float update) { return old * 0.5F + update; };

} // namespace

TEST_CASE("updates of other ranks, in any number of turns")
{
    for (std::size_t const rows : {1U, 5U, 30U})
        for (std::size_t const count : {0U, 1U, 200U})
            for (division const how : divisions)
                for (std::size_t const buffer : {1U, 1500U, 1U << 20}) {
                    CAPTURE(rows);
                    CAPTURE(count);
                    CAPTURE(buffer);
                    CHECK(becomes<float>(rows, count, how, buffer, smoothed, {}, folded(smoothed)));
                    CHECK(becomes<float>(rows, count, how, buffer, reduction::none, {}, folded(reduce_none)));
                }
}

TEST_CASE("reductions, options and types")
{
    for (std::size_t const buffer : {1500U, 1U << 20}) {
        auto const holds = [&]<class T>(T, auto const& reduce, scatter_nd_options const& options,
                               auto const& expected) {
            return becomes<T>(7, 150, division::ragged, buffer, reduce, options, expected);
        };
        auto const without_self = [](auto const& op) {
            return [op](auto, auto const& updates) {
                return folded(op)(updates[0], std::vector(updates.begin() + 1, updates.end()));
            };
        };
        CHECK(holds(double{}, reduce_add, {}, folded(reduce_add)));
        CHECK(holds(std::int32_t{}, reduce_mul, {}, folded(reduce_mul)));
        CHECK(holds(std::uint8_t{}, reduction::max, {}, folded(reduce_max)));
        CHECK(holds(float{}, reduce_min, {.include_self = false}, without_self(reduce_min)));
        CHECK(holds(float{}, smoothed, {.include_self = false}, without_self(smoothed)));
        CHECK(holds(float{}, reduction::none, {.duplicates = duplicates::first},
            [](float, auto const& updates) { return updates[0]; }));
        CHECK(holds(float{}, reduction::mean, {}, [](float old, auto const& updates) {
            return folded(reduce_add)(old, updates) / static_cast<float>(updates.size() + 1);
        }));
        CHECK(holds(std::int8_t{}, reduction::mean, {}, [](std::int8_t old, auto const& updates) {
            std::int64_t sum = old;
            for (std::int8_t const update : updates)
                sum += update;
            return static_cast<std::int8_t>(
                std::floor(static_cast<double>(sum) / static_cast<double>(updates.size() + 1)));
        }));
        CHECK(holds(
            bfloat16{}, reduction::add, {.accumulate_in_float = true}, [](bfloat16 old, auto const& updates) {
                auto sum = static_cast<float>(old);
                for (bfloat16 const update : updates)
                    sum += static_cast<float>(update);
                return static_cast<bfloat16>(sum);
            }));
    }
}

TEST_CASE("several threads of a rank")
{
    constexpr std::size_t count = 70'000; // enough for two
    CHECK(becomes<float>(100, count, division::even, 1 << 22, smoothed, {}, folded(smoothed)));
    CHECK(becomes<float>(100, count, division::even, 1 << 19, reduction::none,
        {.duplicates = duplicates::first}, [](float, auto const& updates) { return updates[0]; }));
}

// The number of bytes of an update wraps to 0.
TEST_CASE("no rows, of a hostile length")
{
    std::size_t const length = (std::numeric_limits<std::size_t>::max)() / sizeof(std::ptrdiff_t);
    CHECK(on_ranks([&](auto const& ranks) {
        auto data = xt::xtensor<std::ptrdiff_t, 2>::from_shape({0, length});
        auto const indices = xt::xtensor<std::int64_t, 2>::from_shape({0, 1});
        distributed_scatter_nd_into(data, indices, data, distributed_axis(ranks, 0));
        return data.size() == 0;
    }));
}

TEST_CASE("bad indices, duplicates and different calls")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::size_t const bad = ranks.size() - 1;
        xt::xtensor<int, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = {{ranks.rank() == bad ? -1000 : 0}};
        xt::xtensor<int, 1> const updates = {5};
        distributed_axis const axis(ranks, 2);
        return text_of<index_error>([&] { distributed_scatter_nd_into(data, indices, updates, axis); }) ==
                   "rank " + std::to_string(bad) +
                       ": xloom::distributed_scatter_nd_into: an index into an axis of length d must be in "
                       "[-d, "
                       "d - 1], but indices[0, 0] is -1000 (axis 0 of length " +
                       std::to_string(2 * ranks.size()) +
                       "). Correct it, or choose bounds::drop or bounds::clip." &&
               data == xt::xtensor<int, 1>{1, 2};
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}, {ranks.size() == 1 ? 0 : 1}};
        xt::xtensor<int, 1> const updates = {5, 6};
        distributed_axis const axis(ranks, 2);
        std::string const where = ranks.size() == 1 ? "" : "slice [0] is named more than once; rank ";
        return text_of<index_error>([&] {
            distributed_scatter_nd_into(data, indices, updates, {.duplicates = duplicates::error}, axis);
        })
                   .starts_with("rank 0: xloom::distributed_scatter_nd_into: with duplicates::error a slice "
                                "may be named once, but " +
                                where) &&
               data == xt::xtensor<int, 1>{1, 2};
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = {{static_cast<int>(2 * ranks.rank())}};
        xt::xtensor<int, 1> const updates = {5};
        distributed_axis const axis(ranks, 2);
        distributed_scatter_nd_into(data, indices, updates, {.duplicates = duplicates::error}, axis);
        return data == xt::xtensor<int, 1>{5, 2};
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}};
        xt::xtensor<int, 1> const updates = {5};
        distributed_axis const axis(ranks, 2);
        std::string const text = text_of<option_error>([&] {
            distributed_scatter_nd_into(
                ranks.rank() == 0 ? reduction::add : reduction::max, data, indices, updates, axis);
        });
        return ranks.size() == 1 ? text.empty() : text.find("all ranks must make the same call") != text.npos;
    }));
}

TEST_CASE("a callable that throws on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::size_t const last = ranks.size() - 1;
        xt::xtensor<float, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = xt::ones<int>({30, 1}) * static_cast<int>(2 * last);
        xt::xtensor<float, 1> const updates = xt::ones<float>({30});
        distributed_axis const axis(ranks, 2, 100);
        auto const call = [&] {
            distributed_scatter_nd_into([](float, float) -> float { throw std::domain_error("enough"); },
                data, indices, updates, axis);
        };
        return ranks.rank() == last
                   ? text_of<std::domain_error>(call) == "enough"
                   : text_of<rank_error>(call) == "rank " + std::to_string(last) + ": enough";
    }));
}

TEST_CASE("lazy operands that throw on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> data = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}};
        xt::xtensor<int, 1> const updates = {5};
        distributed_axis const axis(ranks, 2);
        return is_failure_of_last(ranks, [&] {
            distributed_scatter_nd_into(data, fails_on_last(ranks, indices), updates, axis);
        }) && is_failure_of_last(ranks, [&] {
            distributed_scatter_nd_into(data, indices, fails_on_last(ranks, updates), axis);
        }) && data == xt::xtensor<int, 1>{1, 2};
    }));
}

TEST_CASE("ranks whose types, reductions or options differ")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::string const op = "distributed_scatter_nd_into";
        bool const is_other = ranks.rank() == 1;
        xt::xtensor<std::int32_t, 1> data = {1, 2};
        xt::xtensor<float, 1> others = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}};
        xt::xtensor<std::int32_t, 1> const updates = {5};
        xt::xtensor<float, 1> const other_updates = {5};
        distributed_axis const axis(ranks, 2);
        auto const differ = [&](scatter_nd_options const& first, scatter_nd_options const& second) {
            return is_refused_as_different(ranks, op, [&] {
                distributed_scatter_nd_into(data, indices, updates, is_other ? second : first, axis);
            });
        };
        return is_refused_as_different(ranks, op,
                   [&] {
                       if (is_other)
                           distributed_scatter_nd_into(others, indices, other_updates, axis);
                       else
                           distributed_scatter_nd_into(data, indices, updates, axis);
                   }) &&
               is_refused_as_different(ranks, op,
                   [&] {
                       auto const first = [](int old, int) { return old; };
                       auto const second = [](int, int update) { return update; };
                       if (is_other)
                           distributed_scatter_nd_into(second, data, indices, updates, axis);
                       else
                           distributed_scatter_nd_into(first, data, indices, updates, axis);
                   }) &&
               differ({.bounds = bounds::drop}, {.bounds = bounds::clip}) && differ({}, {.unique = true}) &&
               (ranks.size() == 1 || data == xt::xtensor<std::int32_t, 1>{1, 2});
    }));
}

} // namespace distributed_scatter_nd_test
