#pragma once
// What the benchmarks share: the body, the sizes, and how the series of a case are compared with each other and then timed.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include <benchmark/benchmark.h>

#include <xloom/adapt/xtensor.hpp>

namespace bench {

inline constexpr std::size_t sizes[] = {1, 16, 64, 256, 4096};
inline constexpr std::size_t lengths[] = {1'000, 10'000, 100'000};

/// No running sum gets here; a loop that tests for it does not end early.
inline constexpr float limit = 1e9f;

using vector = xt::xtensor<float, 1>;

/// The body of every series, a running sum: a hand-written loop and a body handed to xloom call the same function.
inline void add_step(float* __restrict h, float const* __restrict x, float* __restrict y, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        h[i] += x[i];
        y[i] = h[i];
    }
}

/// The same where the items of x and y lie `stride` apart.
inline void add_step(float* h, float const* x, float* y, std::size_t n, std::size_t stride)
{
    for (std::size_t i = 0; i < n; ++i) {
        h[i] += x[i * stride];
        y[i * stride] = h[i];
    }
}

/// Halves between -3.5 and 3.5: their sums are exact, so that every series must give the same bits.
template <class Tensor>
Tensor made_up(typename Tensor::shape_type const& shape)
{
    Tensor tensor = Tensor::from_shape(shape);
    std::uint32_t noise = 1;
    for (auto& item : tensor.storage()) {
        noise = noise * 1664525u + 1013904223u;
        item = static_cast<typename Tensor::value_type>(static_cast<float>(noise >> 29) - 3.5f);
    }
    return tensor;
}

/// What a case works on: a state h, inputs x, room for the outputs y.
template <class H, class X, class Y = X>
struct operands {
    H h;
    X x;
    Y y;
    std::size_t iterations;

    std::int64_t trips() const { return static_cast<std::int64_t>(iterations); }
    auto results() const { return std::pair<H, Y>(h, y); }
    /// Makes sure that the results are a series' own.
    void clear() { y *= 0.0f; }
};

/// One way to do the work of a case. It leaves its results in the operands: the same as the others, if clear() came before.
template <class Operands>
struct series {
    char const* impl;
    void (*run)(Operands&);
};

/// The same bit for bit, unless the operands say themselves what is close enough.
template <class Operands, class Results>
bool has_results(Operands const& operands, Results const& expected)
{
    if constexpr (requires { operands.is_close_to(expected); })
        return operands.is_close_to(expected);
    else
        return operands.results() == expected;
}

/// Runs the series once each and stops the program unless all give the results of the first.
template <class Operands>
void require_same_results(std::string const& name, Operands& operands, std::vector<series<Operands>> const& all)
{
    operands.clear();
    all.front().run(operands);
    auto const expected = operands.results();
    for (auto const& each : all) {
        operands.clear();
        each.run(operands);
        if (!has_results(operands, expected)) {
            std::cerr << name << ": impl:" << each.impl << " differs from impl:" << all.front().impl << '\n';
            std::exit(EXIT_FAILURE);
        }
    }
}

using benchmark::Counter;

/// What is told beside the time: of operands that do not say, the seconds an iteration.
template <class Operands>
benchmark::UserCounters counters_of(Operands const& operands)
{
    if constexpr (requires { operands.counters(); })
        return operands.counters();
    else
        return {{"iteration", Counter(static_cast<double>(operands.iterations), Counter::kIsIterationInvariantRate | Counter::kInvert)}};
}

inline std::shared_ptr<void> current_operands;
inline std::string current_name;

/// Registers the series of a case as work/impl:..., or work/threads:2/impl:... Its operands are made, and the results compared, before
/// the first of them is timed, and dropped when another case comes. With threads the wall's time counts, else the processor's.
template <class Make, class Operands = std::invoke_result_t<Make>>
void add_case(std::string const& work, Make make, std::vector<series<Operands>> const& all, std::size_t threads = 1)
{
    std::string const name = threads == 1 ? work : work + "/threads:" + std::to_string(threads);
    for (auto const& each : all) {
        auto* const added = benchmark::RegisterBenchmark((name + "/impl:" + each.impl).c_str(), [=](benchmark::State& state) {
            if (name != current_name) {
                current_operands.reset();
                current_operands = std::make_shared<Operands>(make());
                current_name = name;
                require_same_results(name, *static_cast<Operands*>(current_operands.get()), all);
            }
            auto& operands = *static_cast<Operands*>(current_operands.get());
            if (threads > 1) // the last series' threads may still spin, waiting for more work
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            for (auto _ : state) {
                each.run(operands);
                benchmark::ClobberMemory();
            }
            state.counters = counters_of(operands);
        });
        if (threads > 1)
            added->UseRealTime();
    }
}

inline int run_cases(int argc, char** argv)
{
    // Freed memory stays with the program: a page that comes anew from the system costs more than the steps that fill it.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, -1);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return EXIT_FAILURE;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return EXIT_SUCCESS;
}

} // namespace bench
