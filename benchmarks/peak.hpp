#pragma once
// The peak performance of a core, which the benchmarks' figures are compared with.

#include <algorithm>
#include <chrono>

#include <benchmark/benchmark.h>

#include <xloom/detail/kernel/simd.hpp>

namespace bench {

/// Returns the peak multiply-add throughput of one core in GFLOP/s of float: the best of many short loops
/// over independent sums.
inline double fma_peak()
{
    static double const peak = [] {
        using batch = xloom::kernel::batch_t<float>;
        using clock = std::chrono::steady_clock;
        constexpr std::size_t turns = 10'000, count = 12;
        float half = 0.5f;
        benchmark::DoNotOptimize(half);
        double least = 1e9;
        for (int attempt = 0; attempt < 300; ++attempt) {
            batch sums[count], total(0.0f);
            for (std::size_t i = 0; i < count;
                 ++i) // all different, or the compiler would see that one sum does
                sums[i] = batch(half * static_cast<float>(i));
            auto const start = clock::now();
            for (std::size_t turn = 0; turn < turns; ++turn)
                for (batch& sum : sums)
                    sum = xloom::kernel::multiply_add(sum, batch(half), batch(half));
            for (batch const& sum : sums)
                total += sum;
            benchmark::DoNotOptimize(total);
            least = std::min(least, std::chrono::duration<double, std::nano>(clock::now() - start).count());
        }
        return static_cast<double>(turns * count * xloom::kernel::batch_size<float> * 2) / least;
    }();
    return peak;
}

} // namespace bench
