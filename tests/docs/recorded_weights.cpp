// The functions of docs/weights.md: against what PyTorch 1.13 computed (tests/data/record_pytorch.py), and
// against the formulas of Keras and Flax in double.

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "in_weights.cpp" // made of that page
#include "support/recording.hpp"

namespace {

using recorded::check_equal, recorded::output_of, recorded::pytorch;
using weights::direction, weights::layer, weights::matrices, weights::matrix, weights::vector;

/// All layers of a module of PyTorch's.
std::vector<layer> layers_of(std::string const& name, std::vector<std::size_t> const& gates)
{
    std::vector<layer> layers;
    for (int l = 0; pytorch().has(name + ".weight_ih_l" + std::to_string(l)); ++l) {
        std::vector<direction> directions;
        for (std::string const way : {"", "_reverse"}) {
            std::string const end = "_l" + std::to_string(l) + way;
            if (pytorch().has(name + ".weight_ih" + end))
                directions.push_back({pytorch().tensor<2>(name + ".weight_ih" + end),
                    pytorch().tensor<2>(name + ".weight_hh" + end),
                    pytorch().tensor<1>(name + ".bias_ih" + end),
                    pytorch().tensor<1>(name + ".bias_hh" + end)});
        }
        layers.push_back(weights::to_onnx(directions, gates));
    }
    return layers;
}

xloom::direction direction_of(layer const& from)
{
    return from.W.shape(0) == 2 ? xloom::direction::bidirectional : xloom::direction::forward;
}

/// Checks the outputs of a module whose only state is h.
template <class Result>
void check_hidden(std::string const& name, Result const& result)
{
    check_equal(output_of(result.Y), pytorch().tensor<3>(name + ".output"));
    check_equal(result.Y_h, pytorch().tensor<3>(name + ".h_n"));
}

void check_rnn(std::string const& name, xloom::rnn_options options)
{
    std::vector<xloom::rnn_weights<float>> packed;
    for (layer const& each : layers_of(name, weights::rnn_gates)) {
        options.direction = direction_of(each);
        packed.push_back({{.W = each.W, .R = each.R, .B = each.B}, options});
    }
    matrices const h = pytorch().tensor<3>(name + ".h_0");
    check_hidden(name, xloom::rnn_stack(pytorch().tensor<3>(name + ".X"), packed, {.initial_h = h}));
}

} // namespace

TEST_CASE("weights.md: torch.nn.LSTM, two layers in both directions")
{
    auto const layers = layers_of("lstm", weights::lstm_gates);
    REQUIRE(layers.size() == 2);
    REQUIRE(layers[0].W.shape(0) == 2);
    matrices const X = pytorch().tensor<3>("lstm.X"), h = pytorch().tensor<3>("lstm.h_0"),
                   c = pytorch().tensor<3>("lstm.c_0");
    xt::xtensor<int, 1> const lens = {2, 3};
    auto const check = [&](std::string const& name, xloom::lengths_ref const& lengths) {
        auto const [Y, Y_h, Y_c] = xloom::lstm_stack(X, weights::pack_lstm(layers), {lengths, h, c});
        check_equal(output_of(Y), pytorch().tensor<3>(name + ".output"));
        check_equal(Y_h, pytorch().tensor<3>(name + ".h_n"));
        check_equal(Y_c, pytorch().tensor<3>(name + ".c_n"));
    };
    check("lstm", {});
    check("lstm.ragged", lens);
}

TEST_CASE("weights.md: torch.nn.GRU and RNN, two layers in both directions")
{
    std::vector<xloom::gru_weights<float>> packed;
    for (layer const& each : layers_of("gru", weights::gru_gates))
        packed.push_back({{.W = each.W, .R = each.R, .B = each.B},
            {.direction = direction_of(each), .linear_before_reset = true}});
    matrices const h = pytorch().tensor<3>("gru.h_0");
    check_hidden("gru", xloom::gru_stack(pytorch().tensor<3>("gru.X"), packed, {.initial_h = h}));
    check_rnn("rnn", {});
    check_rnn("relu", {.activations = {"Relu"}});
}

namespace {

template <std::size_t Rank>
xt::xtensor<float, Rank> random_tensor(std::array<std::size_t, Rank> const& shape, unsigned seed)
{
    std::mt19937 random(seed);
    auto tensor = xt::xtensor<float, Rank>::from_shape(shape);
    for (float& item : tensor)
        item = static_cast<float>(static_cast<int>(random() % 65) - 32) / 32;
    return tensor;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// x kernel, column by column from the first of gate g.
double product(std::vector<double> const& x, matrix const& kernel, std::size_t column)
{
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum += x[i] * static_cast<double>(kernel(i, column));
    return sum;
}

constexpr std::size_t N = 2, T = 3, I = 2, H = 3;
matrices const X = random_tensor<3>({N, T, I}, 1); // batch first, as in Keras and Flax

std::vector<double> step_of(std::size_t n, std::size_t t) { return {X(n, t, 0), X(n, t, 1)}; }

/// Runs next(x, h, unit) for all steps, and compares with Y [N, T, 1, H].
template <class Next>
void check_steps(xt::xtensor<float, 4> const& Y, Next const& next)
{
    REQUIRE(Y.shape() == std::array<std::size_t, 4>{N, T, 1, H});
    for (std::size_t n = 0; n < N; ++n) {
        std::vector<double> h(H, 0), c(H, 0);
        for (std::size_t t = 0; t < T; ++t) {
            std::vector<double> after(H);
            for (std::size_t unit = 0; unit < H; ++unit)
                after[unit] = next(step_of(n, t), h, c, unit);
            h = after;
            for (std::size_t unit = 0; unit < H; ++unit)
                CHECK(std::abs(static_cast<double>(Y(n, t, 0, unit)) - h[unit]) <= 1e-6);
        }
    }
}

/// One gate, g-th from the left of kernels [I, G H] and [H, G H], without its activation.
double gate(std::vector<double> const& x, matrix const& kernel, std::vector<double> const& h,
    matrix const& recurrent, std::size_t g, std::size_t unit)
{
    return product(x, kernel, g * H + unit) + product(h, recurrent, g * H + unit);
}

/// The block of columns of gate g, as a cell with a kernel for each gate would have it.
matrix gate_of(matrix const& kernel, std::size_t g)
{
    return xt::view(kernel, xt::all(), xt::range(g * H, (g + 1) * H));
}
vector gate_of(vector const& bias, std::size_t g) { return xt::view(bias, xt::range(g * H, (g + 1) * H)); }
template <class Weights>
std::vector<Weights> gates_of(Weights const& all, std::size_t count)
{
    std::vector<Weights> gates;
    for (std::size_t g = 0; g < count; ++g)
        gates.push_back(gate_of(all, g));
    return gates;
}

} // namespace

TEST_CASE("weights.md: the LSTMs of Keras and Flax")
{
    matrix const kernel = random_tensor<2>({I, 4 * H}, 2), recurrent = random_tensor<2>({H, 4 * H}, 3);
    vector const bias = random_tensor<1>({4 * H}, 4);
    auto const next = [&](std::vector<double> const& x, std::vector<double> const& h, std::vector<double>& c,
                          std::size_t unit) {
        auto const sum = [&](std::size_t g) {
            return gate(x, kernel, h, recurrent, g, unit) + static_cast<double>(bias(g * H + unit));
        };
        c[unit] = sigmoid(sum(1)) * c[unit] + sigmoid(sum(0)) * std::tanh(sum(2)); // i, f, g, o
        return sigmoid(sum(3)) * std::tanh(c[unit]);
    };
    for (layer const& w :
        {weights::keras_lstm(kernel, recurrent, bias), weights::flax_lstm({kernel}, {recurrent}, {bias}),
            weights::flax_lstm(gates_of(kernel, 4), gates_of(recurrent, 4), gates_of(bias, 4))})
        check_steps(xloom::lstm(X, {.W = w.W, .R = w.R, .B = w.B}, {.layout = 1}).Y, next);
}

TEST_CASE("weights.md: Keras' GRU, with r after and before the product")
{
    matrix const kernel = random_tensor<2>({I, 3 * H}, 5), recurrent = random_tensor<2>({H, 3 * H}, 6),
                 bias = random_tensor<2>({2, 3 * H}, 7);
    auto const b = [&](std::size_t which, std::size_t g, std::size_t unit) {
        return static_cast<double>(bias(which, g * H + unit));
    };
    auto const mixed = [](double z, double before, double candidate) {
        return z * before + (1 - z) * candidate;
    };

    auto const after = [&](std::vector<double> const& x, std::vector<double> const& h, std::vector<double>&,
                           std::size_t unit) {
        auto const sum = [&](std::size_t g) {
            return gate(x, kernel, h, recurrent, g, unit) + b(0, g, unit) + b(1, g, unit);
        };
        double const z = sigmoid(sum(0)), r = sigmoid(sum(1)); // z, r, h
        double const of_state = product(h, recurrent, 2 * H + unit) + b(1, 2, unit);
        return mixed(z, h[unit], std::tanh(product(x, kernel, 2 * H + unit) + b(0, 2, unit) + r * of_state));
    };
    layer const w = weights::keras_gru(kernel, recurrent, bias);
    check_steps(
        xloom::gru(X, {.W = w.W, .R = w.R, .B = w.B}, {.linear_before_reset = true, .layout = 1}).Y, after);

    // reset_after=False: one bias
    auto const before = [&](std::vector<double> const& x, std::vector<double> const& h, std::vector<double>&,
                            std::size_t unit) {
        auto const sum = [&](std::size_t g, std::size_t u) {
            return gate(x, kernel, h, recurrent, g, u) + b(0, g, u);
        };
        std::vector<double> reset(H);
        for (std::size_t u = 0; u < H; ++u)
            reset[u] = sigmoid(sum(1, u)) * h[u];
        return mixed(sigmoid(sum(0, unit)), h[unit],
            std::tanh(gate(x, kernel, reset, recurrent, 2, unit) + b(0, 2, unit)));
    };
    layer const one = weights::to_onnx({{weights::rows_of({kernel}), weights::rows_of({recurrent}),
                                           xt::view(bias, 0, xt::all()), weights::no_bias(3 * H)}},
        {0, 1, 2});
    check_steps(xloom::gru(X, {.W = one.W, .R = one.R, .B = one.B}, {.layout = 1}).Y, before);
}

TEST_CASE("weights.md: Flax' GRUs, linen's with a bias of the state's n")
{
    matrix const kernel = random_tensor<2>({I, 3 * H}, 8), recurrent = random_tensor<2>({H, 3 * H}, 9);
    vector const bias = random_tensor<1>({3 * H}, 10), bias_hn = random_tensor<1>({H}, 11);
    for (vector const& of_n : {bias_hn, weights::no_bias(H)}) {
        auto const next = [&](std::vector<double> const& x, std::vector<double> const& h,
                              std::vector<double>&, std::size_t unit) {
            auto const b = [&](std::size_t g) { return static_cast<double>(bias(g * H + unit)); };
            double const r = sigmoid(gate(x, kernel, h, recurrent, 0, unit) + b(0)); // r, z, n
            double const z = sigmoid(gate(x, kernel, h, recurrent, 1, unit) + b(1));
            double const of_state = product(h, recurrent, 2 * H + unit) + static_cast<double>(of_n(unit));
            return (1 - z) * std::tanh(product(x, kernel, 2 * H + unit) + b(2) + r * of_state) + z * h[unit];
        };
        for (layer const& w : {weights::flax_gru({kernel}, {bias}, {recurrent}, of_n),
                 weights::flax_gru(gates_of(kernel, 3), gates_of(bias, 3), gates_of(recurrent, 3), of_n)})
            check_steps(
                xloom::gru(X, {.W = w.W, .R = w.R, .B = w.B}, {.linear_before_reset = true, .layout = 1}).Y,
                next);
    }
}

TEST_CASE("weights.md: Keras' SimpleRNN")
{
    matrix const kernel = random_tensor<2>({I, H}, 12), recurrent = random_tensor<2>({H, H}, 13);
    vector const bias = random_tensor<1>({H}, 14);
    layer const w = weights::keras_simple_rnn(kernel, recurrent, bias);
    check_steps(xloom::rnn(X, {.W = w.W, .R = w.R, .B = w.B}, {.layout = 1}).Y,
        [&](std::vector<double> const& x, std::vector<double> const& h, std::vector<double>&,
            std::size_t unit) {
            return std::tanh(gate(x, kernel, h, recurrent, 0, unit) + static_cast<double>(bias(unit)));
        });
}
