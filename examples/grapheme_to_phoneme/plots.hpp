#pragma once
// Numbers for the gnuplot files.

#include <string>
#include <vector>

#include "pronouncer.hpp"
#include "training.hpp"

namespace g2p {

/// Writes alignments.dat with a line of weights for each letter, one for each phoneme; letters.dat and
/// phonemes.dat. For alignments.gnuplot. Throws std::runtime_error if they cannot be written.
void write_alignments(std::string const& folder, std::string const& word, transcription const& said);

/// Writes learning_curve.dat with a line for each epoch: its number, the loss, the phoneme error and the word
/// error. For learning_curve.gnuplot. Throws std::runtime_error if it cannot be written.
void write_learning_curve(std::string const& folder, std::vector<progress> const& curve);

} // namespace g2p
