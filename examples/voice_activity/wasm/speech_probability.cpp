// The network as a WebAssembly module without a main program: a host writes a chunk of sound into its memory,
// and gets the probability of speech in it. The weights are in the module. Exceptions are off, as in Debian's
// libc++ for WebAssembly, so an error ends the module.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <xloom/tensor.hpp>

#include "silero_vad_16k_op15.hpp"

namespace {

constexpr std::size_t chunk_size = 512, context_size = 64;

struct stream {
    silero_vad_16k_op15 model{};
    silero_vad_16k_op15::outputs results{};
    xt::xtensor<float, 2> input{std::array{std::size_t{1}, context_size + chunk_size}, 0.0F};
    xt::xtensor<float, 3> state{std::array<std::size_t, 3>{2, 1, 128}, 0.0F};
};

stream heard;

} // namespace

extern "C" {

/// Returns where the next 512 samples, 32 ms at 16 kHz, are written: numbers in [-1, 1).
[[clang::export_name("samples")]] float* samples() { return &heard.input(0, context_size); }

/// Returns the probability of speech in the samples, which follow those of the call before.
[[clang::export_name("speech_probability")]] float speech_probability()
{
    heard.model.run_into(heard.results, heard.input, heard.state);
    std::swap(heard.state, heard.results.stateN);
    std::copy_n(&heard.input(0, chunk_size), context_size, &heard.input(0, 0));
    return heard.results.output(0, 0);
}

/// Begins another recording.
[[clang::export_name("restart")]] void restart()
{
    heard.input.fill(0);
    heard.state.fill(0);
}
}
