#include "detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xview.hpp>

#include <xloom/control_flow/scan.hpp>

#include "prune_blocks.hpp"

namespace {

constexpr std::size_t H = 128; // the length of the LSTM's states

/// PyTorch writes the gates in the order i, f, g, o; ONNX, and so xloom, has them as i, o, f, g. A direction
/// axis goes before.
template <std::size_t Rank>
xt::xtensor<float, Rank + 1> in_onnx_order(xt::xtensor<float, Rank> const& torch)
{
    std::array<std::size_t, 4> const gate{0, 3, 1, 2};
    xt::xtensor<float, Rank> onnx = torch;
    for (std::size_t g = 0; g < 4; ++g)
        xt::view(onnx, xt::range(g * H, (g + 1) * H)) =
            xt::view(torch, xt::range(gate[g] * H, (gate[g] + 1) * H));
    return xt::expand_dims(onnx, 0);
}

xloom::lstm_cell<float> read_lstm(weights const& model, lstm_weighting lstm)
{
    auto const W = in_onnx_order(model.get<2>("model.decoder.rnn.weight_ih", {4 * H, feature_count}));
    auto R = in_onnx_order(model.get<2>("model.decoder.rnn.weight_hh", {4 * H, H}));
    auto const Wb = in_onnx_order(model.get<1>("model.decoder.rnn.bias_ih", {4 * H}));
    auto const Rb = in_onnx_order(model.get<1>("model.decoder.rnn.bias_hh", {4 * H}));
    if (lstm.density != 1)
        prune_blocks(R, static_cast<double>(lstm.density));
    xt::xtensor<float, 2> const B = xt::concatenate(xt::xtuple(Wb, Rb), 1);
    return xloom::lstm_cell<float>(xloom::lstm_weights<float>({.W = W, .R = R, .B = B}, {}, lstm.storage));
}

} // namespace

detector::detector(weights const& model, lstm_weighting lstm)
    : encode_(model),
      lstm_(read_lstm(model, lstm)),
      decoder_weight_(model.get<3>("model.decoder.decoder.2.weight", {1, H, 1})),
      decoder_bias_(model.get<1>("model.decoder.decoder.2.bias", {1})(0))
{}

float detector::decode(xt::xtensor<float, 1> const& h) const noexcept
{
    float sum = decoder_bias_;
    for (std::size_t j = 0; j < H; ++j)
        sum += decoder_weight_(0, j, 0) * std::max(h(j), 0.0f);
    return 1.0f / (1.0f + std::exp(-sum));
}

xt::xtensor<float, 1> detector::operator()(xt::xtensor<float, 2> const& chunks)
{
    auto const step = [this](auto& h, auto& c, auto& context, auto const& chunk, float& p) {
        std::span<float const, chunk_size> const samples(chunk.data(), chunk_size);
        lstm_(h, c, encode_(std::span<float const, context_size>(context.data(), context_size), samples));
        std::ranges::copy(samples.last<context_size>(), context.data());
        p = decode(h);
    };

    xt::xtensor<float, 1> h = xt::zeros<float>({H});
    xt::xtensor<float, 1> c = xt::zeros<float>({H});
    xt::xtensor<float, 1> context = xt::zeros<float>({context_size});
    auto probability = xt::xtensor<float, 1>::from_shape({chunks.shape(0)});
    xloom::scan_into(step, std::tie(h, c, context), chunks, probability);
    return probability;
}
