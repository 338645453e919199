// Silero's network on a recording, chunk by chunk: as examples/voice_activity has it, and three files of it through examples/onnx_runner
// and ONNX Runtime.

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "../examples/onnx_runner/voice_activity.hpp"
#include "../examples/voice_activity/detector.hpp"
#include "onnxruntime.hpp"
#include "support.hpp"

namespace {

using namespace bench;

std::string read_file(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct recording_operands {
    xt::xtensor<float, 2> chunks;
    xt::xtensor<float, 1> probability;
    detector detect{weights(VOICE_ACTIVITY_MODELS "/silero_vad_16k_op15.onnx")};
    std::unique_ptr<runner::voice_activity_model> runner_model;

    // What the peer is bound to: the last samples of the chunk before and the chunk, the LSTM's state, the sample rate.
    xt::xtensor<float, 2> input = xt::zeros<float>({std::size_t{1}, context_size + chunk_size});
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128}), next_state = xt::zeros<float>({2, 1, 128});
    xt::xtensor<std::int64_t, 1> rate{sample_rate};
    xt::xtensor<float, 2> output = xt::zeros<float>({1, 1});
    std::unique_ptr<onnxruntime_session> peer{};

    explicit recording_operands(std::string const& model)
        : chunks(read_recording(VOICE_ACTIVITY_RECORDING).chunks),
          probability(xt::zeros<float>({chunks.shape(0)})),
          runner_model(std::make_unique<runner::voice_activity_model>(model))
    {
        if (!has_onnxruntime())
            return;
        onnx_operand sr = bound("sr", rate);
        sr.shape = {};
        peer = std::make_unique<onnxruntime_session>(read_file(model), std::vector{bound("input", input), bound("state", state), sr},
            std::vector{bound("output", output), bound("stateN", next_state)}, 1);
    }

    auto const& results() const { return probability; }
    void clear() { probability.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(xt::xtensor<float, 1> const& expected) const
    {
        return std::equal(expected.begin(), expected.end(), probability.begin(), [](float a, float b) { return std::abs(a - b) <= 1e-5f; });
    }
    /// A chunk counts as a call.
    benchmark::UserCounters counters() const
    {
        return {{"call", Counter(static_cast<double>(chunks.shape(0)), Counter::kIsIterationInvariantRate | Counter::kInvert)}};
    }
};

void run_xloom(recording_operands& o) { o.probability = o.detect(o.chunks); }
void run_runner(recording_operands& o) { o.probability = (*o.runner_model)(o.chunks); }

void run_peer(recording_operands& o)
{
    o.input.fill(0.0f);
    o.state.fill(0.0f);
    for (std::size_t t = 0; t < o.chunks.shape(0); ++t) {
        std::copy_n(&o.input(0, chunk_size), context_size, &o.input(0, 0));
        std::copy_n(&o.chunks(t, 0), chunk_size, &o.input(0, context_size));
        o.peer->run();
        std::copy(o.next_state.begin(), o.next_state.end(), o.state.begin());
        o.probability(t) = o.output(0, 0);
    }
}

} // namespace

int main(int argc, char** argv)
{
    std::vector<series<recording_operands>> all{{"xloom", run_xloom}, {"runner", run_runner}};
    if (has_onnxruntime())
        all.push_back({"onnxruntime", run_peer});
    for (std::string const name : {"silero_vad_16k_op15", "silero_vad", "silero_vad_op18_ifless"})
        add_case(
            "voice_activity/model:" + name, [=] { return recording_operands(VOICE_ACTIVITY_MODELS "/" + name + ".onnx"); }, all);
    return run_cases(argc, argv);
}
