#include "flight_graph.hpp"

#include <map>
#include <stdexcept>

#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

#include <xtensor/xadapt.hpp>

flight_graph read_flights(std::string const& path)
{
    io::CSVReader<3, io::trim_chars<' ', '\t'>, io::double_quote_escape<',', '"'>> file(path);
    file.read_header(io::ignore_extra_column, "origin", "destination", "count");

    flight_graph graph;
    std::map<std::string, std::size_t> numbers;
    auto const number_of = [&](std::string const& airport) {
        auto const [found, is_new] = numbers.try_emplace(airport, numbers.size());
        if (is_new)
            graph.airports.push_back(airport);
        return found->second;
    };

    std::vector<std::size_t> origins, destinations;
    std::vector<double> counts;
    std::string origin, destination;
    unsigned count = 0;
    while (file.read_row(origin, destination, count)) {
        if (count == 0)
            continue;
        origins.push_back(number_of(origin));
        destinations.push_back(number_of(destination));
        counts.push_back(count);
    }
    if (counts.empty())
        throw std::runtime_error("the file " + path + " has no flights");
    graph.origin = xt::adapt(origins, {origins.size(), std::size_t{1}});
    graph.destination = xt::adapt(destinations, {destinations.size(), std::size_t{1}});
    graph.count = xt::adapt(counts);
    return graph;
}
