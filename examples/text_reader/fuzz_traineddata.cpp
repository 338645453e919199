// libFuzzer on traineddata files: a file must give a traineddata_error, or a network that reads a small
// image.

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "character_set.hpp"
#include "decode.hpp"
#include "network.hpp"

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    try {
        reader::traineddata const file({data, data + size});
        reader::network_file const layers = reader::read_network(file);
        auto const characters = reader::read_characters(file, layers.code_count);
        reader::network const run(layers);
        auto image = reader::line_image::from_shape({layers.height, 2 * layers.height});
        for (std::size_t i = 0; i < image.size(); ++i)
            image.storage()[i] = static_cast<std::uint8_t>(i * 37);
        reader::decode_best_path(run(image), characters, layers.blank);
    } catch (reader::traineddata_error const&) {
    } catch (std::length_error const&) { // the image is too narrow or too wide for the network
    }
    return 0;
}
