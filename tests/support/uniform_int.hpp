#pragma once
// Random integers that are the same with every standard library.

#include <concepts>
#include <cstdint>
#include <random>

/// A distribution over the integers from `least` to `most`, at most 2^32 - 1 of them. Each standard library
/// has an algorithm of its own; this is D. Lemire's, as in libstdc++ 12 (Fast Random Integer Generation in an
/// Interval, 2019).
template <std::integral Int>
class uniform_int {
public:
    uniform_int(Int least, Int most)
        : least_(least), count_(static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least) + 1)
    {}

    Int operator()(std::mt19937& random) const
    {
        std::uint64_t product = draw(random);
        for (std::uint32_t const rejected = -count_ % count_; static_cast<std::uint32_t>(product) < rejected;)
            product = draw(random);
        return static_cast<Int>(least_ + static_cast<Int>(product >> 32));
    }

private:
    std::uint64_t draw(std::mt19937& random) const { return std::uint64_t{random()} * count_; }

    Int least_;
    std::uint32_t count_;
};
