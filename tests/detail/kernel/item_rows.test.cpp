// Copies of strided matrices.

#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/detail/core/cast.hpp>
#include <xloom/detail/kernel/column_copy.hpp>
#include <xloom/detail/kernel/item_rows.hpp>

namespace item_rows_test {

namespace {

using sizes = std::initializer_list<std::size_t>;

/// A matrix that is row-major, column-major, or with gaps in both directions, in memory of its own.
template <class Item>
struct matrix {
    std::vector<Item> memory;
    std::ptrdiff_t row, column;

    matrix(std::size_t rows, std::size_t columns, int layout)
        : memory(4 * rows * columns + 1),
          row(layout == 0   ? static_cast<std::ptrdiff_t>(columns)
              : layout == 1 ? 1
                            : 3),
          column(layout == 0   ? 1
                 : layout == 1 ? static_cast<std::ptrdiff_t>(rows)
                               : 3 * static_cast<std::ptrdiff_t>(rows))
    {}
    xloom::kernel::item_rows<Item> items() { return {memory.data(), row, column}; }
};

template <class From, class To>
void check_copies(std::size_t rows, std::size_t columns)
{
    for (int const from_layout : {0, 1, 2})
        for (int const to_layout : {0, 1, 2}) {
            matrix<From> from(rows, columns, from_layout);
            if (from_layout == 2)
                from.memory.resize(3 * rows * columns + 1);
            matrix<To> to(rows, columns, to_layout);
            for (std::size_t i = 0; i < from.memory.size(); ++i)
                from.memory[i] = static_cast<From>(static_cast<float>(i % 251));
            xloom::kernel::copy_matrix(from.items(), to.items(), rows, columns);
            std::vector<To> expected(to.memory.size());
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j)
                    expected[static_cast<std::size_t>(to.items().at(i, j) - to.memory.data())] =
                        static_cast<To>(*from.items().at(i, j));
            REQUIRE(to.memory == expected);
        }
}

} // namespace

TEST_CASE("copy_matrix: items of one type or of two, in any layout, of few rows and of many")
{
    for (std::size_t const rows : sizes{0, 1, 2, 3, 4, 5, 8, 17})
        for (std::size_t const columns : sizes{0, 1, 2, 3, 4, 5, 16, 67}) {
            check_copies<float, float>(rows, columns);
            check_copies<double, double>(rows, columns);
            check_copies<xloom::float16, float>(rows, columns);
            check_copies<float, xloom::float16>(rows, columns);
        }
}

/// Row-major, column-major, every other item of a row or of a column, and one row or one item for all.
struct layout {
    std::ptrdiff_t row, column;
};
constexpr layout layouts[] = {{40, 1}, {1, 40}, {80, 2}, {2, 80}, {0, 1}, {1, 0}, {0, 0}};

template <class Copy>
void check_layouts(Copy const& copy)
{
    constexpr std::size_t rows = 20, columns = 19;
    std::vector<float> items(4000);
    std::iota(items.begin(), items.end(), 0.0f);
    for (layout const& source : layouts)
        for (layout const& target : layouts) {
            if (target.row == 0 || target.column == 0)
                continue; // several items would be one
            xloom::kernel::item_rows<float const> const from{items.data(), source.row, source.column};
            std::vector<float> copied(4000), expected(4000);
            xloom::kernel::item_rows<float> const to{copied.data(), target.row, target.column};
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j)
                    expected[static_cast<std::size_t>(to.at(i, j) - copied.data())] = *from.at(i, j);
            copy(from, to, rows, columns);
            CAPTURE(source.column);
            CAPTURE(target.column);
            CHECK(copied == expected);
        }
}

TEST_CASE("copies of matrices, also by blocks, from any layout to any other")
{
    using source = xloom::kernel::item_rows<float const>;
    using target = xloom::kernel::item_rows<float>;
    check_layouts([](source const& from, target const& to, std::size_t rows, std::size_t columns) {
        xloom::kernel::copy_matrix(from, to, rows, columns);
    });
    check_layouts([](source const& from, target const& to, std::size_t rows, std::size_t columns) {
        xloom::kernel::pack_columns(from, to, rows, columns);
    });
    check_layouts([](source const& from, target const& to, std::size_t rows, std::size_t columns) {
        xloom::kernel::unpack_columns(from, to, rows, columns);
    });
}

TEST_CASE_TEMPLATE("channels of a row, contiguous or not, are loaded and stored", Item, float, xloom::float16)
{
    constexpr std::size_t most = xloom::kernel::batch_size<float>;
    std::vector<Item> items;
    for (std::size_t i = 0; i < 4 * most; ++i)
        items.push_back(static_cast<Item>(static_cast<float>(i)));
    for (std::size_t stride = 0; stride < 3; ++stride)
        for (std::size_t count = 1; count <= most; ++count) {
            CAPTURE(stride);
            CAPTURE(count);
            auto const column = static_cast<std::ptrdiff_t>(stride);
            xloom::kernel::item_rows<Item const> const from{items.data(), 1, column};
            auto const batch = xloom::kernel::load_channels<float>(from, 1, 1, count);
            std::vector<float> loaded(most), expected(most);
            xloom::kernel::store_batch(loaded.data(), batch);
            for (std::size_t c = 0; c < count; ++c)
                expected[c] = static_cast<float>(1 + (1 + c) * stride);
            CHECK(loaded == expected);
            if (stride == 0)
                continue;
            std::vector<Item> stored(items.size()), expected_items(items.size());
            xloom::kernel::item_rows<Item> const to{stored.data(), 1, column};
            xloom::kernel::store_channels<float>(batch, to, 1, 1, count);
            for (std::size_t c = 0; c < count; ++c)
                expected_items[1 + (1 + c) * stride] = static_cast<Item>(expected[c]);
            CHECK(stored == expected_items);
        }
}

TEST_CASE("item_rows: parts and transpositions, also of an omitted matrix")
{
    std::vector<int> const items = {0, 1, 2, 3, 4, 5};
    xloom::kernel::item_rows<int const> const all{items.data(), 3, 1};
    CHECK(*all.from_column(1).at(1, 0) == 4);
    CHECK(*all.from_row(1).at(0, 2) == 5);
    CHECK(*all.transposed().at(2, 1) == 5);
    xloom::kernel::item_rows<int const> const omitted{};
    CHECK(omitted.from_column(1).first == nullptr);
    CHECK(omitted.from_row(1).first == nullptr);
    CHECK(omitted.transposed().first == nullptr);
}

} // namespace item_rows_test
