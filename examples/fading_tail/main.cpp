// A filter whose input stops: the tail of its output fades until it is below the smallest normal number of
// float. There it stays, because 0.999 times such a number rounds to the same one; on many processors each
// sample then takes many times as long. xloom::flush_subnormals makes zeros of such numbers. What stderr
// gets, a sample of the output in 50 ms, is for fading_tail.gnuplot.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include <xtensor/xtensor.hpp>

#include <xloom/control_flow/scan.hpp>
#include <xloom/types.hpp>

namespace {

constexpr std::size_t rate = 48'000, seconds = 5; // samples a second

using signal = xt::xtensor<float, 1>;

/// Filters a click and the silence after it, and reports about the last second.
void report(char const* with)
{
    auto const low_pass = [](float& state, float x_t, float& y_t) { y_t = state = 0.999f * state + x_t; };
    signal click = xt::zeros<float>({rate}), y = click;
    click(0) = 1;
    signal const silence = xt::zeros<float>({rate});
    float state = 0;
    for (std::size_t second = 0; second + 1 < seconds; ++second) {
        xloom::scan_into(low_pass, state, second == 0 ? click : silence, y);
        for (std::size_t i = 0; i < rate; i += rate / 20)
            std::fprintf(stderr, "%.2f %g\n", double(second) + double(i) / double(rate), y(i));
    }

    auto const start = std::chrono::steady_clock::now();
    xloom::scan_into(low_pass, state, silence, y);
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - start;
    std::printf("%s: %d of the last %zu samples are not 0\n", with,
        static_cast<int>(rate) - static_cast<int>(std::count(y.begin(), y.end(), 0.0f)), rate);
    std::fprintf(stderr, "# %s: %.2f ns a sample\n\n\n", with, time.count() / static_cast<double>(rate));
}

} // namespace

int main()
{
    report("subnormal numbers");
    xloom::flush_subnormals const flushing;
    report("zeros in their place");
}
