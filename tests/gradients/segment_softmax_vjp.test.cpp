// segment_softmax_vjp against differences of segment_softmax's definition in long double.

#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/segment_softmax_vjp.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/larger_error.hpp"
#include "support/softmax_segments.hpp"
#include "support/threads_or_backwards.hpp"
#include "support/xtensor_extras.hpp"

namespace segment_softmax_vjp_test {

using namespace softmax_segments;

TEST_CASE("segment_softmax_vjp: central differences of the definition in long double")
{
    xt::xtensor<double, 2> x = xt::xtensor<double, 2>::from_shape({43, 2}), ct = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = number<double>(i) / 10;
        ct.data()[i] = number<double>(i + 5);
    }
    splits_tensor const some = {0, 0, 1, 3, 10, 26, 43};
    /// The sum of ct * softmax(x) of a column of a segment, if x(row, c) is moved by `step`.
    auto const moved = [&](std::size_t s, std::size_t c, std::int64_t row, long double step) {
        auto const at = [&](std::int64_t i) {
            return static_cast<long double>(x(i, c)) + (i == row ? step : 0.0L);
        };
        long double all = 0, product = 0;
        for (auto i = some(s); i < some(s + 1); ++i) {
            all += std::exp(at(i));
            product += std::exp(at(i)) * static_cast<long double>(ct(i, c));
        }
        return product / all;
    };
    auto const y = xloom::segment_softmax(x, some);
    auto const d_x = xloom::segment_softmax_vjp(y, some, ct);
    for (std::size_t s = 0; s + 1 < some.size(); ++s)
        for (auto row = some(s); row < some(s + 1); ++row)
            for (std::size_t c = 0; c < 2; ++c) {
                auto const difference = [&](long double step) {
                    return moved(s, c, row, step) - moved(s, c, row, -step);
                };
                // Of fourth order, so that the step is large enough where long double is double.
                long double const step = 1e-3L;
                long double const slope = (8 * difference(step) - difference(2 * step)) / (12 * step);
                CHECK(std::abs(static_cast<long double>(d_x(row, c)) - slope) < 1e-10L);
            }
    // Added to what the caller has, in other layouts and of lazy operands.
    xt::xtensor<double, 2> one = ct;
    xloom::segment_softmax_vjp_into(y, some, ct, one);
    CHECK(one == ct + d_x);
    xt::xtensor<double, 2, xt::layout_type::dynamic> in_columns(
        std::array<std::size_t, 2>{43, 2}, xt::layout_type::column_major);
    in_columns.fill(0);
    xloom::segment_softmax_vjp_into(y, some, 1 * ct, in_columns);
    CHECK(in_columns == d_x);
}

TEST_CASE("segment_softmax_vjp: threads, floats and storage floats")
{
    xt::xtensor<float, 2> x = xt::xtensor<float, 2>::from_shape({rows, 40}), ct = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = number<float>(i) / 10;
        ct.data()[i] = number<float>(i + 5);
    }
    auto const y = xloom::segment_softmax(x, splits);
    auto const d_x = xloom::segment_softmax_vjp(y, splits, ct);
    CHECK(xloom::segment_softmax_vjp(y, splits, ct, xloom::thread_policy(4)) == d_x);
    xt::xtensor<float, 2> sum = ct;
    std::atomic<std::size_t> parts = 1;
    xloom::segment_softmax_vjp_into(y, splits, ct, sum, threads_or_backwards{4, false, &parts});
    CHECK(sum == ct + d_x);
    CHECK(parts > 1);
    xt::xtensor<double, 2> const wide_y = xt::cast<double>(y), wide_ct = xt::cast<double>(ct);
    auto const expected = xloom::segment_softmax_vjp(wide_y, splits, wide_ct);
    double largest = 0;
    for (std::size_t i = 0; i < d_x.size(); ++i)
        largest = larger_error(largest, std::abs(static_cast<double>(d_x.data()[i]) - expected.data()[i]));
    CHECK(largest < 40 * 4 * 0x1p-24); // of cotangents up to 20
    xt::xtensor<xloom::float16, 1> const half_y = {xloom::float16(0.25F), xloom::float16(0.75F)};
    xt::xtensor<xloom::float16, 1> const half_ct = {xloom::float16(1.0F), xloom::float16(3.0F)};
    auto const halves = xloom::segment_softmax_vjp(half_y, splits_tensor{0, 2}, half_ct);
    CHECK(static_cast<float>(halves(0)) == -0.375F); // 0.25 (1 - 2.5)
    CHECK(static_cast<float>(halves(1)) == 0.375F);
}

TEST_CASE("segment_softmax_vjp: errors")
{
    xt::xtensor<double, 1> y = {0.5, 0.5, 1}, short_ct = {1, 2};
    xt::xtensor<double, 1> const before = y;
    CHECK_THROWS_WITH_AS(xloom::segment_softmax_vjp(y, splits_tensor{0, 2, 3}, short_ct),
        "xloom::segment_softmax_vjp: all operands must have the same shape, but y has [3] and ct_y has [2]. "
        "Give "
        "them one shape.",
        xloom::shape_error);
    CHECK_THROWS_AS(xloom::segment_softmax_vjp(y, splits_tensor{0, 2}, y), xloom::index_error);
    xt::xarray<std::int64_t> const deep = xt::zeros<std::int64_t>(std::vector<std::size_t>(17, 1));
    CHECK_THROWS_WITH_AS(xloom::segment_softmax_vjp(y, deep, y),
        "xloom::segment_softmax_vjp: a tensor may have at most 16 axes (max_rank), but row_splits has 17. "
        "Merge "
        "some of them.",
        xloom::shape_error);
    auto backwards = xt::view(y, xt::range(2, xt::placeholders::_, -1));
    CHECK_THROWS_WITH_AS(xloom::segment_softmax_vjp_into(before, splits_tensor{0, 2, 3}, y, backwards),
        "xloom::segment_softmax_vjp_into: an operand that is written must have memory of its own, but "
        "ct_x overlaps ct_y. Copy one of the two.",
        xloom::overlap_error);
    CHECK(y == before);
}

TEST_CASE("segment_softmax_vjp: empty segments only")
{
    auto const y = xt::xtensor<float, 2>::from_shape({0, 300});
    CHECK(xloom::segment_softmax_vjp(y, splits_tensor{0, 0, 0}, y).shape() == y.shape());
}

} // namespace segment_softmax_vjp_test
