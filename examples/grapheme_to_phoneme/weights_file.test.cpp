// Weights that are saved and loaded, and files that are damaged.

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include <H5Cpp.h>
#include <doctest/doctest.h>

#include "../scratch_folder.hpp"
#include "weights_file.hpp"

namespace {

using namespace g2p;

parameters<float> some_weights()
{
    random_bits random(7);
    auto weights = initial_parameters<float>({3, 2, 4, 5}, random);
    weights.output_B(3) = -0.0f;
    weights.output_B(4) = std::numeric_limits<float>::denorm_min();
    return weights;
}

bool have_same_bits(parameters<float> const& a, parameters<float> const& b)
{
    bool are_same = a.sizes() == b.sizes();
    if (are_same)
        a.for_each(
            [&](char const*, auto const& x, auto const& y) {
                are_same = are_same && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
            },
            b);
    return are_same;
}

std::string bytes_of(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(std::string const& path)
{
    try {
        load_weights(path);
    } catch (std::runtime_error const& error) {
        return error.what();
    }
    return "none";
}

/// Returns the error of a file that was changed after it had been saved.
template <class Change>
std::string error_after(Change const& change)
{
    scratch_folder const folder("weights_file_test");
    save_weights(folder / "changed.h5", some_weights());
    {
        H5::H5File file(folder / "changed.h5", H5F_ACC_RDWR);
        change(file);
    }
    std::string const error = error_of(folder / "changed.h5"), start = "the file of weights ";
    return error.starts_with(start) ? error.substr(error.find("changed.h5") + 11) : error;
}

} // namespace

TEST_CASE("weights have the same bits when they are loaded, and a file the same bytes when they are saved")
{
    scratch_folder const folder("weights_file_test");
    parameters<float> const weights = some_weights();
    save_weights(folder / "a.h5", weights);
    parameters<float> const loaded = load_weights(folder / "a.h5");
    CHECK(have_same_bits(loaded, weights));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // some file formats keep the second
    save_weights(folder / "b.h5", loaded);
    bool const has_same_bytes = bytes_of(folder / "a.h5") == bytes_of(folder / "b.h5");
    CHECK(has_same_bytes);
}

TEST_CASE("a file with a wrong bit or without its end is never taken for the weights")
{
    scratch_folder const folder("weights_file_test");
    parameters<float> const weights = some_weights();
    save_weights(folder / "whole.h5", weights);
    std::string const whole = bytes_of(folder / "whole.h5"), damaged = folder / "damaged.h5";
    std::string const error =
        "the weights " + damaged + " are no HDF5 file of this program, or a damaged one";
    std::size_t found = 0, harmless = 0;
    for (std::size_t at = 0; at < whole.size(); at += 7) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
        folder.write("damaged.h5", bytes);
        if (error_of(damaged) != "none") {
            ++found;
            continue;
        }
        bool const is_unused = have_same_bits(load_weights(damaged), weights); // the byte that was changed
        CHECK_MESSAGE(is_unused, "byte ", at);
        ++harmless;
    }
    MESSAGE(found << " changed bits are found, " << harmless << " are in bytes that nothing uses");
    CHECK(found > harmless);
    for (std::size_t size = 0; size < whole.size(); size += 101) {
        folder.write("damaged.h5", whole.substr(0, size));
        CHECK(error_of(damaged) == error);
    }
}

TEST_CASE("a file that is none of weights")
{
    scratch_folder const folder("weights_file_test");
    CHECK(error_of(folder / "nowhere.h5") ==
          "the file of weights " + (folder / "nowhere.h5") + " cannot be opened");
    CHECK(error_of(folder.write("text.h5", "hello\n")) ==
          "the weights " + (folder / "text.h5") + " are no HDF5 file of this program, or a damaged one");
    std::string const nowhere = folder / "no folder/weights.h5";
    CHECK_THROWS_WITH(
        save_weights(nowhere, some_weights()), ("the weights " + nowhere + " cannot be written").c_str());
}

TEST_CASE("an HDF5 file with other tensors")
{
    auto const replace = [](H5::H5File& file, char const* name, std::initializer_list<hsize_t> shape,
                             H5::PredType const& type = H5::PredType::NATIVE_FLOAT) {
        file.unlink(name);
        return file.createDataSet(name, type, H5::DataSpace(static_cast<int>(shape.size()), shape.begin()));
    };
    CHECK(error_after([](H5::H5File& file) { file.unlink("output_W"); }).ends_with("or a damaged one"));
    CHECK(error_after([](H5::H5File& file) { file.removeAttr("letters"); }).ends_with("or a damaged one"));
    CHECK(error_after([&](H5::H5File& file) {
        replace(file, "output_W", {40, 4});
    }) == "has another shape of output_W");
    CHECK(error_after([&](H5::H5File& file) { replace(file, "output_W", {160}); }) ==
          "has another shape of output_W");
    CHECK(error_after([&](H5::H5File& file) {
        replace(file, "output_W", {4, 40}, H5::PredType::NATIVE_INT);
    }) == "has another shape of output_W");
    CHECK(error_after([&](H5::H5File& file) {
        replace(file, "decoder_V", {1, 1000000});
    }) == "has no valid shape of decoder_V");
    CHECK(error_after([&](H5::H5File& file) {
        replace(file, "letters", {27, 0});
    }) == "has no valid shape of letters");
    CHECK(error_after([](H5::H5File& file) {
        file.removeAttr("letters");
        H5::StrType const type(H5::PredType::C_S1, 2);
        file.createAttribute("letters", type, H5::DataSpace()).write(type, "ab");
    }) == "is of a model with other letters or phonemes");
    CHECK(error_after([](H5::H5File& file) {
        float numbers[40] = {};
        numbers[39] = std::numeric_limits<float>::quiet_NaN();
        file.openDataSet("output_B").write(numbers, H5::PredType::NATIVE_FLOAT);
    }) == "has infinite numbers or NaN in output_B");
}
