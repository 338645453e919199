#pragma once
// PageRank of flight_pagerank over ranks: each has a part of the airports and a part of the flights.

#include <cstddef>

#include <xtensor/xtensor.hpp>

#include <xloom/ranks/distributed_gather_nd.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>
#include <xloom/ranks/distributed_sum.hpp>

#include "../flight_pagerank/page_rank.hpp"

/// Flights of one rank. All have the numbers of all airports.
struct flight_part {
    xt::xtensor<std::size_t, 2> origin;      ///< [E, 1]
    xt::xtensor<std::size_t, 2> destination; ///< [E, 1]
};

/// Returns page_rank of the flights of all ranks together, of the airports of this rank. Its bits are those
/// of page_rank: airports are summed over flights in the order of ranks, and over airports by one tree.
template <xloom::communicator C>
page_rank_result page_rank_on_ranks(
    flight_part const& flights, std::size_t airports, C const& ranks, std::size_t buffer_bytes)
{
    using vector = xt::xtensor<double, 1>;
    auto const mine = xloom::distributed_axis<C>::even(ranks, airports, buffer_bytes);
    vector const none = xt::zeros<double>({mine.own_length()});

    auto const sum_by = [&](auto const& airport, vector const& amounts) {
        vector sums = none;
        xloom::distributed_scatter_nd_into(xloom::reduce_add, sums, airport, amounts, mine);
        return sums;
    };
    auto const of_origin = [&](vector const& amounts) {
        auto gathered = vector::from_shape({flights.origin.shape(0)});
        xloom::distributed_gather_nd_into(amounts, flights.origin, gathered, mine);
        return gathered;
    };
    auto const total = [&](vector const& numbers) {
        xt::xtensor<double, 0> sum = 0.0;
        xloom::distributed_sum_into(numbers, sum, mine);
        return sum();
    };

    vector const ones = xt::ones<double>({flights.origin.shape(0)});
    vector const departures = sum_by(flights.origin, ones);
    vector const share = ones / of_origin(departures);

    auto const arrivals = [&](vector const& rank) {
        return sum_by(flights.destination, share * of_origin(rank));
    };
    return repeat_page_rank(airports, departures, arrivals, total);
}
