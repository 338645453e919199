// What is an option worth whose volatility is random, too? scan_lanes_into simulates 10,000 paths of Heston's
// model: its body is a step of one path, and runs for many at once. Beside the estimate is the price by
// Heston's integral. Row by row, with numbers in place of lanes, the same body gives the same bits.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>

namespace {

constexpr std::size_t steps = 250, paths = 10'000;
constexpr float dt = 1.0f / steps; // of a year

// The model: the price S and its variance v follow
//     dS = rate S dt + sqrt(v) S dW,   dv = pull (level - v) dt + swing sqrt(v) dZ,   dW dZ = together dt
constexpr float rate = 0.03f, pull = 2.0f, level = 0.04f, swing = 0.5f, together = -0.7f, apart = 0.71414284f;
constexpr double price_now = 100;
constexpr float variance_now = 0.04f;

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

/// A step of x = log(S) by Euler's method with full truncation: a variance below 0 counts as 0.
constexpr auto move = [](auto& x, auto& v, auto const& first, auto const& second) {
    auto const variance = xloom::max(v, 0.0f), deviation = xloom::sqrt(variance * dt);
    x += (rate - 0.5f * variance) * dt + deviation * first;
    v += pull * (level - variance) * dt + swing * deviation * (together * first + apart * second);
};

/// Fills two matrices with independent normal numbers, by the method of Box and Muller.
void draw(matrix& first, matrix& second)
{
    std::mt19937 random;
    for (std::size_t i = 0; i < first.size(); ++i) {
        double const radius = std::sqrt(-2 * std::log(1 - std::generate_canonical<double, 32>(random)));
        double const angle = 2 * std::numbers::pi * std::generate_canonical<double, 32>(random);
        first.data()[i] = static_cast<float>(radius * std::cos(angle));
        second.data()[i] = static_cast<float>(radius * std::sin(angle));
    }
}

struct estimate {
    double price, error; ///< the mean, and its standard deviation
};

/// Estimates from the ends of the paths what the option to buy at `strike` a year from now is worth today.
estimate worth(vector const& x, double strike)
{
    double sum = 0, squares = 0;
    for (double const end : x) {
        double const gain = std::exp(-rate) * std::max(price_now * std::exp(end) - strike, 0.0);
        sum += gain;
        squares += gain * gain;
    }
    double const mean = sum / paths;
    return {mean, std::sqrt((squares / paths - mean * mean) / paths)};
}

} // namespace

int main()
{
    auto first = matrix::from_shape({steps, paths}), second = matrix::from_shape({steps, paths});
    draw(first, second);

    vector x({paths}, 0.0f), v({paths}, variance_now); // x from log(price_now) on
    xloom::scan_lanes_into(
        move, std::tie(x, v), std::tie(first, second), std::nullopt, std::tuple(), {.batch_axis = 1});

    vector row_x({paths}, 0.0f), row_v({paths}, variance_now);
    auto const first_rows = xt::transpose(first), second_rows = xt::transpose(second);
    xloom::scan_batched_into(move, std::tie(row_x, row_v), std::tie(first_rows, second_rows));

    struct option {
        double strike, integral; ///< as in Heston, A closed-form solution for options with stochastic
                                 ///< volatility (1993)
    };
    std::puts("strike  10,000 paths  standard error  integral");
    for (auto const [strike, integral] : {option{90, 15.7717}, option{100, 8.9294}, option{110, 3.9785}}) {
        auto const [price, error] = worth(x, strike);
        std::printf("%6.0f %13.2f %15.2f %9.2f\n", strike, price, error, integral);
    }
    std::printf("row by row: %s\n", row_x == x && row_v == v ? "the same bits" : "other bits");
}
