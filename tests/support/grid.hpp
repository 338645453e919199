#pragma once
// A user's own container, which knows nothing of xtensor, and its door.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <xloom/detail/tensor/tensor.hpp>

namespace user {

/// Column-major, of any rank, with its shape in plain ints.
template <class T, std::size_t Rank, class Allocator = std::allocator<T>>
struct grid {
    std::array<int, Rank> extents{};
    std::vector<T, Allocator> items{};

    grid() = default;
    explicit grid(std::array<int, Rank> extents_) : extents(extents_)
    {
        std::size_t count = 1;
        for (int const extent : extents)
            count *= static_cast<std::size_t>(extent);
        items.resize(count);
    }
};

} // namespace user

template <class T, std::size_t Rank, class Allocator>
struct xloom::enable_tensor<user::grid<T, Rank, Allocator>> {
    using grid = user::grid<T, Rank, Allocator>;
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    static T* data(grid& g) { return g.items.data(); }
    static T const* data(grid const& g) { return g.items.data(); }
    static auto const& shape(grid const& g) { return g.extents; }
    static std::array<std::ptrdiff_t, Rank> strides(grid const& g)
    {
        std::array<std::ptrdiff_t, Rank> steps{};
        std::ptrdiff_t step = 1;
        for (std::size_t axis = 0; axis < Rank; ++axis) {
            steps[axis] = step;
            step *= g.extents[axis];
        }
        return steps;
    }
    static grid make(xloom::shape const& dims)
    {
        std::array<int, Rank> extents{};
        std::transform(
            dims.begin(), dims.end(), extents.begin(), [](std::size_t dim) { return static_cast<int>(dim); });
        return grid(extents);
    }
    template <std::size_t R>
    using rebind = user::grid<T, R, Allocator>;
};
