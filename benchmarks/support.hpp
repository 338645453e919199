#pragma once
// Shared by the benchmarks: the body, the sizes, and the comparison and timing of the series of a case.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include <benchmark/benchmark.h>

#include <xloom/detail/core/flush_subnormals.hpp>
#include <xloom/detail/kernel/simd.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

#include "onnxruntime.hpp"

namespace bench {

inline constexpr std::size_t lengths[] = {1'000, 10'000, 100'000};

/// The element sizes for a number of iterations: x and y take no more than 160 MB each.
inline std::vector<std::size_t> sizes_of(std::size_t length)
{
    std::vector<std::size_t> sizes{1, 16, 64, 256};
    if (length <= 10'000)
        sizes.push_back(4096);
    return sizes;
}

/// A bound that no running sum reaches; a loop that tests for it does not end early.
inline constexpr float limit = 1e9f;

using vector = xt::xtensor<float, 1>;

/// The body of every series, a running sum: a hand-written loop and a body handed to xloom call the same
/// function.
inline void add_step(float* __restrict h, float const* __restrict x, float* __restrict y, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        h[i] += x[i];
        y[i] = h[i];
    }
}

/// The running sum over items of x and y with stride `stride`.
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

/// True if no number differs from the expected one by more than `tolerance`; false for NaN.
template <class Found, class Expected>
bool is_within(Found const& found, Expected const& expected, float tolerance)
{
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
        [=](float a, float b) { return std::abs(a - b) <= tolerance; });
}

/// Returns the bytes of a file.
inline std::string read_file(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Zero, or a tensor of zeros.
template <class H>
H zero_like(H const& h)
{
    if constexpr (std::is_arithmetic_v<H>)
        return H{};
    else
        return H(xt::zeros_like(h));
}

/// The operands of a case: a state h, inputs x, memory for the outputs y. Their addresses do not change,
/// because the peer is bound to them.
template <class H, class X, class Y = X>
struct operands {
    H h;
    X x;
    Y y;
    std::size_t iterations;
    H h0 = zero_like(h); ///< what the peer starts from; the others set h
    std::optional<std::pair<H, Y>>
        returned{}; ///< for a series that returns new tensors and reuses the memory of the last

    std::int64_t trips() const { return static_cast<std::int64_t>(iterations); }
    std::pair<H, Y> results() const { return returned ? *returned : std::pair<H, Y>(h, y); }
    /// Clears the results, so that every series computes its own.
    void clear()
    {
        returned.reset();
        if constexpr (std::is_arithmetic_v<H>)
            h = std::numeric_limits<H>::quiet_NaN();
        else
            h.fill(std::numeric_limits<typename H::value_type>::quiet_NaN());
        y *= 0.0f;
    }
};

/// A series: one implementation of a case, which is a function or a model for ONNX Runtime; a model's series
/// is omitted where ONNX Runtime is not available. It writes its results to the operands: the same as the
/// other series, if clear() was called before.
template <class Operands>
struct series {
    char const* impl;
    void (*run)(Operands&) = nullptr;
    onnx_graph (*model)(Operands&) = nullptr;
    /// Counts the errors of a series that is known to be wrong at times, which is not compared with the
    /// others.
    benchmark::UserCounters (*count_errors)(Operands&, std::function<void()> const& run) = nullptr;
    bool flushes = false; ///< it runs while its thread computes with zeros in place of subnormal numbers
};

/// The count_errors of a series that computes something else, such as a copy of the same bytes.
template <class Operands>
benchmark::UserCounters no_errors(Operands&, std::function<void()> const&)
{
    return {};
}

/// True if the results are bitwise equal, or close enough by the operands' own comparison.
template <class Operands, class Results>
bool has_results(Operands const& operands, Results const& expected)
{
    if constexpr (requires { operands.is_close_to(expected); })
        return operands.is_close_to(expected);
    else
        return operands.results() == expected;
}

/// The case whose series are currently timed.
struct open_case {
    std::string name;
    std::shared_ptr<void> operands;
    std::vector<std::function<void()>> runs; ///< of each series
};
inline open_case current;

template <class Operands>
std::function<void()> run_of(series<Operands> const& each, Operands& operands, std::size_t threads)
{
    if (each.flushes)
        return [run = run_of({.impl = each.impl, .run = each.run, .model = each.model}, operands, threads)] {
            xloom::flush_subnormals const flushing;
            run();
        };
    if (each.model == nullptr)
        return [run = each.run, &operands] { run(operands); };
    auto const session = std::make_shared<onnxruntime_session>(each.model(operands), threads);
    return [session] { session->run(); };
}

/// Runs the series once each and stops the program unless all give the results of the first.
template <class Operands>
void require_same_results(Operands& operands, std::vector<series<Operands>> const& all)
{
    operands.clear();
    current.runs.front()();
    auto const expected = operands.results();
    for (std::size_t i = 0; i < all.size(); ++i) {
        operands.clear();
        current.runs[i]();
        if (all[i].count_errors == nullptr && !has_results(operands, expected)) {
            std::cerr << current.name << ": impl:" << all[i].impl << " differs from impl:" << all.front().impl
                      << '\n';
            std::exit(EXIT_FAILURE);
        }
    }
}

/// Makes the operands of a case and opens the peer's models, unless that is done, and compares the results of
/// its series.
template <class Operands, class Make>
Operands& open(
    std::string const& name, Make const& make, std::vector<series<Operands>> const& all, std::size_t threads)
{
    if (name != current.name) {
        current = {}; // what the last case took is free before this one takes its own
        auto const made = std::make_shared<Operands>(make());
        current = {name, made, {}};
        for (auto const& each : all)
            current.runs.push_back(run_of(each, *made, threads));
        require_same_results(*made, all);
        for (auto const& run :
            current.runs) // what goes from call to call, such as memory that is used again, is there by now
            run();
    }
    return *static_cast<Operands*>(current.operands.get());
}

using benchmark::Counter;

/// Returns a counter of the seconds per part, for a call of `parts` equal parts.
inline Counter seconds_each(double parts)
{
    return Counter(parts, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

/// Returns the counters reported with the time. Every series has `call`, the seconds of all the work that the
/// case is named after. Where the work is a sequence of equal parts (the iterations of a loop, updates,
/// slices), `iteration` is the seconds of one of them.
template <class Operands>
benchmark::UserCounters counters_of(Operands const& operands)
{
    if constexpr (requires { operands.counters(); })
        return operands.counters();
    else
        return {
            {"call", seconds_each(1)}, {"iteration", seconds_each(static_cast<double>(operands.iterations))}};
}

/// Waits until the last series' threads spin no more, waiting for work, and until those of `run` are on cores
/// of their own: some begin on that of the calling thread.
inline void settle_threads(std::function<void()> const& run)
{
    using std::chrono::milliseconds, std::chrono::steady_clock;
    std::this_thread::sleep_for(milliseconds(100));
    for (auto const begin = steady_clock::now(); steady_clock::now() - begin < milliseconds(100);)
        run();
}

/// Registers the series of a case as work/impl:..., or work/threads:2/impl:... Its operands are made, and the
/// results compared, before the first of them is timed, and freed when another case starts. With threads
/// wall-clock time counts, else processor time.
template <class Make, class Operands = std::invoke_result_t<Make>>
void add_case(std::string const& work, Make make, std::vector<series<Operands>> all, std::size_t threads = 1)
{
    std::string const name = threads == 1 ? work : work + "/threads:" + std::to_string(threads);
    std::erase_if(all, [](auto const& each) { return each.model != nullptr && !has_onnxruntime(); });
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto* const added = benchmark::RegisterBenchmark(
            (name + "/impl:" + all[i].impl).c_str(), [=](benchmark::State& state) {
                Operands& operands = open(name, make, all, threads);
                auto const& run = current.runs[i];
                if (threads > 1)
                    settle_threads(run);
                for (auto _ : state) {
                    run();
                    benchmark::ClobberMemory();
                }
                state.counters = counters_of(operands);
                if (all[i].count_errors != nullptr)
                    state.counters.merge(all[i].count_errors(operands, run));
            });
        if (threads > 1)
            added->UseRealTime();
    }
}

/// The build configuration of the programs, for the report.
inline void add_versions()
{
    auto const text = [](int major, int minor, int patch) {
        return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
    };
    benchmark::AddCustomContext(
        "xtensor", text(XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH));
    benchmark::AddCustomContext("xsimd", text(XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH));
}

inline int run_cases(int argc, char** argv)
{
    // Freed memory is not returned to the system: mapping a new page costs more than the steps that fill it.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    benchmark::Initialize(&argc, argv);
    add_versions();
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return EXIT_FAILURE;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return EXIT_SUCCESS;
}

} // namespace bench
