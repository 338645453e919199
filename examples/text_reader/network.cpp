#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include <xtensor/xadapt.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xview.hpp>

#include <xloom/recurrent/activations.hpp>

#include "contrast.hpp"

namespace reader {

namespace {

constexpr std::size_t most_activations = (std::size_t{1} << 30) / sizeof(float);

std::size_t width_of(activations const& x) { return x.shape(0); }
std::size_t height_of(activations const& x) { return x.shape(2); }
std::size_t channels_of(activations const& x) { return x.shape(3); }

activations make_activations(std::size_t width, std::size_t height, std::size_t channels)
{
    // Each factor is at most 2^14.
    std::size_t const count = width * height * channels;
    if (count == 0 || count > most_activations)
        throw std::length_error("the image is too narrow or too wide for the network");
    return activations::from_shape({width, 1, height, channels});
}

/// The sequence of random numbers of Tesseract 5.3.
class noise {
public:
    explicit noise(std::uint64_t seed) : engine_(seed) { engine_(); }

    /// Returns a number in [-1, 1]; if `is_integer`, a multiple of 1/127.
    float operator()(bool is_integer)
    {
        double const number = 2.0 * static_cast<double>(engine_()) / 0x7fffffff - 1;
        return static_cast<float>(is_integer ? std::round(127 * number) / 127 : number);
    }

private:
    std::minstd_rand engine_;
};

/// Rows are the outer loop, for the order of the random numbers.
activations run(window_layer const& window, activations const& x, noise& border, bool is_integer)
{
    std::size_t const columns = 2 * window.half_x + 1, rows = 2 * window.half_y + 1;
    std::size_t const width = width_of(x), height = height_of(x), channels = channels_of(x);
    activations windows = make_activations(width, height, columns * rows * channels);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t t = 0; t < width; ++t) {
            float* to = &windows(t, 0, y, 0);
            for (std::size_t column = 0; column < columns; ++column)
                for (std::size_t row = 0; row < rows; ++row, to += channels) {
                    // Unsigned arithmetic makes a position before the first one a large number.
                    std::size_t const from_x = t + column - window.half_x, from_y = y + row - window.half_y;
                    if (from_x < width && from_y < height)
                        std::copy_n(&x(from_x, 0, from_y, 0), channels, to);
                    else
                        std::generate_n(to, channels, [&] { return border(is_integer); });
                }
        }
    return windows;
}

activations run(max_pool_layer const& pool, activations const& x)
{
    std::size_t const channels = channels_of(x);
    activations largest = make_activations(width_of(x) / pool.width, height_of(x) / pool.height, channels);
    for (std::size_t t = 0; t < width_of(largest); ++t)
        for (std::size_t y = 0; y < height_of(largest); ++y) {
            float* const to = &largest(t, 0, y, 0);
            std::copy_n(&x(t * pool.width, 0, y * pool.height, 0), channels, to);
            for (std::size_t dx = 0; dx < pool.width; ++dx)
                for (std::size_t dy = 0; dy < pool.height; ++dy) {
                    float const* const from = &x(t * pool.width + dx, 0, y * pool.height + dy, 0);
                    for (std::size_t c = 0; c < channels; ++c)
                        to[c] = std::max(to[c], from[c]);
                }
        }
    return largest;
}

activations run(packed_dense const& dense, activations const& x)
{
    using enum dense_layer::kind;
    std::size_t const rows = width_of(x) * height_of(x), channels = dense.matrix.columns();
    activations y = make_activations(width_of(x), height_of(x), channels);
    dense.matrix(rows, x.data(), channels_of(x), y.data(), channels);
    std::span<float> const all(y.data(), y.size());
    switch (dense.activation) {
    case linear:
        break;
    case tanh:
        xloom::activate(xloom::activation::tanh, all, all);
        break;
    case relu:
        xloom::activate(xloom::activation::relu, all, all);
        break;
    case sigmoid:
        xloom::activate(xloom::activation::sigmoid, all, all);
        break;
    case softmax:
        for (std::size_t row = 0; row < rows; ++row) {
            auto const scores = all.subspan(row * channels, channels);
            xloom::activate(xloom::activation::softmax, scores, scores);
        }
        break;
    }
    return y;
}

activations run(packed_lstm const& lstm, activations const& x)
{
    if (!lstm.summarises_columns)
        return xloom::lstm(xt::view(x, xt::all(), 0), lstm.weights).Y;
    auto const columns = xt::transpose(xt::view(x, xt::all(), 0), {1, 0, 2}); // the rows are the steps
    auto const last = xloom::lstm(columns, lstm.weights).Y_h;                 // [1, width, H]
    return xt::reshape_view(last, {last.shape(1), std::size_t{1}, std::size_t{1}, last.shape(2)});
}

/// ONNX's gates are i, o, f, g.
xloom::lstm_weights<float> pack(lstm_layer const& lstm, xloom::weight_storage storage)
{
    auto const& [cell, input, forget, output] = lstm.gates;
    std::size_t const H = cell.shape(0), I = lstm.inputs;
    auto W = xt::xtensor<float, 3>::from_shape({1, 4 * H, I});
    auto R = xt::xtensor<float, 3>::from_shape({1, 4 * H, H});
    xt::xtensor<float, 2> B = xt::zeros<float>({std::size_t{1}, 8 * H});
    std::size_t row = 0;
    for (auto const* gate : {&input, &output, &forget, &cell}) {
        for (std::size_t unit = 0; unit < H; ++unit, ++row) {
            float const* const weights = &(*gate)(unit, 0);
            std::copy_n(weights, I, &W(0, row, 0));
            std::copy_n(weights + I, H, &R(0, row, 0));
            B(0, row) = weights[I + H];
        }
    }
    return xloom::lstm_weights<float>({.W = W, .R = R, .B = B}, {.direction = lstm.direction}, storage);
}

xloom::packed_matrix<float> pack(dense_layer const& dense, xloom::weight_storage storage)
{
    std::size_t const inputs = dense.weights.shape(1) - 1;
    xt::xtensor<float, 2> const matrix =
        xt::transpose(xt::view(dense.weights, xt::all(), xt::range(0, inputs)));
    xt::xtensor<float, 1> const bias = xt::view(dense.weights, xt::all(), inputs);
    return xloom::packed_matrix<float>(matrix, bias, storage);
}

} // namespace

network::network(network_file const& file, xloom::weight_storage storage)
    : is_integer_(file.is_integer), noise_seed_(file.noise_seed)
{
    for (layer const& any : file.layers)
        if (auto const* window = std::get_if<window_layer>(&any))
            layers_.emplace_back(*window);
        else if (auto const* pool = std::get_if<max_pool_layer>(&any))
            layers_.emplace_back(*pool);
        else if (auto const* dense = std::get_if<dense_layer>(&any))
            layers_.emplace_back(packed_dense{dense->activation, pack(*dense, storage)});
        else if (auto const* lstm = std::get_if<lstm_layer>(&any))
            layers_.emplace_back(packed_lstm{lstm->summarises_columns, pack(*lstm, storage)});
}

xt::xtensor<float, 2> network::operator()(line_image const& image) const
{
    noise border(noise_seed_);
    activations x = normalize(image, is_integer_);
    for (packed_layer const& any : layers_)
        if (auto const* window = std::get_if<window_layer>(&any))
            x = run(*window, x, border, is_integer_);
        else if (auto const* pool = std::get_if<max_pool_layer>(&any))
            x = run(*pool, x);
        else if (auto const* dense = std::get_if<packed_dense>(&any))
            x = run(*dense, x);
        else if (auto const* lstm = std::get_if<packed_lstm>(&any))
            x = run(*lstm, x);
    return xt::reshape_view(x, {width_of(x), channels_of(x)});
}

} // namespace reader
