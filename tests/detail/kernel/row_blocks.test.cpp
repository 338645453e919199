// Rows of a product: how they are cut into blocks.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include <xloom/detail/kernel/panels.hpp>

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

TEST_CASE("with_few: the number as a constant if it is one of a few")
{
    for (std::size_t count = 0; count <= 6; ++count) {
        CAPTURE(count);
        std::size_t found = 0;
        bool const is_called = with_few<2, 4>(count, [&](auto constant) {
            static_assert(constant >= 2 && constant <= 4);
            found += constant;
        });
        CHECK(is_called == (count >= 2 && count <= 4));
        CHECK(found == (is_called ? count : 0));
    }
}

} // namespace kernel_row_blocks_test
