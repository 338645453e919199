#include "mesh.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <xtensor/xjson.hpp>

namespace {

using nlohmann::json;

json read_json(std::string const& path)
{
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("it cannot be opened");
    return json::parse(file);
}

/// Rows of three numbers that `is_right`.
template <class T>
xt::xtensor<T, 2> read_rows(
    json const& file, char const* name, bool (json::*is_right)() const, char const* what)
{
    json const& rows = file.at(name);
    if (!rows.is_array())
        throw std::runtime_error(std::string(name) + " must be an array");
    auto values = xt::xtensor<T, 2>::from_shape({rows.size(), 3});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        json const& row = rows[i];
        if (!row.is_array() || row.size() != 3 || !std::ranges::all_of(row, std::mem_fn(is_right)))
            throw std::runtime_error(
                std::string(name) + "[" + std::to_string(i) + "] must be " + what + ", but is " + row.dump());
        for (std::size_t j = 0; j < 3; ++j)
            values(i, j) = row[j].get<T>();
    }
    return values;
}

void close(std::ofstream& file, std::string const& path)
{
    file.close();
    if (!file)
        throw std::runtime_error("the file " + path + " cannot be written");
}

} // namespace

mesh read_mesh(std::string const& path)
try {
    json const file = read_json(path);
    return {read_rows<double>(file, "positions", &json::is_number, "three numbers"),
        read_rows<std::size_t>(file, "cells", &json::is_number_unsigned, "the numbers of three vertices")};
} catch (std::exception const& error) {
    throw std::runtime_error("the mesh " + path + " cannot be read: " + error.what());
}

void write_json(std::string const& path, xt::xtensor<double, 2> const& normals)
{
    std::ofstream file(path);
    file << json{{"normals", normals}} << '\n';
    close(file, path);
}

void write_plot_data(std::string const& path, mesh const& shape, xt::xtensor<double, 2> const& of_vertices,
    xt::xtensor<double, 2> const& of_faces)
{
    std::ofstream file(path);
    auto const write_row = [&](xt::xtensor<double, 2> const& rows, std::size_t i) {
        file << rows(i, 0) << ' ' << rows(i, 1) << ' ' << rows(i, 2) << ' ';
    };
    // gnuplot fills quadrangles, two lines of two points each: a triangle's last corner is written twice.
    for (std::size_t f = 0; f < shape.cells.shape(0); ++f) {
        for (std::size_t const corner : {0u, 1u, 2u, 2u}) {
            std::size_t const vertex = shape.cells(f, corner);
            write_row(shape.positions, vertex);
            write_row(of_vertices, vertex);
            write_row(of_faces, f);
            file << (corner == 1 ? "\n\n" : "\n");
        }
        file << "\n\n";
    }
    close(file, path);
}
