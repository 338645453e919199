#pragma once
// The Adam method (Kingma and Ba, 2015), the length of a gradient, and a schedule for the rate.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Core>

#include "parameters.hpp"

namespace g2p {

struct adam_options {
    double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;
};

/// Steps against a gradient, each weight by the ratio of running averages of its derivative and its square.
template <class Item>
class adam {
public:
    explicit adam(model_sizes const& sizes, adam_options const& options = {})
        : options_(options), mean_(sizes), square_(sizes)
    {}

    /// Changes the weights by a step at this rate, with the gradient times `scale`.
    template <class Policy>
    void step(parameters<Item>& weights, parameters<Item> const& gradient, double scale, double rate,
        Policy const& policy)
    {
        ++steps_;
        auto const [beta1, beta2, epsilon] = options_;
        auto const b1 = static_cast<Item>(beta1), b2 = static_cast<Item>(beta2),
                   e = static_cast<Item>(epsilon);
        double const n = static_cast<double>(steps_);
        auto const s = static_cast<Item>(scale), a = static_cast<Item>(rate / (1 - std::pow(beta1, n))),
                   c = static_cast<Item>(1 / (1 - std::pow(beta2, n)));
        weights.for_each(
            [&](char const*, auto& w, auto const& g, auto& m, auto& v) {
                constexpr std::size_t items = 16384; // of a part
                policy.for_each((w.size() + items - 1) / items, [&](std::size_t part) {
                    std::size_t const first = part * items, count = std::min(items, w.size() - first);
                    auto const piece = [&](auto* data) {
                        return Eigen::Map<array<decltype(data)>>(
                            data + first, static_cast<Eigen::Index>(count));
                    };
                    auto W = piece(w.data()), M = piece(m.data()), V = piece(v.data());
                    auto const G = piece(g.data()) * s;
                    M = b1 * M + (1 - b1) * G;
                    V = b2 * V + (1 - b2) * G.square();
                    W -= a * M / ((c * V).sqrt() + e);
                });
            },
            gradient, mean_, square_);
    }

private:
    template <class Pointer>
    using array = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
        Eigen::Array<Item, Eigen::Dynamic, 1> const, Eigen::Array<Item, Eigen::Dynamic, 1>>;

    adam_options options_;
    parameters<Item> mean_, square_;
    std::size_t steps_ = 0;
};

/// Returns the Euclidean length of a gradient. The order of the sum is fixed.
template <class Item>
double length_of(parameters<Item> const& gradient)
{
    constexpr std::size_t lanes = 16;
    double sum = 0;
    gradient.for_each([&](char const*, auto const& tensor) {
        std::array<double, lanes> squares{};
        Item const* const items = tensor.data();
        std::size_t const whole = tensor.size() / lanes * lanes;
        for (std::size_t i = 0; i < whole; i += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                double const item = static_cast<double>(items[i + lane]);
                squares[lane] += item * item;
            }
        for (std::size_t i = whole; i < tensor.size(); ++i)
            squares[0] += static_cast<double>(items[i]) * static_cast<double>(items[i]);
        for (double const square : squares)
            sum += square;
    });
    return std::sqrt(sum);
}

/// Returns the rate of a step: it rises to `peak` over the first `warm_up` steps, then falls to 0 along a
/// cosine.
inline double rate_at(std::size_t step, std::size_t steps, std::size_t warm_up, double peak)
{
    if (step < warm_up)
        return peak * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    double const way = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
    return peak * (1 + std::cos(std::numbers::pi * way)) / 2;
}

} // namespace g2p
