// Conv beside the textbook's loops: every attribute, one to three axes, tiles and rows of any length.

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>

#include <xloom_onnx/conv.hpp>

namespace ops = xloom_onnx;

namespace {

/// A Conv along three axes; fewer have one item each before them.
struct sample {
    std::size_t rank = 3; ///< of the axes that W has
    std::size_t batch = 1, groups = 1, channels = 1, kernels = 1;
    std::array<std::int64_t, 3> input{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
        before{0, 0, 0}, after{0, 0, 0};

    std::int64_t output(std::size_t a) const
    {
        return (input[a] + before[a] + after[a] - dilation[a] * (kernel[a] - 1) - 1) / stride[a] + 1;
    }
    ops::conv_options options() const
    {
        ops::conv_options made;
        made.group = static_cast<std::int64_t>(groups);
        for (std::size_t a = 3 - rank; a < 3; ++a) {
            made.strides.push_back(stride[a]);
            made.dilations.push_back(dilation[a]);
            made.pads.push_back(before[a]);
        }
        for (std::size_t a = 3 - rank; a < 3; ++a)
            made.pads.push_back(after[a]);
        return made;
    }
    std::vector<std::size_t> dims(
        std::size_t first, std::size_t second, std::array<std::int64_t, 3> const& spatial) const
    {
        std::vector<std::size_t> all{first, second};
        for (std::size_t a = 3 - rank; a < 3; ++a)
            all.push_back(static_cast<std::size_t>(spatial[a]));
        return all;
    }
};

/// Small integers: sums of their products are exact in any order.
template <class T>
xt::xarray<T> integers(std::vector<std::size_t> const& dims, std::mt19937& source)
{
    xt::xarray<T> made = xt::xarray<T>::from_shape(dims);
    for (T& item : made)
        item = static_cast<T>(static_cast<int>(source() % 7) - 3);
    return made;
}

template <class T>
std::vector<T> textbook(
    sample const& s, xt::xarray<T> const& x, xt::xarray<T> const& w, xt::xarray<T> const& b)
{
    std::vector<T> y;
    auto const& [I, J, K] = s.input;
    auto const& [P, Q, R] = s.kernel;
    std::size_t const C = s.channels / s.groups, all = s.kernels;
    for (std::size_t n = 0; n < s.batch; ++n)
        for (std::size_t m = 0; m < all; ++m)
            for (std::int64_t i = 0; i < s.output(0); ++i)
                for (std::int64_t j = 0; j < s.output(1); ++j)
                    for (std::int64_t k = 0; k < s.output(2); ++k) {
                        T sum = b.flat(m);
                        for (std::size_t c = 0; c < C; ++c)
                            for (std::int64_t p = 0; p < P; ++p)
                                for (std::int64_t q = 0; q < Q; ++q)
                                    for (std::int64_t r = 0; r < R; ++r) {
                                        std::int64_t const u = i * s.stride[0] + p * s.dilation[0] -
                                                               s.before[0],
                                                           v = j * s.stride[1] + q * s.dilation[1] -
                                                               s.before[1],
                                                           t = k * s.stride[2] + r * s.dilation[2] -
                                                               s.before[2];
                                        if (u < 0 || v < 0 || t < 0 || u >= I || v >= J || t >= K)
                                            continue;
                                        std::size_t const channel = m / (all / s.groups) * C + c;
                                        auto const at = [](std::size_t plane, std::int64_t depth,
                                                            std::int64_t row, std::int64_t column,
                                                            auto const& of) {
                                            return static_cast<std::size_t>(
                                                ((static_cast<std::int64_t>(plane) * of[0] + depth) * of[1] +
                                                    row) *
                                                    of[2] +
                                                column);
                                        };
                                        sum += x.flat(at(n * s.channels + channel, u, v, t, s.input)) *
                                               w.flat(at(m * C + c, p, q, r, s.kernel));
                                    }
                        y.push_back(sum);
                    }
    return y;
}

template <class T>
void check(sample const& s, std::mt19937& source)
{
    CAPTURE(s.rank);
    CAPTURE(s.channels);
    CAPTURE(s.kernels);
    CAPTURE(s.groups);
    for (std::size_t a = 0; a < 3; ++a) {
        CAPTURE(a);
        INFO(s.input[a], " ", s.kernel[a], " ", s.stride[a], " ", s.dilation[a], " ", s.before[a], " ",
            s.after[a]);
        REQUIRE(s.output(a) >= 1);
    }
    xt::xarray<T> const x = integers<T>(s.dims(s.batch, s.channels, s.input), source),
                        w = integers<T>(s.dims(s.kernels, s.channels / s.groups, s.kernel), source),
                        b = integers<T>({s.kernels}, source);
    xt::xarray<T> y;
    ops::workspace memory;
    ops::packed_conv<T>(w, b, s.options())(x, y, memory);
    std::vector<T> const expected = textbook(s, x, w, b);
    REQUIRE(y.size() == expected.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        wrong += y.flat(i) == expected[i] ? 0 : 1;
    CHECK(wrong == 0);
    // Weights that suit the number of outputs, and weights that change, give the same.
    ops::conv_options fitted = s.options();
    fitted.outputs = y.size() / (s.batch * s.kernels);
    xt::xarray<T> again;
    ops::packed_conv<T>(w, b, fitted)(x, again, memory);
    CHECK(again == y);
    ops::conv_into(x, w, b, again, s.options());
    CHECK(again == y);
}

} // namespace

TEST_CASE("any Conv along one to three axes")
{
    std::mt19937 source(7);
    auto const below = [&](std::size_t end) { return static_cast<std::int64_t>(source() % end); };
    for (int round = 0; round < 100; ++round) {
        sample s;
        s.rank = 1 + source() % 3;
        s.batch = 1 + source() % 2;
        s.groups = 1 + source() % 3;
        s.channels = s.groups * (1 + source() % 5);
        s.kernels = s.groups * (1 + source() % 9);
        for (std::size_t a = 3 - s.rank; a < 3; ++a) {
            s.kernel[a] = 1 + below(4);
            s.stride[a] = 1 + below(4);
            s.dilation[a] = 1 + below(3);
            s.before[a] = below(4);
            s.after[a] = below(4);
            std::int64_t const least = s.dilation[a] * (s.kernel[a] - 1) + 1 - s.before[a] - s.after[a];
            s.input[a] = std::max<std::int64_t>(1, least) + below(a == 2 ? 40 : 9);
        }
        if (round % 2 == 0)
            check<float>(s, source);
        else
            check<double>(s, source);
    }
}

TEST_CASE("Conv in several tiles, and with padding larger than all else")
{
    std::mt19937 source(8);
    check<float>({.rank = 1, .kernels = 3, .input = {1, 1, 40'000}, .kernel = {1, 1, 3}}, source);
    check<float>({.rank = 1,
                     .channels = 5,
                     .kernels = 2,
                     .input = {1, 1, 20'001},
                     .kernel = {1, 1, 4},
                     .stride = {1, 1, 3},
                     .before = {0, 0, 2}},
        source);
    check<float>({.channels = 3,
                     .kernels = 5,
                     .input = {3, 24, 500},
                     .kernel = {2, 3, 3},
                     .stride = {1, 2, 2},
                     .before = {1, 1, 1},
                     .after = {0, 1, 1}},
        source);
    check<double>(
        {.rank = 2, .channels = 40, .kernels = 7, .input = {1, 37, 65}, .kernel = {1, 3, 3}}, source);
    check<float>(
        {.rank = 2, .channels = 300, .kernels = 4, .input = {1, 3, 130}, .kernel = {1, 1, 1}}, source);
    for (std::size_t const kernels : {2U, 6U})
        for (std::size_t const rank : {1U, 2U})
            check<float>({.rank = rank,
                             .channels = 2,
                             .kernels = kernels,
                             .input = {1, 1, 5},
                             .kernel = {1, 1, 3},
                             .stride = {1, 1, 40'000},
                             .before = {0, 0, 1'000'000},
                             .after = {0, 0, 1'000'000}},
                source);
}

TEST_CASE("a Conv of no channels gives its bias")
{
    xt::xarray<float> const x = xt::xarray<float>::from_shape({1, 0, 3, 30}),
                            w = xt::xarray<float>::from_shape({2, 0, 1, 1}), b{1, 2};
    xt::xarray<float> y;
    ops::conv_into(x, w, b, y);
    REQUIRE(y.size() == 180);
    CHECK(y.flat(0) == 1);
    CHECK(y.flat(179) == 2);
}

TEST_CASE("a Conv of no outputs takes no memory")
{
    for (std::size_t const kernels : {8U, 2U}) { // packed, and read from W
        auto const w = xt::xarray<float>::from_shape({kernels, 16, 1});
        ops::packed_conv<float> const layer(w, {.strides = {2}, .auto_pad = ops::auto_pad::same_upper});
        CHECK(layer.workspace_bytes({1, 16, 0}) == 0);
        xt::xarray<float> y;
        ops::workspace memory;
        layer(xt::xarray<float>::from_shape({1, 16, 0}), y, memory);
        CHECK(y.shape() == xt::xarray<float>::shape_type{1, kernels, 0});
    }
}

TEST_CASE("Conv refuses weights, biases and groups that do not fit")
{
    auto const error = [](std::vector<std::size_t> const& w, std::vector<std::size_t> const& b,
                           std::int64_t group) {
        try {
            ops::packed_conv<float>(
                xt::xarray<float>::from_shape(w), xt::xarray<float>::from_shape(b), {.group = group});
            return std::string();
        } catch (xloom::shape_error const& refused) {
            return std::string(refused.what());
        }
    };
    CHECK(error({2, 1, 3}, {2}, 1) == "");
    CHECK(error({2, 1}, {2}, 1) == "xloom_onnx::conv: W has the shape [2, 1]");
    CHECK(error({2, 1, 1, 1, 1, 1}, {2}, 1) == "xloom_onnx::conv: W has the shape [2, 1, 1, 1, 1, 1]");
    CHECK(error({2, 1, 3}, {3}, 1) == "xloom_onnx::conv: B has the shape [3] for 2 kernels");
    for (std::int64_t const group : {0, 3})
        CHECK(error({2, 1, 3}, {2}, group) ==
              "xloom_onnx::conv: W has the shape [2, 1, 3] in " + std::to_string(group) + " groups");
    CHECK_THROWS_WITH_AS(ops::conv_shape({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}),
        "xloom_onnx::conv: more than three spatial axes: X has the shape [1, 1, 1, 1, 1, 1]",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::conv_shape({1, 4, 5}, {3, 2, 1}, {.group = 2}),
        "xloom_onnx::conv: X and W have the shapes [1, 4, 5] and [3, 2, 1] in 2 groups", xloom::shape_error);
    CHECK_THROWS_WITH_AS(
        ops::conv_shape({1, 1, 5}, {1, 1, 0}), "xloom_onnx::conv: a kernel has no items", xloom::shape_error);
    CHECK_THROWS_WITH_AS(ops::conv_shape({1, 1, std::size_t{1} << 31}, {1, 1, 1}),
        "xloom_onnx::conv: the input's shape [1, 1, 2147483648] or the kernel's [1] is too large",
        xloom::shape_error);
}
