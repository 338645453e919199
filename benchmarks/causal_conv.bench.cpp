// The causal convolution with SiLU of 6,144 channels and 4 taps, as between the projections of a Gated
// DeltaNet, of one step and of 64, by causal_conv_into (impl:xloom), a loop (impl:hand), and ONNX Runtime's
// operator. Channels are rows of the input, as in ONNX, or its columns (channels last), which ONNX Runtime
// does not have.

#include <limits>
#include <utility>

#include <xloom/detail/kernel/activations.hpp>
#include <xloom/recurrent/causal_conv.hpp>

#include "support.hpp"
#include "two_threads.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;
using cube = xt::xtensor<float, 3>;

struct conv_operands {
    static constexpr std::size_t channels = 6144, taps = 4, history = taps - 1;

    bool is_channels_last;
    std::size_t iterations; ///< steps
    cube x, y;              ///< [1, C, L], or [1, L, C]
    cube state0, state;     ///< [1, C, k - 1], or [1, k - 1, C]
    cube weight;            ///< [C, 1, k], or [k, 1, C]
    xt::xtensor<float, 1> bias;
    xloom::recurrent_workspace<float> workspace{};

    conv_operands(bool last, std::size_t steps)
        : is_channels_last(last),
          iterations(steps),
          x(uniform<cube>(
              last ? cube::shape_type{1, steps, channels} : cube::shape_type{1, channels, steps}, 1, 1.0)),
          y(x),
          state0(uniform<cube>(
              last ? cube::shape_type{1, history, channels} : cube::shape_type{1, channels, history}, 2,
              1.0)),
          state(state0),
          weight(uniform<cube>(
              last ? cube::shape_type{taps, 1, channels} : cube::shape_type{channels, 1, taps}, 3, 1.0)),
          bias(uniform<xt::xtensor<float, 1>>({channels}, 4, 1.0))
    {}

    std::pair<cube, cube> results() const { return {y, state}; }
    void clear()
    {
        y.fill(std::numeric_limits<float>::quiet_NaN());
        state = state0;
    }
    /// The sums are rounded once or twice for each tap, and exp has an error of one or two roundings.
    bool is_close_to(std::pair<cube, cube> const& expected) const
    {
        return is_within(y, expected.first, 2e-6f) && state == expected.second;
    }
};

/// Padded channel by channel; the steps are lanes of the compiler's.
void hand(conv_operands& o)
{
    constexpr std::size_t history = conv_operands::history, taps = conv_operands::taps;
    std::size_t const L = o.iterations;
    float padded[history + 64];
    for (std::size_t c = 0; c < conv_operands::channels; ++c) {
        float* const state = o.state.data() + c * history;
        float const* const weight = o.weight.data() + c * taps;
        float* const y = o.y.data() + c * L;
        std::copy_n(state, history, padded);
        std::copy_n(o.x.data() + c * L, L, padded + history);
        for (std::size_t t = 0; t < L; ++t) {
            float sum = o.bias.data()[c];
            for (std::size_t j = 0; j < taps; ++j)
                sum += weight[j] * padded[t + j];
            y[t] = sum;
        }
        std::copy_n(padded + L, history, state);
    }
    xloom::kernel::map(o.y.data(), o.y.data(), o.y.size(), xloom::kernel::silu{});
}

/// The channels are lanes of the compiler's.
void hand_last(conv_operands& o)
{
    constexpr std::size_t history = conv_operands::history, taps = conv_operands::taps,
                          channels = conv_operands::channels;
    auto const row = [&](std::size_t i) { // of the padded input
        return i < history ? o.state.data() + i * channels : o.x.data() + (i - history) * channels;
    };
    for (std::size_t t = 0; t < o.iterations; ++t) {
        float* const y = o.y.data() + t * channels;
        std::copy_n(o.bias.data(), channels, y);
        for (std::size_t j = 0; j < taps; ++j) {
            float const *const from = row(t + j), *const weight = o.weight.data() + j * channels;
            for (std::size_t c = 0; c < channels; ++c)
                y[c] += weight[c] * from[c];
        }
        xloom::kernel::map(y, y, channels, xloom::kernel::silu{});
    }
    for (std::size_t i = 0; i < history; ++i)
        std::copy_n(row(o.iterations + i), channels, o.state.data() + i * channels);
}

template <class Policy>
void run(conv_operands& o, Policy const& policy)
{
    xloom::causal_conv_options const options{.activation = xloom::conv_activation::silu};
    auto const call = [&](auto const& x, auto const& weight, auto& state, auto& y) {
        xloom::causal_conv_into(x, weight, {.bias = o.bias, .past_state = state},
            {.output = y, .present_state = state}, options, o.workspace, policy);
    };
    if (!o.is_channels_last)
        return call(o.x, o.weight, o.state, o.y);
    auto state = xt::transpose(o.state, {0, 2, 1}), y = xt::transpose(o.y, {0, 2, 1});
    call(xt::transpose(o.x, {0, 2, 1}), xt::transpose(o.weight, {2, 1, 0}), state, y);
}

void xloom_conv(conv_operands& o) { run(o, xloom::serial); }

void by_two(conv_operands& o) { run(o, two_threads()); }

onnx_graph conv_model(conv_operands& o)
{
    return model_of({.op = "CausalConvWithState",
                        .attributes = {{"ndim", std::int64_t{1}}, {"activation", std::string("silu")}},
                        .domain = "com.microsoft"},
        {bound("input", o.x), weight("weight", o.weight), weight("bias", o.bias),
            bound("past_state", o.state0)},
        {bound("output", o.y), bound("present_state", o.state)});
}

void add_conv(std::size_t steps)
{
    std::string const name = "causal_conv/silu/f32/channels:6144/taps:4/iterations:" + std::to_string(steps);
    auto const make = [=](bool is_channels_last) {
        return [=] { return conv_operands(is_channels_last, steps); };
    };
    add_case(name, make(false),
        std::vector<series<conv_operands>>{
            {"hand", hand}, {"xloom", xloom_conv}, {.impl = "onnxruntime", .model = conv_model}});
    add_case(name, make(false),
        std::vector<series<conv_operands>>{{"xloom_serial", xloom_conv}, {"xloom", by_two}}, 2);
    add_case(name + "/channels_last", make(true),
        std::vector<series<conv_operands>>{{"hand", hand_last}, {"xloom", xloom_conv}});
}

} // namespace

int main(int argc, char** argv)
{
    add_conv(1);
    add_conv(64);
    return run_cases(argc, argv);
}
