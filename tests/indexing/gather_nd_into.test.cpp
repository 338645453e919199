// gather_nd_into: outputs of every kind and layout, and what stays in them.

#include <doctest/doctest.h>

#include <xloom/indexing/gather_nd.hpp>

#include "support/grid.hpp"
#include "support/nd_operands.hpp"
#include "support/xtensor_extras.hpp"

namespace gather_nd_into_test {

using namespace xloom;

namespace {

using tuples = xt::xtensor<std::int64_t, 2>;
using matrix = xt::xtensor<double, 2>;

matrix const table = {{1, 2, 3}, {4, 5, 6}};
tuples const three_rows = {{1}, {0}, {-1}};
matrix const gathered = {{4, 5, 6}, {1, 2, 3}, {4, 5, 6}};

/// The second row is omitted.
tuples const one_outside = {{1}, {2}, {0}};

} // namespace

TEST_CASE("into a container of static, dynamic and fixed rank")
{
    auto ranked = matrix::from_shape({3, 3});
    gather_nd_into(table, three_rows, ranked);
    CHECK(ranked == gathered);
    auto dynamic = xt::xarray<double>::from_shape({3, 3});
    gather_nd_into(table, three_rows, dynamic);
    CHECK(dynamic == gathered);
    xt::xtensor_fixed<double, xt::xshape<3, 3>> fixed;
    gather_nd_into(table, three_rows, fixed);
    CHECK(fixed == gathered);
}

TEST_CASE("into a column-major container")
{
    auto columns = xt::xtensor<double, 2, xt::layout_type::column_major>::from_shape({3, 3});
    gather_nd_into(table, three_rows, columns);
    CHECK(columns == gathered);
}

TEST_CASE("into a column-major container of bools that were never set")
{
    xt::xtensor<bool, 2> const flags = {{true, false}, {false, true}};
    auto columns = xt::xtensor<bool, 2, xt::layout_type::column_major>::from_shape({3, 2});
    gather_nd_into(flags, three_rows, columns);
    CHECK(columns == xt::xtensor<bool, 2>{{false, true}, {true, false}, {false, true}});
}

TEST_CASE("into views: what is beside them stays")
{
    matrix wide = 9.0 * xt::ones<double>({3, 5});
    auto middle = xt::view(wide, xt::all(), xt::range(1, 4));
    gather_nd_into(table, three_rows, middle);
    CHECK(wide == matrix{{9, 4, 5, 6, 9}, {9, 1, 2, 3, 9}, {9, 4, 5, 6, 9}});
    gather_nd_into(table, tuples{{0}}, xt::view(wide, xt::range(2, 3), xt::range(2, 5)));
    CHECK(wide == matrix{{9, 4, 5, 6, 9}, {9, 1, 2, 3, 9}, {9, 4, 1, 2, 3}});
    auto upside_down =
        xt::strided_view(wide, {xt::range(xt::placeholders::_, xt::placeholders::_, -1), xt::range(0, 3)});
    gather_nd_into(table, three_rows, upside_down);
    CHECK(wide == matrix{{4, 5, 6, 6, 9}, {1, 2, 3, 3, 9}, {4, 5, 6, 2, 3}});
}

TEST_CASE("into plain memory through an adaptor")
{
    std::vector<double> memory(3, -1.0);
    auto items = xt::adapt(memory, std::vector<std::size_t>{3});
    gather_nd_into(table, tuples{{0, 2}, {1, 1}, {0, 0}}, items);
    CHECK(memory == std::vector<double>{3, 5, 1});
}

TEST_CASE("a single item into a tensor of rank 0")
{
    xt::xarray<double> item = 0.0;
    gather_nd_into(table, xt::xtensor<std::int64_t, 1>{1, 2}, item);
    CHECK(item() == 6);
}

TEST_CASE("bounds::drop leaves what stands there, in every layout")
{
    matrix rows = 9.0 * xt::ones<double>({3, 3});
    gather_nd_into(table, one_outside, rows, {.bounds = bounds::drop});
    CHECK(rows == matrix{{4, 5, 6}, {9, 9, 9}, {1, 2, 3}});
    xt::xtensor<double, 2, xt::layout_type::column_major> columns = 9.0 * xt::ones<double>({3, 3});
    gather_nd_into(table, one_outside, columns, {.bounds = bounds::drop});
    CHECK(columns == rows);
}

TEST_CASE("bounds::clip, and batch_dims, work as in gather_nd")
{
    matrix rows = xt::zeros<double>({3, 3});
    gather_nd_into(table, one_outside, rows, {.bounds = bounds::clip});
    CHECK(rows == matrix{{4, 5, 6}, {4, 5, 6}, {1, 2, 3}});
    xt::xtensor<double, 1> of_each = xt::zeros<double>({2});
    gather_nd_into(table, tuples{{2}, {0}}, of_each, {.batch_dims = 1});
    CHECK(of_each == xt::xtensor<double, 1>{3, 4});
}

TEST_CASE("an empty output")
{
    auto none = matrix::from_shape({0, 3});
    gather_nd_into(table, tuples::from_shape({0, 1}), none);
    CHECK(none.shape(0) == 0);
}

TEST_CASE("into a user's container")
{
    user::grid<double, 2> grid({3, 3});
    gather_nd_into(table, three_rows, grid);
    CHECK(to_array(grid).items == std::vector<double>{4, 5, 6, 1, 2, 3, 4, 5, 6});
}

// Every other item is read, the ones between are written.
TEST_CASE("an output between the items of data")
{
    xt::xtensor<double, 1> memory = {1, 0, 2, 0, 3, 0};
    auto const even = xt::view(memory, xt::range(0, 6, 2));
    auto odd = xt::view(memory, xt::range(1, 6, 2));
    gather_nd_into(even, tuples{{2}, {1}, {0}}, odd);
    CHECK(memory == xt::xtensor<double, 1>{1, 3, 2, 2, 3, 1});
}

} // namespace gather_nd_into_test
