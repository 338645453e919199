// Products with packed matrices, with any number of rows, and that a row's bits depend on nothing but the
// row.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/multiply.hpp>

#include "support/larger_error.hpp"

namespace kernel_multiply_test {

using namespace xloom::kernel;

namespace {

template <class T>
constexpr std::size_t width = panel_width<T>;

/// Numbers for a matrix, and one more: a null pointer takes no steps.
template <class T>
std::vector<T> random_numbers(std::mt19937& random, std::size_t rows, std::size_t columns)
{
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<T> numbers(rows * columns + 1);
    for (T& number : numbers)
        number = static_cast<T>(draw(random));
    return numbers;
}

/// A product: a [rows, depth] with gaps of NaN between its rows, b [depth, columns] packed, start [rows,
/// whole batches] or one row.
template <class T>
struct product {
    std::size_t rows, depth, columns;
    std::mt19937 random{1};
    std::size_t stride = depth + 3, sums_stride = whole_batches<T>(columns) + 5;
    std::vector<T> a = random_numbers<T>(random, rows, stride), b = random_numbers<T>(random, depth, columns);
    std::vector<T> start = random_numbers<T>(random, rows, sums_stride);
    std::vector<T> packed = std::vector<T>(panel_items<T>(depth, columns) + 1);

    product(std::size_t rows_, std::size_t depth_, std::size_t columns_)
        : rows(rows_), depth(depth_), columns(columns_)
    {
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t k = depth; k < stride; ++k)
                a[r * stride + k] = std::numeric_limits<T>::quiet_NaN();
        pack();
    }

    void pack()
    {
        pack_panels<T, T>({b.data(), static_cast<std::ptrdiff_t>(columns), 1}, depth, columns,
            {packed.data(), depth, columns});
    }

    panels<T> b_panels() const { return {packed.data(), depth, columns}; }

    std::vector<T> sums(bool has_one_start = false, panel_order order = panel_order::forwards) const
    {
        std::vector<T> result(rows * sums_stride, T(7));
        multiply<T>(rows, {a.data(), stride}, b_panels(), {start.data(), has_one_start ? 0 : sums_stride},
            {result.data(), sums_stride}, order);
        return result;
    }

    /// The largest difference from sums in more digits.
    long double error_of(std::vector<T> const& found, bool has_one_start = false) const
    {
        long double largest = 0;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t j = 0; j < columns; ++j) {
                long double expected = start[(has_one_start ? 0 : r * sums_stride) + j];
                for (std::size_t k = 0; k < depth; ++k)
                    expected += static_cast<long double>(a[r * stride + k]) *
                                static_cast<long double>(b[k * columns + j]);
                largest = larger_error(
                    largest, std::fabs(expected - static_cast<long double>(found[r * sums_stride + j])));
            }
        return largest;
    }
};

template <class T>
bool have_same_bits(T const* a, T const* b, std::size_t count)
{
    return std::memcmp(a, b, count * sizeof(T)) == 0;
}

template <class T>
std::vector<std::size_t> some_columns()
{
    return {1, width<T> - 1, width<T>, width<T> + 1, 3 * width<T> + batch_size<T> + 1, 9 * width<T>,
        10 * width<T> + 1};
}

} // namespace

TEST_CASE_TEMPLATE(
    "multiply: start + a b for any number of rows, products and columns", T, float, double, long double)
{
    for (std::size_t const rows : std::initializer_list<std::size_t>{0, 1, 2, 3, 5, 6, 7, 11, 12, 13})
        for (std::size_t const depth : std::initializer_list<std::size_t>{0, 1, 2, 7, 127, 128, 129, 300})
            for (std::size_t const columns : some_columns<T>()) {
                if (rows * depth * columns > 60'000)
                    continue;
                product<T> const each(rows, depth, columns);
                CAPTURE(rows);
                CAPTURE(depth);
                CAPTURE(columns);
                auto const sums = each.sums();
                long double const bound =
                    std::numeric_limits<T>::epsilon() * (2 + static_cast<long double>(depth));
                CHECK(each.error_of(sums) <= bound);
                for (std::size_t i = 0; i < sums.size(); ++i)
                    if (i % each.sums_stride >= whole_batches<T>(columns))
                        REQUIRE(sums[i] == 7);

                CHECK(each.sums(false, panel_order::backwards) == sums);
                std::vector<T> in_place = each.start;
                multiply<T>(rows, {each.a.data(), each.stride}, each.b_panels(),
                    {in_place.data(), each.sums_stride}, {in_place.data(), each.sums_stride});
                if (rows != 0) {
                    CHECK(each.error_of(each.sums(true), true) <= bound);
                    for (std::size_t r = 0; r < rows; ++r)
                        CHECK(std::equal(&sums[r * each.sums_stride], &sums[r * each.sums_stride] + columns,
                            &in_place[r * each.sums_stride]));
                }
            }
}

TEST_CASE_TEMPLATE("multiply: a sum is made of chains of 128 products", T, float, double)
{
    // Among 1s, which vanish beside it one by one, but not two at once: the chain of the large number, the
    // first of two, ends with the 128th.
    T const large = std::ldexp(T(1), std::numeric_limits<T>::digits);
    product<T> one(1, 130, 1);
    std::fill(one.a.begin(), one.a.end(), T(1));
    std::fill(one.b.begin(), one.b.end(), T(0));
    one.b[0] = large;
    one.b[127] = one.b[128] = one.b[129] = T(1);
    one.start[0] = T(0);
    one.pack();
    CHECK(one.sums()[0] == large + 2);
}

TEST_CASE_TEMPLATE(
    "multiply: the bits of a row are the row's alone, those of a column the column's", T, float, double)
{
    for (std::size_t const depth : std::initializer_list<std::size_t>{1, 33, 128, 200}) {
        product<T> const all(13, depth, 9 * width<T> + 1);
        auto const sums = all.sums();
        for (std::size_t rows = 1; rows < 13; ++rows)
            for (std::size_t first = 0; first + rows <= 13; ++first) {
                std::vector<T> some(rows * all.sums_stride);
                multiply<T>(rows, {&all.a[first * all.stride], all.stride}, all.b_panels(),
                    {&all.start[first * all.sums_stride], all.sums_stride}, {some.data(), all.sums_stride});
                for (std::size_t r = 0; r < rows; ++r)
                    REQUIRE(have_same_bits(
                        &some[r * all.sums_stride], &sums[(first + r) * all.sums_stride], all.columns));
            }
        // One panel of the matrix alone.
        for (std::size_t const rows : std::initializer_list<std::size_t>{1, 7}) {
            std::vector<T> some(rows * width<T>);
            multiply<T>(rows, {all.a.data(), all.stride},
                panels<T>{&all.packed[4 * width<T> * depth], depth, width<T>},
                {&all.start[4 * width<T>], all.sums_stride}, {some.data(), width<T>});
            for (std::size_t r = 0; r < rows; ++r)
                CHECK(
                    have_same_bits(&some[r * width<T>], &sums[r * all.sums_stride + 4 * width<T>], width<T>));
        }
    }
}

TEST_CASE_TEMPLATE("prefetch_slice: the last blocks have the whole panel fetched, and nothing else", T, float,
    double, long double)
{
    constexpr std::size_t depth = 12, line = xloom::detail::elements_per_cache_line<T>,
                          most = width<T> % 4 == 0 ? 4 : 2;
    std::vector<T> const panel(depth * width<T>);
    for (std::size_t blocks = 1; blocks < 40; ++blocks) {
        std::vector<bool> is_fetched((panel.size() + line - 1) / line);
        for (std::size_t block = 0; block < blocks; ++block) {
            auto const slice = xloom::kernel::detail::prefetch_slice(panel.data(), depth, block, blocks);
            CHECK(slice.has_value() == (block + (blocks >= 4 ? most : blocks >= 2 ? 2 : 1) >= blocks));
            for (std::size_t k = 0; slice && k < depth; ++k) {
                auto const place = static_cast<std::size_t>(slice->first - panel.data()) + k * slice->stride;
                REQUIRE(place < panel.size());
                is_fetched[place / line] = true;
            }
        }
        // A line with each product is the most: fewer blocks than lines in a row leave the rest to the
        // processor.
        if (blocks >= 4 || width<T> <= line)
            CHECK(std::find(is_fetched.begin(), is_fetched.end(), false) == is_fetched.end());
    }
}

TEST_CASE_TEMPLATE("multiply: a matrix larger than a core's own cache", T, float, double)
{
    std::size_t const depth = 130, columns = xloom::tuning::l2_cache_size / sizeof(T) / depth + 1;
    for (std::size_t const rows : std::initializer_list<std::size_t>{2, 19}) {
        product<T> const all(rows, depth, columns);
        auto const sums = all.sums();
        CHECK(
            all.error_of(sums) <= std::numeric_limits<T>::epsilon() * (2 + static_cast<long double>(depth)));
        CHECK(all.sums(false, panel_order::backwards) == sums);
        for (std::size_t r = 0; r < rows; ++r) {
            std::vector<T> alone(all.sums_stride);
            multiply<T>(1, {&all.a[r * all.stride], 0}, all.b_panels(), {&all.start[r * all.sums_stride], 0},
                {alone.data(), 0});
            CHECK(have_same_bits(alone.data(), &sums[r * all.sums_stride], columns));
        }
    }
}

TEST_CASE("multiply: NaN and infinity stay in their row and column")
{
    product<float> one(3, 5, 20);
    one.a[one.stride + 2] = std::numeric_limits<float>::quiet_NaN();     // row 1
    one.b[3 * one.columns + 7] = std::numeric_limits<float>::infinity(); // column 7
    one.pack();
    auto const sums = one.sums();
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t j = 0; j < 20; ++j) {
            CAPTURE(r);
            CAPTURE(j);
            CHECK(std::isnan(sums[r * one.sums_stride + j]) == (r == 1));
            CHECK(std::isinf(sums[r * one.sums_stride + j]) == (r != 1 && j == 7));
        }
}

TEST_CASE("multiply: the order of panels turns with every step")
{
    static_assert(order_of_step(0) == panel_order::forwards && order_of_step(1) == panel_order::backwards);
    static_assert(order_of_step(2) == panel_order::forwards);
    CHECK(order_of_step(7) == panel_order::backwards);
}

} // namespace kernel_multiply_test
