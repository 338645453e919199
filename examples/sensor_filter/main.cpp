// A thousand sensors measure a position ten times a second, each with an error of its own size. A Kalman
// filter estimates position and velocity: its body is written for one sensor, and scan_lanes runs it for many
// at once.

#include <cstdio>
#include <random>

#include <xloom/control_flow/scan_lanes.hpp>

namespace {

constexpr std::size_t steps = 200, sensors = 1000;
constexpr float dt = 0.1f;   // s
constexpr float sway = 0.1f; // m/s: the standard deviation of the change of velocity in a step

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// A step of the filter: position p and velocity v, their variances pp and vv, their covariance pv, a
/// reading z, and the variance r of its error.
constexpr auto estimate = [](auto const& p, auto const& v, auto const& pp, auto const& pv, auto const& vv,
                              auto const& z, auto const& r) {
    auto const next_p = p + dt * v; // what the last estimate predicts
    auto const next_pp = pp + dt * (2.0f * pv + dt * vv);
    auto const next_pv = pv + dt * vv;
    auto const next_vv = vv + sway * sway;

    auto const surprise = z - next_p; // what the reading corrects
    auto const gain_p = next_pp / (next_pp + r), gain_v = next_pv / (next_pp + r);
    auto const better_p = next_p + gain_p * surprise, better_v = v + gain_v * surprise;
    auto const left = 1.0f - gain_p;
    return xloom::scan_step{
        std::tuple(better_p, better_v, left * next_pp, left * next_pv, next_vv - gain_v * next_pv), better_p};
};

/// A number from about the normal distribution: the sum of twelve uniform ones, which is exact.
double normal(std::mt19937& random)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += std::generate_canonical<double, 32>(random);
    return sum;
}

double mean_square(matrix const& a, matrix const& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += (a.data()[i] - b.data()[i]) * (a.data()[i] - b.data()[i]);
    return sum / static_cast<double>(a.size());
}

} // namespace

int main()
{
    std::mt19937 random;
    auto truth = matrix::from_shape({steps, sensors}), readings = matrix::from_shape({steps, sensors});
    auto variance = vector::from_shape({sensors});
    for (std::size_t n = 0; n < sensors; ++n) {
        double const error = 0.5 + static_cast<double>(n) / sensors; // m
        variance(n) = static_cast<float>(error * error);
        double p = normal(random), v = normal(random);
        for (std::size_t t = 0; t < steps; ++t) {
            p += dt * v;
            v += sway * normal(random);
            truth(t, n) = static_cast<float>(p);
            readings(t, n) = static_cast<float>(p + error * normal(random));
        }
    }

    vector const zero = xt::zeros<float>({sensors}), one = xt::ones<float>({sensors});
    auto const [end, filtered] = xloom::scan_lanes(estimate, std::tuple(zero, zero, one, zero, one),
        std::tie(readings, variance), std::nullopt, {.batch_axis = 1});

    std::puts("sensor   truth  reading  filtered, m");
    for (std::size_t const n : {0u, 250u, 500u, 750u, 999u})
        std::printf("%6zu %7.2f %8.2f %9.2f\n", n, truth(steps - 1, n), readings(steps - 1, n),
            filtered(steps - 1, n));
    std::printf("mean squared error: %.3f m^2 of the readings, %.3f m^2 filtered\n",
        mean_square(readings, truth), mean_square(filtered, truth));
}
