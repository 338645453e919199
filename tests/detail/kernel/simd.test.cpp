// Sums of batches.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include <xloom/detail/kernel/simd.hpp>

namespace {

TEST_CASE_TEMPLATE("sums_of: the sum of each batch, in their order", T, float, double)
{
    constexpr std::size_t count = xloom::kernel::batch_size<T>;
    std::array<T, count * count> batches{};
    std::array<T, count> expected{}, found{};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j) {
            batches[i * count + j] = static_cast<T>(100 * i + j * j); // whole numbers: sums are exact
            expected[i] += batches[i * count + j];
        }
    xloom::kernel::store_batch<T>(found.data(), xloom::kernel::sums_of(batches.data()));
    CHECK(found == expected);
}

} // namespace
