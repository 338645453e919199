// What the runner's tests do not see: repeated calls, results that do not depend on the layout, edges.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include <xloom_onnx/operators.hpp>

namespace ops = xloom_onnx;

TEST_CASE("an item has the same bits alone, in a row and at a stride")
{
    auto const f = [](auto x) { return ops::tanh(ops::exp(ops::mul(x, 0.1f))); };
    auto x = xt::xtensor<float, 2>::from_shape({5, 7});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = 0.37f * static_cast<float>(i) - 5;
    xt::xtensor<float, 2> row, strided;
    ops::map_into(f, x, row);
    xt::xtensor<float, 2> turned;
    ops::transpose_into(x, turned);
    ops::map_into([&](auto a, auto) { return f(a); }, turned, xt::xtensor<float, 2>({7, 1}, 1.0f), strided);
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 7; ++j) {
            CHECK(row(i, j) == f(x(i, j)));
            CHECK(strided(j, i) == row(i, j));
            CHECK(std::fabs(row(i, j) - std::tanh(std::exp(0.1 * x(i, j)))) < 1e-6);
        }
}

TEST_CASE("rows, columns and scalars are broadcast")
{
    auto x = xt::xtensor<float, 2>::from_shape({5, 19}); // more than a batch, and a part of one
    auto row = xt::xtensor<float, 1>::from_shape({19});
    auto column = xt::xtensor<float, 2>::from_shape({5, 1});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = static_cast<float>(i % 23);
    for (std::size_t j = 0; j < 19; ++j)
        row(j) = 100 * static_cast<float>(j);
    for (std::size_t i = 0; i < 5; ++i)
        column(i, 0) = 10000 * static_cast<float>(i);
    xt::xtensor<float, 2> y, outer;
    ops::map_into(ops::add, x, row, column, 0.5f, y);
    ops::map_into(ops::add, row, column, outer);
    auto n = xt::xtensor<std::int32_t, 2>::from_shape({5, 1});
    for (std::size_t i = 0; i < 5; ++i)
        n(i, 0) = static_cast<std::int32_t>(i);
    xt::xtensor<std::int32_t, 2> products;
    ops::map_into(ops::mul, n, xt::xtensor<std::int32_t, 1>{1, 2, 3}, products);
    for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 19; ++j) {
            CHECK(y(i, j) == x(i, j) + row(j) + column(i, 0) + 0.5f);
            CHECK(outer(i, j) == row(j) + column(i, 0));
        }
        CHECK(products(i, 2) == 3 * static_cast<std::int32_t>(i));
    }
}

TEST_CASE("an output of the right size keeps its memory")
{
    xt::xtensor<float, 2> const x({4, 6}, 1.0f);
    xt::xtensor<float, 2> y;
    ops::softmax_into(x, y);
    float const* const memory = y.data();
    ops::map_into(ops::add, x, 1.0f, y);
    ops::transpose_into(x, {0, 1}, y);
    CHECK(y.data() == memory);
    ops::workspace space;
    ops::packed_conv<float> const layer(xt::xtensor<float, 3>({8, 2, 3}, 1.0f), {.pads = {1, 1}});
    xt::xtensor<float, 3> const signal({1, 2, 9}, 1.0f);
    xt::xtensor<float, 3> features;
    layer(signal, features, space);
    auto const bytes = space.bytes();
    float const* const before = features.data();
    layer(signal, features, space);
    CHECK(space.bytes() == bytes);
    CHECK(features.data() == before);
    CHECK(features(0, 0, 0) == 4); // two of three items are no padding, in two channels
    CHECK(features(0, 7, 4) == 6);
}

TEST_CASE("exp has subnormal results, and is infinite where they are")
{
    CHECK(ops::exp(-100.0f) == doctest::Approx(3.78e-44).epsilon(0.02));
    CHECK(ops::exp(88.5f) == doctest::Approx(std::exp(88.5)));
    CHECK(std::isinf(ops::exp(89.0f)));
    CHECK(ops::exp(-std::numeric_limits<double>::infinity()) == 0);
    CHECK(std::isnan(ops::exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("rank 0, no items, and shapes that do not fit")
{
    float sum = 0;
    ops::reduce_into(ops::reduce_sum, xt::xtensor<float, 1>({3}, 2.0f), sum, {.keepdims = false});
    CHECK(sum == 6);
    xt::xtensor<float, 2> y;
    ops::map_into(ops::add, xt::xtensor<float, 2>::from_shape({0, 3}), xt::xtensor<float, 1>({3}, 1.0f), y);
    CHECK(y.shape(0) == 0);
    xt::xtensor<float, 1> const two({2}, 1.0f), three({3}, 1.0f);
    xt::xtensor<float, 1> z;
    CHECK_THROWS_AS(ops::map_into(ops::add, two, three, z), xloom::shape_error);
    CHECK_THROWS_AS(ops::gather_into(two, std::int64_t{2}, sum), xloom::index_error);
    CHECK_THROWS_AS(ops::slice_into(two, z, {.starts = {0}, .ends = {1}, .steps = {0}}), xloom::option_error);
}
