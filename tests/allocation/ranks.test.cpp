// The memory of a rank beyond its part of the operands: a buffer of a fixed size, and what the operators
// state. Scans of a rank alone exchange with itself what several exchange with each other.

#include <doctest/doctest.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <tuple>

#include <xloom/ranks/distributed_associative_scan.hpp>
#include <xloom/ranks/distributed_gather_nd.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>
#include <xloom/ranks/distributed_sum.hpp>
#include <xloom/ranks/thread_ranks.hpp>

#include "../support/on_ranks.hpp"
#include "../support/reduced_options.hpp"
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

/// Makes call(communicator, out) on three ranks again and again. One of them is refused an allocation, each
/// time a later one, until it needs no more.
///
/// Returns the number of refused calls, or 0 if one of them was not an error of all ranks before the first
/// write to out, which is `before`.
template <class Out, class Call>
std::size_t refused_calls(Out const& before, Call const& call)
{
    std::array<Out, 3> expected{before, before, before};
    run_thread_ranks(3, [&](thread_rank const& ranks) { call(ranks, expected[ranks.rank()]); });
    std::size_t refused = 0;
    for (std::size_t const chosen : {0U, 1U, 2U})
        for (std::size_t granted = 0;; ++granted) {
            std::array<Out, 3> outs{before, before, before};
            std::array<std::string, 3> texts;
            run_thread_ranks(3, [&](thread_rank const& ranks) {
                std::size_t const rank = ranks.rank();
                std::optional<thread_refusal> limit;
                try {
                    if (rank == chosen)
                        limit.emplace(granted);
                    call(ranks, outs[rank]);
                    limit.reset();
                } catch (std::bad_alloc const&) {
                    limit.reset();
                    texts[rank] = "refused";
                } catch (rank_error const& error) {
                    texts[rank] = error.what();
                }
            });
            bool const is_refused = !texts[chosen].empty();
            for (std::size_t rank = 0; rank < 3; ++rank) {
                std::string const text = !is_refused ? ""
                                         : rank == chosen
                                             ? "refused"
                                             : detail::concat("rank ", chosen, ": std::bad_alloc");
                if (texts[rank] != text || outs[rank] != (is_refused ? before : expected[rank])) {
                    MESSAGE(
                        "rank " << rank << " of " << chosen << " after " << granted << ": " << texts[rank]);
                    return 0;
                }
            }
            if (!is_refused)
                break;
            ++refused;
        }
    return refused;
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
                run_thread_ranks(2, [&](auto const& ranks) {
                    auto mine = xt::view(data, ranks.rank());
                    auto of_rank = xt::view(values, ranks.rank());
                    call(mine, of_rank, distributed_axis(ranks, 1000, buffer));
                });
            });
        };
        CHECK(bytes_of_ranks([&](auto& mine, auto& of_rank, auto const& axis) {
            distributed_scatter_nd_into(reduce_add, mine, indices, of_rank, axis);
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
    CHECK(bytes_of([&] { distributed_scatter_nd_into(reduce_add, data, indices, values, axis); }) <=
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
        CHECK(bytes_of([&] { distributed_sum_into(gradients, sums, batches); }) <= 2 * buffer + bookkeeping);
    }
}

TEST_CASE("an allocation that one rank is refused is an error of all, before the first write")
{
    using matrix = xt::xtensor<double, 2>;
    using columns = xt::xtensor<double, 2, xt::layout_type::column_major>;
    matrix const x = xt::ones<double>({600, 3});
    CHECK(refused_calls(x, [&](auto const& ranks, matrix& y) {
        distributed_axis const axis(ranks, 600, 300); // one sequence at a time
        distributed_associative_scan_into(reduce_add, 2.0 * x, y, axis);
    }) > 0);
    CHECK(refused_calls(columns(x), [&](auto const& ranks, columns& h) {
        distributed_axis const axis(ranks, 600);
        distributed_linear_recurrence_into(h, h, 2.0 * xt::view(x, 0), h, {.reverse = true}, axis);
    }) > 0);
    using pair = std::tuple<matrix, matrix>;
    CHECK(refused_calls(pair(x, x), [&](auto const& ranks, pair& y) {
        distributed_axis const axis(ranks, 600, 300);
        auto const first = [](std::tuple<double, double> const& f, std::tuple<double, double> const&) {
            return f;
        };
        distributed_associative_scan_into(first, y, std::tie(std::get<0>(y), std::get<1>(y)), axis);
    }) > 0);

    xt::xtensor<int, 2> indices = xt::zeros<int>({200, 2});
    for (std::size_t i = 0; i < 200; ++i) {
        indices(i, 0) = static_cast<int>(i * 79 % 1800);
        indices(i, 1) = static_cast<int>(i % 3);
    }
    xt::xtensor<double, 1> const values = xt::ones<double>({200});
    CHECK(refused_calls(values, [&](auto const& ranks, auto& output) {
        distributed_axis const axis(ranks, 600, 300);
        distributed_gather_nd_into(2.0 * x, indices, output, axis);
    }) > 0);
    using call = std::pair<reduction, scatter_nd_options>;
    for (call const& each : {call{reduction::add, {}}, {reduction::mean, {}},
             {reduction::none, {.duplicates = duplicates::first}}})
        CHECK(refused_calls(columns(x), [&](auto const& ranks, auto& data) {
            distributed_axis const axis(ranks, 600, 300);
            distributed_scatter_nd_into(each.first, data, indices, 2.0 * values, each.second, axis);
        }) > 0);
    std::array<xt::xtensor<int, 2>, 3> const own{{{{0, 0}}, {{1, 0}}, {{1799, 2}}}};
    xt::xtensor<double, 1> const one = {1};
    CHECK(refused_calls(x, [&](auto const& ranks, auto& data) {
        distributed_axis const axis(ranks, 600, 300);
        distributed_scatter_nd_into(data, own[ranks.rank()], one, {.duplicates = duplicates::error}, axis);
    }) > 0);

    xt::xtensor<float, 3> const dW = xt::ones<float>({2, 50, 2});
    matrix const dR = xt::ones<double>({2, 7});
    using sums = std::tuple<xt::xtensor<float, 2, xt::layout_type::column_major>, xt::xtensor<double, 1>>;
    CHECK(refused_calls(sums(xt::zeros<float>({50, 2}), xt::zeros<double>({7})), [&](auto const& ranks,
                                                                                     sums& sum) {
        distributed_axis const axis(ranks, 2, 300);
        auto const lazy_dW = 2.0F * dW;
        distributed_sum_into(std::tie(lazy_dW, dR), std::tie(std::get<0>(sum), std::get<1>(sum)), axis);
    }) > 0);
}

TEST_CASE("ranks that cannot all be started end")
{
    std::size_t refused = 0;
    for (bool is_refused = true; is_refused; ++refused)
        try {
            thread_refusal const limit(refused);
            run_thread_ranks(3, [](thread_rank const& ranks) {
                std::array<std::byte, 3> all{};
                std::byte const mine{1};
                ranks.all_gather(std::span(&mine, 1), all);
            });
            is_refused = false;
        } catch (std::bad_alloc const&) {}
    CHECK(refused > 3);
}

} // namespace allocation_ranks_test
