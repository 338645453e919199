#pragma once
// Random numbers that are the same with every standard library.

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace g2p {

using random_bits = std::mt19937_64;

/// Returns a number in [0, 1).
inline double uniform(random_bits& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Puts the items into a random order (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& items, random_bits& random)
{
    for (std::size_t left = items.size(); left > 1; --left)
        std::swap(items[left - 1], items[static_cast<std::size_t>(uniform(random) * double(left))]);
}

} // namespace g2p
