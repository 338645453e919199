#pragma once
// A pronouncing dictionary in the format of CMUdict, and its split into words to learn and held-out words.

#include <string>
#include <vector>

#include "alphabet.hpp"

namespace g2p {

/// A word with all its pronunciations.
struct entry {
    std::string word;
    std::vector<pronunciation> pronunciations;
};

/// Reads lines `word PHONEME...`, in their order. `word(2)` is another pronunciation of `word`; a `#` begins
/// a comment; pronunciations that differ in their stress only are one. Words with other characters than
/// `letters`, such as digits and hyphens, are skipped. Throws std::runtime_error if the file cannot be read,
/// or a line is none of a dictionary.
std::vector<entry> read_dictionary(std::string const& path);

/// The words of a dictionary in three disjoint parts, so that no pronunciation of a held-out word is learnt.
struct split_dictionary {
    std::vector<entry> training;
    std::vector<entry> validation; ///< chooses the weights: 2 %
    std::vector<entry> test;       ///< 5 %
};

/// Splits a dictionary in an order that only depends on the number of its words, and keeps `most` words of
/// it; 0 keeps all.
split_dictionary split(std::vector<entry> dictionary, std::size_t most = 0);

} // namespace g2p
