// Compares the network with the definitions of its layers, in double.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "contrast.hpp"
#include "network.hpp"
#include "small_language.hpp"

namespace {

using namespace reader;

/// A picture of `channels` numbers at each position.
struct picture {
    std::size_t width, height, channels;
    std::vector<double> items;

    picture(std::size_t w, std::size_t h, std::size_t c) : width(w), height(h), channels(c), items(w * h * c)
    {}
    double& at(std::size_t x, std::size_t y, std::size_t c) { return items[(y * width + x) * channels + c]; }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double dot(small_matrix const& matrix, std::size_t row, std::vector<double> const& x)
{
    double sum = matrix.weight(row, x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        sum += matrix.weight(row, i) * x[i];
    return sum;
}

/// The states of an LSTM after each of its inputs.
std::vector<std::vector<double>> lstm(
    std::array<small_matrix, 4> const& gates, std::vector<std::vector<double>> const& xs)
{
    std::size_t const H = gates[0].rows;
    std::vector<double> h(H), c(H);
    std::vector<std::vector<double>> states;
    for (std::vector<double> x : xs) {
        x.insert(x.end(), h.begin(), h.end());
        for (std::size_t unit = 0; unit < H; ++unit) {
            c[unit] = c[unit] * sigmoid(dot(gates[2], unit, x)) +
                      std::tanh(dot(gates[0], unit, x)) * sigmoid(dot(gates[1], unit, x));
            h[unit] = std::tanh(c[unit]) * sigmoid(dot(gates[3], unit, x));
        }
        states.push_back(h);
    }
    return states;
}

/// The network of small_language.hpp on a picture of one channel.
std::vector<std::vector<double>> expected(picture pixels)
{
    small_network const network;
    std::uint64_t state = std::uint64_t{network.samples} * 0x10000001u % 2147483647u;
    auto const step = [&] { state = state * 48271u % 2147483647u; };
    step();
    auto const noise = [&] {
        step();
        return std::round(127 * (2.0 * static_cast<double>(state) / 2147483647.0 - 1)) / 127;
    };
    picture convolved(pixels.width, pixels.height, 2);
    for (int y = 0; y < static_cast<int>(pixels.height); ++y)
        for (int x = 0; x < static_cast<int>(pixels.width); ++x) {
            std::vector<double> window;
            for (int dx = -1; dx <= 1; ++dx)
                for (int dy = -1; dy <= 1; ++dy) {
                    bool const inside = x + dx >= 0 && x + dx < static_cast<int>(pixels.width) &&
                                        y + dy >= 0 && y + dy < static_cast<int>(pixels.height);
                    window.push_back(inside ? pixels.at(static_cast<std::size_t>(x + dx),
                                                  static_cast<std::size_t>(y + dy), 0)
                                            : noise());
                }
            for (std::size_t c = 0; c < 2; ++c)
                convolved.at(static_cast<std::size_t>(x), static_cast<std::size_t>(y), c) =
                    std::tanh(dot(network.convolution, c, window));
        }
    std::vector<std::vector<double>> columns;
    for (std::size_t x = 0; x < pixels.width / 3; ++x) {
        std::vector<std::vector<double>> rows;
        for (std::size_t y = 0; y < pixels.height / 3; ++y) {
            std::vector<double> largest(2, -2);
            for (std::size_t c = 0; c < 2; ++c)
                for (std::size_t i = 0; i < 9; ++i)
                    largest[c] = std::max(largest[c], convolved.at(3 * x + i % 3, 3 * y + i / 3, c));
            rows.push_back(largest);
        }
        columns.push_back(lstm(network.columns, rows).back());
    }
    auto states = lstm(network.forward, columns);
    std::reverse(states.begin(), states.end());
    states = lstm(network.reverse, states);
    std::reverse(states.begin(), states.end());
    for (auto& x : states) {
        std::vector<double> scores;
        double sum = 0;
        for (std::size_t code = 0; code < network.codes; ++code)
            sum += scores.emplace_back(std::exp(dot(network.output, code, x)));
        for (double& score : scores)
            score /= sum;
        x = scores;
    }
    return states;
}

line_image test_image(std::size_t width)
{
    auto image = line_image::from_shape({6, width});
    for (std::size_t y = 0; y < 6; ++y)
        for (std::size_t x = 0; x < width; ++x)
            image(y, x) = static_cast<std::uint8_t>((x * 83 + y * 151 + x * y * 29) % 256);
    return image;
}

} // namespace

TEST_CASE("the network computes the definitions of its layers")
{
    network const run(read_network(traineddata(traineddata_bytes())));
    double largest = 0;
    for (std::size_t const width : {3u, 4u, 20u, 77u}) {
        line_image const image = test_image(width);
        auto const input = normalize(image, true);
        picture pixels(width, 6, 1);
        for (std::size_t y = 0; y < 6; ++y)
            for (std::size_t x = 0; x < width; ++x)
                pixels.at(x, y, 0) = input(x, 0, y, 0);
        auto const probabilities = run(image);
        auto const definition = expected(pixels);
        REQUIRE(probabilities.shape(0) == definition.size());
        REQUIRE(probabilities.shape(1) == 4);
        for (std::size_t t = 0; t < definition.size(); ++t)
            for (std::size_t code = 0; code < 4; ++code)
                largest = std::max(largest, std::abs(double{probabilities(t, code)} - definition[t][code]));
    }
    CHECK(largest < 1e-6);
    CHECK(largest > 0);
}

TEST_CASE("an image that is narrower than a maximum is an error")
{
    network const run(read_network(traineddata(traineddata_bytes())));
    CHECK_THROWS_AS(run(test_image(2)), std::length_error);
}

TEST_CASE("black and white are quartiles of the extrema of the middle row")
{
    auto image = line_image::from_shape({3, 9});
    image.fill(77);
    std::array<std::uint8_t, 9> const middle{9, 40, 8, 200, 10, 220, 12, 240, 0};
    std::copy(middle.begin(), middle.end(), &image(1, 0));
    // Minima 8, 10, 12; maxima 40, 200, 220, 240. A quartile is a position on the histogram's steps: 1 of 3
    // samples at least, so the end of 8; 3 of 4 samples, the end of 220.
    black_and_white const found = estimate_contrast(image);
    CHECK(found.black == 9);
    CHECK(found.white == 221);
    image.fill(77);
    CHECK(estimate_contrast(image).black == 1); // without extrema: the ends of 0 and 255
    CHECK(estimate_contrast(image).white == 256);
}

TEST_CASE("pixels are scaled to the contrast, limited and rounded")
{
    auto image = line_image::from_shape({3, 9});
    std::array<std::uint8_t, 9> const middle{9, 40, 8, 200, 10, 220, 12, 240, 0};
    image.fill(115);
    std::copy(middle.begin(), middle.end(), &image(1, 0));
    auto const floats = normalize(image, false), integers = normalize(image, true);
    CHECK(floats(0, 0, 1, 0) == -1);
    CHECK(floats(7, 0, 1, 0) == doctest::Approx((240 - 9) / 106.0 - 1));
    CHECK(integers(7, 0, 1, 0) == 1);
    CHECK(integers(8, 0, 1, 0) == -1);
    CHECK(integers(3, 0, 1, 0) == doctest::Approx(103 / 127.0)); // round(128 * (191 / 106 - 1)) = 103
}
