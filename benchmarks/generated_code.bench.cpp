// Models as xloom-compile makes C++ of them, beside tools/onnx/runner and ONNX Runtime, which interpret the
// same files: Silero's networks on a recording, a block of Mamba whose scan is a Loop, a decoder of
// sequences, and linear attention by the delta rule as a Scan.
//
// subnormal: Mamba's block on an input that is 0 after the first 200 steps, beside one that is sound
// (impl:sound), and while the thread computes with zeros in place of subnormal numbers (impl:xloom_flushing).

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>

#include "../tools/onnx/runner/model.hpp"
#include "attention_decoder.hpp"
#include "delta_rule.hpp"
#include "gated_delta_rule.hpp"
#include "mamba_block.hpp"
#include "onnxruntime.hpp"
#include "support.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;

template <class Tensor>
runner::value runner_value(Tensor const& tensor)
{
    using T = typename Tensor::value_type;
    return runner::tensor::of<T>(
        {tensor.shape().begin(), tensor.shape().end()}, {tensor.data(), tensor.size()});
}

template <class Tensor>
void copy_to(Tensor& to, runner::value const& from)
{
    auto const items = from.as_tensor().items<typename Tensor::value_type>();
    std::copy(items.begin(), items.end(), to.begin());
}

bool is_near(float a, float b) { return std::abs(a - b) <= 1e-5f * std::max(1.0f, std::abs(b)); }

/// A block of Mamba on a sequence of L vectors.
struct mamba_operands {
    xt::xtensor<float, 3> x;
    xt::xtensor<float, 3> y;
    mamba_block generated{};
    mamba_block::outputs outputs{};
    std::unique_ptr<runner::model> interpreted{};
    std::unique_ptr<onnxruntime_session> peer{};
    std::size_t iterations;

    explicit mamba_operands(std::size_t L)
        : x(uniform<xt::xtensor<float, 3>>({1, L, 128}, 1, 1.0)), y(xt::zeros_like(x)), iterations(L)
    {}
    auto const& results() const { return y; }
    void clear() { y.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(xt::xtensor<float, 3> const& expected) const
    {
        return std::equal(y.begin(), y.end(), expected.begin(), is_near);
    }
};

void run_generated(mamba_operands& o)
{
    o.generated.run_into(o.outputs, o.x);
    std::copy(o.outputs.y.begin(), o.outputs.y.end(), o.y.begin());
}

void run_runner(mamba_operands& o)
{
    if (!o.interpreted)
        o.interpreted = std::make_unique<runner::model>(EXAMPLE_MODELS "/mamba_block.onnx");
    copy_to(o.y, o.interpreted->run({runner_value(o.x)})[0]);
}

void run_peer(mamba_operands& o)
{
    if (!o.peer)
        o.peer = std::make_unique<onnxruntime_session>(read_file(EXAMPLE_MODELS "/mamba_block.onnx"),
            std::vector{bound("x", o.x)}, std::vector{bound("y", o.y)}, 1);
    o.peer->run();
}

/// The block on an input that falls silent.
struct silent_mamba : mamba_operands {
    xt::xtensor<float, 3> sound, silent;

    silent_mamba() : mamba_operands(4200), sound(x), silent(x)
    {
        std::fill(silent.begin() + 200 * 128, silent.end(), 0.0f);
    }
};

template <void (*Run)(mamba_operands&)>
void run_sound(silent_mamba& o)
{
    o.x = o.sound;
    Run(o);
}
template <void (*Run)(mamba_operands&)>
void run_silent(silent_mamba& o)
{
    o.x = o.silent;
    Run(o);
}

template <void (*Run)(mamba_operands&)>
void add_silent(std::string const& name)
{
    add_case(
        "subnormal/model:mamba_block/" + name, [] { return silent_mamba(); },
        std::vector<series<silent_mamba>>{{"xloom", run_silent<Run>},
            {.impl = "sound", .run = run_sound<Run>, .count_errors = no_errors<silent_mamba>},
            {.impl = "xloom_flushing", .run = run_silent<Run>, .flushes = true}});
}

/// The decoder on a memory of S vectors, for n symbols.
struct decoder_operands {
    xt::xtensor<float, 3> M;
    std::int64_t max_length;
    xt::xtensor<std::int64_t, 2> symbols;
    xt::xtensor<float, 3> scores;
    attention_decoder generated{};
    attention_decoder::outputs outputs{};
    std::unique_ptr<runner::model> interpreted{};
    std::unique_ptr<onnxruntime_session> peer{};
    std::size_t iterations;

    decoder_operands(std::size_t S, std::size_t n)
        : M(uniform<xt::xtensor<float, 3>>({1, S, 64}, 1, 1.0)),
          max_length(static_cast<std::int64_t>(n)),
          symbols(xt::zeros<std::int64_t>({n, std::size_t{1}})),
          scores(xt::zeros<float>({n, std::size_t{1}, std::size_t{48}})),
          iterations(n)
    {}
    auto const& results() const { return scores; }
    void clear() { scores.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(xt::xtensor<float, 3> const& expected) const
    {
        return std::equal(scores.begin(), scores.end(), expected.begin(), is_near);
    }
};

void run_generated(decoder_operands& o)
{
    o.generated.run_into(o.outputs, o.M, o.max_length);
    std::copy(o.outputs.symbols.begin(), o.outputs.symbols.end(), o.symbols.begin());
    std::copy(o.outputs.scores.begin(), o.outputs.scores.end(), o.scores.begin());
}

void run_runner(decoder_operands& o)
{
    if (!o.interpreted)
        o.interpreted = std::make_unique<runner::model>(EXAMPLE_MODELS "/attention_decoder.onnx");
    auto const results = o.interpreted->run({runner_value(o.M), runner::tensor::scalar(o.max_length)});
    copy_to(o.symbols, results[0]);
    copy_to(o.scores, results[1]);
}

void run_peer(decoder_operands& o)
{
    if (!o.peer)
        o.peer = std::make_unique<onnxruntime_session>(read_file(EXAMPLE_MODELS "/attention_decoder.onnx"),
            std::vector{bound("M", o.M), bound("max_length", o.max_length)},
            std::vector{bound("symbols", o.symbols), bound("scores", o.scores)}, 1);
    o.peer->run();
}

/// The delta rule on T tokens of 16 heads of d. Keys have a length of about 1 and decays are near 1, so that
/// the state stays small.
template <class Generated>
struct delta_operands {
    static constexpr bool is_gated = std::is_same_v<Generated, gated_delta_rule>;
    static constexpr std::size_t heads = 16;

    std::size_t iterations, d;
    xt::xtensor<float, 3> past_state, query, key, value, beta, decay;
    xt::xtensor<float, 3> present_state, output;
    Generated generated{};
    typename Generated::outputs outputs{};
    std::unique_ptr<runner::model> interpreted{};
    std::unique_ptr<onnxruntime_session> peer{};

    delta_operands(std::size_t T, std::size_t width)
        : iterations(T),
          d(width),
          past_state(uniform<xt::xtensor<float, 3>>({heads, d, d}, 1, 1.0)),
          query(uniform<xt::xtensor<float, 3>>({T, heads, d}, 2, 1 / std::sqrt(static_cast<double>(d)))),
          key(uniform<xt::xtensor<float, 3>>({T, heads, d}, 3, std::sqrt(3 / static_cast<double>(d)))),
          value(uniform<xt::xtensor<float, 3>>({T, heads, d}, 4, 1.0)),
          beta(0.5f + uniform<xt::xtensor<float, 3>>({T, heads, 1}, 5, 0.5)),
          decay(-0.1f + uniform<xt::xtensor<float, 3>>({T, heads, 1}, 6, 0.1)),
          present_state(xt::zeros_like(past_state)),
          output(xt::zeros_like(value))
    {}

    static std::string path()
    {
        return std::string(EXAMPLE_MODELS) + (is_gated ? "/gated_delta_rule.onnx" : "/delta_rule.onnx");
    }
    auto const& results() const { return output; }
    void clear() { output.fill(std::numeric_limits<float>::quiet_NaN()); }
    /// Sums of up to 128 products, in other orders.
    bool is_close_to(xt::xtensor<float, 3> const& expected) const
    {
        return is_within(output, expected, 1e-4f);
    }
};

template <class Generated>
void run_generated(delta_operands<Generated>& o)
{
    if constexpr (delta_operands<Generated>::is_gated)
        o.generated.run_into(o.outputs, o.past_state, o.query, o.key, o.value, o.beta, o.decay);
    else
        o.generated.run_into(o.outputs, o.past_state, o.query, o.key, o.value, o.beta);
    std::copy(o.outputs.present_state.begin(), o.outputs.present_state.end(), o.present_state.begin());
    std::copy(o.outputs.output.begin(), o.outputs.output.end(), o.output.begin());
}

template <class Generated>
void run_runner(delta_operands<Generated>& o)
{
    if (!o.interpreted)
        o.interpreted = std::make_unique<runner::model>(o.path());
    std::vector<runner::value> inputs{runner_value(o.past_state), runner_value(o.query), runner_value(o.key),
        runner_value(o.value), runner_value(o.beta)};
    if (o.is_gated)
        inputs.push_back(runner_value(o.decay));
    auto const results = o.interpreted->run(inputs);
    copy_to(o.present_state, results[0]);
    copy_to(o.output, results[1]);
}

template <class Generated>
void run_peer(delta_operands<Generated>& o)
{
    if (!o.peer) {
        std::vector<onnx_operand> inputs{bound("past_state", o.past_state), bound("query", o.query),
            bound("key", o.key), bound("value", o.value), bound("beta", o.beta)};
        if (o.is_gated)
            inputs.push_back(bound("decay", o.decay));
        o.peer = std::make_unique<onnxruntime_session>(read_file(o.path()), inputs,
            std::vector{bound("present_state", o.present_state), bound("output", o.output)}, 1);
    }
    o.peer->run();
}

template <class Operands, class... Sizes>
void add_model(std::string const& name, Sizes... sizes)
{
    std::vector<series<Operands>> all{{"generated", run_generated}, {"runner", run_runner}};
    if (has_onnxruntime())
        all.push_back({"onnxruntime", run_peer});
    add_case(
        name, [=] { return Operands(sizes...); }, all);
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const L : std::initializer_list<std::size_t>{100, 1000})
        add_model<mamba_operands>("generated_code/model:mamba_block/L:" + std::to_string(L), L);
    add_silent<run_generated>("generated");
    add_silent<run_runner>("runner");
    add_model<decoder_operands>(
        "generated_code/model:attention_decoder/S:20/n:40", std::size_t{20}, std::size_t{40});
    for (std::size_t const d : std::initializer_list<std::size_t>{64, 128}) {
        std::string const sizes = "/heads:16/d:" + std::to_string(d) + "/T:64";
        add_model<delta_operands<delta_rule>>("generated_code/model:delta_rule" + sizes, std::size_t{64}, d);
        add_model<delta_operands<gated_delta_rule>>(
            "generated_code/model:gated_delta_rule" + sizes, std::size_t{64}, d);
    }
    return run_cases(argc, argv);
}
