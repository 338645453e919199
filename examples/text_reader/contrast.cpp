#include "contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace reader {

namespace {

using histogram = std::array<std::size_t, 256>;

/// The value below which the given part of the samples is, if those of a value are spread evenly to the next
/// value. Without a sample, `otherwise` is the only one.
float quantile(histogram counts, double part, std::size_t otherwise)
{
    auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    if (total == 0) {
        counts[otherwise] = 1;
        total = 1;
    }
    double const target = std::max(part * total, 1.0);
    double below = 0;
    std::size_t value = 0;
    for (; below + static_cast<double>(counts[value]) < target; ++value)
        below += static_cast<double>(counts[value]);
    return static_cast<float>(
        static_cast<double>(value) + (target - below) / static_cast<double>(counts[value]));
}

} // namespace

black_and_white estimate_contrast(line_image const& image)
{
    std::size_t const y = image.shape(0) / 2;
    histogram minima{}, maxima{};
    for (std::size_t x = 1; x + 1 < image.shape(1); ++x) {
        int const before = image(y, x - 1), here = image(y, x), next = image(y, x + 1);
        if (here <= before && here <= next && (here < before || here < next))
            ++minima[image(y, x)];
        if (here >= before && here >= next && (here > before || here > next))
            ++maxima[image(y, x)];
    }
    return {quantile(minima, 0.25, 0), quantile(maxima, 0.75, 255)};
}

xt::xtensor<float, 4> normalize(line_image const& image, bool is_integer)
{
    auto const [black, white] = estimate_contrast(image);
    float const half = white > black ? (white - black) / 2 : 1;
    auto input = xt::xtensor<float, 4>::from_shape({image.shape(1), 1, image.shape(0), 1});
    for (std::size_t x = 0; x < image.shape(1); ++x)
        for (std::size_t y = 0; y < image.shape(0); ++y) {
            float const value = (static_cast<float>(image(y, x)) - black) / half - 1;
            // Tesseract multiplies by 128 and divides by 127.
            input(x, 0, y, 0) =
                is_integer ? std::clamp(std::round(128 * value), -127.0f, 127.0f) / 127 : value;
        }
    return input;
}

} // namespace reader
