// PageRank over flights, each of which is an edge, on the ranks of mpirun.
//
//   read_flights -> part_of -> page_rank_on_ranks -> print
//
// The heart is page_rank_on_ranks.hpp. A rank holds its part of the flights; with --alone the program holds
// all of them and calls page_rank of examples/flight_pagerank, whose bits are the same.
//
//   scripts/fetch-data                                   # build/data/flights-airport.csv
//   mpirun -np 4 ranked_pagerank build/data/flights-airport.csv

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <xloom/ranks/mpi.hpp>

#include "../peak_memory.hpp"
#include "../run_program.hpp"
#include "page_rank_on_ranks.hpp"

namespace {

/// Returns the flights begin .. end - 1 of all: a route is as many flights, one after another, as it has.
flight_part part_of(flight_graph const& routes, std::size_t begin, std::size_t end)
{
    flight_part part{xt::zeros<std::size_t>({end - begin, std::size_t{1}}),
        xt::zeros<std::size_t>({end - begin, std::size_t{1}})};
    std::size_t flight = 0;
    for (std::size_t route = 0; route < routes.count.size(); ++route) {
        std::size_t const after = flight + static_cast<std::size_t>(routes.count(route));
        for (std::size_t i = std::max(flight, begin); i < std::min(after, end); ++i) {
            part.origin(i - begin, 0) = routes.origin(route, 0);
            part.destination(i - begin, 0) = routes.destination(route, 0);
        }
        flight = after;
    }
    return part;
}

/// Prints the airports of this rank, with all bits of their ranks.
void print(flight_graph const& routes, std::size_t first, page_rank_result const& result)
{
    for (std::size_t i = 0; i < result.rank.size(); ++i)
        std::printf("%s %a\n", routes.airports[first + i].c_str(), result.rank(i));
}

/// Keeps freed memory in this process. Otherwise every temporary of an iteration, of up to 56 MB, is mapped
/// again and cleared page by page, which may take longer than all else.
void keep_freed_memory()
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// Runs f and returns the seconds that it took.
template <class F>
double seconds(F const& f)
{
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void report(std::size_t rank, std::size_t size, double time, page_rank_result const& result)
{
    std::fprintf(stderr, "rank %zu of %zu: %.2f s, %.0f MB, %zu iterations\n", rank, size, time,
        peak_megabytes(), result.changes.size());
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("ranked_pagerank", [&] {
        if (argc < 2)
            throw std::runtime_error("usage: ranked_pagerank FLIGHTS.csv [--alone]");
        keep_freed_memory();
        flight_graph const routes = read_flights(argv[1]);
        auto const flights = static_cast<std::size_t>(xt::sum(routes.count)());
        if (argc > 2 && std::string_view(argv[2]) == "--alone") {
            flight_part const all = part_of(routes, 0, flights);
            page_rank_result result;
            double const time = seconds([&] {
                result =
                    page_rank({routes.airports, all.origin, all.destination, xt::ones<double>({flights})});
            });
            print(routes, 0, result);
            report(0, 1, time, result);
            return;
        }
        xloom::run_mpi_ranks([&](xloom::mpi_communicator const& ranks) {
            using axis = xloom::distributed_axis<xloom::mpi_communicator>;
            std::size_t const rank = ranks.rank(), size = ranks.size();
            auto const own_flights = axis::even(ranks, flights),
                       own_airports = axis::even(ranks, routes.airports.size());
            flight_part const mine = part_of(routes, own_flights.begin(), own_flights.end());
            page_rank_result result;
            double const time = seconds([&] {
                result = page_rank_on_ranks(mine, routes.airports.size(), ranks, std::size_t{4} << 20);
            });
            for (std::size_t turn = 0; turn < size; ++turn) { // they print in turn
                if (turn == rank) {
                    print(routes, own_airports.begin(), result);
                    std::fflush(stdout);
                    report(rank, size, time, result);
                }
                std::byte const done{};
                std::vector<std::byte> all(size);
                ranks.all_gather(std::span(&done, 1), all);
            }
        });
    });
}
