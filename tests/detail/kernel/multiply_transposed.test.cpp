// Products of two changing matrices: sums against more digits, and bits that depend on the order of the rows
// alone.

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include <xloom/detail/kernel/cell_backward.hpp>

#include "support/larger_error.hpp"

namespace kernel_multiply_transposed_test {

using namespace xloom::kernel;

namespace {

template <class T>
std::vector<T> random_numbers(std::mt19937& random, std::size_t count)
{
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<T> numbers(count + 1); // a null pointer takes no steps
    for (T& number : numbers)
        number = static_cast<T>(draw(random));
    return numbers;
}

/// a [depth, columns] with gaps of NaN between its rows, b [depth, width] packed, start [columns, ..].
template <class T>
struct product {
    std::size_t depth, columns, width;
    std::mt19937 random{1};
    std::size_t stride = columns + 3, sums_stride = whole_batches<T>(width) + 5;
    std::vector<T> a = random_numbers<T>(random, depth* stride), b = random_numbers<T>(random, depth* width),
                   start = random_numbers<T>(random, columns* sums_stride);
    std::vector<T> packed = std::vector<T>(panel_items<T>(depth, width) + 1);

    product(std::size_t depth_, std::size_t columns_, std::size_t width_)
        : depth(depth_), columns(columns_), width(width_)
    {
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t j = columns; j < stride; ++j)
                a[k * stride + j] = std::numeric_limits<T>::quiet_NaN();
        pack_panels<T, T>(
            {b.data(), static_cast<std::ptrdiff_t>(width), 1}, depth, width, {packed.data(), depth, width});
    }

    /// The sums of columns [first, first + count).
    std::vector<T> sums(std::size_t first, std::size_t count) const
    {
        std::vector<T> result(count * sums_stride, T(7)), pack(pack_items<T>(depth, count) + 1);
        row_span<T const> const starts{start.data() + first * sums_stride, sums_stride};
        row_span<T> const of_all{result.data(), sums_stride};
        for_each_pack<T>(count, {a.data() + first, stride}, depth, pack.data(),
            [&](std::size_t begin, std::size_t rows, auto const& from) {
                multiply<T>(rows, from, panels<T>{packed.data(), depth, width}, starts.from(begin),
                    of_all.from(begin));
            });
        return result;
    }
};

} // namespace

TEST_CASE_TEMPLATE("for_each_pack: start + transpose(a) b", T, float, double, long double)
{
    for (std::size_t const depth : std::initializer_list<std::size_t>{0, 1, 5, 129, 300})
        for (std::size_t const columns :
            std::initializer_list<std::size_t>{0, 1, 2, block_rows<T>, block_rows<T> + 1,
                columns_per_pack<T> - 1, columns_per_pack<T> + 1, 2 * columns_per_pack<T> + 7})
            for (std::size_t const width :
                {std::size_t{1}, panel_width<T>, panel_width<T> + batch_size<T> + 1}) {
                if (depth * columns * width > 300'000)
                    continue;
                product<T> const each(depth, columns, width);
                CAPTURE(depth);
                CAPTURE(columns);
                CAPTURE(width);
                auto const found = each.sums(0, columns);
                long double largest = 0;
                for (std::size_t r = 0; r < columns; ++r)
                    for (std::size_t j = 0; j < width; ++j) {
                        long double expected = each.start[r * each.sums_stride + j];
                        for (std::size_t k = 0; k < depth; ++k)
                            expected += static_cast<long double>(each.a[k * each.stride + r]) *
                                        static_cast<long double>(each.b[k * width + j]);
                        largest = larger_error(largest,
                            std::fabs(expected - static_cast<long double>(found[r * each.sums_stride + j])));
                    }
                CHECK(largest <= std::numeric_limits<T>::epsilon() * (2 + static_cast<long double>(depth)));
                for (std::size_t i = 0; i < found.size(); ++i)
                    if (i % each.sums_stride >= whole_batches<T>(width))
                        REQUIRE(found[i] == 7);
            }
}

TEST_CASE_TEMPLATE("for_each_pack: the bits of a column do not depend on the others", T, float, double)
{
    std::size_t const columns = columns_per_pack<T> + 9;
    product<T> const each(200, columns, panel_width<T> + 1);
    auto const all = each.sums(0, columns);
    for (std::size_t const begin : {std::size_t{0}, std::size_t{1}, columns / 2, columns - 1})
        for (std::size_t const count : {std::size_t{1}, std::size_t{5}, columns / 3}) {
            if (begin + count > columns)
                continue;
            auto const some = each.sums(begin, count);
            bool is_same = true;
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t j = 0; j < each.width; ++j)
                    is_same =
                        is_same && some[r * each.sums_stride + j] == all[(begin + r) * each.sums_stride + j];
            CHECK(is_same);
        }
}

} // namespace kernel_multiply_transposed_test
