// Gathers over ranks: every slice is where the index tuple says, whoever has it.

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>

#include <xloom/interop/threads.hpp>
#include <xloom/ranks/distributed_gather_nd.hpp>

#include "support/on_ranks.hpp"

namespace distributed_gather_nd_test {

using namespace xloom;

namespace {

template <class T, class Index>
bool is_gathered(std::size_t rows, std::size_t tuples, division how, std::size_t buffer)
{
    std::mt19937 next(1);
    xt::xtensor<T, 3> data = xt::zeros<T>({rows, std::size_t{3}, std::size_t{2}});
    for (T& each : data)
        each = static_cast<T>(next() % 200);
    xt::xtensor<Index, 2> indices = xt::zeros<Index>({tuples, std::size_t{2}});
    for (std::size_t i = 0; i < tuples; ++i) {
        indices(i, 0) = static_cast<Index>(
            static_cast<std::int64_t>(next() % (2 * rows)) - static_cast<std::int64_t>(rows));
        indices(i, 1) = static_cast<Index>(static_cast<int>(next() % 6) - 3);
    }
    auto const from_front = [](Index index, std::size_t length) {
        return static_cast<std::size_t>(index < 0 ? index + static_cast<Index>(length) : index);
    };
    return on_ranks([&](auto const& ranks) {
        range const part = part_of(how, ranks, rows), named = part_of(division::ragged, ranks, tuples);
        distributed_axis const axis(ranks, part.length(), buffer);
        auto const mine = in_columns(xt::xtensor<T, 3>(rows_of(data, part)));
        xt::xtensor<Index, 2> const wanted = rows_of(indices, named);
        xt::xtensor<T, 2> row_major = xt::zeros<T>({named.length(), std::size_t{2}});
        auto column_major = in_columns(row_major);
        distributed_gather_nd_into(mine, wanted, row_major, axis);
        distributed_gather_nd_into(mine, wanted, column_major, axis, thread_policy(2));
        for (std::size_t i = 0; i < named.length(); ++i)
            for (std::size_t k = 0; k < 2; ++k) {
                T const expected = data(from_front(wanted(i, 0), rows), from_front(wanted(i, 1), 3), k);
                if (row_major(i, k) != expected || column_major(i, k) != expected)
                    return false;
            }
        return true;
    });
}

} // namespace

TEST_CASE("slices of other ranks")
{
    for (std::size_t const rows : {1U, 5U, 30U})
        for (std::size_t const tuples : {0U, 1U, 100U})
            for (division const how : divisions)
                for (std::size_t const buffer : {1U, 700U, 1U << 20}) {
                    CAPTURE(rows);
                    CAPTURE(tuples);
                    CHECK(is_gathered<float, std::int64_t>(rows, tuples, how, buffer));
                }
    CHECK(is_gathered<float, std::int64_t>(30, 60'000, division::even, 1U << 20)); // for two threads a rank
    CHECK(is_gathered<bool, std::int8_t>(20, 50, division::ragged, 300));
    CHECK(is_gathered<std::uint16_t, std::int32_t>(20, 50, division::even, 300));
}

TEST_CASE("bounds")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> const data = {static_cast<int>(ranks.rank())};
        auto const end = static_cast<int>(ranks.size());
        xt::xtensor<int, 2> const indices = {{end + 5}, {-end - 1}, {0}};
        xt::xtensor<int, 1> dropped = {-7, -7, -7}, clipped = {-7, -7, -7};
        distributed_axis const axis(ranks, 1);
        distributed_gather_nd_into(data, indices, dropped, {.bounds = bounds::drop}, axis);
        distributed_gather_nd_into(data, indices, clipped, {.bounds = bounds::clip}, axis);
        return dropped == xt::xtensor<int, 1>{-7, -7, 0} && clipped == xt::xtensor<int, 1>{end - 1, 0, 0};
    }));
}

// The numbers of bytes of a tuple and two slices wrap to 0.
TEST_CASE("no rows, of a hostile length")
{
    std::size_t const length = ((std::numeric_limits<std::size_t>::max)() - 3 * sizeof(std::size_t) + 1) / 2;
    CHECK(on_ranks([&](auto const& ranks) {
        auto const data = xt::xtensor<std::int8_t, 2>::from_shape({0, length});
        auto const indices = xt::xtensor<std::int64_t, 2>::from_shape({0, 1});
        auto output = xt::xtensor<std::int8_t, 2>::from_shape({0, length});
        distributed_gather_nd_into(data, indices, output, distributed_axis(ranks, 0));
        return output.size() == 0;
    }));
}

TEST_CASE("a bad index of one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::size_t const bad = ranks.size() - 1;
        xt::xtensor<int, 1> const data = {1, 2};
        xt::xtensor<int, 2> indices = {{0}, {1}};
        if (ranks.rank() == bad)
            indices(1, 0) = 1000;
        xt::xtensor<int, 1> output = {-7, -7};
        distributed_axis const axis(ranks, 2);
        return text_of<index_error>([&] { distributed_gather_nd_into(data, indices, output, axis); }) ==
                   "rank " + std::to_string(bad) +
                       ": xloom::distributed_gather_nd_into: an index into an axis of length d must be in "
                       "[-d, "
                       "d - 1], but indices[1, 0] is 1000 (axis 0 of length " +
                       std::to_string(2 * ranks.size()) +
                       "). Correct it, or choose bounds::drop or bounds::clip." &&
               output == xt::xtensor<int, 1>{-7, -7};
    }));
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 2> const data = {{1}};
        xt::xtensor<int, 2> const indices = {{0}};
        xt::xtensor<int, 1> output = {0};
        distributed_axis const axis(ranks, 1);
        return text_of<option_error>([&] {
            distributed_gather_nd_into(data, indices, output, {.batch_dims = 1}, axis);
        }) == "rank 0: xloom::distributed_gather_nd_into: batch_dims must be 0, but it is 1. If the batch "
              "axis is divided, no rank needs data of another: call gather_nd_into.";
    }));
}

TEST_CASE("lazy operands that throw on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<int, 1> const data = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}, {1}};
        xt::xtensor<int, 1> output = {-7, -7};
        distributed_axis const axis(ranks, 2);
        return is_failure_of_last(ranks, [&] {
            distributed_gather_nd_into(fails_on_last(ranks, data), indices, output, axis);
        }) && is_failure_of_last(ranks, [&] {
            distributed_gather_nd_into(data, fails_on_last(ranks, indices), output, axis);
        }) && output == xt::xtensor<int, 1>{-7, -7};
    }));
}

TEST_CASE("ranks whose types or bounds differ")
{
    CHECK(on_ranks([&](auto const& ranks) {
        std::string const op = "distributed_gather_nd_into";
        bool const is_other = ranks.rank() == 1;
        xt::xtensor<std::int32_t, 1> const data = {1, 2};
        xt::xtensor<float, 1> const others = {1, 2};
        xt::xtensor<int, 2> const indices = {{0}, {1}};
        xt::xtensor<std::int32_t, 1> output = {-7, -7};
        xt::xtensor<float, 1> other_output = {-7, -7};
        distributed_axis const axis(ranks, 2);
        return is_refused_as_different(ranks, op, [&] {
            if (is_other)
                distributed_gather_nd_into(others, indices, other_output, axis);
            else
                distributed_gather_nd_into(data, indices, output, axis);
        }) && is_refused_as_different(ranks, op, [&] {
            distributed_gather_nd_into(
                data, indices, output, {.bounds = is_other ? bounds::drop : bounds::clip}, axis);
        });
    }));
}

} // namespace distributed_gather_nd_test
