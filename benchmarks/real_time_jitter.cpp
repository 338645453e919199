// How long the slowest of many single steps takes, beside the median: of lstm_cell and of Silero's network
// as xloom-compile makes it, beside ONNX Runtime.
//
//   real_time_jitter CORE STEPS
//
// runs all of them on one core and prints a table in Markdown. A time includes one look at the
// clock. scripts/bench-jitter builds this program and runs it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <sched.h>
#include <sys/mman.h>

#include <xloom/recurrent/lstm_cell.hpp>

#include "onnxruntime.hpp"
#include "recurrent_operands.hpp"
#ifdef SILERO_WEIGHTS
#include "silero_vad_16k_op15.hpp"
#endif

namespace {

using namespace bench;

/// Runs step(k) `count` times, and prints a row of its times.
template <class Step>
void time_steps(std::string_view work, std::string_view impl, std::size_t count, Step const& step)
{
    using clock = std::chrono::steady_clock;
    std::vector<clock::duration> times(count); // written here, so that no page is new later
    for (std::size_t k = 0; k < count; ++k) {
        auto const begin = clock::now();
        step(k);
        times[k] = clock::now() - begin;
    }
    std::sort(times.begin(), times.end());
    auto const microseconds = [&](std::size_t rank) {
        return std::chrono::duration<double, std::micro>(times[rank]).count();
    };
    std::cout << "| " << work << " | " << impl << " | " << microseconds(count / 2) << " | "
              << microseconds(count - 1 - count / 10'000) << " | " << microseconds(count - 1) << " |\n";
}

/// Requires that both have computed the same in their first steps.
template <class Tensor>
void require_close(std::string const& work, Tensor const& ours, Tensor const& peer)
{
    if (!is_near(ours, peer)) {
        std::cerr << work << ": the results of ONNX Runtime differ\n";
        std::exit(EXIT_FAILURE);
    }
}

constexpr std::size_t first_steps = 1'000;

/// A step takes one sample.
void time_lstm(std::size_t H, std::size_t count)
{
    recurrent_inputs in(cell_sizes{1'024, 1, 1, H}, 4);
    std::string const work = "`lstm_cell`, H = " + std::to_string(H);
    auto const sample = [&](std::size_t k) { return in.X(k % in.X.shape(0), 0, 0); };

    xloom::lstm_cell<float> cell(xloom::lstm_weights<float>({.W = in.W, .R = in.R, .B = in.B}));
    cube h = xt::zeros<float>({std::size_t{1}, std::size_t{1}, H}), c = h;
    cube x = xt::zeros<float>({1, 1, 1});
    auto const ours = [&](std::size_t k) {
        x(0, 0, 0) = sample(k);
        cell(h, c, x);
    };
    for (std::size_t k = 0; k < first_steps; ++k)
        ours(k);
    cube const first_h = h;
    time_steps(work, "xloom", count, ours);

    if (!has_onnxruntime())
        return;
    h.fill(0);
    c.fill(0);
    cube next_h = h, next_c = c;
    onnx_operand const omitted{};
    onnxruntime_session session(
        model_of({.op = "LSTM", .attributes = {{"hidden_size", static_cast<std::int64_t>(H)}}},
            {bound("X", x), weight("W", in.W), weight("R", in.R), weight("B", in.B), omitted, bound("h", h),
                bound("c", c)},
            {omitted, bound("Y_h", next_h), bound("Y_c", next_c)}),
        1);
    auto const peer = [&](std::size_t k) {
        x(0, 0, 0) = sample(k);
        session.run();
        std::copy(next_h.begin(), next_h.end(), h.begin());
        std::copy(next_c.begin(), next_c.end(), c.begin());
    };
    for (std::size_t k = 0; k < first_steps; ++k)
        peer(k);
    require_close(work, first_h, h);
    time_steps(work, "ONNX Runtime", count, peer);
}

#ifdef SILERO_WEIGHTS
/// A step takes a chunk of 32 ms.
void time_silero(std::size_t count)
{
    constexpr std::string_view work = "Silero's network, a chunk of 32 ms";
    matrix const noise = uniform<matrix>({64, 576}, 1, 0.1);
    matrix chunk = xt::zeros<float>({1, 576});
    cube state = xt::zeros<float>({2, 1, 128});
    std::int64_t rate = 16'000;
    auto const read_chunk = [&](std::size_t k) {
        std::copy_n(&noise(k % noise.shape(0), 0), chunk.size(), chunk.begin());
    };

    silero_vad_16k_op15 model(SILERO_WEIGHTS);
    silero_vad_16k_op15::outputs results;
    auto const ours = [&](std::size_t k) {
        read_chunk(k);
        model.run_into(results, chunk, state, rate);
        std::copy(results.stateN.begin(), results.stateN.end(), state.begin());
    };
    for (std::size_t k = 0; k < first_steps; ++k)
        ours(k);
    cube const first_state = state;
    time_steps(work, "xloom", count, ours);

    if (!has_onnxruntime())
        return;
    std::ifstream file(SILERO_MODEL, std::ios::binary);
    state.fill(0);
    cube next_state = state;
    matrix output = xt::zeros<float>({1, 1});
    onnxruntime_session session({std::istreambuf_iterator<char>(file), {}},
        {bound("input", chunk), bound("state", state), bound("sr", rate)},
        {bound("output", output), bound("stateN", next_state)}, 1);
    auto const peer = [&](std::size_t k) {
        read_chunk(k);
        session.run();
        std::copy(next_state.begin(), next_state.end(), state.begin());
    };
    for (std::size_t k = 0; k < first_steps; ++k)
        peer(k);
    require_close(std::string(work), first_state, state);
    time_steps(work, "ONNX Runtime", count, peer);
}
#endif

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::cerr << "real_time_jitter CORE STEPS\n";
        return EXIT_FAILURE;
    }
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(std::atoi(argv[1])), &cores);
    if (sched_setaffinity(0, sizeof(cores), &cores) != 0) {
        std::cerr << "real_time_jitter: there is no core " << argv[1] << '\n';
        return EXIT_FAILURE;
    }
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        std::cerr << "real_time_jitter: the system may take pages away, as mlockall fails\n";
    auto const count = static_cast<std::size_t>(std::max(1L, std::atol(argv[2])));

    std::cout.precision(2);
    std::cout << std::fixed << "| step | library | median, µs | 99.99th percentile, µs | longest, µs |\n"
              << "|---|---|--:|--:|--:|\n";
    for (std::size_t const H : std::initializer_list<std::size_t>{16, 64, 256})
        time_lstm(H, count);
#ifdef SILERO_WEIGHTS
    time_silero(count);
#endif
}
