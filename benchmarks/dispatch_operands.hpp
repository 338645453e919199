#pragma once
// The operands of the calls of bench_dispatch, in one build: XLOOM_BENCH_BUILD names it.

#include <cstdint>
#include <memory>

#include <xloom/detail/tensor/xtensor.hpp>

#include "dispatch_calls.hpp"

namespace bench::XLOOM_BENCH_BUILD {
namespace {

using row = std::vector<float>;
using matrix = xt::xtensor<float, 2>;
using cube = xt::xtensor<float, 3>;

/// Numbers in +-limit.
template <class Tensor>
Tensor uniform(typename Tensor::shape_type const& shape, float limit, std::uint32_t noise)
{
    Tensor tensor = Tensor::from_shape(shape);
    for (std::size_t i = 0; i < tensor.size(); ++i) {
        noise = noise * 1664525u + 1013904223u;
        tensor.data()[i] = static_cast<typename Tensor::value_type>(
            limit * (static_cast<float>(noise >> 8) / 8388608.0f - 1.0f));
    }
    return tensor;
}

/// Indices below a length.
template <class Tensor>
Tensor indices_below(std::size_t length, typename Tensor::shape_type const& shape)
{
    Tensor tensor = Tensor::from_shape(shape);
    std::uint32_t noise = 1;
    for (std::size_t i = 0; i < tensor.size(); ++i) {
        noise = noise * 1664525u + 1013904223u;
        tensor.data()[i] = static_cast<typename Tensor::value_type>((noise >> 8) % length);
    }
    return tensor;
}

/// Returns the call of State::operator(), which writes to State::y.
template <class State>
built_call call_of(std::shared_ptr<State> const& state)
{
    return {[state] { (*state)(); },
        [state] {
            row numbers;
            for (auto const& item : state->y)
                numbers.push_back(static_cast<float>(item));
            return numbers;
        }};
}

} // namespace
} // namespace bench::XLOOM_BENCH_BUILD
