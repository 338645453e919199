// The product of rows and a constant matrix on the threads of a policy: the number of threads, and the sums.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include <xloom/detail/kernel/cell.hpp>

#include "support/threads_or_backwards.hpp"

namespace kernel_cell_test {

using namespace xloom::kernel;

namespace {

/// The columns that stay together.
constexpr std::size_t group = panels_per_row<float> * panel_width<float>;

/// Checks sums of integers, and returns the number of parts in which a policy ran them.
std::size_t parts_of(
    std::size_t threads, std::size_t per_share, std::size_t rows, std::size_t depth, std::size_t columns)
{
    std::vector<int> b(depth * columns + 1);
    for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<int>(i % 7) - 3;
    std::vector<float> packed(panel_items<float>(depth, columns) + 1), a(rows * depth + 1);
    pack_panels<float, int>(
        {b.data(), static_cast<std::ptrdiff_t>(columns), 1}, depth, columns, {packed.data(), depth, columns});
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<float>(i % 5);
    std::size_t const stride = whole_batches<float>(columns) + 3;
    std::vector<float> start(stride), sums(rows * stride + 1, -99.0f);
    for (std::size_t j = 0; j < columns; ++j)
        start[j] = static_cast<float>(j);

    std::atomic<std::size_t> parts = 1;
    for (bool const is_backwards : {false, true}) {
        threads_or_backwards const policy{threads, is_backwards, &parts};
        multiplier const multiply(xloom::detail::policy_ref(policy), per_share);
        stored_matrix<float> const matrix = panels<float>{packed.data(), depth, columns};
        multiply(rows, {a.data(), depth}, matrix, {start.data(), 0}, {sums.data(), stride});
        CHECK(multiply.shares(rows, matrix) == parts);
        bool are_right = true;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t j = 0; j < columns; ++j) {
                int expected = static_cast<int>(j);
                for (std::size_t k = 0; k < depth; ++k)
                    expected += static_cast<int>((r * depth + k) % 5) * b[k * columns + j];
                are_right &= sums[r * stride + j] == static_cast<float>(expected);
            }
        CHECK(are_right);
        CHECK(std::count(sums.begin(), sums.end(), -99.0f) == static_cast<std::ptrdiff_t>(3 * rows + 1));
        std::fill(sums.begin(), sums.end(), -99.0f);
    }
    return parts;
}

} // namespace

TEST_CASE("multiplier: as many threads as there is work and columns for")
{
    for (std::size_t const rows : {1u, 3u}) {
        CHECK(parts_of(1, 1, rows, 5, 3 * group) == 1);
        CHECK(parts_of(2, 1, rows, 5, 3 * group) == 2);
        CHECK(parts_of(5, 1, rows, 5, 3 * group) == 3);
        CHECK(parts_of(5, 1, rows, 5, 3 * group + 1) == 4);
        CHECK(parts_of(5, 1, rows, 5, group) == 1);
        CHECK(parts_of(5, 1, rows, 5, 1) == 1);
        std::size_t const products = rows * 5 * 3 * group;
        CHECK(parts_of(5, products + 1, rows, 5, 3 * group) == 1);
        CHECK(parts_of(5, products / 2, rows, 5, 3 * group) == 2);
        CHECK(parts_of(5, products / 2 + 1, rows, 5, 3 * group) == 1);
    }
}

TEST_CASE("multiplier: one thread where there are no products")
{
    CHECK(parts_of(3, 1, 2, 0, 3 * group) == 1);
    CHECK(parts_of(3, 1, 0, 5, 3 * group) == 1);
}

} // namespace kernel_cell_test
