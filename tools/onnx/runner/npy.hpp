#pragma once
// Tensors as NumPy's .npy files.

#include <istream>
#include <string>

#include "value.hpp"

namespace runner {

/// Reads a file with items of this type. Types that .npy lacks are stored in a wider one: bfloat16 and float8
/// as float, int4 and smaller as int8 or uint8. Throws if the file cannot be read as that.
tensor read_npy(std::string const& path, element_type type);
/// Reads from an open file; its path is for messages.
tensor read_npy(std::istream& file, std::string const& path, element_type type);
/// Writes a file. Throws if it cannot be written; before, if a string is no text that .npy files can store.
void write_npy(std::string const& path, tensor const& t);

} // namespace runner
