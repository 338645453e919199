#pragma once
// A line of text as grey pixels of the height that a network takes.

#include <cstddef>
#include <cstdint>
#include <string>

#include <xtensor/xtensor.hpp>

namespace reader {

/// Grey pixels [height, width], 0 is black.
using line_image = xt::xtensor<std::uint8_t, 2>;

/// Reads a PNG, and scales it to `height` rows as Tesseract does, by leptonica's pixScale. Transparent pixels
/// are on white.
///
/// Errors    std::runtime_error: it is no PNG, is damaged, is wider than 16384 pixels after scaling or
///           narrower than 3, or has more than 2^26 pixels.
line_image read_line_image(std::string const& path, std::size_t height);

} // namespace reader
