// The memory of a rank beyond its part of the operands: a buffer of a fixed size, and what the operators
// state. Scans of a rank alone exchange with itself what several exchange with each other.

#include <doctest/doctest.h>

#include <xloom/all_reduce_gradients.hpp>
#include <xloom/distributed_associative_scan.hpp>
#include <xloom/distributed_gather_nd.hpp>
#include <xloom/distributed_linear_recurrence.hpp>
#include <xloom/distributed_scatter_nd.hpp>
#include <xloom/thread_ranks.hpp>

#include "../support/xtensor_extras.hpp"
#include "counting_new.hpp"

namespace allocation_ranks_test {

using namespace xloom;

namespace {

constexpr std::size_t buffer = 1 << 16;
constexpr std::size_t bookkeeping = 1 << 12; // counts for each rank, and what malloc rounds up

/// The bytes that f() allocates, all together.
template <class F>
std::size_t bytes_of(F const& f)
{
    std::size_t const before = allocated_bytes();
    f();
    return allocated_bytes() - before;
}

} // namespace

TEST_CASE("scans: one element for each block, and the buffer")
{
    single_rank const alone;
    for (std::size_t const length : {100'000U, 400'000U}) {
        xt::xtensor<double, 1> x = xt::ones<double>({length});
        distributed_axis const axis(alone, length, buffer);
        CHECK(bytes_of([&] { distributed_associative_scan_into(reduce_add, x, x, axis); }) <=
              length / 256 * sizeof(double) + buffer + bookkeeping);
        CHECK(bytes_of([&] { distributed_linear_recurrence_into(x, x, 1.0, x, axis); }) <=
              length / 256 * 2 * sizeof(double) + buffer + bookkeeping);
    }
    // Many sequences pass in turns.
    xt::xtensor<double, 2> x = xt::ones<double>({10, 50'000});
    distributed_axis const axis(alone, 10, buffer);
    CHECK(
        bytes_of([&] { distributed_associative_scan_into(reduce_add, x, x, axis); }) <= buffer + bookkeeping);
}

TEST_CASE("scatters and gathers: the buffer, and two integers for each index tuple of a scatter")
{
    for (std::size_t const count : {10'000U, 50'000U}) {
        // Two ranks, which are threads of this process, so that what they allocate is counted together.
        xt::xtensor<double, 3> data = xt::ones<double>({std::size_t{2}, std::size_t{1000}, std::size_t{4}});
        xt::xtensor<int, 2> indices = xt::zeros<int>({count, std::size_t{1}});
        for (std::size_t i = 0; i < count; ++i)
            indices(i, 0) = static_cast<int>(i * 7919 % 2000);
        xt::xtensor<double, 3> values = xt::ones<double>({std::size_t{2}, count, std::size_t{4}});
        auto const bytes_of_ranks = [&](auto const& call) {
            return bytes_of([&] {
                run_ranks(2, [&](auto const& ranks) {
                    auto mine = xt::view(data, ranks.rank());
                    auto of_rank = xt::view(values, ranks.rank());
                    call(mine, of_rank, distributed_axis(ranks, 1000, buffer));
                });
            });
        };
        CHECK(bytes_of_ranks([&](auto& mine, auto& of_rank, auto const& axis) {
            distributed_scatter_nd_into(mine, indices, of_rank, reduce_add, axis);
        }) <= 2 * (2 * sizeof(std::size_t) * count + buffer + tuning::sorting_ranges * 8 + bookkeeping));
        CHECK(bytes_of_ranks([&](auto& mine, auto& of_rank, auto const& axis) {
            distributed_gather_nd_into(mine, indices, of_rank, axis);
        }) <= 2 * (buffer + bookkeeping));
    }
    single_rank const alone;
    xt::xtensor<double, 1> data = xt::ones<double>({1000});
    xt::xtensor<int, 2> const indices = xt::ones<int>({std::size_t{50'000}, std::size_t{1}});
    xt::xtensor<double, 1> values = xt::ones<double>({50'000});
    distributed_axis const axis(alone, 1000, buffer);
    CHECK(bytes_of([&] { distributed_scatter_nd_into(data, indices, values, reduce_add, axis); }) <=
          bookkeeping);
    CHECK(bytes_of([&] { distributed_gather_nd_into(data, indices, values, axis); }) <= bookkeeping);
}

TEST_CASE("sums of gradients: the buffer")
{
    single_rank const alone;
    for (std::size_t const elements : {10'000U, 100'000U}) {
        xt::xtensor<float, 2> const gradients = xt::ones<float>({std::size_t{8}, elements});
        xt::xtensor<float, 1> sums = xt::zeros<float>({elements});
        distributed_axis const batches(alone, 8, buffer);
        CHECK(bytes_of([&] { all_reduce_gradients(gradients, sums, batches); }) <= 2 * buffer + bookkeeping);
    }
}

} // namespace allocation_ranks_test
