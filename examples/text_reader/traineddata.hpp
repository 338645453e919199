#pragma once
// Tesseract's traineddata file: a table of offsets, and the components of a language.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "byte_reader.hpp"

namespace reader {

/// The components that are read, by their numbers in the table.
enum class component : std::size_t { lstm = 17, lstm_unicharset = 21, lstm_recoder = 22 };

/// A traineddata file in memory.
class traineddata {
public:
    /// Errors    traineddata_error: a table that is truncated, or offsets out of order or beyond the end.
    explicit traineddata(std::vector<char> bytes);
    traineddata(traineddata&&) = default; // a copy would refer to the bytes of the original

    /// Returns a reader at the beginning of a component.
    ///
    /// Errors    traineddata_error: the file has no such component.
    byte_reader open(component which) const;

private:
    std::vector<char> bytes_;
    std::vector<std::span<char const>> components_; ///< empty: the file has none of that number
};

/// Reads a file.
///
/// Errors    std::runtime_error: it cannot be read; traineddata_error as above.
traineddata read_traineddata(std::string const& path);

} // namespace reader
