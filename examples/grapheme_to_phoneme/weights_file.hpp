#pragma once
// Weights in an HDF5 file.

#include <string>

#include "parameters.hpp"

namespace g2p {

/// Writes each tensor as a data set of its name, of little-endian 32-bit floats, in its shape, and the
/// letters and phonemes as attributes of the root. The same weights give the same bytes. The file takes its
/// place when it is complete. Throws std::runtime_error if it cannot be written.
void save_weights(std::string const& path, parameters<float> const& weights);

/// Throws as save_weights if the file could not be written: before a training, which would be lost.
void require_writable(std::string const& path);

/// Reads such a file; the weights have the bits that were written. Throws std::runtime_error if it is
/// missing, damaged, no HDF5 file, or not of such a model.
parameters<float> load_weights(std::string const& path);

} // namespace g2p
