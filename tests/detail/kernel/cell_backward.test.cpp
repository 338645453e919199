// What the backward kernels of all cells share: which residuals a part has, padding, right factors in panels,
// and sums over rows.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <xloom/detail/kernel/cell_backward.hpp>

namespace kernel_cell_backward_test {

using namespace xloom::kernel;

TEST_CASE("residual_rows: the parts of a batch have each step of each sequence once")
{
    // Sequences of the lengths 4, 2, 2, 1 and 1.
    std::size_t const lengths[] = {4, 2, 2, 1, 1}, begins[] = {0, 5, 8, 9, 10};
    for (std::size_t stride = 1; stride <= 6; ++stride) {
        CAPTURE(stride);
        std::vector<int> seen(10);
        for (std::size_t first = 0; first < stride; ++first) {
            residual_rows<int> const part{seen.data(), begins, 1, first, stride};
            for (std::size_t t = 0; t < 4; ++t) {
                std::size_t longer = 0;
                for (std::size_t n = first; n < 5; n += stride)
                    longer += lengths[n] > t ? 1 : 0;
                REQUIRE(part.active(t) == longer);
                for (std::size_t r = 0; r < longer; ++r) {
                    CHECK(part.position(t, r) == begins[t] + first + r * stride);
                    ++*part(t, r);
                }
            }
        }
        CHECK(seen == std::vector<int>(10, 1));
    }
}

TEST_CASE("residual_rows: a row of numbers for each step")
{
    int items[30];
    std::size_t const begins[] = {0, 4, 10};
    residual_rows<int> const rows{items, begins, 3, 1, 2};
    CHECK(rows(0, 0) == items + 3);
    CHECK(rows(1, 2) == items + 27);
}

TEST_CASE("zero_padding: of every column, and nothing else")
{
    for (std::size_t const units : {5u, 8u}) {
        std::vector<float> row(32, 7.0f), expected = row;
        zero_padding(row.data(), 3, units, 8);
        for (std::size_t i = 0; i < 24; ++i)
            if (i % 8 >= units)
                expected[i] = 0;
        CHECK(row == expected);
    }
}

TEST_CASE_TEMPLATE("put_panel_row: the row of the panels of a matrix", T, float, double)
{
    std::size_t const depth = 3;
    for (std::size_t const columns : {std::size_t{1}, panel_width<T>, 2 * panel_width<T> + 1}) {
        CAPTURE(columns);
        std::vector<T> matrix(depth * columns);
        std::iota(matrix.begin(), matrix.end(), T(1));
        std::vector<T> expected(panel_items<T>(depth, columns)), packed(expected.size(), T(-1));
        pack_panels<T, T>({matrix.data(), static_cast<std::ptrdiff_t>(columns), 1}, depth, columns,
            {expected.data(), depth, columns});
        for (std::size_t const k : {2u, 0u, 1u}) {
            std::vector<T> row(whole_batches<T>(columns));
            std::copy_n(matrix.begin() + static_cast<std::ptrdiff_t>(k * columns), columns, row.begin());
            put_panel_row<T>(row.data(), k, {packed.data(), depth, columns});
        }
        CHECK(packed == expected);
    }
}

TEST_CASE("add_rows: of the given columns, in chains of 128 rows")
{
    auto const sum_of = [](std::vector<float> const& column) {
        std::vector<float> sums(8, 0.5f), partial(8, std::numeric_limits<float>::quiet_NaN());
        partial[1] = partial[6] = 3;
        add_rows(column.size(), 2, 6, sums.data(), partial.data(), [&](std::size_t k, float* to) {
            for (std::size_t j = 2; j < 6; ++j)
                to[j] = to[j] + static_cast<float>(j) * column[k];
        });
        for (std::size_t const j : {0u, 1u, 6u, 7u})
            CHECK(sums[j] == 0.5f);
        CHECK((partial[1] == 3 && partial[6] == 3));
        CHECK(sums[5] == (sums[2] - 0.5f) / 2 * 5 + 0.5f);
        return (sums[2] - 0.5f) / 2;
    };
    for (std::size_t const rows : {0u, 1u, 127u, 128u, 129u, 256u, 300u})
        CHECK(sum_of(std::vector<float>(rows, 1.0f)) == static_cast<float>(rows));

    // 1s vanish one by one beside the large number: those in its chain, up to row 127, but not two at once.
    float const large = std::ldexp(1.0f, std::numeric_limits<float>::digits);
    std::vector<float> column(130);
    column[0] = large;
    column[126] = column[127] = 1;
    float sums[4] = {}, partial[4];
    auto const add = [&](std::size_t k, float* to) { to[0] = to[0] + column[k]; };
    add_rows(130, 0, 4, sums, partial, add);
    CHECK(sums[0] == large);
    column[128] = column[129] = 1;
    sums[0] = 0;
    add_rows(130, 0, 4, sums, partial, add);
    CHECK(sums[0] == large + 2);
}

TEST_CASE_TEMPLATE("interleave_transposed: blocks of columns, and nothing after them", T, float, double)
{
    for (std::size_t const columns : {std::size_t{1}, block_rows<T>, block_rows<T> + 1, std::size_t{13}})
        for (std::size_t const depth : {0u, 1u, 3u}) {
            CAPTURE(columns);
            CAPTURE(depth);
            std::size_t const stride = columns + 2;
            std::vector<T> a(depth * stride + 1), to(columns * depth + 1, T(-1)), expected = to;
            std::iota(a.begin(), a.end(), T(1));
            blocks const parts{columns, block_rows<T>};
            std::size_t next = 0;
            for (std::size_t part = 0; part < parts.count(); ++part)
                for (std::size_t k = 0; k < depth; ++k)
                    for (std::size_t r = parts.begin(part); r < parts.begin(part + 1); ++r)
                        expected[next++] = a[k * stride + r];
            CHECK(interleave_transposed<T>(columns, {a.data(), stride}, depth, to.data()).first == to.data());
            CHECK(to == expected);
        }
}

} // namespace kernel_cell_backward_test
