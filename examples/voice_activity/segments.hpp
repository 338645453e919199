#pragma once
// From probabilities to segments of speech.

#include <cstddef>
#include <span>
#include <vector>

/// The chunks first .. last - 1.
struct segment {
    std::size_t first;
    std::size_t last;
};

/// The longest runs of chunks whose probability is at least `threshold`.
inline std::vector<segment> speech_segments(std::span<float const> probability, float threshold)
{
    std::vector<segment> found;
    bool speech = false;
    for (std::size_t t = 0; t < probability.size(); ++t) {
        bool const before = speech;
        speech = probability[t] >= threshold;
        if (speech && !before)
            found.push_back({t, t});
        if (speech)
            found.back().last = t + 1;
    }
    return found;
}
