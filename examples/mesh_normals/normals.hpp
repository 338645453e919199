#pragma once
// The normals of a mesh: gathered from vertices to faces, scattered from faces to vertices.
//
// positions are [V, 3]; cells are [F, 3], the numbers of each face's vertices.

#include <cstddef>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

/// Returns the normals of the faces, [F, 3]: each is twice as long as its face's area and points to the side
/// from which the corners are counterclockwise. Throws xloom::index_error for a vertex that does not exist.
inline xt::xtensor<double, 2> face_normals(
    xt::xtensor<double, 2> const& positions, xt::xtensor<std::size_t, 2> const& cells)
{
    auto const vertex =
        xt::view(cells, xt::all(), xt::all(), xt::newaxis());    // [F, 3, 1]: for each corner one index
    auto const corners = xloom::gather_nd<3>(positions, vertex); // [F, 3, 3]: face, corner, coordinate

    auto normals = xt::xtensor<double, 2>::from_shape({cells.shape(0), 3});
    for (std::size_t f = 0; f < normals.shape(0); ++f) {
        auto const a = [&](std::size_t axis) { return corners(f, 1, axis) - corners(f, 0, axis); };
        auto const b = [&](std::size_t axis) { return corners(f, 2, axis) - corners(f, 0, axis); };
        normals(f, 0) = a(1) * b(2) - a(2) * b(1);
        normals(f, 1) = a(2) * b(0) - a(0) * b(2);
        normals(f, 2) = a(0) * b(1) - a(1) * b(0);
    }
    return normals;
}

/// Returns the normals of the vertices, [vertex_count, 3], from those of the faces: for each vertex the
/// normalised sum over the faces around it, weighted by their areas. Zero if there is no face.
inline xt::xtensor<double, 2> vertex_normals(xt::xtensor<double, 2> const& of_faces,
    xt::xtensor<std::size_t, 2> const& cells, std::size_t vertex_count)
{
    xt::xtensor<double, 2> sums = xt::zeros<double>({vertex_count, std::size_t{3}});
    auto const vertex = xt::view(cells, xt::all(), xt::all(), xt::newaxis());     // [F, 3, 1]
    auto const of_face = xt::view(of_faces, xt::all(), xt::newaxis(), xt::all()); // [F, 1, 3]
    xloom::scatter_nd_into(xloom::reduction::add, sums, vertex, xloom::broadcast(of_face));
    xt::xtensor<double, 2> const lengths = xt::sqrt(xt::sum(sums * sums, {1}, xt::keep_dims));
    return xt::where(lengths > 0.0, sums / lengths, 0.0);
}
