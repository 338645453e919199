#include "line_image.hpp"

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <leptonica/allheaders.h>
#include <png.h>

namespace reader {

namespace {

constexpr double most_pixels = 1 << 26, most_columns = 16384, fewest_columns = 3;

struct pix_deleter {
    void operator()(Pix* pix) const noexcept { pixDestroy(&pix); }
};
using pix_ptr = std::unique_ptr<Pix, pix_deleter>;

struct png_deleter {
    void operator()(png_image* png) const noexcept { png_image_free(png); }
};

void require(bool holds, std::string const& text)
{
    if (!holds)
        throw std::runtime_error(text);
}

/// Reads a PNG as grey pixels on white; the header is checked before the pixels take memory.
line_image read_png(std::string const& path, std::size_t height)
{
    require(std::filesystem::is_regular_file(path), "the file cannot be opened");
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    std::unique_ptr<png_image, png_deleter> const owner(&png);
    require(png_image_begin_read_from_file(&png, path.c_str()) != 0,
        std::string("the file must be a PNG, but libpng says: ") + png.message);
    double const columns = png.width, rows = png.height;
    require(columns * rows <= most_pixels, "the image must have at most 2^26 pixels");
    double const width = columns * static_cast<double>(height) / rows;
    require(width <= most_columns && width >= fewest_columns,
        "the image, scaled to the network's height, must be 3 to 16384 pixels wide");
    png.format = PNG_FORMAT_GRAY;
    auto image = line_image::from_shape({png.height, png.width});
    png_color const white{255, 255, 255};
    require(
        png_image_finish_read(&png, &white, image.data(), static_cast<png_int_32>(png.width), nullptr) != 0,
        std::string("the PNG is damaged, libpng says: ") + png.message);
    return image;
}

} // namespace

line_image read_line_image(std::string const& path, std::size_t height)
{
    line_image const page = read_png(path, height);
    auto const rows = static_cast<l_int32>(page.shape(0)), columns = static_cast<l_int32>(page.shape(1));
    setMsgSeverity(L_SEVERITY_NONE); // errors are reported by exceptions only
    pix_ptr const grey(pixCreate(columns, rows, 8));
    require(grey != nullptr, "the image does not fit in memory");
    for (l_int32 y = 0; y < rows; ++y)
        for (l_int32 x = 0; x < columns; ++x)
            pixSetPixel(grey.get(), x, y, page(static_cast<std::size_t>(y), static_cast<std::size_t>(x)));
    float const factor = static_cast<float>(height) / static_cast<float>(rows);
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
