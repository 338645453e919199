#pragma once
// Shared by the benchmarks of recurrent operators: sizes, inputs, the comparison of results, and the counters
// of a series.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "peak.hpp"
#include "support.hpp"
#include "uniform.hpp"

namespace bench {

using matrix = xt::xtensor<float, 2>;
using cube = xt::xtensor<float, 3>;

/// The magnitude of the weights of a cell with H states, which keeps its sums as large as a state.
inline double weight_limit(std::size_t H) { return 1.0 / std::sqrt(static_cast<double>(H)); }

// For the hand-written loops.

inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

/// The transpose of M [1, rows, columns]: a row for each input, so that a step is over all gates.
inline matrix turned(cube const& M)
{
    matrix to = matrix::from_shape({M.shape(2), M.shape(1)});
    for (std::size_t row = 0; row < M.shape(1); ++row)
        for (std::size_t column = 0; column < M.shape(2); ++column)
            to(column, row) = M(0, row, column);
    return to;
}

/// sums += item * row.
inline void add_product(float* __restrict sums, float item, float const* __restrict row, std::size_t count)
{
    for (std::size_t j = 0; j < count; ++j)
        sums[j] += item * row[j];
}

/// "/T:50/N:16" of {"T", 50}, {"N", 16}.
inline std::string text_of(std::initializer_list<std::pair<std::string_view, std::size_t>> sizes)
{
    std::string text;
    for (auto const& [symbol, size] : sizes)
        text.append("/").append(symbol).append(":").append(std::to_string(size));
    return text;
}

/// The sizes of a case.
struct cell_sizes {
    std::size_t T, N, I, H;
    /// Of a GRU: r scales the product R h, as in PyTorch; else h, before the product.
    bool linear_before_reset = false;
};

inline std::string text_of(cell_sizes const& s)
{
    return text_of({{"T", s.T}, {"N", s.N}, {"I", s.I}, {"H", s.H}}) +
           (s.linear_before_reset ? "/linear_before_reset" : "");
}

/// The inputs of a call in one direction: X [T, N, I], W [1, gates H, width], R [1, gates H, H], B [1, 2
/// gates H]. The width is I, or more with an attention.
struct recurrent_inputs {
    cube X, W, R;
    matrix B;

    recurrent_inputs(
        std::size_t T, std::size_t N, std::size_t I, std::size_t H, std::size_t gates, std::size_t width)
        : X(uniform<cube>({T, N, I}, 1, 1.0)),
          W(uniform<cube>({1, gates * H, width}, 2, weight_limit(H))),
          R(uniform<cube>({1, gates * H, H}, 3, weight_limit(H))),
          B(uniform<matrix>({1, 2 * gates * H}, 4, weight_limit(H)))
    {}
    recurrent_inputs(cell_sizes const& s, std::size_t gates)
        : recurrent_inputs(s.T, s.N, s.I, s.H, gates, s.I)
    {}
};

/// The outputs of every recurrent operator.
struct recurrent_results {
    xt::xtensor<float, 4> Y;
    cube Y_h, Y_c;

    recurrent_results(std::size_t T, std::size_t N, std::size_t H)
        : Y(xt::xtensor<float, 4>::from_shape({T, 1, N, H})),
          Y_h(cube::from_shape({1, N, H})),
          Y_c(cube::from_shape({1, N, H}))
    {}

    void fill(float value)
    {
        Y.fill(value);
        Y_h.fill(value);
        Y_c.fill(value);
    }
};

/// Largest difference that rounding explains.
inline constexpr float tolerance = 1e-5f;

template <class Tensor>
bool is_close(Tensor const& one, Tensor const& other)
{
    return one.shape() == other.shape() && is_within(one.storage(), other.storage(), tolerance);
}

/// True if all gradients are as close as rounding explains, beside the largest.
template <class Tensor>
bool is_near(Tensor const& one, Tensor const& other)
{
    float largest = 1;
    for (float const item : other.storage())
        largest = std::max(largest, std::abs(item));
    return is_within(one.storage(), other.storage(), 3e-5f * largest);
}

/// The amount of work in a call, which the times are related to.
struct recurrent_work {
    double flops;        ///< additions and multiplications of the products; nothing else is counted
    double step_weights; ///< bytes of weights that a call reads, counting those that each step reads anew
    double score_elements = 0; ///< of an attention: the number of tanh
    std::size_t threads = 1;
};

inline recurrent_work work_of(cell_sizes const& s, std::size_t gates, std::size_t threads = 1)
{
    double const T = double(s.T), N = double(s.N), I = double(s.I), H = double(s.H), rows = double(gates) * H;
    return {.flops = T * N * 2 * rows * (I + H),
        .step_weights = T * rows * H * sizeof(float),
        .threads = threads};
}

/// A recurrent operator's case. The peer and the other series write to the same results, whose addresses do
/// not change.
struct recurrent_operands {
    recurrent_results y;
    recurrent_work work;
    bool is_row; ///< a batch of one, which is as fast as weights are read

    auto const& results() const { return y; }
    /// Clears the results, so that every series computes its own.
    void clear() { y.fill(std::numeric_limits<float>::quiet_NaN()); }
    bool is_close_to(recurrent_results const& expected) const
    {
        return is_close(y.Y, expected.Y) && is_close(y.Y_h, expected.Y_h) && is_close(y.Y_c, expected.Y_c);
    }

    /// `passes`: how often the call computes the products of `work`.
    benchmark::UserCounters counters(double passes = 1) const
    {
        double const gflops = passes * work.flops * 1e-9;
        auto const rate = [](double amount) { return Counter(amount, Counter::kIsIterationInvariantRate); };
        benchmark::UserCounters all{{"call", seconds_each(1)}, {"GFLOP/s", rate(gflops)},
            {"peak", rate(gflops / (fma_peak() * static_cast<double>(work.threads)))}};
        if (work.score_elements > 0)
            all.insert({"ns/score", seconds_each(work.score_elements * 1e-9)});
        if (is_row)
            all.insert({"GB/s", rate(work.step_weights * 1e-9)});
        return all;
    }

    /// Copies a result; the addresses of the peer's outputs must not change.
    template <class Result>
    void keep(Result const& result)
    {
        y.Y = result.Y;
        y.Y_h = result.Y_h;
        y.Y_c = result.Y_c;
    }
};

} // namespace bench
