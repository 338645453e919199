// ConvTranspose beside the textbook's loop, in double: every attribute, one to three axes.

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>

#include <xloom_onnx/conv_transpose.hpp>

namespace ops = xloom_onnx;

namespace {

using lengths = std::vector<std::size_t>;
template <class T>
using array = xt::xarray<T>;

/// Returns small integers, whose sums of products are exact.
template <class T>
array<T> numbers(lengths const& dims)
{
    static std::mt19937 bits(3);
    std::uniform_int_distribution<int> number(-4, 4);
    array<T> result = array<T>::from_shape(dims);
    for (T& each : result)
        each = static_cast<T>(static_cast<float>(number(bits)));
    return result;
}

/// A ConvTranspose with each attribute as a number per axis, and the padding that is expected.
struct sample {
    lengths x, w;
    std::vector<std::int64_t> strides, dilations, before, output;
    ops::conv_transpose_options options;
};

/// Calls f for each position below the limits.
template <class F>
void for_each_position(lengths const& limits, F const& f)
{
    std::size_t count = 1;
    for (std::size_t const limit : limits)
        count *= limit;
    for (std::size_t i = 0; i < count; ++i) {
        lengths at(limits.size());
        std::size_t rest = i;
        for (std::size_t a = limits.size(); a-- > 0; rest /= limits[a])
            at[a] = rest % limits[a];
        f(at);
    }
}

template <class T>
void check(sample const& s)
{
    array<T> const x = numbers<T>(s.x), w = numbers<T>(s.w);
    auto const group = static_cast<std::size_t>(s.options.group);
    std::size_t const kernels = s.w[1] * group, channels = s.x[1] / group, axes = s.x.size() - 2;
    array<T> const b = numbers<T>({kernels});
    lengths dims{s.x[0], kernels};
    for (std::int64_t const length : s.output)
        dims.push_back(static_cast<std::size_t>(length));
    array<double> wanted = array<double>::from_shape(dims);
    for_each_position(dims,
        [&](lengths const& at) { wanted.element(at.begin(), at.end()) = static_cast<double>(b(at[1])); });
    lengths const kernel(s.w.begin() + 2, s.w.end());
    for_each_position(s.x, [&](lengths const& from) {
        for (std::size_t m = 0; m < s.w[1]; ++m)
            for_each_position(kernel, [&](lengths const& k) {
                lengths to{from[0], from[1] / channels * s.w[1] + m}, weight{from[1], m};
                for (std::size_t a = 0; a < axes; ++a) {
                    std::int64_t const place = static_cast<std::int64_t>(from[2 + a]) * s.strides[a] +
                                               static_cast<std::int64_t>(k[a]) * s.dilations[a] - s.before[a];
                    if (place < 0 || place >= s.output[a])
                        return;
                    to.push_back(static_cast<std::size_t>(place));
                    weight.push_back(k[a]);
                }
                wanted.element(to.begin(), to.end()) +=
                    static_cast<double>(x.element(from.begin(), from.end())) *
                    static_cast<double>(w.element(weight.begin(), weight.end()));
            });
    });
    array<T> y;
    ops::conv_transpose_into(x, w, b, y, s.options);
    REQUIRE(y.shape() == wanted.shape());
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(static_cast<double>(y.flat(i)) == wanted.flat(i));
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        ops::packed_conv_transpose<T> const layer(w, s.options);
        ops::workspace memory;
        array<T> without;
        layer(x, without, memory);
        array<T> const added = without + xt::reshape_view(b, [&] {
            lengths shape(s.x.size(), 1);
            shape[1] = kernels;
            return shape;
        }());
        CHECK(added == y);
    }
}

void check_all(sample const& s)
{
    check<float>(s);
    check<double>(s);
    check<xloom::float16>(s);
    check<xloom::bfloat16>(s);
}

} // namespace

TEST_CASE("ConvTranspose: strides, dilations, pads, groups, output_padding, along one to three axes")
{
    check_all({{2, 3, 5}, {3, 2, 3}, {1}, {1}, {0}, {7}, {}});
    check_all({{1, 4, 6}, {4, 3, 2}, {3}, {2}, {1}, {17}, // 5 * 3 + 1 + 3 - 2
        {.strides = {3}, .dilations = {2}, .pads = {1, 1}, .group = 2, .output_padding = {1}}});
    check_all({{2, 2, 3, 4}, {2, 2, 2, 3}, {2, 1}, {1, 2}, {1, 0}, {5, 6}, // 4 + 2 - 1, 3 + 5 - 2
        {.strides = {2, 1}, .dilations = {1, 2}, .pads = {1, 0, 0, 2}, .kernel_shape = {2, 3}}});
    check_all({{1, 2, 2, 3, 9}, {2, 5, 2, 1, 3}, {1, 2, 1}, {1, 1, 1}, {0, 0, 1}, {3, 5, 9},
        {.strides = {1, 2, 1}, .pads = {0, 0, 1, 0, 0, 1}}});
    check_all({{1, 1, 300}, {1, 70, 5}, {1}, {1}, {2}, {300}, {.pads = {2, 2}}}); // several blocks of rows
}

TEST_CASE("ConvTranspose: auto_pad and output_shape")
{
    using ops::auto_pad;
    // 3 positions of stride 2 and 4 items: 8, of which 6 stay.
    check<float>({{1, 1, 3}, {1, 1, 4}, {2}, {1}, {1}, {6},
        {.strides = {2}, .pads = {7, 7}, .auto_pad = auto_pad::same_upper}});
    // 5 items: 9, of which 6 stay: one of three is cut before by SAME_UPPER, two by SAME_LOWER.
    check<float>(
        {{1, 1, 3}, {1, 1, 5}, {2}, {1}, {1}, {6}, {.strides = {2}, .auto_pad = auto_pad::same_upper}});
    check<float>(
        {{1, 1, 3}, {1, 1, 5}, {2}, {1}, {2}, {6}, {.strides = {2}, .auto_pad = auto_pad::same_lower}});
    // A kernel shorter than the stride leaves the last position to the bias.
    check<float>(
        {{1, 1, 3}, {1, 1, 1}, {2}, {1}, {0}, {6}, {.strides = {2}, .auto_pad = auto_pad::same_upper}});
    check<float>({{1, 1, 3}, {1, 1, 2}, {2}, {1}, {0}, {6},
        {.strides = {2}, .pads = {1, 1}, .auto_pad = auto_pad::valid}});
    check<float>({{1, 1, 3}, {1, 1, 3}, {3}, {1}, {0}, {10}, {.strides = {3}, .output_shape = {10}}});
    check<float>({{1, 1, 3}, {1, 1, 3}, {3}, {1}, {1}, {8}, {.strides = {3}, .output_shape = {8}}});
    check<float>({{1, 1, 3}, {1, 1, 3}, {3}, {1}, {2}, {6}, {.strides = {3}, .output_shape = {6}}});
}

TEST_CASE("ConvTranspose of nothing")
{
    check<float>({{1, 0, 3}, {0, 2, 3}, {1}, {1}, {0}, {5}, {}});
    check<float>({{0, 2, 3}, {2, 2, 3}, {1}, {1}, {0}, {5}, {}});
    check<float>({{1, 2, 0}, {2, 2, 3}, {1}, {1}, {0}, {2}, {}}); // b alone
    check<float>({{1, 2, 2}, {2, 2, 2}, {1}, {1}, {2}, {0}, {.pads = {2, 1}}});
}

TEST_CASE("ConvTranspose refuses what does not fit")
{
    array<float> const x = numbers<float>({1, 2, 3}), w = numbers<float>({2, 1, 2}), b = numbers<float>({1});
    array<float> y;
    auto const fails = [&](auto const& error, ops::conv_transpose_options const& options) {
        using type = std::remove_cvref_t<decltype(error)>;
        CHECK_THROWS_AS(ops::conv_transpose_into(x, w, b, y, options), type);
    };
    CHECK_NOTHROW(ops::conv_transpose_into(x, w, b, y));
    fails(xloom::shape_error(""), {.pads = {3, 2}});
    fails(xloom::shape_error(""), {.kernel_shape = {3}});
    fails(xloom::shape_error(""), {.group = 3});
    fails(xloom::shape_error(""), {.group = 0});
    fails(xloom::shape_error(""), {.group = 2}); // b has one item
    fails(xloom::option_error(""), {.strides = {0}});
    fails(xloom::option_error(""), {.output_padding = {-1}});
    fails(xloom::option_error(""), {.output_padding = {1, 1}});
    fails(xloom::option_error(""), {.output_shape = {0}});
    array<float> const flat = numbers<float>({2, 3}), none = numbers<float>({2, 1, 0}),
                       other = numbers<float>({3, 1, 2});
    CHECK_THROWS_AS(ops::conv_transpose_into(flat, w, y), xloom::shape_error);
    CHECK_THROWS_AS(ops::conv_transpose_into(x, none, y), xloom::shape_error);
    CHECK_THROWS_AS(ops::conv_transpose_into(x, other, y), xloom::shape_error);
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    CHECK_THROWS_AS(ops::conv_transpose_shape({1, 1, most, most, most}, {1, 1, most, most, most},
                        {.strides = {most, most, most}, .dilations = {most, most, most}}),
        xloom::shape_error);
}
