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

    auto const corner = [&](std::size_t number) { return xt::view(corners, xt::all(), number); };
    xt::xtensor<double, 2> const a = corner(1) - corner(0);
    xt::xtensor<double, 2> const b = corner(2) - corner(0);
    auto normals = xt::xtensor<double, 2>::from_shape(a.shape());
    for (std::size_t f = 0; f < normals.shape(0); ++f) {
        normals(f, 0) = a(f, 1) * b(f, 2) - a(f, 2) * b(f, 1);
        normals(f, 1) = a(f, 2) * b(f, 0) - a(f, 0) * b(f, 2);
        normals(f, 2) = a(f, 0) * b(f, 1) - a(f, 1) * b(f, 0);
    }
    return normals;
}

/// Returns the normals of the vertices, [vertex_count, 3], from those of the faces: for each vertex the
/// normalised sum over the faces around it, weighted by their areas. Zero if there is no face.
inline xt::xtensor<double, 2> vertex_normals(xt::xtensor<double, 2> const& of_faces,
    xt::xtensor<std::size_t, 2> const& cells, std::size_t vertex_count)
{
    xt::xtensor<double, 2> sums = xt::zeros<double>({vertex_count, std::size_t{3}});
    for (std::size_t corner = 0; corner < 3; ++corner) {
        auto const vertex = xt::view(cells, xt::all(), xt::range(corner, corner + 1)); // [F, 1]
        xloom::scatter_nd_into(xloom::reduction::add, sums, vertex, of_faces);
    }
    xt::xtensor<double, 2> const lengths = xt::sqrt(xt::sum(sums * sums, {1}, xt::keep_dims));
    return xt::where(lengths > 0.0, sums / lengths, 0.0);
}
