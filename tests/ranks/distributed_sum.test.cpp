// Sums of gradients over ranks: the tree of all micro-batches, whichever rank has them.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include <xloom/interop/threads.hpp>
#include <xloom/ranks/distributed_sum.hpp>

#include "support/on_ranks.hpp"
#include "support/textbook_prefix.hpp"

namespace distributed_sum_test {

using namespace xloom;

namespace {

template <class T>
xt::xtensor<T, 3> some(std::size_t batches, std::size_t rows, std::size_t columns)
{
    std::mt19937 next(1);
    xt::xtensor<T, 3> x = xt::zeros<T>({batches, rows, columns});
    for (T& each : x)
        each = static_cast<T>(next() % 1000) / static_cast<T>(7);
    return x;
}

template <class T>
xt::xtensor<T, 2> textbook_sum(xt::xtensor<T, 3> const& x)
{
    xt::xtensor<T, 2> sum = xt::zeros<T>({x.shape(1), x.shape(2)});
    for (std::size_t i = 0; i < x.shape(1); ++i)
        for (std::size_t j = 0; j < x.shape(2); ++j) {
            std::vector<T> items;
            for (std::size_t batch = 0; batch < x.shape(0); ++batch)
                items.push_back(x(batch, i, j));
            if (!items.empty())
                sum(i, j) = textbook::associative_scan(items, std::plus<T>()).back();
        }
    return sum;
}

} // namespace

TEST_CASE("sums of micro-batches, in windows of any size")
{
    for (std::size_t const batches : {0U, 1U, 5U, 40U, 300U})
        for (division const how : divisions)
            for (std::size_t const buffer : {1U, 3000U, 1U << 20}) {
                xt::xtensor<float, 3> const W = some<float>(batches, 3, 5);
                xt::xtensor<double, 3> const R = some<double>(batches, 1, 1);
                xt::xtensor<float, 2> const sum_W = textbook_sum(W);
                xt::xtensor<double, 2> const sum_R = textbook_sum(R);
                CHECK(on_ranks([&](auto const& ranks) {
                    range const part = part_of(how, ranks, batches);
                    distributed_axis const axis(ranks, part.length(), buffer);
                    auto const my_W = in_columns(xt::xtensor<float, 3>(rows_of(W, part)));
                    xt::xtensor<double, 3> const my_R = rows_of(R, part);
                    xt::xtensor<float, 2, xt::layout_type::column_major> dW = xt::ones<float>({3, 5});
                    xt::xtensor<double, 2> dR = xt::ones<double>({1, 1});
                    distributed_sum_into(std::tie(my_W, my_R), std::tie(dW, dR), axis);
                    return are_equal(dW, sum_W) && are_equal(dR, sum_R);
                }));
            }
}

TEST_CASE("several threads of a rank")
{
    constexpr std::size_t batches = 40;
    xt::xtensor<float, 3> const W = some<float>(batches, 37, 41); // enough for two
    xt::xtensor<float, 2> const sum_W = textbook_sum(W);
    CHECK(on_ranks([&](auto const& ranks) {
        range const part = part_of(division::ragged, ranks, batches);
        distributed_axis const axis(ranks, part.length());
        xt::xtensor<float, 3> const my_W = rows_of(W, part);
        xt::xtensor<float, 2> dW = xt::ones<float>({37, 41});
        distributed_sum_into(my_W, dW, axis, thread_policy(3));
        return dW == sum_W;
    }));
}

TEST_CASE("sums of slices without elements")
{
    CHECK(on_ranks([&](auto const& ranks) {
        auto const gradients = xt::xtensor<float, 2>::from_shape({3, 0});
        auto sums = xt::xtensor<float, 1>::from_shape({0});
        distributed_sum_into(gradients, sums, distributed_axis(ranks, 3));
        return sums.size() == 0;
    }));
}

// The slices of 7 ranks have more bytes than std::size_t can count, though those of each have not.
TEST_CASE("a sum of more slices than fit in memory")
{
    double const one = 1;
    std::size_t const length = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 5);
    CHECK(on_ranks([&](auto const& ranks) {
        if (ranks.size() != 7)
            return true;
        auto const slices =
            xt::adapt(&one, length, xt::no_ownership(), std::array<std::size_t, 2>{length, 1});
        xt::xtensor<double, 1> sum = {7};
        distributed_axis const axis(ranks, length);
        return !text_of<shape_error>([&] { distributed_sum_into(slices, sum, axis); }).empty() && sum(0) == 7;
    }));
}

TEST_CASE("sums of another shape on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 2> const gradients = {{1, 2}};
        xt::xtensor<float, 1> sums = xt::zeros<float>({ranks.rank() + 1 == ranks.size() ? 3 : 2});
        distributed_axis const axis(ranks, 1);
        return text_of<shape_error>([&] { distributed_sum_into(gradients, sums, axis); }) ==
               "rank " + std::to_string(ranks.size() - 1) +
                   ": xloom::distributed_sum_into: sum must have the shape of x without the divided axis, "
                   "[2], "
                   "but "
                   "it has [3]. Give it that shape.";
    }));
}

TEST_CASE("lazy gradients that throw on one rank")
{
    CHECK(on_ranks([&](auto const& ranks) {
        xt::xtensor<float, 2> const dW = {{1, 2}};
        xt::xtensor<double, 1> const dR = {1};
        xt::xtensor<float, 1> sum_W = {7, 7};
        xt::xtensor<double, 0> sum_R = 7.0;
        distributed_axis const axis(ranks, 1);
        auto const failing = fails_on_last(ranks, dR);
        return is_failure_of_last(ranks,
                   [&] { distributed_sum_into(std::tie(dW, failing), std::tie(sum_W, sum_R), axis); }) &&
               sum_W == xt::xtensor<float, 1>{7, 7} && sum_R() == 7.0;
    }));
}

TEST_CASE("ranks whose types or functions differ")
{
    CHECK(on_ranks([&](auto const& ranks) {
        bool const is_other = ranks.rank() == 1;
        xt::xtensor<float, 1> const x = {1};
        xt::xtensor<std::int32_t, 1> const i = {1};
        xt::xtensor<float, 0> sum_x = 0.0F;
        xt::xtensor<std::int32_t, 0> sum_i = 0;
        distributed_axis const axis(ranks, 1);
        return is_refused_as_different(ranks, "distributed_sum_into", [&] {
            if (is_other)
                distributed_sum_into(i, sum_i, axis);
            else
                distributed_sum_into(x, sum_x, axis);
        }) && is_refused_as_different(ranks, is_other ? "distributed_axis" : "distributed_sum_into", [&] {
            if (is_other)
                distributed_axis(ranks, 1);
            else
                distributed_sum_into(x, sum_x, axis);
        });
    }));
}

} // namespace distributed_sum_test
