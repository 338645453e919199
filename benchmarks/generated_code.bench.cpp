// Models as xloom-compile makes C++ of them, beside tools/onnx/runner and ONNX Runtime, which interpret the
// same files: Silero's networks on a recording, a block of Mamba whose scan is a Loop, and a decoder of
// sequences.

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

#include "../tools/onnx/runner/model.hpp"
#include "attention_decoder.hpp"
#include "mamba_block.hpp"
#include "onnxruntime.hpp"
#include "support.hpp"
#include "uniform.hpp"

namespace {

using namespace bench;

std::string read_file(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

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
    add_model<decoder_operands>(
        "generated_code/model:attention_decoder/S:20/n:40", std::size_t{20}, std::size_t{40});
    return run_cases(argc, argv);
}
