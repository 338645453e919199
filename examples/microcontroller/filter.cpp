// A second-order filter of a block of samples by scan_into, whose states outlive the block.

#include <array>
#include <tuple>

#include <xloom/control_flow/scan.hpp>

#include "firmware.hpp"

namespace {

constexpr std::size_t block = 64, blocks = 10;
constexpr float b0 = 0.0675F, b1 = 0.1349F, b2 = 0.0675F, a1 = -1.1430F, a2 = 0.4128F; // low pass

using samples = xt::xtensor_fixed<float, xt::xshape<block>>;

/// What the filter computes, in double.
struct expected_filter {
    double s1 = 0, s2 = 0;

    double operator()(double x)
    {
        double const y = double{b0} * x + s1;
        s1 = double{b1} * x - double{a1} * y + s2;
        s2 = double{b2} * x - double{a2} * y;
        return y;
    }
};

} // namespace

int main()
{
    samples x, y;
    float s1 = 0, s2 = 0;
    expected_filter expect;
    firmware::report report(TOLERANCE);
    for (std::size_t n = 0; n < blocks; ++n) {
        std::array<float, block> expected{};
        for (std::size_t t = 0; t < block; ++t) {
            x(t) = static_cast<float>((37 * (n * block + t)) % 101) / 50 - 1;
            expected[t] = static_cast<float>(expect(static_cast<double>(x(t))));
        }
        report.step([&] {
            xloom::scan_into(
                [](float& u1, float& u2, float x_t, float& y_t) {
                    y_t = b0 * x_t + u1;
                    u1 = b1 * x_t - a1 * y_t + u2;
                    u2 = b2 * x_t - a2 * y_t;
                },
                std::tie(s1, s2), x, y);
        });
        report.compare(std::span(y.data(), block), expected);
    }
    return report.finish();
}
