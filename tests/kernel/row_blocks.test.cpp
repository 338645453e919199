// Rows of a product: how they are cut into blocks, and where their numbers go.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <xloom/kernel/row_blocks.hpp>

namespace kernel_row_blocks_test {

using namespace xloom::kernel;

TEST_CASE("blocks: as few as there can be, of nearly one size")
{
    static_assert(blocks{0, 4}.count() == 0 && blocks{1, 4}.count() == 1 && blocks{4, 4}.count() == 1 &&
                  blocks{5, 4}.count() == 2);
    static_assert(blocks{5, 4}.begin(0) == 0 && blocks{5, 4}.begin(1) == 3 && blocks{5, 4}.begin(2) == 5);
    constexpr blocks many{std::size_t(-1) / 2, 4};
    static_assert(many.begin(many.count() - 1) == many.length - 3 && many.begin(many.count()) == many.length);
    for (std::size_t const most : std::initializer_list<std::size_t>{1, 2, 3, 4, 6})
        for (std::size_t length = 1; length < 50; ++length) {
            blocks const parts{length, most};
            std::size_t smallest = length, largest = 0;
            for (std::size_t i = 0; i < parts.count(); ++i) {
                std::size_t const size = parts.begin(i + 1) - parts.begin(i);
                smallest = std::min(smallest, size);
                largest = std::max(largest, size);
            }
            CAPTURE(length);
            CAPTURE(most);
            CHECK(parts.begin(0) == 0);
            CHECK(parts.begin(parts.count()) == length);
            CHECK(largest <= most);
            CHECK(largest - smallest <= 1);
            CHECK((parts.count() - 1) * most < length); // one block less would not do
            if (most >= 3 && length >= 2)
                CHECK(smallest >= 2);
        }
}

TEST_CASE("with_count: the number as a constant")
{
    for (std::size_t count = 2; count <= 5; ++count) {
        std::size_t found = 0;
        with_count<2, 5>(count, [&](auto constant) {
            static_assert(constant >= 2 && constant <= 5);
            found += constant;
        });
        CHECK(found == count);
    }
}

TEST_CASE_TEMPLATE("interleave: number k of all rows of a block side by side", T, float, double, long double)
{
    for (std::size_t rows = 2; rows < 20; ++rows)
        for (std::size_t const depth : std::initializer_list<std::size_t>{0, 1, 3, 17}) {
            std::size_t const step = depth + 2;
            std::vector<T> from(rows * step), to(rows * depth + 1, T(-1));
            for (std::size_t i = 0; i < from.size(); ++i)
                from[i] = static_cast<T>(i);
            CHECK(interleave(rows, {from.data(), step}, depth, to.data()).first == to.data());
            std::vector<T> expected;
            blocks const parts{rows, block_rows<T>};
            for (std::size_t part = 0; part < parts.count(); ++part)
                for (std::size_t k = 0; k < depth; ++k)
                    for (std::size_t r = parts.begin(part); r < parts.begin(part + 1); ++r)
                        expected.push_back(static_cast<T>(r * step + k));
            expected.push_back(T(-1));
            CHECK(to == expected);
        }
}

TEST_CASE("interleave leaves a single row where it is, and of none it makes nothing")
{
    float const row[] = {1, 2, 3};
    float to = 7;
    CHECK(interleave(1, {row, 0}, 3, &to).first == row);
    CHECK(interleave(0, {row, 3}, 3, &to).first == &to);
    CHECK(to == 7);
}

} // namespace kernel_row_blocks_test
