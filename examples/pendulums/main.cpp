// How long do a thousand pendulums from 1 cm to 10 m take to swing to and fro, if all are let go at a right
// angle? loop_lanes_into follows many at once, each step by step until it passes its lowest point, which is a
// quarter of the way. Beside it the closed form of the period, by the arithmetic-geometric mean.

#include <cmath>
#include <cstdio>
#include <numbers>

#include <xloom/control_flow/loop_lanes.hpp>

namespace {

constexpr std::size_t pendulums = 1000;
constexpr double g = 9.80665, dt = 1e-4; // m/s^2, s

using vector = xt::xtensor<double, 1>;

/// A step of the method of leapfrog; true until the pendulum has passed its lowest point.
constexpr auto swing = [](auto& angle, auto& rate, auto const& length) {
    auto const half = 0.5 * dt * g / length;
    rate -= half * xloom::sin(angle);
    angle += dt * rate;
    rate -= half * xloom::sin(angle);
    return angle > 0.0;
};

double closed_form(double angle, double length)
{
    double mean = 1, other = std::cos(angle / 2);
    for (int i = 0; i < 6; ++i) {
        double const next = (mean + other) / 2;
        other = std::sqrt(mean * other);
        mean = next;
    }
    return 2 * std::numbers::pi * std::sqrt(length / g) / mean;
}

} // namespace

int main()
{
    constexpr double start = std::numbers::pi / 2;
    auto const length = xt::eval(xt::arange(1.0, pendulums + 1.0) / 100); // m
    vector angle({pendulums}, start), rate({pendulums}, 0.0);
    auto steps = xt::xtensor<std::int64_t, 1>::from_shape({pendulums});
    xloom::loop_lanes_into(swing, std::tie(angle, rate), length, steps);

    // The last step went beyond the lowest point for the time angle / rate.
    vector const period = 4 * (dt * xt::cast<double>(steps) - angle / rate);

    std::puts("length, m    steps  period, s  closed form, s");
    for (std::size_t const n : {0u, 9u, 99u, 499u, 999u})
        std::printf("%9.2f %8d %10.4f %15.4f\n", length(n), static_cast<int>(steps(n)), period(n),
            closed_form(start, length(n)));
    std::size_t close = 0;
    for (std::size_t n = 0; n < pendulums; ++n)
        close += std::abs(period(n) - closed_form(start, length(n))) < 1e-6;
    std::printf("%zu of %zu periods are within a microsecond of the closed form\n", close, pendulums);
}
