// Adam against its definition, weight by weight; the length of a gradient; the schedule.

#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/interop/tbb.hpp>

#include "adam.hpp"

namespace {

using namespace g2p;

constexpr model_sizes tiny{3, 2, 4, 5};

parameters<double> random_parameters(std::uint64_t seed)
{
    random_bits random(seed);
    parameters<double> values(tiny);
    values.for_each([&](char const*, auto& tensor) {
        for (double& item : tensor)
            item = 2 * uniform(random) - 1;
    });
    return values;
}

std::vector<double> all_of(parameters<double> const& values)
{
    std::vector<double> all;
    values.for_each(
        [&](char const*, auto const& tensor) { all.insert(all.end(), tensor.begin(), tensor.end()); });
    return all;
}

} // namespace

TEST_CASE("a step of Adam is that of Kingma and Ba")
{
    double const rate = 0.1, scale = 0.5, beta1 = 0.8, beta2 = 0.95, epsilon = 1e-3;
    parameters<double> weights = random_parameters(1);
    adam<double> method(tiny, {beta1, beta2, epsilon});
    std::vector<double> expected = all_of(weights), m(expected.size()), v(expected.size());
    for (std::uint64_t step = 1; step <= 5; ++step) {
        parameters<double> const gradient = random_parameters(step + 10);
        std::vector<double> const g = all_of(gradient);
        for (std::size_t i = 0; i < g.size(); ++i) {
            m[i] = beta1 * m[i] + (1 - beta1) * scale * g[i];
            v[i] = beta2 * v[i] + (1 - beta2) * std::pow(scale * g[i], 2);
            double const mean = m[i] / (1 - std::pow(beta1, static_cast<double>(step))),
                         square = v[i] / (1 - std::pow(beta2, static_cast<double>(step)));
            expected[i] -= rate * mean / (std::sqrt(square) + epsilon);
        }
        method.step(weights, gradient, scale, rate, xloom::tbb_policy(2));
        std::vector<double> const actual = all_of(weights);
        double largest = 0;
        for (std::size_t i = 0; i < g.size(); ++i)
            largest = std::max(largest, std::abs(actual[i] - expected[i]));
        CHECK(largest < 1e-13);
    }
}

TEST_CASE("the length of a gradient is the root of the sum of all squares")
{
    parameters<double> const gradient = random_parameters(3);
    double sum = 0;
    for (double const item : all_of(gradient))
        sum += item * item;
    CHECK(std::abs(length_of(gradient) - std::sqrt(sum)) < 1e-12);
    CHECK(length_of(parameters<double>(tiny)) == 0);
}

TEST_CASE("the rate rises, then falls to zero along a cosine")
{
    CHECK(rate_at(0, 110, 10, 2) == doctest::Approx(0.2));
    CHECK(rate_at(9, 110, 10, 2) == doctest::Approx(2));
    CHECK(rate_at(10, 110, 10, 2) == doctest::Approx(2));
    CHECK(rate_at(60, 110, 10, 2) == doctest::Approx(1));
    CHECK(rate_at(85, 110, 10, 2) == doctest::Approx(1 - std::numbers::sqrt2 / 2));
    CHECK(rate_at(109, 110, 10, 2) < 0.001);
}
