#pragma once
// How far a pronunciation is from those of the dictionary.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "alphabet.hpp"

namespace g2p {

/// Returns the smallest number of phonemes to insert, to omit or to replace that makes `a` of `b`
/// (Levenshtein).
inline std::size_t edit_distance(pronunciation const& a, pronunciation const& b)
{
    std::vector<std::size_t> distances(b.size() + 1); // of a's first i phonemes from b's first j
    std::iota(distances.begin(), distances.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = distances[0];
        distances[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (a[i] != b[j]);
            diagonal = distances[j + 1];
            distances[j + 1] = std::min({replaced, diagonal + 1, distances[j] + 1});
        }
    }
    return distances.back();
}

/// Errors over a set of words. Each word is compared with its nearest pronunciation.
struct error_counts {
    std::size_t words = 0, wrong_words = 0, phonemes = 0, wrong_phonemes = 0;

    void add(pronunciation const& heard, std::vector<pronunciation> const& allowed)
    {
        std::size_t nearest = 0, distance = heard.size() + allowed[0].size() + 1;
        for (std::size_t i = 0; i < allowed.size(); ++i)
            if (std::size_t const other = edit_distance(heard, allowed[i]); other < distance) {
                nearest = i;
                distance = other;
            }
        ++words;
        wrong_words += distance != 0;
        phonemes += allowed[nearest].size();
        wrong_phonemes += distance;
    }
    error_counts& operator+=(error_counts const& other)
    {
        words += other.words;
        wrong_words += other.wrong_words;
        phonemes += other.phonemes;
        wrong_phonemes += other.wrong_phonemes;
        return *this;
    }
    /// Returns the phonemes to insert, omit or replace, in percent of those of the dictionary.
    double phoneme_error() const { return percent(wrong_phonemes, phonemes); }
    /// Returns the words that equal none of their pronunciations, in percent.
    double word_error() const { return percent(wrong_words, words); }

private:
    static double percent(std::size_t part, std::size_t whole)
    {
        return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    }
};

} // namespace g2p
