// GatherND from operands of every kind: layouts, views, adaptors, lazy expressions, a user's container.

#include <doctest/doctest.h>

#include <xloom/indexing/gather_nd.hpp>

#include "support/grid.hpp"
#include "support/nd_operands.hpp"
#include "support/spaced.hpp"
#include "support/xtensor_extras.hpp"

namespace gather_nd_operands_test {

using namespace xloom;

namespace {

using tuples = xt::xtensor<std::int64_t, 2>;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

/// Slices of every width, without and with a batch axis, against the textbook, from containers of the given
/// kinds.
template <class Data, class Indices>
void check_layouts()
{
    for (std::size_t b = 0; b <= 1; ++b)
        for (std::size_t k = 0; k <= 3 - b; ++k) {
            textbook::dims const data_shape{4, 3, 5},
                front = b == 0 ? textbook::dims{2, 3} : textbook::dims{4, 2};
            std::mt19937 random(static_cast<unsigned>(10 * b + k));
            auto const data = random_items<double>(random, data_shape);
            auto const indices = random_indices(random, front, data_shape, k, b);
            auto const result = gather_nd(to_tensor<Data>(data), to_tensor<Indices>(indices),
                {.batch_dims = static_cast<std::int64_t>(b)});
            CAPTURE(b);
            CAPTURE(k);
            CHECK(to_array(result).items == textbook::gather_nd(data, indices, b).items);
        }
}

} // namespace

TEST_CASE("column-major data and indices")
{
    check_layouts<xt::xtensor<double, 3, xt::layout_type::column_major>,
        xt::xarray<std::int32_t, xt::layout_type::column_major>>();
}

TEST_CASE("data and indices of a layout that is known at run time only")
{
    check_layouts<xt::xarray<double, xt::layout_type::dynamic>,
        xt::xarray<std::int64_t, xt::layout_type::dynamic>>();
}

TEST_CASE("views of data, with steps of any sign")
{
    matrix const table = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    tuples const two_rows = {{2}, {0}};
    CHECK(gather_nd<2>(xt::view(table, xt::all(), xt::range(1, 3)), two_rows) == matrix{{9, 10}, {1, 2}});
    CHECK(gather_nd<2>(xt::view(table, xt::all(), xt::range(0, 4, 3)), two_rows) == matrix{{8, 11}, {0, 3}});
    auto const upside_down =
        xt::strided_view(table, {xt::range(xt::placeholders::_, xt::placeholders::_, -1), xt::all()});
    CHECK(gather_nd<2>(upside_down, two_rows) == matrix{{0, 1, 2, 3}, {8, 9, 10, 11}});
    CHECK(gather_nd<1>(upside_down, tuples{{0, 1}, {-1, -1}}) == vector{9, 3});
    CHECK(gather_nd<1>(xt::transpose(table), tuples{{3, 0}, {0, 2}}) == vector{3, 8});
}

TEST_CASE("views of indices")
{
    vector const data = {10, 20, 30};
    tuples const table = {{0, 7}, {2, 7}, {1, 7}};
    CHECK(gather_nd<1>(data, xt::view(table, xt::all(), xt::range(0, 1))) == vector{10, 30, 20});
}

TEST_CASE("adaptors, also of memory that repeats")
{
    std::vector<double> const memory = {1, 2, 3, 4, 5, 6};
    std::vector<std::size_t> const dims = {2, 3};
    CHECK(gather_nd<1>(xt::adapt(memory, dims), tuples{{1, 0}, {0, 2}}) == vector{4, 3});
    auto const repeated =
        xt::adapt(memory.data(), 6, xt::no_ownership(), dims, std::vector<std::ptrdiff_t>{0, 1});
    CHECK(gather_nd<2>(repeated, tuples{{1}, {0}}) == matrix{{1, 2, 3}, {1, 2, 3}});
}

TEST_CASE("lazy expressions are evaluated first")
{
    matrix const table = {{0, 1}, {2, 3}};
    tuples const index = {{1}};
    CHECK(gather_nd<2>(10.0 * table, index) == matrix{{20, 30}});
    CHECK(gather_nd<2>(table, index - 1) == matrix{{0, 1}});
}

TEST_CASE("a user's container gives one of its family")
{
    auto const data = to_tensor<user::grid<double, 2>>(textbook::array<double>{{2, 3}, {1, 2, 3, 4, 5, 6}});
    auto const indices = to_tensor<user::grid<int, 2>>(textbook::array<std::int64_t>{{4, 1}, {1, 0, -1, 2}});
    auto const rows = gather_nd<2>(data, indices, {.bounds = bounds::drop});
    static_assert(std::is_same_v<decltype(rows), user::grid<double, 2> const>);
    CHECK(to_array(rows).items == std::vector<double>{4, 5, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0});
    CHECK(to_array(rows).shape == textbook::dims{4, 3});
}

TEST_CASE("dropped slices of a container whose items are not contiguous")
{
    user::spaced<int, 2> data({2, 2});
    for (std::size_t i = 0; i < 4; ++i)
        data[i] = static_cast<int>(i) + 1;
    auto const rows =
        xloom::gather_nd<2>(data, xt::xtensor<int, 2>{{5}, {1}, {-3}}, {.bounds = xloom::bounds::drop});
    CHECK(rows.items() == std::vector<int>{0, 0, 3, 4, 0, 0});
}

} // namespace gather_nd_operands_test
