// Runs the program of examples/mesh_normals: on the bunny against plain loops, on solids whose normals are
// known, and on bad input.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../program_under_test.hpp"

namespace {

using nlohmann::json;
using vector3 = std::array<double, 3>;
using vectors = std::vector<vector3>;
using triangles = std::vector<std::array<std::size_t, 3>>;

program_under_test const& program()
{
    static program_under_test const mesh_normals(MESH_NORMALS_PROGRAM);
    return mesh_normals;
}

double length(vector3 const& v) { return std::hypot(v[0], v[1], v[2]); }

/// The program's output for a mesh.
vectors normals_of(std::string const& path)
{
    outcome const done = program().run({path, "--json", program() / "normals.json"});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    return json::parse(read_file(program() / "normals.json")).at("normals").get<vectors>();
}

vectors normals_of(vectors const& positions, triangles const& cells)
{
    return normals_of(program().write("mesh.json", json{{"positions", positions}, {"cells", cells}}.dump()));
}

/// The definition: for each vertex, all faces that have it.
vectors textbook_normals(vectors const& positions, triangles const& cells)
{
    vectors normals;
    for (std::size_t v = 0; v < positions.size(); ++v) {
        vector3 sum{};
        for (auto const& cell : cells) {
            if (std::ranges::count(cell, v) == 0)
                continue;
            vector3 a, b;
            for (std::size_t j = 0; j < 3; ++j) {
                a[j] = positions[cell[1]][j] - positions[cell[0]][j];
                b[j] = positions[cell[2]][j] - positions[cell[0]][j];
            }
            for (std::size_t j = 0; j < 3; ++j)
                sum[j] += a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3];
        }
        double const norm = length(sum);
        normals.push_back({sum[0] / norm, sum[1] / norm, sum[2] / norm});
    }
    return normals;
}

double largest_difference(vectors const& actual, vectors const& expected)
{
    REQUIRE(actual.size() == expected.size());
    double largest = 0;
    for (std::size_t v = 0; v < actual.size(); ++v)
        for (std::size_t j = 0; j < 3; ++j)
            largest = std::max(largest, std::abs(actual[v][j] - expected[v][j]));
    return largest;
}

} // namespace

TEST_CASE("the bunny's normals are those of the definition, and unit vectors")
{
    json const bunny = json::parse(read_file(MESH_NORMALS_MESH));
    vectors const actual = normals_of(MESH_NORMALS_MESH);
    CHECK(actual.size() == 1839);
    double const difference =
        largest_difference(actual, textbook_normals(bunny["positions"], bunny["cells"]));
    MESSAGE("largest difference from plain loops: ", difference);
    CHECK(difference <= 1e-14);
    for (vector3 const& normal : actual)
        CHECK(std::abs(length(normal) - 1) <= 1e-15);
}

TEST_CASE("an octahedron's normals point from its centre to its corners")
{
    vectors const corners{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    triangles const faces{
        {0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    CHECK(normals_of(corners, faces) == corners);
}

TEST_CASE("a large face counts for more than a small one")
{
    // Vertex 0 is a corner of a box of sides 1, 2 and 3, shared by triangles of area 1 (z), 1.5 (y) and 3
    // (x).
    vectors const normals =
        normals_of({{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}});
    vector3 const expected{-6 / 7.0, -3 / 7.0, -2 / 7.0};
    CHECK(largest_difference({normals[0]}, {expected}) <= 1e-15);
    CHECK(normals[1] != normals[0]);
}

TEST_CASE("a vertex without faces has no normal; a mesh may be empty")
{
    CHECK(normals_of({{0, 0, 0}, {1, 0, 0}, {9, 9, 9}, {0, 1, 0}}, {{0, 1, 3}}) ==
          vectors{{0, 0, 1}, {0, 0, 1}, {0, 0, 0}, {0, 0, 1}});
    CHECK(normals_of({{1, 2, 3}}, {}) == vectors{{0, 0, 0}});
    CHECK(normals_of({}, {}) == vectors{});
}

TEST_CASE("what is printed and what is drawn")
{
    outcome const done = program().run({MESH_NORMALS_MESH, "--plot", program() / "bunny.dat"});
    CHECK(std::regex_match(done.out, std::regex("1839 vertices, 3674 faces: normals in [0-9.]+ ms\n")));
    CHECK(done.err == "");

    // One line for each corner, the last twice: position, normal of the vertex, normal of the face.
    program().write(
        "triangle.json", R"({"positions": [[0, 0, 0], [4, 0, 0], [0, 5, 0]], "cells": [[0, 1, 2]]})");
    CHECK(program().run({program() / "triangle.json", "--plot", program() / "triangle.dat"}).succeeded);
    CHECK(read_file(program() / "triangle.dat") ==
          "0 0 0 0 0 1 0 0 20 \n4 0 0 0 0 1 0 0 20 \n\n0 5 0 0 0 1 0 0 20 \n0 5 0 0 0 1 0 0 20 \n\n\n");
}

TEST_CASE("bad input is refused in one line")
{
    auto const complaint_about = [](std::string const& text) {
        std::string const path = program().write("bad.json", text);
        std::string const complaint = program().complaint({path}),
                          prefix = "the mesh " + path + " cannot be read: ";
        return complaint.starts_with(prefix) ? complaint.substr(prefix.size()) : complaint;
    };
    CHECK(program().complaint({}) == "no mesh is given (see --help)");
    CHECK(program().complaint({"a.json", "b.json"}) == "there is an argument too many: b.json (see --help)");
    CHECK(
        program().complaint({"nowhere.json"}) == "the mesh nowhere.json cannot be read: it cannot be opened");
    CHECK(complaint_about("").find("parse error") != std::string::npos);
    CHECK(complaint_about(R"({"positions": [[0, 0,)").find("parse error") != std::string::npos);
    CHECK(complaint_about(R"({"positions": []})").find("key 'cells' not found") != std::string::npos);
    CHECK(complaint_about(R"({"positions": 7, "cells": []})") == "positions must be an array");
    CHECK(complaint_about(R"({"positions": [[0, 0, 0], [1, 2]], "cells": []})") ==
          "positions[1] must be three numbers, but is [1,2]");
    CHECK(complaint_about(R"({"positions": [[0, 0, "a\nb"]], "cells": []})") ==
          R"(positions[0] must be three numbers, but is [0,0,"a\nb"])");
    for (std::string const cell : {"[0,0,-1]", "[0,0,0.5]", "[0,0]", "[0,0,0,0]", "0"})
        CHECK(complaint_about(R"({"positions": [[0, 0, 0]], "cells": [)" + cell + "]}") ==
              "cells[0] must be the numbers of three vertices, but is " + cell);

    std::string const path = program().write(
        "range.json", R"({"positions": [[0, 0, 0], [1, 0, 0]], "cells": [[0, 1, 0], [0, 2, 1]]})");
    CHECK(program().complaint({path}) ==
          "xloom::gather_nd: an index into an axis of length d must be in [-d, d - 1], but indices[1, 1, 0] "
          "is 2 (axis 0 of length 2). Correct it, or choose bounds::drop or bounds::clip.");
    CHECK(program().complaint({MESH_NORMALS_MESH, "--json", program() / "nowhere/n.json"}) ==
          "the file " + (program() / "nowhere/n.json") + " cannot be written");
}
