// The backward kernel of the LSTM: h that it computes again from residuals.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include <xloom/detail/kernel/lstm_backward.hpp>

namespace kernel_lstm_backward_test {

using namespace xloom;
using namespace xloom::kernel;

TEST_CASE_TEMPLATE("lstm_backward_rows: h before a block of steps, for units that fill cache lines or do not",
    T, float, double)
{
    for (std::size_t const H : {3u, 8u, 16u, 21u}) {
        CAPTURE(H);
        lstm_backward_parameters<T> p{};
        p.I = 1;
        p.H = H;
        p.gate_stride = p.h_stride = whole_batches<T>(H);
        p.R.columns = H;
        p.how.f.function.kind = activation::sigmoid;
        p.how.g.function.kind = p.how.h.kind = activation::tanh;

        // The residuals of one step of two sequences.
        std::size_t const width = p.gate_stride, size = 5 * width, begins[] = {0, 2, 4};
        std::vector<T> kept(2 * size), initial(2 * width);
        for (std::size_t i = 0; i < kept.size(); ++i)
            kept[i] = static_cast<T>(i % 11) / 4 - 1;
        residual_rows<T const> const residuals{kept.data(), begins, size, 0, 1};

        arena<T> counts;
        lstm_backward_rows<T> const counting(p, 2, counts);
        std::vector<T> numbers(counts.used());
        arena<T> memory(numbers.data());
        lstm_backward_rows<T> const rows(p, 2, memory);
        rows.start();
        std::size_t calls = 0;
        auto const keep = [&](std::size_t t, std::size_t r, std::size_t factor, T const* h) {
            CHECK((t == 1 && r == calls++ && factor == factor_h));
            for (std::size_t j = 0; j < H; ++j) {
                T const o = kept[r * size + width + j], c = kept[r * size + 4 * width + j];
                CHECK(h[j] == doctest::Approx(std::tanh(c) / (1 + std::exp(-o))).epsilon(1e-6));
            }
        };
        rows.keep_first(2, 1, residuals, {initial.data(), width}, keep);
        CHECK(calls == 2);
    }
}

} // namespace kernel_lstm_backward_test
