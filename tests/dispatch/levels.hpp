#pragma once
// Shared by the parts of the program that prints hashes of the bits of results.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <type_traits>

namespace levels {

/// Numbers in +-1; of integers, any.
template <class Tensor>
Tensor numbers(typename Tensor::shape_type const& shape, unsigned seed)
{
    std::mt19937 random(seed);
    Tensor tensor = Tensor::from_shape(shape);
    using T = typename Tensor::value_type;
    for (auto& item : tensor.storage())
        if constexpr (std::is_integral_v<T>)
            item = static_cast<T>(random());
        else
            item = static_cast<T>(random()) / T(1u << 31) - 1;
    return tensor;
}

/// Prints the hash of the items of a result of H units and N rows, or of sizes that are called so.
template <class Range>
void print(char const* name, std::size_t H, std::size_t N, Range const& range)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (auto const& item : range) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &item, sizeof item);
        hash = (hash ^ bits) * 0x100000001b3;
    }
    std::printf("%s %zu H %zu N %zu: %016llx\n", name, sizeof(*range.begin()), H, N,
        static_cast<unsigned long long>(hash));
}

void print_scans();
void print_derivatives();

} // namespace levels
