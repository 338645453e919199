#pragma once
// The characters of a language, by the network's output codes.

#include <cstddef>
#include <string>
#include <vector>

#include "traineddata.hpp"

namespace reader {

/// Returns for each code the UTF-8 text that it stands for; "" for a code that stands for none. The codes are
/// those of Latin, Cyrillic and other scripts in which a character is one code.
///
/// Errors    traineddata_error: damaged components; a character of several codes (Chinese, Japanese, Korean);
///           codes of `code_count` or more.
std::vector<std::string> read_characters(traineddata const& file, std::size_t code_count);

} // namespace reader
