#pragma once
// Tensors of weights that are trained with the Adam method (Kingma and Ba, 2015).

#include <array>
#include <cmath>
#include <cstddef>
#include <random>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xtensor.hpp>

/// Steps against a gradient, by the ratio of running averages of it and of its square. The first step is
/// number 0.
template <class Tensor>
void adam_step(
    Tensor& weights, Tensor const& gradient, Tensor& mean, Tensor& square, std::size_t number, float rate)
{
    float const t = static_cast<float>(number + 1);
    mean = 0.9f * mean + 0.1f * gradient;
    square = 0.99f * square + 0.01f * gradient * gradient;
    weights -=
        rate * (mean / (1 - std::pow(0.9f, t))) / (xt::sqrt(square / (1 - std::pow(0.99f, t))) + 1e-8f);
}

/// Weights, their gradient, and Adam's averages of it.
template <std::size_t Rank>
struct trained {
    xt::xtensor<float, Rank> weights, gradient, mean, square;

    trained(std::array<std::size_t, Rank> const& shape, float limit, std::mt19937& random)
        : weights(shape), gradient(xt::zeros<float>(shape)), mean(gradient), square(gradient)
    {
        std::uniform_real_distribution<float> draw(-limit, limit);
        for (float& weight : weights)
            weight = draw(random);
    }

    /// Steps against the gradient, and sets it to zero. The first step is number 0.
    void step(std::size_t number, float rate)
    {
        adam_step(weights, gradient, mean, square, number, rate);
        gradient.fill(0);
    }
};
