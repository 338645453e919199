// Packed matrices in other storages than that which computes: edges that few weights have.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/pack_matrix.hpp>

namespace kernel_pack_matrix_test {

using namespace xloom;
using namespace xloom::kernel;

namespace {

constexpr float untouched = 7;

/// A matrix [depth, columns] in a storage, in memory of the size that an arena counts; none past its end
/// is written.
struct packed {
    std::vector<float> memory{};
    stored_matrix<float> all{};

    packed(std::vector<float> const& items, std::size_t depth, std::size_t columns, weight_storage storage)
    {
        matrix_parts<float> const parts(
            {items.data(), static_cast<std::ptrdiff_t>(columns), 1}, depth, columns);
        arena<float> size;
        pack_matrix(parts, storage, size);
        memory.assign(size.used() + 16, untouched);
        arena<float> taken(memory.data());
        all = pack_matrix(parts, storage, taken);
        CHECK(taken.used() == size.used());
        CHECK(std::count(memory.end() - 16, memory.end(), untouched) == 16);
    }

    /// Returns 5 + the products of rows without gaps.
    std::vector<float> product(std::vector<float> const& a, std::size_t rows) const
    {
        std::size_t const stride = whole_batches<float>(all.columns);
        std::vector<float> const start(stride, 5.0f);
        std::vector<float> sums(rows * stride);
        multiply<float>(rows, {a.data(), all.depth}, all, {start.data(), 0}, {sums.data(), stride});
        for (std::size_t r = rows; r-- > 0;)
            sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(r * stride + all.columns),
                sums.begin() + static_cast<std::ptrdiff_t>((r + 1) * stride));
        return sums;
    }
};

} // namespace

TEST_CASE("pack_matrix without blocks of zeros: of a matrix of zeros there are no blocks")
{
    // Up to as many lists as fill whole cache lines.
    for (std::size_t depth = 0; depth <= 20; ++depth) {
        CAPTURE(depth);
        for (weight_storage const storage :
            {weight_storage::block_sparse, weight_storage::block_sparse_int8}) {
            packed const zeros(std::vector<float>(depth * 8), depth, 8, storage);
            CHECK(!zeros.all.is_full());
            CHECK(zeros.product(std::vector<float>(2 * depth, 3.0f), 2) == std::vector<float>(16, 5.0f));
        }
    }
}

TEST_CASE("pack_matrix without blocks of zeros: a row ends with its last number")
{
    // Rows of 5 numbers, which end in the middle of a block; the next row begins with NaN.
    std::vector<float> items(5 * 16);
    for (std::size_t k = 0; k < 5; ++k)
        items[k * 16] = static_cast<float>(k + 1);
    std::vector<float> a(10, 1.0f);
    a[5] = std::numeric_limits<float>::quiet_NaN();
    packed const matrix(items, 5, 16, weight_storage::block_sparse);
    REQUIRE(!matrix.all.is_full());
    CHECK(matrix.product(a, 2)[0] == 5 + 15);
    CHECK(matrix.product(a, 1)[0] == 5 + 15);
}

TEST_CASE("pack_matrix in int8: a column of zeros is zeros, however large the row is")
{
    constexpr float largest = std::numeric_limits<float>::max();
    packed const matrix({0, 1, 0, 1}, 2, 2, weight_storage::int8);
    for (std::size_t const rows : {1u, 2u})
        for (std::size_t r = 0; r < rows; ++r) {
            auto const sums = matrix.product(std::vector<float>(2 * rows, largest), rows);
            CHECK(sums[2 * r] == 5);
            CHECK(sums[2 * r + 1] == std::numeric_limits<float>::infinity());
        }
}

} // namespace kernel_pack_matrix_test
