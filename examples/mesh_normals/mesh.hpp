#pragma once
// A triangle mesh, and its input and output files.

#include <cstddef>
#include <string>

#include <xtensor/xtensor.hpp>

struct mesh {
    xt::xtensor<double, 2> positions;  ///< [V, 3]
    xt::xtensor<std::size_t, 2> cells; ///< [F, 3], the numbers of each face's vertices
};

/// Reads {"positions": [[x, y, z], ...], "cells": [[i, j, k], ...]}. Throws std::exception, in one line, for
/// anything else.
mesh read_mesh(std::string const& path);

/// {"normals": [[x, y, z] of each vertex]}. Throws std::runtime_error if the file cannot be written.
void write_json(std::string const& path, xt::xtensor<double, 2> const& normals);

/// The numbers that mesh_normals.gnuplot draws, from the normals of vertices and of faces. Throws
/// std::runtime_error if the file cannot be written.
void write_plot_data(std::string const& path, mesh const& shape, xt::xtensor<double, 2> const& of_vertices,
    xt::xtensor<double, 2> const& of_faces);
