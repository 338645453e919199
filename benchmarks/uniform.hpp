#pragma once
// Random numbers for operands.

#include <cstdint>
#include <random>

namespace bench {

/// Numbers within +-most, the same in every run.
template <class Tensor>
Tensor uniform(typename Tensor::shape_type const& shape, std::size_t seed, double most)
{
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::uniform_real_distribution<float> any(static_cast<float>(-most), static_cast<float>(most));
    Tensor tensor = Tensor::from_shape(shape);
    for (auto& item : tensor.storage())
        item = any(random);
    return tensor;
}

} // namespace bench
