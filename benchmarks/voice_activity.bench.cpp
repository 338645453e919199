// Silero's network on a recording, chunk by chunk: as examples/voice_activity has it, by hand and made by
// xloom-compile, and three files of it through tools/onnx/runner and ONNX Runtime.

#include <limits>
#include <optional>

#include "../examples/voice_activity/detector.hpp"
#include "../examples/voice_activity/generated_detector.hpp"
#include "../tools/onnx/runner/voice_activity.hpp"
#include "onnxruntime.hpp"
#include "peak_memory.hpp"
#include "support.hpp"

namespace {

using namespace bench;

std::string path_of(std::string const& model) { return VOICE_ACTIVITY_MODELS "/" + model + ".onnx"; }

/// A series allocates its operands at its first run, so that its peak memory includes only its own.
struct recording_operands {
    std::string model;
    xt::xtensor<float, 2> chunks = read_recording(VOICE_ACTIVITY_RECORDING).chunks;
    xt::xtensor<float, 1> probability = xt::zeros<float>({chunks.shape(0)});
    std::optional<detector> detect{};
    std::optional<generated_detector> generated{};
    std::unique_ptr<runner::voice_activity_model> runner_model{};

    // The peer's bound operands: the last samples of the previous chunk and the chunk, the LSTM's state, the
    // sample rate.
    xt::xtensor<float, 2> input = xt::zeros<float>({std::size_t{1}, context_size + chunk_size});
    xt::xtensor<float, 3> state = xt::zeros<float>({2, 1, 128}), next_state = xt::zeros<float>({2, 1, 128});
    xt::xtensor<std::int64_t, 1> rate{sample_rate};
    xt::xtensor<float, 2> output = xt::zeros<float>({1, 1});
    std::unique_ptr<onnxruntime_session> peer{};

    auto const& results() const { return probability; }
    void clear() { probability.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(xt::xtensor<float, 1> const& expected) const
    {
        return is_within(probability, expected, 1e-5f);
    }
    /// Counts a chunk as a call.
    benchmark::UserCounters counters() const
    {
        return {{"call", Counter(static_cast<double>(chunks.shape(0)),
                             Counter::kIsIterationInvariantRate | Counter::kInvert)}};
    }
};

void run_xloom(recording_operands& o)
{
    if (!o.detect)
        o.detect.emplace(weights(path_of("silero_vad_16k_op15")));
    o.probability = (*o.detect)(o.chunks);
}

void run_generated(recording_operands& o)
{
    if (!o.generated)
        o.generated.emplace(VOICE_ACTIVITY_GENERATED);
    o.probability = (*o.generated)(o.chunks);
}

void run_runner(recording_operands& o)
{
    if (!o.runner_model)
        o.runner_model = std::make_unique<runner::voice_activity_model>(path_of(o.model));
    o.probability = (*o.runner_model)(o.chunks);
}

std::unique_ptr<onnxruntime_session> open_peer(recording_operands& o)
{
    onnx_operand sr = bound("sr", o.rate);
    sr.shape = {};
    return std::make_unique<onnxruntime_session>(read_file(path_of(o.model)),
        std::vector{bound("input", o.input), bound("state", o.state), sr},
        std::vector{bound("output", o.output), bound("stateN", o.next_state)}, 1);
}

void run_peer(recording_operands& o)
{
    if (!o.peer)
        o.peer = open_peer(o);
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

/// The peak of a process that finds speech in the recording.
void tell_memory(series<recording_operands> const& each)
{
    long const peak = peak_kilobytes_of([&] {
        recording_operands o{"silero_vad_16k_op15"};
        each.run(o);
    });
    benchmark::AddCustomContext(
        std::string("memory/voice_activity/impl:") + each.impl, std::to_string(1024 * peak));
}

} // namespace

int main(int argc, char** argv)
{
    tell_memory({"xloom", run_xloom}); // before the peer is loaded
    tell_memory({"generated", run_generated});
    tell_memory({"runner", run_runner});
    std::vector<series<recording_operands>> all{
        {"xloom", run_xloom}, {"generated", run_generated}, {"runner", run_runner}};
    if (has_onnxruntime()) {
        all.push_back({"onnxruntime", run_peer});
        tell_memory(all.back());
    }
    for (std::string const model : {"silero_vad_16k_op15", "silero_vad", "silero_vad_op18_ifless"})
        add_case(
            "voice_activity/model:" + model, [=] { return recording_operands{model}; }, all);
    return run_cases(argc, argv);
}
