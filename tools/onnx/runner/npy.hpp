#pragma once
// Tensors as NumPy's .npy files.

#include <istream>
#include <string>

#include "value.hpp"

namespace runner {

/// Reads a file with items of this type. Types that .npy lacks are stored in a wider one: float16 and smaller
/// as float, int4 and smaller as int8 or uint8. Throws if the file cannot be read as that; strings are never
/// supported.
tensor read_npy(std::string const& path, element_type type);
/// Reads from an open file; its path is for messages.
tensor read_npy(std::istream& file, std::string const& path, element_type type);
void write_npy(std::string const& path, tensor const& t);

} // namespace runner
