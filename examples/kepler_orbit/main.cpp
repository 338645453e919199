// Where is a planet at a given time, and how does that depend on the shape of its orbit? Kepler's equation
// M = E - e sin(E) has no solution in closed form. loop_vjp solves it by Newton's iteration, as many times as
// each orbit needs, and differentiates the iteration itself; if_vjp chooses where it begins. The closed forms
// beside the derivatives are those of the implicit function.

#include <cmath>
#include <cstdio>
#include <numbers>

#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>

namespace {

/// The start: M for round orbits, pi for long ones.
auto start(double M, double e)
{
    return xloom::if_vjp(
        e < 0.8, [](double m) { return m; }, [](double, double ct, double& ct_m) { ct_m += ct; },
        [](double) { return std::numbers::pi; }, [](double, double, double&) {}, M);
}

constexpr auto newton = [](std::int64_t, bool, double E, double M, double e) {
    double const step = (E - e * std::sin(E) - M) / (1 - e * std::cos(E));
    return xloom::loop_step{std::abs(step) > 1e-14, E - step};
};

constexpr auto newton_vjp = [](std::int64_t, double E, double M, double e, double ct_next, double& ct_E,
                                double& ct_M, double& ct_e) {
    double const slope = 1 - e * std::cos(E), step = (E - e * std::sin(E) - M) / slope;
    ct_E += ct_next * step * e * std::sin(E) / slope;
    ct_M += ct_next / slope;
    ct_e += ct_next * (std::sin(E) - step * std::cos(E)) / slope;
};

} // namespace

int main()
{
    std::puts("     e       E  steps    dE/dM  closed form    dE/de  closed form");
    double const M = 0.7;
    for (double const e : {0.0167, 0.2056, 0.6, 0.85, 0.9671}) { // the Earth, Mercury, ..., Halley's comet
        auto [E0, start_pullback] = start(M, e);
        auto solved = xloom::loop_vjp(newton, newton_vjp, E0, std::tuple(M, e), xloom::checkpoint::online(4));
        auto const [ct_E0, ct] = solved.pullback(1.0, std::tuple());
        double const E = solved.final_state, by_M = std::get<0>(ct) + start_pullback(ct_E0);
        std::printf("%6.4f %7.4f %6d %8.4f %12.4f %8.4f %12.4f\n", e, E, static_cast<int>(solved.trip_count),
            by_M, 1 / (1 - e * std::cos(E)), std::get<1>(ct), std::sin(E) / (1 - e * std::cos(E)));
    }
}
