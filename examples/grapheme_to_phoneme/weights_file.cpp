#include "weights_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <H5Cpp.h>

namespace g2p {

namespace {

/// The file that is written, before it takes its place.
std::string unfinished(std::string const& path) { return path + ".part"; }

[[noreturn]] void fail_to_write(std::string const& path)
{
    throw std::runtime_error("the weights " + path + " cannot be written");
}

std::string all_phonemes()
{
    std::string text;
    for (std::string_view const phoneme : phonemes)
        text += (text.empty() ? "" : " ") + std::string(phoneme);
    return text;
}

void write_text(H5::H5File& file, char const* name, std::string const& text)
{
    H5::StrType const type(H5::PredType::C_S1, text.size());
    file.createAttribute(name, type, H5::DataSpace()).write(type, text.data());
}

/// Makes the bytes of an object independent of the clock.
void omit_times(H5::PropList const& properties) { H5Pset_obj_track_times(properties.getId(), false); }

std::string read_text(H5::H5File const& file, char const* name)
{
    std::string text;
    H5::Attribute const attribute = file.openAttribute(name);
    attribute.read(attribute.getStrType(), text);
    return text;
}

/// Returns the dimensions of a data set of floats.
std::vector<hsize_t> shape_of(H5::DataSet const& data)
{
    H5::DataSpace const space = data.getSpace();
    if (data.getTypeClass() != H5T_FLOAT || !space.isSimple())
        return {};
    std::vector<hsize_t> shape(static_cast<std::size_t>(space.getSimpleExtentNdims()));
    space.getSimpleExtentDims(shape.data());
    return shape;
}

/// Returns a dimension of a data set, which is the width of a layer.
std::size_t width_of(H5::H5File const& file, char const* name, std::size_t axis)
{
    std::vector<hsize_t> const shape = shape_of(file.openDataSet(name));
    if (axis >= shape.size() || shape[axis] == 0 || shape[axis] > 4096)
        throw std::runtime_error(std::string("has no valid shape of ") + name);
    return shape[axis];
}

parameters<float> read(H5::H5File const& file)
{
    if (read_text(file, "letters") != letters || read_text(file, "phonemes") != all_phonemes())
        throw std::runtime_error("is of a model with other letters or phonemes");
    parameters<float> weights(model_sizes{width_of(file, "letters", 1), width_of(file, "encoder_R", 2),
        width_of(file, "decoder_V", 1), width_of(file, "decoder_AW", 2)});
    weights.for_each([&](char const* name, auto& tensor) {
        H5::DataSet const data = file.openDataSet(name);
        if (!std::ranges::equal(shape_of(data), tensor.shape()))
            throw std::runtime_error(std::string("has another shape of ") + name);
        data.read(tensor.data(), H5::PredType::NATIVE_FLOAT);
        if (!std::all_of(tensor.begin(), tensor.end(), [](float item) { return std::isfinite(item); }))
            throw std::runtime_error(std::string("has infinite numbers or NaN in ") + name);
    });
    return weights;
}

} // namespace

void save_weights(std::string const& path, parameters<float> const& weights)
try {
    H5::Exception::dontPrint(); // the sentence below is enough
    {
        H5::FileAccPropList access;
        access.setLibverBounds(H5F_LIBVER_V110, H5F_LIBVER_V110); // whose metadata have checksums
        H5::FileCreatPropList creation;
        omit_times(creation);
        H5::H5File file(unfinished(path), H5F_ACC_TRUNC, creation, access);
        weights.for_each([&](char const* name, auto const& tensor) {
            std::array<hsize_t, std::decay_t<decltype(tensor)>::rank> shape{};
            std::copy(tensor.shape().begin(), tensor.shape().end(), shape.begin());
            int const rank = static_cast<int>(shape.size());
            H5::DataSpace const space(rank, shape.data());
            H5::DSetCreatPropList properties;
            omit_times(properties);
            properties.setChunk(rank, shape.data());
            properties.setFletcher32(); // a checksum, which reading compares
            file.createDataSet(name, H5::PredType::IEEE_F32LE, space, properties)
                .write(tensor.data(), H5::PredType::NATIVE_FLOAT);
        });
        write_text(file, "letters", std::string(letters));
        write_text(file, "phonemes", all_phonemes());
        file.close();
    }
    std::filesystem::rename(unfinished(path), path);
} catch (H5::Exception const&) {
    fail_to_write(path);
} catch (std::filesystem::filesystem_error const&) {
    fail_to_write(path);
}

void require_writable(std::string const& path)
{
    if (!std::ofstream(unfinished(path)))
        fail_to_write(path);
}

parameters<float> load_weights(std::string const& path)
try {
    H5::Exception::dontPrint();
    if (!std::ifstream(path))
        throw std::runtime_error("cannot be opened");
    return read(H5::H5File(path, H5F_ACC_RDONLY));
} catch (H5::Exception const&) {
    throw std::runtime_error("the weights " + path + " are no HDF5 file of this program, or a damaged one");
} catch (std::runtime_error const& error) {
    throw std::runtime_error("the file of weights " + path + " " + error.what());
}

} // namespace g2p
