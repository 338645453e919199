#pragma once
// Batches of words of similar lengths.

#include <cstdint>
#include <string_view>
#include <vector>

#include <xtensor/xbuilder.hpp>
#include <xtensor/xtensor.hpp>

#include "dictionary.hpp"
#include "random.hpp"

namespace g2p {

/// A word and one of its pronunciations. Refers to a dictionary.
struct example {
    entry const* word;
    std::size_t pronunciation;

    std::string_view spelling() const { return word->word; }
    g2p::pronunciation const& sounds() const { return word->pronunciations[pronunciation]; }
};

/// Returns an example for each pronunciation of each word.
std::vector<example> examples_of(std::vector<entry> const& words);

/// Numbers of a batch of N examples, in the shapes that the networks read. Items beyond a row's length are 0.
struct batch {
    xt::xtensor<std::int32_t, 3> letters;       ///< [N, S, 1]
    xt::xtensor<std::int32_t, 1> letter_counts; ///< [N]
    xt::xtensor<std::int32_t, 3> inputs;        ///< [T, N, 1]: the symbol before that of `targets`
    xt::xtensor<std::int32_t, 2> targets;       ///< [T, N]: the phonemes, then end_of_word
    xt::xtensor<std::int32_t, 1> symbol_counts; ///< [N]

    std::size_t size() const { return letter_counts.shape()[0]; }
    /// The number of targets.
    std::size_t symbols() const;
};

/// Returns the numbers of examples.
batch batch_of(std::vector<example> const& examples);

/// Returns the letters of words and their counts only.
batch batch_of(std::vector<std::string_view> const& words);

/// Returns all examples in batches of at most `size`, in a random order. Examples of a batch are of similar
/// lengths: pools of examples are sorted, then cut.
std::vector<batch> shuffled_batches(std::vector<example> examples, std::size_t size, random_bits& random);

} // namespace g2p
