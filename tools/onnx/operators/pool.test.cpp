// Pools beside the textbook's loops: every attribute, one to three axes, rows of any length.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>

#include <xloom_onnx/pool.hpp>

namespace ops = xloom_onnx;

namespace {

using numbers = std::vector<std::int64_t>;

/// A pool along one to three axes.
struct sample {
    numbers input, kernel, strides, dilations, before, after;
    bool ceil_mode = false;
};

struct window {
    double sum = 0, count = 0, padded = 0; ///< items of the input, and those in the padded one
    double largest = -std::numeric_limits<double>::infinity();
    std::int64_t index = -1, column_major = -1; ///< of the largest, in its plane
};

/// Calls f for each list of numbers from 0 to a limit, the last one fastest.
template <class F>
void for_each_position(numbers const& limits, F const& f)
{
    numbers at(limits.size(), 0);
    for (std::size_t a = 0; a != at.size() + 1;) {
        f(at);
        for (a = 0; a < at.size() && ++at[at.size() - 1 - a] == limits[at.size() - 1 - a]; ++a)
            at[at.size() - 1 - a] = 0;
        if (a != at.size())
            a = 0;
        else
            ++a;
    }
}

/// The number of windows: ONNX's formula; with ceil_mode without those that begin in the padding after the
/// input.
std::int64_t length_of(sample const& s, std::size_t a)
{
    double const room =
        static_cast<double>(s.input[a] + s.before[a] + s.after[a] - s.dilations[a] * (s.kernel[a] - 1) - 1);
    double const steps = room / static_cast<double>(s.strides[a]) + 1;
    auto count = static_cast<std::int64_t>(s.ceil_mode ? std::ceil(steps) : std::floor(steps));
    while (s.ceil_mode && (count - 1) * s.strides[a] >= s.input[a] + s.before[a])
        --count;
    return count;
}

window textbook(sample const& s, float const* plane, numbers const& place)
{
    window w;
    for_each_position(s.kernel, [&](numbers const& k) {
        bool is_inside = true, is_padded = true;
        std::int64_t index = 0, column_major = 0, step = 1;
        for (std::size_t a = 0; a < k.size(); ++a) {
            std::int64_t const at = place[a] * s.strides[a] + k[a] * s.dilations[a] - s.before[a];
            is_inside = is_inside && at >= 0 && at < s.input[a];
            is_padded = is_padded && at < s.input[a] + s.after[a];
            index = index * s.input[a] + at;
            column_major += step * at;
            step *= s.input[a];
        }
        w.padded += is_padded ? 1 : 0;
        if (!is_inside)
            return;
        double const item = static_cast<double>(plane[index]);
        w.sum += item;
        w.count += 1;
        if (w.index < 0 || item > w.largest) {
            w.largest = item;
            w.index = index;
            w.column_major = column_major;
        }
    });
    return w;
}

void check(sample const& s)
{
    std::size_t const planes = 4;
    xloom::shape dims{2, 2};
    for (std::int64_t const each : s.input)
        dims.push_back(static_cast<std::size_t>(each));
    xt::xarray<float> x = xt::xarray<float>::from_shape({dims.begin(), dims.end()});
    for (std::size_t i = 0; i < x.size(); ++i)
        x.data()[i] = static_cast<float>(i * 37 % 101) - 50;
    ops::pool_options options{.strides = s.strides,
        .dilations = s.dilations,
        .pads = s.before,
        .kernel_shape = s.kernel,
        .ceil_mode = s.ceil_mode};
    for (std::int64_t const each : s.after)
        options.pads.push_back(each);
    ops::workspace memory;
    xt::xarray<float> largest, mean, mean_of_all, largest_again;
    xt::xarray<std::int64_t> indices, column_major;
    ops::max_pool_into(x, largest, options, memory);
    ops::average_pool_into(x, mean, options, memory);
    ops::max_pool_with_indices_into(x, largest_again, indices, options);
    options.count_include_pad = options.column_major = true;
    ops::average_pool_into(x, mean_of_all, options, memory);
    ops::max_pool_with_indices_into(x, largest_again, column_major, options);
    numbers lengths{static_cast<std::int64_t>(planes)};
    for (std::size_t a = 0; a < s.input.size(); ++a)
        lengths.push_back(length_of(s, a));
    std::size_t i = 0, wrong = 0;
    auto const plane_items = static_cast<std::int64_t>(x.size() / planes);
    for_each_position(lengths, [&](numbers const& place) {
        std::int64_t const start = place[0] * plane_items;
        window const w = textbook(s, x.data() + start, {place.begin() + 1, place.end()});
        auto const is_near = [](float a, double b) {
            return std::isnan(b) ? std::isnan(a)
                                 : std::fabs(static_cast<double>(a) - b) < 1e-5 * (1 + std::fabs(b));
        };
        REQUIRE(i < largest.size());
        bool const is_right = static_cast<double>(largest.data()[i]) == w.largest &&
                              static_cast<double>(largest_again.data()[i]) == w.largest &&
                              is_near(mean.data()[i], w.sum / w.count) &&
                              is_near(mean_of_all.data()[i], w.sum / w.padded) &&
                              indices.data()[i] == (w.index < 0 ? -1 : start + w.index) &&
                              column_major.data()[i] == (w.index < 0 ? -1 : start + w.column_major);
        wrong += is_right ? 0 : 1;
        ++i;
    });
    CHECK(i == largest.size());
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("pools have the textbook's results")
{
    for (std::int64_t const length : {1, 5, 16, 37, 300})
        for (std::int64_t const kernel : {1, 2, 3})
            for (std::int64_t const stride : {1, 2, 3, 20}) {
                CAPTURE(length);
                CAPTURE(kernel);
                CAPTURE(stride);
                check({{length}, {kernel}, {stride}, {1}, {1}, {2}});
                check({{length}, {kernel}, {stride}, {2}, {4}, {1}, true});
                check({{4, length}, {2, kernel}, {1, stride}, {1, 1}, {1, 0}, {0, 2}, true});
                check({{length, 1}, {kernel, 1}, {stride, 1}, {1, 1}, {2, 0}, {2, 0}}); // a column
            }
    check({{5, 4, 19}, {2, 3, 3}, {2, 1, 2}, {2, 1, 1}, {1, 1, 1}, {0, 2, 1}, true});
    check({{3, 3, 3}, {3, 3, 3}, {3, 3, 3}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
    // Windows of padding alone: between dilated items, and before the input.
    check({{1, 2}, {2, 1}, {1, 1}, {2, 1}, {1, 0}, {1, 0}});
    check({{2, 40}, {2, 2}, {1, 1}, {1, 1}, {3, 2}, {0, 3}});
}

TEST_CASE("auto_pad, and no more windows for ceil_mode with it")
{
    using ops::auto_pad;
    auto const lengths = [](auto_pad pad, bool ceil_mode) {
        auto const shape = ops::pool_shape({1, 1, 10, 4},
            {.strides = {4, 3}, .auto_pad = pad, .kernel_shape = {3, 2}, .ceil_mode = ceil_mode});
        return std::array{shape[2], shape[3]};
    };
    for (bool const ceil_mode : {false, true}) {
        CHECK(lengths(auto_pad::same_upper, ceil_mode) == std::array<std::size_t, 2>{3, 2});
        CHECK(lengths(auto_pad::valid, ceil_mode) == std::array<std::size_t, 2>{2, 1});
    }
    CHECK(lengths(auto_pad::notset, false) == std::array<std::size_t, 2>{2, 1});
    CHECK(lengths(auto_pad::notset, true) == std::array<std::size_t, 2>{3, 2});
    ops::workspace memory;
    xt::xarray<float> const x = {{{1, 2, 3, 4}}};
    xt::xarray<float> y;
    ops::average_pool_into(x, y, {.auto_pad = auto_pad::same_lower, .kernel_shape = {2}}, memory);
    CHECK(y == xt::xarray<float>{{{1, 1.5f, 2.5f, 3.5f}}});
    ops::average_pool_into(
        x, y, {.auto_pad = auto_pad::same_upper, .kernel_shape = {2}, .count_include_pad = true}, memory);
    CHECK(y == xt::xarray<float>{{{1.5f, 2.5f, 3.5f, 2}}});
}

TEST_CASE("NaN is the largest item, the first one has the index")
{
    float const nan = std::numeric_limits<float>::quiet_NaN();
    xt::xarray<float> x({1, 1, 40}, 1.0f);
    x(0, 0, 4) = x(0, 0, 5) = nan;
    ops::workspace memory;
    xt::xarray<float> y;
    xt::xarray<std::int64_t> indices;
    ops::max_pool_into(x, y, {.kernel_shape = {3}}, memory);
    for (std::size_t i = 0; i < 38; ++i)
        CHECK(std::isnan(y(0, 0, i)) == (i >= 2 && i <= 5));
    ops::max_pool_with_indices_into(x, y, indices, {.kernel_shape = {3}});
    CHECK(std::isnan(y(0, 0, 3)));
    CHECK(indices(0, 0, 1) == 1);
    CHECK(indices(0, 0, 3) == 4);
    CHECK(indices(0, 0, 5) == 5);
    ops::global_max_pool_into(x, y);
    CHECK(std::isnan(y(0, 0, 0)));
}

TEST_CASE("a pool with indices pauses at every 256th item, or at each where windows are long")
{
    xt::xarray<float> const x({1, 1, 2000}, 1.0f);
    xt::xarray<float> y;
    xt::xarray<std::int64_t> indices;
    for (auto const& [kernel, pauses] : {std::pair{2, 8}, {1500, 501}}) {
        int count = 0;
        ops::detail::max_pool_with_indices_into(
            x, y, indices, {.kernel_shape = {kernel}}, [&count] { ++count; });
        CHECK(count == pauses);
    }
}

TEST_CASE("what a pool refuses")
{
    auto const shape = [](ops::pool_options const& options) {
        return ops::pool_shape({1, 1, 4, 4}, options);
    };
    CHECK_THROWS_WITH_AS(shape({}), "xloom_onnx::pool: its kernel_shape is missing", xloom::option_error);
    CHECK_THROWS_WITH_AS(shape({.kernel_shape = {2}}),
        "xloom_onnx::pool: its kernel_shape are [2] for 2 spatial axes", xloom::option_error);
    CHECK_THROWS_WITH_AS(shape({.kernel_shape = {2, 0}}),
        "xloom_onnx::pool: its kernel_shape are [2, 0] for 2 spatial axes", xloom::option_error);
    CHECK_THROWS_WITH_AS(shape({.pads = {0, 0, -1, 0}, .kernel_shape = {2, 2}}),
        "xloom_onnx::pool: its pads are [0, 0, -1, 0] for 2 spatial axes", xloom::option_error);
    CHECK_THROWS_WITH_AS(shape({.kernel_shape = {2, 5}}),
        "xloom_onnx::pool: a kernel of 5 items does not fit into 4 padded ones", xloom::shape_error);
    std::int64_t const most = (std::int64_t{1} << 31) - 1;
    CHECK_THROWS_AS(shape({.dilations = {most, most}, .kernel_shape = {most, most}}), xloom::shape_error);
    CHECK_THROWS_AS(shape({.pads = {most, most, most, most}, .kernel_shape = {1, 1}}), xloom::shape_error);
    CHECK(shape({.strides = {most, most},
              .dilations = {most, most},
              .auto_pad = ops::auto_pad::same_lower,
              .kernel_shape = {most, most}}) == xloom::shape{1, 1, 1, 1});
    CHECK_THROWS_WITH_AS(ops::pool_shape({2, 2}, {.kernel_shape = {2}}),
        "xloom_onnx::pool: X must have one to three spatial axes, but has the shape [2, 2]",
        xloom::shape_error);
}
