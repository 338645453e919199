// What cells do to a row of units, whose padding is computed along: activations, clip, products, gates.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <xloom/detail/kernel/activations.hpp>

#include "support/special_numbers.hpp"

namespace kernel_units_test {

using namespace xloom;
using namespace xloom::kernel;

namespace {

/// A row of units in whole batches, f(j) each, with `padding` after them, and a mark after that.
template <class T, class F>
std::vector<T> row_of(std::size_t units, T padding, F const& f)
{
    std::vector<T> row(whole_batches<T>(units), padding);
    for (std::size_t j = 0; j < units; ++j)
        row[j] = f(static_cast<T>(static_cast<int>(j)));
    row.push_back(T(99));
    return row;
}

template <class T>
std::vector<std::size_t> every_count()
{
    return {1, batch_size<T>, batch_size<T> + 1, 2 * batch_size<T> - 1, 3 * batch_size<T> + 2};
}

/// The first units as f has them, and nothing written after the padding.
template <class T, class F>
void check_row(std::vector<T> const& row, std::size_t units, F const& f)
{
    for (std::size_t j = 0; j < units; ++j) {
        CAPTURE(j);
        CHECK(row[j] == f(static_cast<T>(static_cast<int>(j))));
    }
    CHECK(row.back() == 99);
}

} // namespace

TEST_CASE_TEMPLATE("activate_padded: any padding, softmax without it", T, float, double, long double)
{
    for (std::size_t const units : every_count<T>())
        for (T const padding : {T(0), T(50), not_a_number<T>, infinity<T>}) {
            auto row = row_of<T>(units, padding, [](T j) { return j - 2; });
            activate_padded({activation::relu}, row.data(), units);
            check_row<T>(row, units, [](T j) { return j < 2 ? T(0) : j - 2; });

            row = row_of<T>(units, padding, [](T) { return T(4); });
            activate_padded({activation::softmax}, row.data(), units);
            for (std::size_t j = 0; j < units; ++j)
                CHECK(row[j] == doctest::Approx(1.0 / static_cast<double>(units)).epsilon(1e-6));
            CHECK(row.back() == 99);
        }
}

TEST_CASE_TEMPLATE("clip_units: within the limit and at it, NaN stays NaN", T, float, double, long double)
{
    for (std::size_t const units : every_count<T>()) {
        auto row = row_of<T>(units, not_a_number<T>, [](T j) { return 3 - j; });
        clip_units<T>(2, row.data(), units);
        check_row<T>(row, units, [](T j) { return j < 1 ? T(2) : j > 5 ? T(-2) : 3 - j; });

        row[0] = not_a_number<T>;
        clip_units<T>(1, row.data(), units);
        CHECK(std::isnan(row[0]));
        row[0] = -infinity<T>;
        clip_units<T>(1, row.data(), units);
        CHECK(row[0] == -1);
    }
}

TEST_CASE_TEMPLATE("add_products and set_products, z among the factors", T, float, double, long double)
{
    for (std::size_t const units : every_count<T>()) {
        auto const a = row_of<T>(units, 1, [](T j) { return j + 1; }),
                   b = row_of<T>(units, 1, [](T j) { return 2 * j - 3; });
        auto z = row_of<T>(units, 1, [](T j) { return 10 * j; });
        add_products(a.data(), b.data(), z.data(), units);
        check_row<T>(z, units, [](T j) { return 10 * j + (j + 1) * (2 * j - 3); });
        set_products(a.data(), b.data(), z.data(), units);
        check_row<T>(z, units, [](T j) { return (j + 1) * (2 * j - 3); });
        z = b;
        set_products(a.data(), z.data(), z.data(), units);
        check_row<T>(z, units, [](T j) { return (j + 1) * (2 * j - 3); });
    }
}

TEST_CASE_TEMPLATE("for_each_batch begins at every batch once", T, float, double, long double)
{
    for (std::size_t const units : every_count<T>()) {
        std::vector<std::size_t> begins;
        for_each_batch<T>(units, [&](std::size_t j) { begins.push_back(j); });
        CHECK(begins.size() == whole_batches<T>(units) / batch_size<T>);
        for (std::size_t i = 0; i < begins.size(); ++i)
            CHECK(begins[i] == i * batch_size<T>);
    }
}

TEST_CASE_TEMPLATE(
    "a gate clips its sums, if it does, before it activates them", T, float, double, long double)
{
    for (std::size_t const units : every_count<T>()) {
        auto const sums = row_of<T>(units, 0, [](T j) { return j - 4; });
        auto z = sums;
        gate<T>{{activation::affine, 2, 1}, 3, true}(z.data(), units);
        check_row<T>(z, units, [](T j) { return 2 * (j < 1 ? T(-3) : j > 7 ? T(3) : j - 4) + 1; });
        z = sums;
        gate<T>{{activation::affine, 2, 1}, 3, false}(z.data(), units);
        check_row<T>(z, units, [](T j) { return 2 * (j - 4) + 1; });
    }
}

} // namespace kernel_units_test
