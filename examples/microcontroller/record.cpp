// Writes the headers that the firmware compares itself with: weights, inputs, and the outputs of a plain loop
// in double, of speech those of ONNX Runtime.
//
//     record lstm|gru UNITS STEPS            random weights, one input
//     record silero MODEL RECORDING CHUNKS   the LSTM of Silero's network, on the first chunks of a recording
//     record keyword MODEL                   openWakeWord's network for a keyword, on a window of features
//     record speech RECORDING CHUNKS JSON    the first chunks, and ONNX Runtime's outputs of Silero's network
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "voice_activity/encoder.hpp"
#include "voice_activity/recording.hpp"
#include "voice_activity/weights.hpp"

namespace {

using items = std::vector<float>;

struct network {
    std::size_t I, H, gates;
    items W, R, B; ///< [gates H, I], [gates H, H], [2 gates H], in ONNX's order of gates
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Computes W x + R h of output j.
double products(network const& of, std::size_t j, float const* x, std::vector<double> const& h)
{
    double sum = 0;
    for (std::size_t i = 0; i < of.I; ++i)
        sum += static_cast<double>(of.W[j * of.I + i]) * static_cast<double>(x[i]);
    for (std::size_t k = 0; k < of.H; ++k)
        sum += static_cast<double>(of.R[j * of.H + k]) * h[k];
    return sum;
}

double bias(network const& of, std::size_t j)
{
    return static_cast<double>(of.B[j]) + static_cast<double>(of.B[of.gates * of.H + j]);
}

/// ONNX's LSTM, gates in the order i, o, f, g.
items run_lstm(network const& of, items const& x)
{
    std::vector<double> h(of.H), c(of.H);
    items Y;
    for (std::size_t t = 0; t < x.size() / of.I; ++t) {
        std::vector<double> const before = h;
        for (std::size_t j = 0; j < of.H; ++j) {
            double sums[4];
            for (std::size_t gate = 0; gate < 4; ++gate)
                sums[gate] = bias(of, gate * of.H + j) + products(of, gate * of.H + j, &x[t * of.I], before);
            c[j] = sigmoid(sums[2]) * c[j] + sigmoid(sums[0]) * std::tanh(sums[3]);
            h[j] = sigmoid(sums[1]) * std::tanh(c[j]);
        }
        Y.insert(Y.end(), h.begin(), h.end());
    }
    return Y;
}

/// ONNX's GRU, gates in the order z, r, h.
items run_gru(network const& of, items const& x)
{
    std::vector<double> h(of.H);
    items Y;
    std::size_t const H = of.H;
    for (std::size_t t = 0; t < x.size() / of.I; ++t) {
        std::vector<double> const before = h;
        std::vector<double> z(H), reset(H);
        for (std::size_t j = 0; j < H; ++j) {
            z[j] = sigmoid(bias(of, j) + products(of, j, &x[t * of.I], before));
            reset[j] = sigmoid(bias(of, H + j) + products(of, H + j, &x[t * of.I], before)) * before[j];
        }
        for (std::size_t j = 0; j < H; ++j)
            h[j] =
                (1 - z[j]) * std::tanh(bias(of, 2 * H + j) + products(of, 2 * H + j, &x[t * of.I], reset)) +
                z[j] * before[j];
        Y.insert(Y.end(), h.begin(), h.end());
    }
    return Y;
}

/// Returns numbers that are the same on every machine.
items random_items(std::size_t count, float magnitude, std::mt19937& engine)
{
    items all(count);
    for (float& each : all)
        each = magnitude * (static_cast<float>(engine() >> 8) / 8388608.0F - 1);
    return all;
}

network random_network(std::size_t gates, std::size_t I, std::size_t H, std::mt19937& engine)
{
    float const magnitude = 1 / std::sqrt(static_cast<float>(H));
    return {I, H, gates, random_items(gates * H * I, magnitude, engine),
        random_items(gates * H * H, magnitude, engine), random_items(2 * gates * H, magnitude, engine)};
}

void print(std::string_view name, items const& all)
{
    std::printf("inline constexpr float %.*s[] = {", static_cast<int>(name.size()), name.data());
    for (std::size_t i = 0; i < all.size(); ++i)
        std::printf("%s%.9eF,", i % 8 == 0 ? "\n    " : " ", static_cast<double>(all[i]));
    std::printf("\n};\n");
}

void print(network const& of, items const& x, items const& Y)
{
    std::printf("#pragma once\n\n#include <cstddef>\n\nnamespace recorded {\n\n"
                "inline constexpr std::size_t I = %zu, H = %zu, T = %zu;\n",
        of.I, of.H, x.size() / of.I);
    print("W", of.W);
    print("R", of.R);
    print("B", of.B);
    print("x", x);
    print("Y", Y);
    std::printf("\n} // namespace recorded\n");
}

void record_random(std::string_view kind, std::size_t H, std::size_t T)
{
    std::mt19937 engine(1);
    network const of = random_network(kind == "lstm" ? 4 : 3, 1, H, engine);
    items const x = random_items(T, 1, engine);
    print(of, x, kind == "lstm" ? run_lstm(of, x) : run_gru(of, x));
}

/// Appends the gates of PyTorch's order i, f, g, o in ONNX's order i, o, f, g.
void append_in_onnx_order(items& to, items const& torch)
{
    auto const gate = static_cast<std::ptrdiff_t>(torch.size() / 4);
    for (std::ptrdiff_t const g : {0, 3, 1, 2})
        to.insert(to.end(), torch.begin() + g * gate, torch.begin() + (g + 1) * gate);
}

void record_silero(std::string const& model, std::string const& path, std::size_t T)
{
    weights const from(model);
    network of{feature_count, 128, 4, {}, {}, {}};
    auto const append = [&](items& to, std::string const& name, std::size_t columns) {
        auto const torch = from.get<2>("model.decoder.rnn." + name, {4 * of.H, columns});
        append_in_onnx_order(to, {torch.begin(), torch.end()});
    };
    append(of.W, "weight_ih", of.I);
    append(of.R, "weight_hh", of.H);
    for (auto const* const name : {"bias_ih", "bias_hh"}) {
        auto const torch = from.get<1>(std::string("model.decoder.rnn.") + name, {4 * of.H});
        append_in_onnx_order(of.B, {torch.begin(), torch.end()});
    }
    encoder encode(from);
    recording const speech = read_recording(path);
    std::array<float, context_size> context{};
    items x;
    for (std::size_t t = 0; t < std::min(T, speech.chunks.shape(0)); ++t) {
        std::span<float const, chunk_size> const chunk(speech.chunks.data() + t * chunk_size, chunk_size);
        auto const features = encode(context, chunk);
        x.insert(x.end(), features.begin(), features.end());
        std::ranges::copy(chunk.last<context_size>(), context.begin());
    }
    print(of, x, run_lstm(of, x));
}

void record_speech(std::string const& path, std::size_t T, std::string const& probabilities)
{
    recording const speech = read_recording(path);
    auto const expected = nlohmann::json::parse(std::ifstream(probabilities)).at(speech.name).get<items>();
    T = std::min(T, expected.size());
    std::printf("#pragma once\n\n#include <cstddef>\n\nnamespace recorded {\n\n"
                "inline constexpr std::size_t T = %zu, chunk_size = %zu, context_size = %zu;\n",
        T, chunk_size, context_size);
    print("chunks", {speech.chunks.data(), speech.chunks.data() + T * chunk_size});
    print("probabilities", {expected.data(), expected.data() + T});
    std::printf("\n} // namespace recorded\n");
}

/// Computes W x + b.
std::vector<double> dense(items const& W, items const& b, std::vector<double> const& x)
{
    std::vector<double> y(b.begin(), b.end());
    for (std::size_t j = 0; j < y.size(); ++j)
        for (std::size_t k = 0; k < x.size(); ++k)
            y[j] += static_cast<double>(W[j * x.size() + k]) * x[k];
    return y;
}

/// Scales x to mean 0 and variance 1, then by `scale` and `shift`; what is negative becomes 0.
void normalize(std::vector<double>& x, items const& scale, items const& shift)
{
    auto const count = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (double const each : x)
        mean += each / count;
    for (double const each : x)
        variance += (each - mean) * (each - mean) / count;
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::max(0.0, (x[i] - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(scale[i]) +
                                 static_cast<double>(shift[i]));
}

void record_keyword(std::string const& model)
{
    constexpr std::size_t K = 16 * 96, J = 32; // features, units
    weights const from(model);
    auto const matrix = [&](std::string const& name, std::size_t rows, std::size_t columns) {
        auto const all = from.get<2>(name, {rows, columns});
        return items(all.begin(), all.end());
    };
    auto const vector = [&](std::string const& name, std::size_t size) {
        auto const all = from.get<1>(name, {size});
        return items(all.begin(), all.end());
    };
    std::mt19937 engine(1);
    items const x = random_items(K, 10, engine);
    auto y = dense(matrix("1.weight", J, K), vector("1.bias", J), {x.begin(), x.end()});
    normalize(y, vector("2.weight", J), vector("2.bias", J));
    y = dense(matrix("4.weight", J, J), vector("4.bias", J), y);
    normalize(y, vector("5.weight", J), vector("5.bias", J));
    y = dense(matrix("7.weight", 1, J), vector("7.bias", 1), y);
    std::printf("#pragma once\n\nnamespace recorded {\n\n");
    print("x", x);
    print("probability", {static_cast<float>(sigmoid(y[0]))});
    std::printf("\n} // namespace recorded\n");
}

} // namespace

int main(int count, char** arguments)
{
    std::vector<std::string> const words(arguments + 1, arguments + count);
    try {
        if (words.size() == 3 && (words[0] == "lstm" || words[0] == "gru"))
            record_random(words[0], std::stoul(words[1]), std::stoul(words[2]));
        else if (words.size() == 4 && words[0] == "silero")
            record_silero(words[1], words[2], std::stoul(words[3]));
        else if (words.size() == 2 && words[0] == "keyword")
            record_keyword(words[1]);
        else if (words.size() == 4 && words[0] == "speech")
            record_speech(words[1], std::stoul(words[2]), words[3]);
        else
            throw std::invalid_argument(
                "it takes lstm|gru UNITS STEPS, silero MODEL RECORDING CHUNKS, keyword MODEL, or speech "
                "RECORDING CHUNKS PROBABILITIES");
    } catch (std::exception const& error) {
        std::fprintf(stderr, "record: %s\n", error.what());
        return 1;
    }
    return 0;
}
