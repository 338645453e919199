#pragma once
// TensorScatter as ONNX's prose has it, item by item, for a cache of rank 4.

#include <cstddef>
#include <vector>

#include <xloom/indexing/tensor_scatter.hpp>

namespace textbook {

/// Returns the cache with the update written along `axis`, from starts[b] on, modulo the cache's length.
template <class T>
xt::xtensor<T, 4> tensor_scatter(xt::xtensor<T, 4> cache, xt::xtensor<T, 4> const& update,
    std::vector<std::size_t> const& starts, std::size_t axis)
{
    for (std::size_t b = 0; b < update.shape(0); ++b)
        for (std::size_t i = 0; i < update.shape(1); ++i)
            for (std::size_t j = 0; j < update.shape(2); ++j)
                for (std::size_t k = 0; k < update.shape(3); ++k) {
                    std::size_t at[] = {b, i, j, k};
                    at[axis] = (at[axis] + starts[b]) % cache.shape(axis);
                    cache(at[0], at[1], at[2], at[3]) = update(b, i, j, k);
                }
    return cache;
}

} // namespace textbook
