// Runs the program of examples/flight_pagerank: on real flights against a dense power iteration in plain
// loops, on graphs whose ranks are known, and on bad input.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "../program_under_test.hpp"

namespace {

using nlohmann::json;
using ranks = std::map<std::string, double>;

constexpr double d = 0.85;

program_under_test const& program()
{
    static program_under_test const flight_pagerank(FLIGHT_PAGERANK_PROGRAM);
    return flight_pagerank;
}

struct answer {
    std::size_t iterations;
    ranks rank;
    std::string printed;
};

answer run_on(std::string const& path)
{
    outcome const done = program().run({path, "--json", program() / "rank.json"});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    json const written = json::parse(read_file(program() / "rank.json"));
    return {written.at("iterations"), written.at("rank"), done.out};
}

/// On a file with these rows.
answer run_on_routes(std::string const& rows)
{
    return run_on(program().write("routes.csv", "origin,destination,count\n" + rows));
}

double sum(ranks const& rank)
{
    double total = 0;
    for (auto const& [airport, share] : rank)
        total += share;
    return total;
}

/// The probabilities of the traveller's next airport: follow[to][from], every number of the N * N written
/// out.
struct dense_walk {
    std::vector<std::string> airports;
    std::vector<std::vector<double>> follow;
};

dense_walk read_dense(std::string const& path)
{
    std::map<std::string, std::map<std::string, double>> flights;
    std::istringstream file(read_file(path));
    std::string line, origin, destination, count;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream row(line);
        std::getline(std::getline(std::getline(row, origin, ','), destination, ','), count);
        flights[origin][destination] += std::stod(count);
        flights[destination];
    }
    dense_walk walk;
    for (auto const& [airport, routes] : flights)
        walk.airports.push_back(airport);
    auto const N = static_cast<double>(flights.size());
    for (std::string const& to : walk.airports) {
        std::vector<double> row;
        for (auto& [from, routes] : flights) {
            double departures = 0;
            for (auto const& [airport, number] : routes)
                departures += number;
            double const taken = departures == 0       ? 1 / N
                                 : routes.contains(to) ? routes.at(to) / departures
                                                       : 0;
            row.push_back((1 - d) / N + d * taken);
        }
        walk.follow.push_back(row);
    }
    return walk;
}

/// Power iteration until the ranks change by less than the tolerance: the ranks, and after how many
/// iterations.
answer dense_page_rank(dense_walk const& walk, double tolerance)
{
    std::size_t const N = walk.airports.size();
    std::vector<double> rank(N, 1 / static_cast<double>(N));
    answer found{};
    for (double change = 1; change >= tolerance; ++found.iterations) {
        std::vector<double> next(N);
        change = 0;
        for (std::size_t to = 0; to < N; ++to) {
            for (std::size_t from = 0; from < N; ++from)
                next[to] += walk.follow[to][from] * rank[from];
            change += std::abs(next[to] - rank[to]);
        }
        rank = next;
    }
    for (std::size_t i = 0; i < N; ++i)
        found.rank[walk.airports[i]] = rank[i];
    return found;
}

double largest_difference(ranks const& actual, ranks const& expected)
{
    REQUIRE(actual.size() == expected.size());
    double largest = 0;
    for (auto const& [airport, rank] : expected)
        largest = std::max(largest, std::abs(actual.at(airport) - rank));
    return largest;
}

/// As the program prints them.
std::string top_ten(ranks const& rank)
{
    std::vector<std::pair<double, std::string>> order;
    for (auto const& [airport, share] : rank)
        order.emplace_back(share, airport);
    std::ranges::sort(order, std::greater{});
    std::string lines;
    for (std::size_t place = 0; place < 10; ++place) {
        char line[64];
        std::snprintf(line, sizeof line, "%2zu  %s  %.6f\n", place + 1, order[place].second.c_str(),
            order[place].first);
        lines += line;
    }
    return lines;
}

} // namespace

TEST_CASE("the ranks of real airports are those of a dense power iteration")
{
    answer const actual = run_on(FLIGHT_PAGERANK_FLIGHTS);
    dense_walk const walk = read_dense(FLIGHT_PAGERANK_FLIGHTS);
    answer const expected = dense_page_rank(walk, 1e-10);
    CHECK(actual.rank.size() == 305);
    CHECK(actual.iterations == expected.iterations);
    double const difference = largest_difference(actual.rank, expected.rank);
    MESSAGE(actual.iterations, " iterations; largest difference from plain loops: ", difference);
    CHECK(difference <= 1e-14);
    CHECK(std::abs(sum(actual.rank) - 1) <= 1e-13);
    CHECK(largest_difference(actual.rank, dense_page_rank(walk, 1e-15).rank) <= 1e-10);

    CHECK(actual.printed.starts_with("305 airports, 5366 routes, 7009728 flights\nconverged after " +
                                     std::to_string(expected.iterations) +
                                     " iterations; the last changed the ranks by "));
    CHECK(actual.printed.ends_with("\n" + top_ten(expected.rank)));
}

TEST_CASE("ranks that are known")
{
    answer const ring = run_on_routes("A,B,1\nB,C,20\nC,A,3\n");
    CHECK(ring.iterations == 1);
    CHECK(largest_difference(ring.rank, {{"A", 1 / 3.0}, {"B", 1 / 3.0}, {"C", 1 / 3.0}}) <= 1e-15);

    // hub = (1 - d) / 4 + d * (1 - hub)
    double const hub = ((1 - d) / 4 + d) / (1 + d);
    double const spoke = (1 - hub) / 3;
    CHECK(largest_difference(run_on_routes("A,H,5\nH,A,2\nB,H,1\nH,B,2\nC,H,7\nH,C,2\n").rank,
              {{"H", hub}, {"A", spoke}, {"B", spoke}, {"C", spoke}}) <= 1e-9);

    // B has no departures, so its rank is distributed: A = (1 - d) / 2 + d * B / 2
    CHECK(largest_difference(run_on_routes("A,B,1\n").rank, {{"A", 1 / (2 + d)}, {"B", (1 + d) / (2 + d)}}) <=
          1e-10);
}

TEST_CASE("flights count, routes may be named twice or without flights")
{
    answer const once = run_on_routes("A,B,3\nA,C,1\nB,A,1\nC,A,1\n");
    CHECK(once.rank.at("B") > once.rank.at("C"));
    CHECK(run_on_routes("A,B,1\nA,C,1\nA,B,2\nB,A,1\nC,A,1\nZ,A,0\n").rank == once.rank);
    CHECK(once.printed.starts_with("3 airports, 4 routes, 6 flights\n"));
}

TEST_CASE("bad input is refused in one line")
{
    auto const complaint_about = [](std::string const& text) {
        return program().complaint({program().write("bad.csv", text)});
    };
    std::string const bad = program() / "bad.csv";
    CHECK(program().complaint({}) == "no flights are given (see --help)");
    CHECK(program().complaint({"a.csv", "b.csv"}) == "there is an argument too many: b.csv (see --help)");
    CHECK(program().complaint({"nowhere.csv"}) ==
          "Can not open file \"nowhere.csv\" because \"No such file or directory\".");
    CHECK(complaint_about("") == "Header missing in file \"" + bad + "\".");
    CHECK(complaint_about("origin,count\n") ==
          "Missing column \"destination\" in header of file \"" + bad + "\".");
    CHECK(complaint_about("origin,destination,count\n") == "the file " + bad + " has no flights");
    CHECK(complaint_about("origin,destination,count\nA,B\n") ==
          "Too few columns in line 2 in file \"" + bad + "\".");
    for (std::string const count : {"-1", "1.5", "many"})
        CHECK(complaint_about("origin,destination,count\nA,B," + count + "\n") ==
              "The integer \"" + count + "\" contains an invalid digit in column \"count\" in file \"" + bad +
                  "\" in line \"2\".");
    CHECK(program().complaint({FLIGHT_PAGERANK_FLIGHTS, "--json", program() / "nowhere/r.json"}) ==
          "the file " + (program() / "nowhere/r.json") + " cannot be written");
}
