// How long does a pendulum of a metre take to swing to and fro? loop_into follows it step by step until it
// passes its lowest point, which is a quarter of the way; how many steps that takes is not known before. The
// closed forms beside it are those of the period, by the arithmetic-geometric mean, and of the speed, by
// energy.

#include <cmath>
#include <cstdio>
#include <numbers>

#include <xloom/control_flow/loop.hpp>

namespace {

constexpr double g = 9.80665, dt = 1e-3; // m/s^2, s

struct swing {
    double period, speed; ///< s, m/s at the lowest point
};

swing follow(double angle)
{
    double rate = 0;
    auto path = xt::xtensor<double, 1>::from_shape({10'000}); // room for 10,000 steps
    xloom::loop_status const end = xloom::loop_into(
        [](std::int64_t, double& angle_t, double& rate_t, double& path_t) {
            rate_t -= dt / 2 * g * std::sin(angle_t);
            angle_t += dt * rate_t;
            rate_t -= dt / 2 * g * std::sin(angle_t);
            path_t = angle_t;
            return angle_t > 0;
        },
        std::tie(angle, rate), path);
    auto const last = static_cast<std::size_t>(end.trip_count) - 1;
    double const above = path(last - 1), below = path(last);
    return {4 * dt * (static_cast<double>(last) + above / (above - below)), -rate};
}

swing closed_form(double angle)
{
    double mean = 1, other = std::cos(angle / 2);
    for (int i = 0; i < 6; ++i) {
        double const next = (mean + other) / 2;
        other = std::sqrt(mean * other);
        mean = next;
    }
    return {2 * std::numbers::pi / (std::sqrt(g) * mean), std::sqrt(2 * g * (1 - std::cos(angle)))};
}

} // namespace

int main()
{
    std::puts("degrees   seconds  closed form       m/s  closed form");
    for (double const degrees : {1, 30, 90, 150, 179}) {
        double const angle = degrees * std::numbers::pi / 180;
        auto const [period, speed] = follow(angle);
        auto const [true_period, true_speed] = closed_form(angle);
        std::printf("%7.0f %9.4f %12.4f %9.4f %12.4f\n", degrees, period, true_period, speed, true_speed);
    }
}
