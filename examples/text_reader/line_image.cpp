#include "line_image.hpp"

#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <leptonica/allheaders.h>

namespace reader {

namespace {

constexpr double most_pixels = 1 << 26, most_columns = 16384, fewest_columns = 3;

struct pix_deleter {
    void operator()(Pix* pix) const noexcept { pixDestroy(&pix); }
};
using pix_ptr = std::unique_ptr<Pix, pix_deleter>;

void require(bool holds, char const* text)
{
    if (!holds)
        throw std::runtime_error(text);
}

/// Checks what the image's header says, before its pixels take memory.
void check_header(std::string const& path, std::size_t height)
{
    require(std::filesystem::is_regular_file(path), "the file cannot be opened");
    l_int32 format = 0, columns = 0, rows = 0;
    require(pixReadHeader(path.c_str(), &format, &columns, &rows, nullptr, nullptr, nullptr) == 0 &&
                format == IFF_PNG && columns > 0 && rows > 0,
        "the file must be a PNG");
    require(static_cast<double>(columns) * rows <= most_pixels, "the image must have at most 2^26 pixels");
    double const width = static_cast<double>(columns) * static_cast<double>(height) / rows;
    require(width <= most_columns && width >= fewest_columns,
        "the image, scaled to the network's height, must be 3 to 16384 pixels wide");
}

} // namespace

line_image read_line_image(std::string const& path, std::size_t height)
{
    setMsgSeverity(L_SEVERITY_NONE); // errors are reported by exceptions only
    check_header(path, height);
    pix_ptr const pix(pixRead(path.c_str()));
    pix_ptr const grey(pix ? pixConvertTo8(pix.get(), 0) : nullptr);
    require(grey != nullptr, "the PNG is damaged");
    float const factor = static_cast<float>(height) / static_cast<float>(pixGetHeight(grey.get()));
    pix_ptr const scaled(pixScale(grey.get(), factor, factor));
    require(scaled && static_cast<std::size_t>(pixGetHeight(scaled.get())) == height,
        "the image cannot be scaled to the network's height");

    auto image = line_image::from_shape({height, static_cast<std::size_t>(pixGetWidth(scaled.get()))});
    l_uint32 const* const words = pixGetData(scaled.get());
    l_int32 const words_per_row = pixGetWpl(scaled.get());
    for (std::size_t y = 0; y < image.shape(0); ++y)
        for (std::size_t x = 0; x < image.shape(1); ++x)
            image(y, x) = static_cast<std::uint8_t>(
                GET_DATA_BYTE(words + static_cast<std::ptrdiff_t>(y) * words_per_row, x));
    return image;
}

} // namespace reader
