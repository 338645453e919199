#pragma once
// From a fuzzer's bytes to the choices of a call. Any bytes are a call; where they end, every choice is the
// first one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/placed_tensor.hpp"

namespace fuzz {

class decoder {
public:
    explicit decoder(std::span<unsigned char const> bytes) : bytes_(bytes) {}

    std::size_t byte()
    {
        if (bytes_.empty())
            return 0;
        std::size_t const first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }

    /// Less than `count`, which is 256 at most.
    std::size_t below(std::size_t count) { return byte() % count; }
    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        return least + static_cast<std::int64_t>(below(static_cast<std::size_t>(most - least + 1)));
    }
    bool flag() { return byte() % 2 == 1; }
    /// For what makes most calls illegal.
    bool rarely() { return byte() % 16 == 15; }

    template <class Choice, std::size_t Count>
    Choice pick(Choice const (&choices)[Count])
    {
        return choices[below(Count)];
    }

    std::uint32_t seed()
    {
        std::uint32_t seed = 0;
        for (int i = 0; i < 4; ++i)
            seed = seed << 8 | static_cast<std::uint32_t>(byte());
        return seed;
    }

    textbook::dims dims(std::size_t most_rank, std::size_t most)
    {
        textbook::dims shape(below(most_rank + 1));
        std::generate(shape.begin(), shape.end(), [&] { return below(most + 1); });
        return shape;
    }

    /// A dimension more or less, or another one.
    textbook::dims damaged(textbook::dims shape)
    {
        std::size_t const change = below(3);
        if (change == 0 || shape.empty())
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(below(shape.size() + 1)), below(4));
        else if (change == 1)
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(below(shape.size())));
        else
            shape[below(shape.size())] = below(6);
        return shape;
    }

    placement where() { return pick(every_placement); }

private:
    std::span<unsigned char const> bytes_;
};

} // namespace fuzz
