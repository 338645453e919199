// The normals of a mesh's vertices.
//
//   read_mesh -> face_normals -> vertex_normals -> write_json, write_plot_data
//
// The heart is normals.hpp: xloom::gather_nd brings the vertices to the faces, xloom::scatter_nd the faces'
// normals to the vertices.
//
//   scripts/fetch-data                                   # build/data/bunny.json
//   mesh_normals build/data/bunny.json --plot bunny.dat  # then mesh_normals.gnuplot draws it

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "mesh.hpp"
#include "normals.hpp"

namespace {

void run(std::string const& path, cxxopts::ParseResult const& asked)
{
    using clock = std::chrono::steady_clock;
    mesh const shape = read_mesh(path);
    auto const start = clock::now();
    auto const of_faces = face_normals(shape.positions, shape.cells);
    auto const of_vertices = vertex_normals(of_faces, shape.cells, shape.positions.shape(0));
    std::chrono::duration<double, std::milli> const taken = clock::now() - start;
    std::printf("%zu vertices, %zu faces: normals in %.3f ms\n", shape.positions.shape(0),
        shape.cells.shape(0), taken.count());
    if (asked.count("json") != 0)
        write_json(asked["json"].as<std::string>(), of_vertices);
    if (asked.count("plot") != 0)
        write_plot_data(asked["plot"].as<std::string>(), shape, of_vertices, of_faces);
}

} // namespace

int main(int argc, char** argv)
try {
    cxxopts::Options options("mesh_normals", "The normals of a mesh's vertices.");
    auto const file = [] { return cxxopts::value<std::string>(); };
    auto add = options.add_options();
    add("json", "write the normals as {\"normals\": [[x, y, z] of each vertex]}", file(), "FILE");
    add("plot", "write the numbers for mesh_normals.gnuplot", file(), "FILE");
    add("help", "print this");
    add("mesh", "", file());
    options.parse_positional("mesh");
    options.positional_help("MESH.json");

    auto const asked = options.parse(argc, argv);
    if (asked.count("help") != 0)
        std::printf("%s", options.help().c_str());
    else if (asked.count("mesh") == 0)
        throw std::runtime_error("no mesh is given (see --help)");
    else
        run(asked["mesh"].as<std::string>(), asked);
    return 0;
} catch (std::exception const& error) {
    std::fprintf(stderr, "mesh_normals: %s\n", error.what());
    return 1;
}
