#pragma once
// PageRank: how often a traveller who takes a random flight each time visits each airport.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

#include <xloom/control_flow/loop.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/parallel/associative_scan.hpp>

#include "flight_graph.hpp"

struct page_rank_result {
    xt::xtensor<double, 1> rank;    ///< [N], sums to 1
    xt::xtensor<double, 1> changes; ///< of all ranks together, in each iteration
    bool converged;                 ///< the last change was below 1e-10
};

/// Returns the sum of numbers, by the tree of a parallel scan, which examples/ranked_pagerank can have, too.
inline double total(xt::xtensor<double, 1> const& numbers)
{
    return xloom::associative_scan(xloom::reduce_add, numbers)(numbers.size() - 1);
}

/// Repeats, until the ranks hardly change or 200 times,
///
///     rank = (1 - d) / N + d * (what arrives by the routes + the rank of airports without departures / N)
///
/// where d = 0.85 is the probability that the traveller takes a flight (else he restarts at a random
/// airport), for all N airports or a part of them: arrivals(rank) is what arrives there, total(numbers) the
/// sum over all airports.
template <class Arrivals, class Total>
page_rank_result repeat_page_rank(std::size_t airports, xt::xtensor<double, 1> const& departures,
    Arrivals const& arrivals, Total const& total)
{
    constexpr double d = 0.85;
    using vector = xt::xtensor<double, 1>;
    auto const N = static_cast<double>(airports);
    auto const step = [&](std::int64_t, bool, vector const& rank) {
        vector const arrived = arrivals(rank);
        double const stranded = total(xt::where(departures > 0.0, 0.0, rank));
        vector next = (1 - d) / N + d * (arrived + stranded / N);
        double const change = total(xt::abs(next - rank));
        return xloom::loop_step{change >= 1e-10, std::move(next), change};
    };
    vector const anywhere = xt::ones<double>({departures.size()}) / N;
    auto [rank, changes, goes_on, iterations, stopped] = xloom::loop(step, anywhere, {.max_trip_count = 200});
    return {std::move(rank), std::move(changes), !goes_on};
}

/// Returns the page rank of all airports. A route carries the share of its origin's rank that it has of its
/// origin's flights.
inline page_rank_result page_rank(flight_graph const& graph)
{
    using vector = xt::xtensor<double, 1>;
    vector const none = xt::zeros<double>({graph.airports.size()});
    auto const sum_by = [&](auto const& airport, vector const& amounts) {
        return xloom::scatter_nd(xloom::reduction::add, none, airport, amounts);
    };

    vector const departures = sum_by(graph.origin, graph.count);
    vector const share = graph.count / xloom::gather_nd<1>(departures, graph.origin);
    auto const arrivals = [&](vector const& rank) {
        return sum_by(graph.destination, share * xloom::gather_nd<1>(rank, graph.origin));
    };
    return repeat_page_rank(graph.airports.size(), departures, arrivals, total);
}
