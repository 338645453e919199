// Packed matrices: where each number goes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/panels.hpp>

namespace kernel_panels_test {

using namespace xloom::kernel;

namespace {

template <class T>
constexpr std::size_t width = panel_width<T>;

/// The offset of item (k, j) of panels of this depth and number of columns.
template <class T>
std::size_t place_of(std::size_t k, std::size_t j, std::size_t depth, std::size_t columns)
{
    std::size_t const panel = j / width<T> * width<T>,
                      all = (columns + batch_size<T> - 1) / batch_size<T> * batch_size<T>;
    return panel * depth + k * std::min(width<T>, all - panel) + (j - panel);
}

} // namespace

TEST_CASE_TEMPLATE("panels: sizes", T, float, double)
{
    static_assert(width<T> % batch_size<T> == 0);
    constexpr std::size_t batch = batch_size<T>;
    static_assert(panel_items<T>(3, width<T> + 1) == 3 * (width<T> + batch) && panel_items<T>(0, 5) == 0 &&
                  panel_items<T>(5, 0) == 0);
    static_assert(columns_of_panel<T>(0, 5 * width<T>) == width<T> &&
                  columns_of_panel<T>(4 * width<T>, 5 * width<T>) == width<T>);
    static_assert(columns_of_panel<T>(0, 1) == batch &&
                  columns_of_panel<T>(width<T>, width<T> + batch + 1) == 2 * batch);
    CHECK(
        row_stride<T>(3 * width<T> - batch + 1) == 3 * width<T> + xloom::detail::elements_per_cache_line<T>);
    CHECK(
        row_stride<T>(3 * width<T> + 1) == 3 * width<T> + batch + xloom::detail::elements_per_cache_line<T>);
}

TEST_CASE_TEMPLATE("pack_panels puts every item in its place, and touches no other", T, float, double)
{
    // 20 rows: more than are read at once. Into columns that begin and end anywhere, rows that begin at the
    // third.
    std::size_t const rows = 20, depth = 25, columns = 2 * width<T> + 3;
    std::vector<int> numbers(rows * columns);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<int>(i) + 1;
    for (bool const is_across : {false, true}) // items contiguous along a row, or along a column
        for (std::size_t const first_column : {std::size_t{0}, std::size_t{1}, width<T> - 1, width<T>}) {
            std::vector<T> packed(panel_items<T>(depth, first_column + columns), T(-1)), expected = packed;
            auto const row_stride = static_cast<std::ptrdiff_t>(columns),
                       column_stride = static_cast<std::ptrdiff_t>(rows);
            pack_panels<T, int>(is_across ? strided_matrix<int>{numbers.data(), 1, column_stride}
                                          : strided_matrix<int>{numbers.data(), row_stride, 1},
                rows, columns, {packed.data(), depth, first_column + columns}, 3, first_column);
            for (std::size_t k = 0; k < rows; ++k)
                for (std::size_t j = 0; j < columns; ++j)
                    expected[place_of<T>(3 + k, first_column + j, depth, first_column + columns)] =
                        static_cast<T>(numbers[is_across ? j * rows + k : k * columns + j]);
            CHECK(packed == expected);
        }
}

TEST_CASE("pack_panels leaves numbers out, or takes one again")
{
    double const numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (std::ptrdiff_t const column_stride : {2, 0}) {
        std::vector<float> packed(panel_items<float>(2, 2));
        pack_panels<float, double>({numbers, 4, column_stride}, 2, 2, {packed.data(), 2, 2});
        for (std::size_t k = 0; k < 2; ++k)
            for (std::size_t j = 0; j < 2; ++j)
                CHECK(packed[place_of<float>(k, j, 2, 2)] ==
                      static_cast<float>(1 + 4 * k + j * static_cast<std::size_t>(column_stride)));
    }
}

TEST_CASE("pack_panels walks backwards, too")
{
    double const numbers[] = {1, 2, 3, 4, 5, 6};
    std::vector<float> packed(panel_items<float>(2, 3));
    pack_panels<float, double>({numbers + 5, -3, -1}, 2, 3, {packed.data(), 2, 3});
    for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t j = 0; j < 3; ++j)
            CHECK(packed[place_of<float>(k, j, 2, 3)] == static_cast<float>(6 - 3 * k - j));
}

} // namespace kernel_panels_test
