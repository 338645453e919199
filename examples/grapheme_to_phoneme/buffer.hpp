#pragma once
// Memory for tensors whose shapes change from batch to batch.

#include <array>
#include <cstddef>

#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>

namespace g2p {

/// Memory that grows to the largest tensor made of it, and is used again for smaller ones.
template <class Item>
class buffer {
public:
    /// Returns a tensor of this shape; its items are those that the memory holds.
    template <std::size_t Rank>
    auto as(std::array<std::size_t, Rank> const& shape)
    {
        std::size_t size = 1;
        for (std::size_t const dim : shape)
            size *= dim;
        if (size > items_.size())
            items_ = xt::zeros<Item>({size});
        Item* const first = items_.data();
        return xt::adapt(static_cast<Item*>(first), size, xt::no_ownership(), shape);
    }
    /// Returns a tensor of zeros of this shape.
    template <std::size_t Rank>
    auto zeros(std::array<std::size_t, Rank> const& shape)
    {
        auto tensor = as(shape);
        tensor.fill(0);
        return tensor;
    }

private:
    xt::xtensor<Item, 1> items_;
};

} // namespace g2p
