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
#include <string>

#include "../program_options.hpp"
#include "../run_program.hpp"
#include "mesh.hpp"
#include "normals.hpp"

namespace {

/// `json` and `plot` are files to write, or empty.
void run(std::string const& path, std::string const& json, std::string const& plot)
{
    using clock = std::chrono::steady_clock;
    mesh const shape = read_mesh(path);
    auto const start = clock::now();
    auto const of_faces = face_normals(shape.positions, shape.cells);
    auto const of_vertices = vertex_normals(of_faces, shape.cells, shape.positions.shape(0));
    std::chrono::duration<double, std::milli> const taken = clock::now() - start;
    std::printf("%zu vertices, %zu faces: normals in %.3f ms\n", shape.positions.shape(0),
        shape.cells.shape(0), taken.count());
    if (!json.empty())
        write_json(json, of_vertices);
    if (!plot.empty())
        write_plot_data(plot, shape, of_vertices, of_faces);
}

} // namespace

int main(int argc, char** argv)
{
    return run_program("mesh_normals", [&] {
        cxxopts::Options options("mesh_normals", "The normals of a mesh's vertices.");
        auto add = options.add_options();
        add("json", "write the normals as {\"normals\": [[x, y, z] of each vertex]}", text_option(), "FILE");
        add("plot", "write the numbers for mesh_normals.gnuplot", text_option(), "FILE");
        if (auto const given = parse_options(options, argc, argv, "mesh", "MESH.json"))
            run(files_of(*given, "mesh", "no mesh is given")[0], text_of(*given, "json"),
                text_of(*given, "plot"));
    });
}
