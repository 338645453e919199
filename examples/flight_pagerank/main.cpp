// PageRank over flights: the airports that a traveller visits most.
//
//   read_flights -> page_rank -> print, write_json
//
// The heart is page_rank.hpp: xloom::loop repeats a step of xloom::gather_nd (rank leaves) and
// xloom::scatter_nd (rank arrives).
//
//   scripts/fetch-data                                   # build/data/flights-airport.csv
//   flight_pagerank build/data/flights-airport.csv

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../program_options.hpp"
#include "../run_program.hpp"
#include "page_rank.hpp"

namespace {

/// Returns the indices of all airports, the highest rank first.
std::vector<std::size_t> by_rank(xt::xtensor<double, 1> const& rank)
{
    std::vector<std::size_t> order(rank.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    return order;
}

void print(flight_graph const& graph, page_rank_result const& result)
{
    std::printf("%zu airports, %zu routes, %.0f flights\n", graph.airports.size(), graph.count.size(),
        xt::sum(graph.count)());
    std::printf("%s after %zu iterations; the last changed the ranks by %.1e\n",
        result.converged ? "converged" : "not converged", result.changes.size(),
        result.changes(result.changes.size() - 1));
    std::vector<std::size_t> const order = by_rank(result.rank);
    for (std::size_t place = 0; place < std::min<std::size_t>(10, order.size()); ++place)
        std::printf(
            "%2zu  %s  %.6f\n", place + 1, graph.airports[order[place]].c_str(), result.rank(order[place]));
}

/// {"iterations": n, "rank": {airport: rank}}, the highest rank first.
void write_json(std::string const& path, flight_graph const& graph, page_rank_result const& result)
{
    nlohmann::ordered_json all{
        {"iterations", result.changes.size()}, {"rank", nlohmann::ordered_json::object()}};
    for (std::size_t const airport : by_rank(result.rank))
        all["rank"][graph.airports[airport]] = result.rank(airport);
    std::ofstream file(path);
    file << all.dump(1) << '\n';
    file.close();
    if (!file)
        throw std::runtime_error("the file " + path + " cannot be written");
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("flight_pagerank", [&] {
        cxxopts::Options options("flight_pagerank", "Which airports does one come by most?");
        options.add_options()(
            "json", "write {\"iterations\": n, \"rank\": {airport: rank}}", text_option(), "FILE");
        auto const given = parse_options(options, argc, argv, "flights", "FLIGHTS.csv");
        if (!given)
            return;
        flight_graph const graph = read_flights(files_of(*given, "flights", "no flights are given")[0]);
        page_rank_result const result = page_rank(graph);
        print(graph, result);
        if (std::string const json = text_of(*given, "json"); !json.empty())
            write_json(json, graph, result);
    });
}
