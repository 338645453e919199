// How stiff is a spring, and how strong is its damper? A mass on both was followed for 20 seconds; here they
// are found from the path alone, by gradient descent through the 2,000 steps of the simulation. The path was
// made with k = 2.5 and d = 0.3, so that these are what the search must find. What stderr gets, k, d and the
// misfit of each round, is for spring_fit.gnuplot.

#include <cmath>
#include <cstdio>
#include <tuple>

#include <xloom/gradients/check_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>

namespace {

constexpr std::size_t steps = 2'000;
constexpr double dt = 0.01; // s

using path = xt::xtensor<double, 1>;

/// A step of the semi-implicit Euler method; the mass is 1 kg.
constexpr auto move = [](double& x, double& v, double k, double d, double& x_t) {
    v -= dt * (k * x + d * v);
    x_t = x += dt * v;
};
constexpr auto move_vjp = [](double x, double v, double k, double d, double ct_next_x, double ct_next_v,
                              double ct_x_t, double& ct_x, double& ct_v, double& ct_k, double& ct_d) {
    double const by_x = ct_next_x + ct_x_t, by_v = ct_next_v + dt * by_x;
    ct_x += by_x - dt * k * by_v;
    ct_v += by_v - dt * d * by_v;
    ct_k -= dt * x * by_v;
    ct_d -= dt * v * by_v;
};

/// The mean squared distance from the measured path, and its gradient, in memory that is used again.
class misfit {
public:
    explicit misfit(path const& measured) : measured_(measured) {}

    double operator()(double k, double d, double& by_k, double& by_d)
    {
        double x = 1, v = 0, error = 0;
        xloom::scan_forward_into(
            move, std::tie(x, v), std::tuple(), std::tie(k, d), path_, residuals_, {.length = steps});
        for (std::size_t t = 0; t < steps; ++t) {
            double const distance = path_(t) - measured_(t);
            error += distance * distance / steps;
            ct_path_(t) = 2 * distance / steps;
        }
        by_k = by_d = 0;
        xloom::scan_vjp_into(move, move_vjp, std::tuple(), std::tie(k, d), residuals_,
            xloom::cotangents().outputs(ct_path_), xloom::gradients().params(by_k, by_d), {.length = steps});
        return error;
    }

private:
    path const& measured_;
    path path_ = path::from_shape({steps}), ct_path_ = path::from_shape({steps});
    xloom::scan_residuals<std::tuple<double, double>> residuals_{xloom::checkpoint::sqrt()};
};

} // namespace

int main()
{
    auto const report =
        xloom::check_vjp_into(move, move_vjp, std::tuple(1.0, 0.5), std::tuple(), std::tuple(2.0, 0.1), 0.0);
    if (!report) {
        std::fprintf(stderr, "%s\n", xloom::to_string(report).c_str());
        return 1;
    }

    // The measured path, and how far the place of the mass at its end depends on each number.
    auto [end, measured, pullback] = xloom::scan_vjp(
        [](double x, double v, double k, double d) {
            double x_t = 0;
            move(x, v, k, d, x_t);
            return xloom::scan_step{std::tuple(x, v), x_t};
        },
        move_vjp, std::tuple(1.0, 0.0), std::tuple(), std::tuple(2.5, 0.3), {.length = steps},
        xloom::checkpoint::binomial(20));

    misfit error(measured);
    double k = 2, d = 0.1, by_k = 0, by_d = 0, rate = 0.5;
    error(k, d, by_k, by_d);
    for (int round = 0; round < 60 && by_k * by_k + by_d * by_d > 1e-24; ++round) {
        double const last_k = k, last_d = d, last_by_k = by_k, last_by_d = by_d;
        k -= rate * by_k;
        d -= rate * by_d;
        std::fprintf(stderr, "%.6f %.6f %.3e\n", k, d, error(k, d, by_k, by_d));
        // The step of Barzilai and Borwein.
        double const dk = k - last_k, dd = d - last_d, gk = by_k - last_by_k, gd = by_d - last_by_d;
        rate = std::abs(dk * gk + dd * gd) / (gk * gk + gd * gd);
    }
    std::printf("stiffness %.6f N/m, damping %.6f kg/s\n", k, d);

    auto const ct = pullback(std::tuple(1.0, 0.0), path(xt::zeros<double>({steps}))).params;
    std::printf("place at the end: %.4f m, %+.4f m for each N/m, %+.4f m for each kg/s\n", std::get<0>(end),
        std::get<0>(ct), std::get<1>(ct));
}
