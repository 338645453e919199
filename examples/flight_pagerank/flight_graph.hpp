#pragma once
// Flights between airports, as a graph: N airports, E routes.

#include <cstddef>
#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

struct flight_graph {
    std::vector<std::string> airports;       ///< [N], in the order in which the file names them
    xt::xtensor<std::size_t, 2> origin;      ///< [E, 1]: for each route the number of an airport
    xt::xtensor<std::size_t, 2> destination; ///< [E, 1]
    xt::xtensor<double, 1> count;            ///< [E], how many flights there were; at least 1
};

/// Reads a CSV file with the columns origin, destination and count; rows without flights are omitted. Throws
/// std::exception with a one-line message for any other file, and if there are no flights.
flight_graph read_flights(std::string const& path);
