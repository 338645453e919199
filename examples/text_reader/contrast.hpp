#pragma once
// The contrast of a line of text.

#include "line_image.hpp"

namespace reader {

/// The grey values that become -1 and 1.
struct black_and_white {
    float black, white;
};

/// Estimates the values of ink and paper, from the middle row: black is the lower quartile of its local
/// minima, white the upper quartile of its local maxima; 0 and 255 if it has none.
black_and_white estimate_contrast(line_image const& image);

/// Returns the network's input [width, 1, height, 1]: -1 is black, 1 is white. If `is_integer`, values are
/// limited to [-1, 1] and rounded to multiples of 1/127.
xt::xtensor<float, 4> normalize(line_image const& image, bool is_integer);

} // namespace reader
