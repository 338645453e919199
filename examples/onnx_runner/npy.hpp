#pragma once
// Tensors as NumPy's .npy files.

#include <istream>
#include <string>

#include "value.hpp"

namespace runner {

/// A file with items of this type. Types that .npy lacks are there as others that hold their values: float16
/// and smaller as float, int4 and smaller as int8 or uint8. Throws if the file cannot be read as that;
/// strings never can.
tensor read_npy(std::string const& path, element_type type);
/// The same from an open file. Its path is for messages.
tensor read_npy(std::istream& file, std::string const& path, element_type type);
void write_npy(std::string const& path, tensor const& t);

} // namespace runner
