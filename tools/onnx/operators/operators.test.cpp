// What the runner's tests do not see: repeated calls, results that do not depend on the layout, edges.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include <xloom_onnx/model/check_input.hpp>
#include <xloom_onnx/model/growing_stack.hpp>
#include <xloom_onnx/model/reshaped.hpp>
#include <xloom_onnx/model/trailing_axes.hpp>
#include <xloom_onnx/model/trip_count.hpp>
#include <xloom_onnx/operators.hpp>

#include "support/larger_error.hpp"

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

TEST_CASE("each operand is contiguous along a row, or one item, in every combination")
{
    std::vector<xloom::shape> const all{{3, 5, 19}, {5, 19}, {3, 1, 19}, {3, 5, 1}, {1}, {3, 1, 1}};
    std::array<std::vector<float>, 4> items;
    for (std::size_t k = 0; k < items.size(); ++k)
        for (std::size_t i = 0; i < 3 * 5 * 19; ++i)
            items[k].push_back(static_cast<float>((i * (k + 3)) % 101));
    auto const view = [&](std::size_t k, std::size_t shape) {
        return ops::tensor_view<float const>(items[k].data(), all[shape]);
    };
    auto const item = [&](std::size_t k, std::size_t shape, std::size_t at) {
        auto const strides = ops::broadcast_strides(all[shape], all[0]);
        std::size_t const i = at / 95 * static_cast<std::size_t>(strides[0]) +
                              at / 19 % 5 * static_cast<std::size_t>(strides[1]) +
                              at % 19 * static_cast<std::size_t>(strides[2]);
        return items[k][i];
    };
    xt::xarray<float> y;
    for (std::size_t b = 0; b < all.size(); ++b)
        for (std::size_t c = 0; c < all.size(); ++c) {
            bool is_equal = true; // whole numbers below 2^24
            ops::map_into([](auto x, auto z) { return x - z; }, view(0, 0), view(1, b), y);
            for (std::size_t i = 0; i < y.size(); ++i)
                is_equal = is_equal && y.data()[i] == item(0, 0, i) - item(1, b, i);
            ops::map_into(
                [](auto x, auto z, auto v) { return x - z * v; }, view(0, 0), view(1, b), view(2, c), y);
            for (std::size_t i = 0; i < y.size(); ++i)
                is_equal = is_equal && y.data()[i] == item(0, 0, i) - item(1, b, i) * item(2, c, i);
            ops::map_into([](auto x, auto z, auto v, auto w) { return (x - z) * (v - w); }, view(0, b),
                view(1, 0), view(2, c), view(3, b), y);
            for (std::size_t i = 0; i < y.size(); ++i)
                is_equal = is_equal &&
                           y.data()[i] == (item(0, b, i) - item(1, 0, i)) * (item(2, c, i) - item(3, b, i));
            CAPTURE(b);
            CAPTURE(c);
            CHECK(is_equal);
        }
}

TEST_CASE("an operand may be the output if it has its shape")
{
    xt::xtensor<float, 2> x({2, 1}, 1.0f);
    xt::xtensor<float, 2> const row{{1, 2, 3}};
    ops::map_into(ops::add, x, 1.0f, x);
    CHECK(x(1, 0) == 2);
    CHECK_THROWS_WITH_AS(ops::map_into(ops::add, x, row, x),
        "xloom_onnx::map_into: an operand that is the output must have its shape [2, 3], but has [2, 1]",
        xloom::shape_error);
    CHECK(x(1, 0) == 2);
    CHECK_THROWS_WITH_AS(ops::map_into(ops::neg, ops::tensor_view<float const>(x.data(), {1, 2}), x),
        "xloom_onnx::map_into: an operand that is the output must have its shape [1, 2], but has [2, 1]",
        xloom::shape_error);
    CHECK(x(1, 0) == 2);
}

TEST_CASE("Neg of zeros has the other sign")
{
    for (float const zero : {0.0f, -0.0f}) {
        xt::xtensor<float, 1> const x(std::array<std::size_t, 1>{37}, zero);
        xt::xtensor<float, 1> y;
        ops::map_into(ops::neg, x, y);
        for (float const item : y)
            REQUIRE(std::signbit(item) != std::signbit(zero));
    }
}

TEST_CASE("Floor and Ceil keep whole numbers, the sign of zeros, infinities and NaN")
{
    auto const check = []<class T>(T largest) {
        T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
        xt::xtensor<T, 1> const x{
            T(-0.0), 0, T(0.5), T(-0.5), T(1.5), T(-1.5), T(2.75), T(-3), largest, -largest, inf, -inf, nan};
        xt::xtensor<T, 1> const lower{T(-0.0), 0, 0, -1, 1, -2, 2, -3, largest, -largest, inf, -inf, nan};
        xt::xtensor<T, 1> const upper{
            T(-0.0), 1 - T(1), 1, T(-0.0), 2, -1, 3, -3, largest, -largest, inf, -inf, nan};
        xt::xtensor<T, 1> y, z;
        ops::map_into(ops::floor, x, y);
        ops::map_into(ops::ceil, x, z);
        auto const is_same = [](T a, T b) {
            return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
            CAPTURE(x(i));
            CHECK(is_same(y(i), lower(i)));
            CHECK(is_same(ops::floor(x(i)), lower(i)));
            CHECK(is_same(z(i), upper(i)));
            CHECK(is_same(ops::ceil(x(i)), upper(i)));
        }
    };
    check(1e30F);
    check(1e300);
}

TEST_CASE("a square has the same bits alone and in a batch")
{
    double const x = 0x1.03c627fbddd70p-1; // whose square std::pow may round otherwise
    xt::xtensor<double, 1> const row({3}, x);
    xt::xtensor<double, 1> y;
    ops::map_into(ops::pow, row, 2.0, y);
    for (double const item : y)
        CHECK(item == x * x);
    CHECK(ops::pow(x, 2.0) == x * x);
    CHECK(ops::pow(x, 2.0F) == x * x);
    CHECK(ops::pow(x, std::int64_t{2}) == x * x);
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

TEST_CASE("products equal sums in double, for vectors and matrices of every shape")
{
    auto const item = [](std::size_t i) { return 0.01f * static_cast<float>((i * 37) % 101) - 0.5f; };
    ops::workspace space;
    for (std::size_t const M : {1u, 3u, 7u, 40u})
        for (std::size_t const K : {1u, 5u, 16u, 33u, 300u})
            for (std::size_t const N : {1u, 2u, 16u, 17u, 150u}) {
                auto a = xt::xtensor<float, 2>::from_shape({M, K}),
                     b = xt::xtensor<float, 2>::from_shape({K, N});
                for (std::size_t i = 0; i < a.size(); ++i)
                    a.data()[i] = item(i);
                for (std::size_t i = 0; i < b.size(); ++i)
                    b.data()[i] = item(i + 5);
                xt::xtensor<float, 2> y;
                ops::matmul_into(a, b, y, space);
                double largest = 0, bound = 0;
                for (std::size_t m = 0; m < M; ++m)
                    for (std::size_t n = 0; n < N; ++n) {
                        double sum = 0, magnitude = 0;
                        for (std::size_t k = 0; k < K; ++k) {
                            double const product =
                                static_cast<double>(a(m, k)) * static_cast<double>(b(k, n));
                            sum += product;
                            magnitude += std::fabs(product);
                        }
                        largest = larger_error(largest, std::fabs(static_cast<double>(y(m, n)) - sum));
                        bound = std::max(bound, magnitude);
                    }
                CAPTURE(M);
                CAPTURE(K);
                CAPTURE(N);
                CHECK(largest <= 0x1p-24 * static_cast<double>(K + 2) * bound);
            }
}

TEST_CASE("a row of a product has the same bits alone and among others")
{
    auto const item = [](std::size_t i) { return 0.01f * static_cast<float>((i * 37) % 101) - 0.5f; };
    ops::workspace space;
    for (std::size_t const K : {1u, 3u, 129u, 300u})
        for (std::size_t const N : {1u, 7u, 16u, 33u, 64u, 130u, 200u}) {
            constexpr std::size_t rows = 40;
            auto a = xt::xtensor<float, 2>::from_shape({rows, K}),
                 b = xt::xtensor<float, 2>::from_shape({K, N});
            for (std::size_t i = 0; i < a.size(); ++i)
                a.data()[i] = item(i);
            for (std::size_t i = 0; i < b.size(); ++i)
                b.data()[i] = item(i + 5);
            xt::xtensor<float, 2> all, some;
            ops::matmul_into(a, b, all, space);
            for (std::size_t const M : {1u, 2u, 5u, 6u, 11u, 12u, 13u}) {
                CAPTURE(M);
                CAPTURE(K);
                CAPTURE(N);
                ops::matmul_into(ops::tensor_view<float const>(a.data(), {M, K}), b, some, space);
                CHECK(std::equal(some.begin(), some.end(), all.begin()));
            }
        }
}

TEST_CASE("stacks of products equal sums in double, broadcast and empty ones, too")
{
    struct stacks {
        xloom::shape a, b, y; ///< before the last two axes
    };
    std::vector<stacks> const all{{{3}, {3}, {3}}, {{2, 1}, {4}, {2, 4}}, {{}, {3}, {3}}, {{3}, {}, {3}},
        {{2, 3}, {2, 1}, {2, 3}}, {{0}, {1}, {0}}};
    auto const appended = [](xloom::shape dims, std::size_t rows, std::size_t columns) {
        dims.push_back(rows);
        dims.push_back(columns);
        return dims;
    };
    auto const index = [](xloom::shape const& own, xloom::shape const& whole, std::size_t at) {
        std::size_t found = 0, stride = 1;
        for (std::size_t back = 1; back <= whole.size(); ++back) {
            std::size_t const dim = whole[whole.size() - back], i = at % dim;
            at /= dim;
            if (back <= own.size()) {
                found += (own[own.size() - back] == 1 ? 0 : i) * stride;
                stride *= own[own.size() - back];
            }
        }
        return found;
    };
    ops::workspace space;
    for (auto const& [a_stack, b_stack, y_stack] : all)
        for (std::size_t const M : {0u, 1u, 2u, 13u})
            for (std::size_t const K : {0u, 1u, 2u, 20u})
                for (std::size_t const N : {0u, 1u, 3u, 16u, 37u}) {
                    std::vector<double> a(xloom::element_count(appended(a_stack, M, K))),
                        b(xloom::element_count(appended(b_stack, K, N)));
                    for (std::size_t i = 0; i < a.size(); ++i)
                        a[i] = static_cast<double>(i % 7) - 3;
                    for (std::size_t i = 0; i < b.size(); ++i)
                        b[i] = static_cast<double>(i % 5) - 2;
                    xt::xarray<double> y;
                    ops::matmul_into(ops::tensor_view<double const>(a.data(), appended(a_stack, M, K)),
                        ops::tensor_view<double const>(b.data(), appended(b_stack, K, N)), y, space);
                    REQUIRE(y.size() == xloom::element_count(appended(y_stack, M, N)));
                    bool is_equal = true; // the sums are whole numbers
                    for (std::size_t i = 0; i < y.size(); ++i) {
                        std::size_t const n = i % N, m = i / N % M, s = i / N / M;
                        double sum = 0;
                        for (std::size_t k = 0; k < K; ++k)
                            sum += a[(index(a_stack, y_stack, s) * M + m) * K + k] *
                                   b[(index(b_stack, y_stack, s) * K + k) * N + n];
                        is_equal = is_equal && y.data()[i] == sum;
                    }
                    CAPTURE(M);
                    CAPTURE(K);
                    CAPTURE(N);
                    CHECK(is_equal);
                }
}

TEST_CASE("a row times a matrix, a matrix times a column and an outer product copy no operand")
{
    ops::workspace space;
    xt::xtensor<float, 2> const row({1, 100}, 1.0f), column({100, 1}, 1.0f), square({100, 100}, 1.0f);
    xt::xtensor<float, 2> y;
    ops::matmul_into(row, square, y, space);
    CHECK(y(0, 99) == 100);
    ops::matmul_into(square, column, y, space);
    CHECK(y(99, 0) == 100);
    ops::matmul_into(column, row, y, space);
    CHECK(y(99, 99) == 1);
    CHECK(space.bytes() == 0);
}

TEST_CASE("the outer product of infinities and zeros has one product for each item")
{
    float const inf = std::numeric_limits<float>::infinity();
    xt::xtensor<float, 2> const a{{inf}, {-1}}, b{{0, 2, inf}};
    xt::xtensor<float, 2> y;
    ops::matmul_into(a, b, y);
    CHECK(std::isnan(y(0, 0)));
    CHECK(y(0, 1) == inf);
    CHECK((y(1, 0) == 0 && std::signbit(y(1, 0))));
    CHECK(y(1, 2) == -inf);
}

TEST_CASE("products of infinities and NaN are those of IEEE 754, at a vector, too")
{
    float const inf = std::numeric_limits<float>::infinity();
    xt::xtensor<float, 2> const a{{inf, 1}, {inf, 0}, {0, -0.0f}, {1e30f, 1e30f}};
    xt::xtensor<float, 2> const b{{1}, {-inf}};
    xt::xtensor<float, 2> y;
    ops::matmul_into(a, b, y);
    CHECK(std::isnan(y(0, 0))); // inf - inf
    CHECK(std::isnan(y(1, 0))); // 0 * inf
    CHECK(std::isnan(y(2, 0)));
    CHECK(y(3, 0) == -inf);
    xt::xtensor<float, 2> wide({2, 19}, 1.0f); // more than a batch, and a part of one
    wide(0, 17) = inf;
    wide(1, 18) = std::numeric_limits<float>::quiet_NaN();
    ops::matmul_into(xt::xtensor<float, 2>{{1, 2}}, wide, y);
    CHECK(y(0, 16) == 3);
    CHECK(y(0, 17) == inf);
    CHECK(std::isnan(y(0, 18)));
}

TEST_CASE("16-bit numbers are computed in float and rounded once")
{
    xt::xtensor<xloom::float16, 2> const a({2, 3}, xloom::float16(0.1f));
    xt::xtensor<xloom::float16, 2> const b({3, 1}, xloom::float16(3.0f));
    xt::xtensor<xloom::float16, 2> y;
    ops::matmul_into(a, b, y);
    float const tenth = static_cast<float>(xloom::float16(0.1f));
    CHECK(static_cast<float>(y(1, 0)) == static_cast<float>(xloom::float16(3 * 3 * tenth)));
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
    xt::xtensor<float, 1> sums;
    ops::reduce_into(
        ops::reduce_sum, xt::xtensor<float, 2>::from_shape({5, 0}), sums, {.axes = {1}, .keepdims = false});
    CHECK(sums == xt::xtensor<float, 1>({5}, 0.0f));
    xt::xtensor<float, 2> y;
    ops::map_into(ops::add, xt::xtensor<float, 2>::from_shape({0, 3}), xt::xtensor<float, 1>({3}, 1.0f), y);
    CHECK(y.shape(0) == 0);
    xt::xtensor<float, 1> const two({2}, 1.0f), three({3}, 1.0f);
    xt::xtensor<float, 1> z;
    CHECK_THROWS_AS(ops::map_into(ops::add, two, three, z), xloom::shape_error);
    CHECK_THROWS_AS(ops::gather_into(two, std::int64_t{2}, sum), xloom::index_error);
    CHECK_THROWS_AS(ops::slice_into(two, z, {.starts = {0}, .ends = {1}, .steps = {0}}), xloom::option_error);
}

TEST_CASE("an output that does not fit in memory is refused before it gets a shape")
{
    constexpr std::int64_t huge = std::int64_t{1} << 62, most = std::numeric_limits<std::int64_t>::max();
    constexpr std::size_t half = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
    xt::xtensor<float, 1> const two({2}, 1.0f);
    xt::xtensor<float, 1> y({3}, 7.0f);
    CHECK_THROWS_WITH_AS(ops::expand_into(xt::xtensor<float, 1>({1}, 1.0f), {huge}, y),
        "xloom_onnx::expand_into: a tensor of the shape [4611686018427387904] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::tile_into(two, {huge / 2}, y),
        "xloom_onnx::tile_into: a tensor of the shape [4611686018427387904] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::constant_of_shape_into({huge}, 1.0f, y),
        "xloom_onnx::constant_of_shape_into: a tensor of the shape [4611686018427387904] does not fit in "
        "memory",
        xloom::shape_error);
    CHECK(y == xt::xtensor<float, 1>({3}, 7.0f));
    xt::xtensor<std::int64_t, 1> numbers;
    CHECK_THROWS_WITH_AS(ops::range_into(std::int64_t{0}, huge / 2, std::int64_t{1}, numbers),
        "xloom_onnx::range_into: a tensor of the shape [2305843009213693952] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::range_into(most, -most - 1, std::int64_t{-1}, numbers),
        "xloom_onnx::range_into: a tensor of the shape [18446744073709551615] does not fit in memory",
        xloom::shape_error);
    xt::xtensor<float, 2> matrix;
    float item = 1; // whose address stands for items that are not read
    CHECK_THROWS_WITH_AS(ops::map_into(ops::add, ops::tensor_view<float const>(&item, {half, 1}),
                             ops::tensor_view<float const>(&item, {1, half}), matrix),
        "xloom_onnx::map_into: a tensor of the shape [4294967296, 4294967296] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::matmul_into(ops::tensor_view<float const>(&item, {half, 0}),
                             ops::tensor_view<float const>(&item, {0, half}), matrix),
        "xloom_onnx::matmul_into: a tensor of the shape [4294967296, 4294967296] does not fit in memory",
        xloom::shape_error);
    // An empty tensor has strides, too: those of its other axes. A view of it, or an output of that shape
    // already, gets no further.
    xt::xtensor<float, 1> const nothing(std::array<std::size_t, 1>{0});
    CHECK_THROWS_WITH_AS(ops::reshaped<3>(nothing, {0, huge / 2, huge / 2}, {.allowzero = true}),
        "xloom_onnx: a tensor of the shape [0, 2305843009213693952, 2305843009213693952] does not fit in "
        "memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        ops::expand_into(two, {huge, 2}, ops::tensor_view<float>(&item, {std::size_t{1} << 62, 2})),
        "xloom_onnx::expand_into: a tensor of the shape [4611686018427387904, 2] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS((ops::growing_stack<float, 2>({half, half})),
        "xloom_onnx::growing_stack: a tensor of the shape [4294967296, 4294967296] does not fit in memory",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::conv_shape({1, 1, 4}, {std::size_t{1} << 62, 1, 1}),
        "xloom_onnx::conv: a tensor of the shape [1, 4611686018427387904, 4] does not fit in memory",
        xloom::shape_error);
}

TEST_CASE("a sequence's parts keep the axis where their length is given, whatever keepdims says")
{
    xt::xtensor<float, 2> const x{{0, 1}, {2, 3}, {4, 5}};
    std::vector<xt::xtensor<float, 2>> parts;
    ops::split_to_sequence_into(x, 2, parts, {.axis = 0, .keepdims = false});
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == xt::xtensor<float, 2>{{0, 1}, {2, 3}});
    CHECK(parts[1] == xt::xtensor<float, 2>{{4, 5}});
    ops::split_to_sequence_into(x, (std::int64_t{1} << 32) + 1, parts, {.axis = 0});
    REQUIRE(parts.size() == 1);
    CHECK(parts[0] == x);
    std::vector<xt::xtensor<float, 1>> rows;
    CHECK_THROWS_WITH_AS(ops::split_to_sequence_into(x, 2, rows, {.axis = 0, .keepdims = false}),
        "xloom_onnx::split_to_sequence_into: the output has the shape [2, 2], but the tensor for it [0]. "
        "Give "
        "it that shape.",
        xloom::shape_error);
    ops::split_to_sequence_into(x, rows, {.axis = 1, .keepdims = false});
    REQUIRE(rows.size() == 2);
    CHECK(rows[1] == xt::xtensor<float, 1>{1, 3, 5});
}

TEST_CASE("sequences of bools, which have no addresses")
{
    std::vector<bool> all;
    ops::split_to_sequence_into(xt::xtensor<bool, 1>{true, false, true}, all, {.axis = 0, .keepdims = false});
    CHECK(all == std::vector<bool>{true, false, true});
    ops::sequence_insert(all, false, 0);
    ops::sequence_erase(all, 1);
    CHECK(all == std::vector<bool>{false, false, true});
    auto&& last = ops::sequence_at(all, -1);
    CHECK(last);
    xt::xtensor<bool, 1> y;
    for (std::int64_t const axis : {-1, 0}) {
        ops::concat_from_sequence_into(all, y, {.axis = axis, .new_axis = true});
        CHECK(y == xt::xtensor<bool, 1>{false, false, true});
    }
    CHECK_THROWS_AS(
        ops::concat_from_sequence_into(all, y, {.axis = 1, .new_axis = true}), xloom::option_error);
    CHECK_THROWS_AS(ops::concat_from_sequence_into(all, y, {.axis = 0}), xloom::option_error);
}

TEST_CASE("the length of a Range is computed in the type of its items")
{
    // In float 0.3 / 0.1 is 3; in double the quotient of the two floats is 3.00000007.
    xt::xtensor<float, 1> y;
    ops::range_into(0.0f, 0.3f, 0.1f, y);
    CHECK(y == xt::xtensor<float, 1>{0, 0.1f, 2 * 0.1f});
    CHECK(ops::range_length(0.0, 0.3, 0.1) == 3);
    CHECK(ops::range_length(0.0f, 0.4f, 0.1f) == 4);
}

TEST_CASE("sequences refuse positions that they do not have, and optionals an item")
{
    using row = xt::xtensor<float, 1>;
    std::vector<row> two{{1, 2}, {3, 4}}, none;
    CHECK(ops::sequence_at(two, -2) == row{1, 2});
    for (std::int64_t const position : {-3, 2})
        CHECK_THROWS_WITH_AS(ops::sequence_at(two, position),
            ("xloom_onnx: its position is " + std::to_string(position) + " in a sequence of 2").c_str(),
            xloom::index_error);
    ops::sequence_insert(two, row{5, 6}, 2);
    CHECK(two[2] == row{5, 6});
    CHECK_THROWS_WITH_AS(ops::sequence_insert(two, row{7, 8}, 4),
        "xloom_onnx: its position is 4 in a sequence of 3", xloom::index_error);
    CHECK_THROWS_WITH_AS(ops::sequence_erase(none),
        "xloom_onnx: nothing can be taken out of an empty sequence", xloom::index_error);
    row y;
    CHECK_THROWS_WITH_AS(ops::concat_from_sequence_into(none, y, {}),
        "xloom_onnx::concat_from_sequence_into: the sequence is empty, so the shape of its items is unknown",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::split_to_sequence_into(row{1, 2}, 0, none),
        "xloom_onnx::split_to_sequence_into: the length of a part must be positive, but it is 0",
        xloom::option_error);
    CHECK_THROWS_WITH_AS(ops::optional_get_element(std::optional<row>()),
        "xloom_onnx: an empty optional has no element", xloom::option_error);
}

TEST_CASE("a stack of scan outputs: backwards, along any axis, of no elements, of one shape")
{
    ops::growing_stack<float, 1> stack({3});
    xt::xtensor<float, 2> y;
    stack.copy_to(y, 1);
    CHECK(y.shape(0) == 3);
    CHECK(y.size() == 0);
    stack.push(xt::xtensor<float, 1>{1, 2});
    stack.push(xt::xtensor<float, 1>{3, 4});
    stack.copy_to(y, 0, true);
    CHECK(y == xt::xtensor<float, 2>{{3, 4}, {1, 2}});
    stack.copy_to(y, -1);
    CHECK(y == xt::xtensor<float, 2>{{1, 3}, {2, 4}});
    CHECK_THROWS_WITH_AS(stack.push(xt::xtensor<float, 1>{5}),
        "xloom_onnx::growing_stack: a scan output must keep its shape, but was [2] and the body made it [1] "
        "at "
        "iteration 2.",
        xloom::body_error);
    CHECK_THROWS_WITH_AS(stack.copy_to(y, 2), "xloom_onnx::growing_stack: the axis 2 is none of the rank 2",
        xloom::option_error);
    ops::growing_stack<float, 1> first;
    CHECK_THROWS_AS(first.push(xt::xtensor<float, 2>{{1, 2}}), xloom::body_error);
}

TEST_CASE("inputs have the declared dimensions, loops as many iterations as M says")
{
    xt::xtensor<float, 2> const x({2, 3}, 1.0f);
    ops::check_input("m", "x", x, {2, -1});
    for (ops::integers const& dims : {ops::integers{3, -1}, ops::integers{2, 4}, ops::integers{2}})
        CHECK_THROWS_WITH_AS(ops::check_input("m", "x", x, dims),
            doctest::Contains("m: the input x must have the shape ["), xloom::shape_error);
    using tensor = xt::xtensor<float, 2>;
    std::vector<tensor> sequence;
    ops::check_input("m", "x", sequence, {2, -1});
    sequence.assign(2, x);
    ops::check_input("m", "x", sequence, {2, -1});
    std::optional<std::vector<tensor>> optional;
    ops::check_input("m", "x", optional, {3, -1});
    optional = sequence;
    ops::check_input("m", "x", optional, {2, 3});
    optional->push_back(tensor({1, 3}, 1.0f));
    CHECK_THROWS_WITH_AS(ops::check_input("m", "x", *optional, {2, -1}),
        "m: the input x must have the shape [2, -1], where -1 is any length, but it has [1, 3].",
        xloom::shape_error);
    CHECK_THROWS_AS(ops::check_input("m", "x", optional, {2, -1}), xloom::shape_error);
    CHECK(ops::trip_count(3) == 3);
    CHECK(ops::trip_count(0) == 0);
    CHECK(ops::trip_count(-3) == 0);
    CHECK(ops::trip_count((std::int64_t{1} << 32) + 5) > 5);
    CHECK(ops::trip_count(3, false) == 0);
}

TEST_CASE("before opset 7 the second operand is broadcast to the first one's shape, as attributes say")
{
    xt::xtensor<float, 2> const a({2, 3}, 1.0f);
    auto const dims = [&](xloom::shape const& b, bool broadcast, std::int64_t axis = -1) {
        return ops::aligned_shape({2, 3}, b, broadcast, axis);
    };
    CHECK(dims({2, 3}, false) == xloom::shape{2, 3});
    CHECK(dims({3}, true) == xloom::shape{3});
    CHECK(dims({2}, true, 0) == xloom::shape{2, 1});
    CHECK(dims({1, 1, 1}, true) == xloom::shape{});
    CHECK_THROWS_WITH_AS(dims({3}, false),
        "xloom_onnx: the shapes [2, 3] and [3] differ, without broadcast = 1", xloom::shape_error);
    CHECK_THROWS_WITH_AS(dims({3}, true, 2),
        "xloom_onnx: from axis 2 on, the shape [2, 3] has no room for [3]", xloom::shape_error);
    CHECK_THROWS_WITH_AS(dims({3}, true, (std::int64_t{1} << 32) + 1),
        "xloom_onnx: from axis 4294967297 on, the shape [2, 3] has no room for [3]", xloom::shape_error);
    CHECK_THROWS_AS(dims({2, 3, 4}, true, 0), xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::aligned_shape({1, 3}, {2, 3}, true, -1),
        "xloom_onnx: the shape [2, 3] cannot be broadcast to [1, 3]", xloom::shape_error);
    xt::xtensor<float, 1> const b{10, 20};
    xt::xtensor<float, 2> y;
    ops::map_into(ops::add, a, ops::aligned_with(a, b, true, 0), y);
    CHECK(y == xt::xtensor<float, 2>{{11, 11, 11}, {21, 21, 21}});
    ops::map_into(ops::add, a, ops::aligned_with(a, xt::xtensor<float, 3>{{{5}}}, true, -1), y);
    CHECK(y == xt::xtensor<float, 2>{{6, 6, 6}, {6, 6, 6}});
    ops::map_into(ops::add, a, ops::aligned_with(a, 5.0f, true, -1), y);
    CHECK(y(1, 2) == 6);
    CHECK_THROWS_AS(ops::aligned_with(a, b, false, -1), xloom::shape_error);
}

TEST_CASE("ReverseSequence keeps what is past a length; Split and Concat refuse what does not fit")
{
    xt::xtensor<float, 2> const x{{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 2> y, z;
    using lengths = xt::xtensor<std::int64_t, 1>;
    ops::reverse_sequence_into(x, lengths{2, 3}, y, {.time_axis = 1, .batch_axis = 0});
    CHECK(y == xt::xtensor<float, 2>{{2, 1, 3}, {6, 5, 4}});
    ops::reverse_sequence_into(xt::xtensor<float, 2>::from_shape({0, 2}), lengths{0, 0}, y);
    CHECK(y.shape(1) == 2);
    for (std::int64_t const length : {-1, 4})
        CHECK_THROWS_WITH_AS(
            ops::reverse_sequence_into(x, lengths{length, 1}, y, {.time_axis = 1, .batch_axis = 0}),
            ("xloom_onnx::reverse_sequence: the length " + std::to_string(length) + " is not in 0 .. 3")
                .c_str(),
            xloom::shape_error);
    ops::split_into(x, std::tie(y, z), {.axis = 1});
    CHECK(z == xt::xtensor<float, 2>{{3}, {6}});
    ops::split_into(x, std::tie(y, z), {.axis = 1, .split = {1, 2}});
    CHECK(z == xt::xtensor<float, 2>{{2, 3}, {5, 6}});
    CHECK_THROWS_WITH_AS(ops::split_into(x, std::tie(y, z), {.axis = 1, .uneven = false}),
        "xloom_onnx::split: an axis of 3 cannot be split into 2 equal parts", xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::split_into(x, std::tie(y, z), {.axis = 1, .split = {1, 1, 1}}),
        "xloom_onnx::split_into: there are 3 parts for 2 outputs", xloom::option_error);
    CHECK_THROWS_WITH_AS(ops::concat_into(std::tie(x, z), y, {.axis = 0}),
        "xloom_onnx::concat: it cannot join [2, 3] and [2, 2] along axis 0", xloom::shape_error);
    // Numbers that a std::size_t of 32 bits cuts.
    constexpr std::int64_t cut = std::int64_t{1} << 32;
    CHECK_THROWS_AS(
        ops::split_into(x, std::tie(y, z), {.axis = 1, .split = {cut + 1, 2}}), xloom::shape_error);
    CHECK_THROWS_AS(ops::reverse_sequence_into(x, lengths{cut + 1, 1}, y, {.time_axis = 1, .batch_axis = 0}),
        xloom::shape_error);
    CHECK_THROWS_AS(ops::reshaped<2>(x, {cut + 2, 3}), xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::transpose_into(x, {0}, y), doctest::Contains("transpose"), xloom::error);
    CHECK_THROWS_WITH_AS(ops::reshaped<1>(x, {3, 2}), doctest::Contains("rank"), xloom::shape_error);
}

TEST_CASE("an empty list of axes or steps is not the same as an omitted one")
{
    CHECK(ops::slice_shape({4}, {.starts = {1}, .ends = {3}}) == xloom::shape{2});
    CHECK(ops::slice_shape({4}, {.has_axes = true, .has_steps = true}) == xloom::shape{4});
    CHECK_THROWS_WITH_AS(ops::slice_shape({4}, {.starts = {1}, .ends = {3}, .has_axes = true}),
        "xloom_onnx::slice: starts, ends, axes and steps have 1, 1, 0 and 0 items", xloom::option_error);
    CHECK_THROWS_WITH_AS(ops::slice_shape({4}, {.starts = {1}, .ends = {3}, .axes = {0}, .has_steps = true}),
        "xloom_onnx::slice: starts, ends, axes and steps have 1, 1, 1 and 0 items", xloom::option_error);
}

TEST_CASE("a slice of no items begins where the tensor does")
{
    CHECK(ops::layout_of_slice({0, 4}, {.starts = {2}, .ends = {4}, .axes = {1}}).first == 0);
    CHECK(ops::layout_of_slice({3, 4}, {.starts = {2, 2}, .ends = {4, 2}}).first == 0);
    CHECK(ops::layout_of_slice({3, 4}, {.starts = {2, 2}, .ends = {4, 4}}).first == 10);
}

TEST_CASE("Pad of an empty axis, of nothing, and constants that are none")
{
    xt::xtensor<float, 2> const empty = xt::xtensor<float, 2>::from_shape({0, 2});
    xt::xtensor<float, 2> y;
    ops::pad_into(empty, 7.0f, y, {.pads = {1, 0, 1, 0}});
    CHECK(y == xt::xtensor<float, 2>{{7, 7}, {7, 7}});
    ops::pad_into(
        empty, y, {.pads = {0, 1, 0, 1}, .mode = ops::pad_mode::edge}); // no item, also of the padding
    CHECK(y.size() == 0);
    CHECK(y.shape(1) == 4);
    CHECK_THROWS_WITH_AS(ops::pad_into(empty, y, {.pads = {1, 0, 0, 0}, .mode = ops::pad_mode::edge}),
        "xloom_onnx::pad: an empty axis has nothing to pad with", xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::pad_into(empty, xt::xtensor<float, 1>{1, 2}, y, {.pads = {1, 0, 0, 0}}),
        "xloom_onnx::pad_into: the constant value must be one item, but has the shape [2]",
        xloom::shape_error);
    float scalar = 0;
    ops::pad_into(5.0f, scalar, {});
    CHECK(scalar == 5);
}

TEST_CASE("Gemm and its packed weights: factors, additions, and what is no matrix")
{
    ops::workspace space;
    using matrix = xt::xtensor<float, 2>;
    using whole = xt::xtensor<std::int32_t, 2>;
    matrix const a{{1, 2}, {3, 4}}, b{{1, 0}, {1, 1}};
    matrix y;
    ops::gemm_into(a, b, y, {.alpha = 2}, space);
    CHECK(y == matrix{{6, 4}, {14, 8}});
    ops::gemm_into(a, b, xt::xtensor<float, 1>{10, 20}, y, {.beta = 0.5}, space);
    CHECK(y == matrix{{8, 12}, {12, 14}});
    ops::gemm_into(a, b, xt::xtensor<float, 1>{10, 20}, y, {}, space);
    CHECK(y == matrix{{13, 22}, {17, 24}});
    CHECK_THROWS_WITH_AS(ops::gemm_into(a, b, xt::xtensor<float, 1>{1, 2, 3}, y, {}, space),
        "xloom_onnx: the shapes [2, 2] and [3] cannot be broadcast to one", xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::gemm_into(xt::xtensor<float, 1>{1, 2}, b, y, {}, space),
        "xloom_onnx::gemm: no matrices: the shapes are [2] and [2, 2]", xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::gemm_into(a, xt::xtensor<float, 1>{1, 2}, y, {}, space),
        "xloom_onnx::gemm: no matrices: the shapes are [2, 2] and [2]", xloom::shape_error);
    whole const n{{1, 2}, {3, 4}};
    whole products;
    ops::gemm_into(n, n, products, {.alpha = -2}, space);
    CHECK(products == whole{{-14, -20}, {-30, -44}});
    for (double const alpha : {0.5, 0x1p31, std::nan("")})
        CHECK_THROWS_WITH_AS(ops::gemm_into(n, n, products, {.alpha = alpha}, space),
            "xloom_onnx::gemm: alpha must be whole for matrices of whole numbers", xloom::option_error);

    ops::packed_gemm<float> const layer(b);
    layer(matrix::from_shape({0, 2}), y);
    CHECK(y.shape(0) == 0);
    CHECK_THROWS_WITH_AS(layer(matrix{{1, 2, 3}}, y),
        "xloom_onnx::packed_gemm: rows of 2 items are needed, but the shape of x is [1, 3]",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(layer(1.0f, y),
        "xloom_onnx::packed_gemm: rows of 2 items are needed, but the shape of x is []", xloom::shape_error);
    matrix const scaled{{1, 1e38F}, {0, std::numeric_limits<float>::infinity()}};
    for (auto const& [alpha, is_possible] : {std::pair{2.0, true}, {16.0, false}, {1e-39, false}})
        CHECK(ops::detail::can_scale<float>(ops::const_view_of<matrix>(scaled), alpha) == is_possible);
    CHECK_THROWS_WITH_AS(ops::packed_gemm<float>(b, ops::gemm_options{.transA = true}),
        "xloom_onnx::packed_gemm: transA is not possible", xloom::option_error);
    CHECK_THROWS_WITH_AS(ops::packed_gemm<float>(xt::xtensor<float, 1>{1, 2}),
        "xloom_onnx::packed_gemm: b must be a matrix, but its shape is [2]", xloom::shape_error);
}
