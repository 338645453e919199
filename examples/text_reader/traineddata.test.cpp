// Reads traineddata files, whole and damaged.

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "character_set.hpp"
#include "network.hpp"
#include "small_language.hpp"

namespace {

using namespace reader;

void read_all(std::vector<char> bytes)
{
    traineddata const file(std::move(bytes));
    network_file const network = read_network(file);
    read_characters(file, network.code_count);
}

/// Returns the text of the error.
std::string complaint(std::vector<char> bytes)
{
    try {
        read_all(std::move(bytes));
    } catch (traineddata_error const& error) {
        return error.what();
    }
    return "";
}

/// Returns the component lstm with other text, or with another number of 4 bytes, in one place.
std::string changed(std::string const& before, std::string const& after)
{
    std::string lstm = small_lstm();
    std::size_t const at = lstm.find(before);
    REQUIRE(at != std::string::npos);
    return lstm.replace(at, before.size(), after);
}

std::string bytes_of(std::string_view text, std::initializer_list<std::int32_t> numbers)
{
    byte_writer to;
    to.text(text);
    for (std::int32_t const number : numbers)
        to.number(number);
    return to.bytes();
}

} // namespace

TEST_CASE("a network is read in the order of its layers")
{
    traineddata const file(traineddata_bytes());
    network_file const network = read_network(file);
    CHECK(network.height == 6);
    CHECK(network.is_integer);
    CHECK(network.code_count == 4);
    CHECK(network.blank == 3);
    CHECK(network.noise_seed == 5u * 0x10000001u);
    REQUIRE(network.layers.size() == 7);
    CHECK(std::get<window_layer>(network.layers[0]).half_x == 1);
    CHECK(std::get<dense_layer>(network.layers[1]).activation == dense_layer::kind::tanh);
    CHECK(std::get<max_pool_layer>(network.layers[2]).height == 3);
    CHECK(std::get<lstm_layer>(network.layers[3]).summarises_columns);
    CHECK(std::get<lstm_layer>(network.layers[4]).direction == xloom::direction::forward);
    CHECK(std::get<lstm_layer>(network.layers[5]).direction == xloom::direction::reverse);
    auto const& output = std::get<dense_layer>(network.layers[6]);
    small_network const small;
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 3; ++column)
            CHECK(output.weights(row, column) == static_cast<float>(small.output.weight(row, column)));
}

TEST_CASE("characters are found by their codes")
{
    traineddata const file(traineddata_bytes());
    CHECK(read_characters(file, 4) == std::vector<std::string>{" ", "a", "\xc3\xa9", "|Broken|0|1"});
}

TEST_CASE("a component that ends early, anywhere, is an error")
{
    std::string const lstm = small_lstm(), unicharset = small_unicharset(), recoder = small_recoder();
    for (std::size_t size = 1; size < lstm.size(); ++size)
        CHECK_THROWS_AS(read_all(traineddata_bytes(lstm.substr(0, size))), traineddata_error);
    for (std::size_t size = 1; size < recoder.size(); ++size)
        CHECK_THROWS_AS(
            read_all(traineddata_bytes(lstm, unicharset, recoder.substr(0, size))), traineddata_error);
    for (std::size_t size = 1; size < unicharset.find("|Broken"); ++size)
        CHECK_THROWS_AS(read_all(traineddata_bytes(lstm, unicharset.substr(0, size))), traineddata_error);
    CHECK_THROWS_AS(read_all(traineddata_bytes(lstm + "x")), traineddata_error);
    CHECK_THROWS_AS(read_all(traineddata_bytes(lstm, unicharset, recoder + "x")), traineddata_error);

    std::vector<char> const whole = traineddata_bytes();
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_THROWS_AS(
            read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), traineddata_error);
}

TEST_CASE("a file with a changed byte is read and runs, or is an error")
{
    std::vector<char> const whole = traineddata_bytes();
    auto image = line_image::from_shape({6, 12});
    image.fill(200);
    std::size_t errors = 0, runs = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (int const change : {1, 0x80, 0xff}) {
            std::vector<char> bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ change);
            try {
                traineddata const file(bytes);
                network_file const layers = read_network(file);
                read_characters(file, layers.code_count);
                ++runs;
                network const run(layers);
                if (layers.height == 6)
                    run(image);
            } catch (traineddata_error const&) {
                ++errors;
            } catch (std::length_error const&) {
                ++errors;
            }
        }
    CHECK(errors > 500);
    CHECK(runs > 500); // changed weights, names, rates
}

TEST_CASE("an error names the component, the byte, the field, what must hold, and the value")
{
    CHECK(complaint({}) == "traineddata, byte 0: the number of components must be 4 bytes, but 0 remain");
    CHECK(complaint(std::vector<char>(4, '\xff')) ==
          "traineddata, byte 4: the number of components must be from 1 to 1000, but is 4294967295");
    CHECK(complaint(traineddata_bytes("")) ==
          "traineddata, byte 0: the file must have the component lstm (17), but has none");
    CHECK(complaint(traineddata_bytes(small_lstm(), small_unicharset(), "")) ==
          "traineddata, byte 0: the file must have the component lstm-recoder (22), but has none");

    auto const says = [](std::string const& before, std::string const& after) {
        std::string const text = complaint(traineddata_bytes(changed(before, after)));
        std::size_t const begin = text.find(": ");
        REQUIRE(text.starts_with("lstm, byte "));
        return text.substr(begin + 2);
    };
    CHECK(says("Maxpool", "Minpool").find("but is Minpool") != std::string::npos);
    CHECK(says(bytes_of("Maxpool", {3, 3}), bytes_of("Maxpool", {3, 7})) ==
          "the height of a maximum must be from 1 to 6, but is 7");
    CHECK(says(bytes_of("Maxpool", {3, 3}), bytes_of("Maxpool", {0, 3})) ==
          "the width of a maximum must be from 1 to 256, but is 0");
    CHECK(says(bytes_of("Convolve", {1, 1}), bytes_of("Convolve", {1, -1})) ==
          "half the height of a window must be from 0 to 3, but is -1");
    CHECK(says(bytes_of("Convolve", {1, 1}), bytes_of("Convolve", {1, 2})) ==
          "the inputs of Tanh Tanh must be the outputs of the layer before, 15, but are 9");
    CHECK(says(bytes_of("Input", {1, 6, 0, 1}), bytes_of("Input", {1, 6, 0, 3})) ==
          "the channels of the input must be from 1 to 1, but is 3");
    CHECK(says(byte_writer().text("Softmax").bytes(), byte_writer().text("Relu").bytes()) ==
          "the network must end with one row of distributions, but ends with 1 rows of 4 channels, which are "
          "not normalized");
    CHECK(says(bytes_of("SummLSTM", {4}), bytes_of("SummLSTM", {6})) ==
          "the inputs and states of SummLSTM SummLSTM must be from 4 to 4, but is 6");
    CHECK(says("LSTM", "LSTX").find("the layer in XYTranspose must be SummLSTM, but is SummLSTX") == 0);
}

TEST_CASE("weights must be finite floats")
{
    std::string lstm = small_lstm();
    byte_writer scale, large;
    scale.number(small_network{}.output.scale(3));
    std::size_t const at = lstm.rfind(scale.bytes());
    REQUIRE(at != std::string::npos);
    lstm.replace(at, 8, byte_writer().number(std::nan("")).bytes());
    CHECK(complaint(traineddata_bytes(lstm)).find("a scale of Softmax Softmax must be finite, but is nan") !=
          std::string::npos);
    lstm.replace(at, 8, byte_writer().number(1e300).bytes());
    CHECK(
        complaint(traineddata_bytes(lstm))
            .find("the weights of Softmax Softmax must be finite floats, but are not") != std::string::npos);
}

TEST_CASE("a set of characters that does not fit its codes is an error")
{
    std::string const lstm = small_lstm(), recoder = small_recoder();
    auto const says = [&](std::string const& unicharset) {
        return complaint(traineddata_bytes(lstm, unicharset));
    };
    CHECK(says("x\n") == "lstm-unicharset, byte 2: the first line must be the number of characters");
    CHECK(says("99999\na\n") == "lstm-unicharset, byte 8: the number of characters must be at most that of "
                                "the bytes, 8, but is 99999");
    CHECK(
        says("3\na\n\nb\n").find("the text must have a line for each of 3 characters, but has none for 1") !=
        std::string::npos);
    CHECK(
        says("2\na\nb\n") == "lstm-recoder, byte 4: the number of characters must be from 2 to 2, but is 4");

    std::string two_codes = recoder;
    two_codes[5] = 2;
    CHECK(complaint(traineddata_bytes(lstm, small_unicharset(), two_codes)) ==
          "lstm-recoder, byte 9: the number of codes of a character must be from 1 to 1, but is 2");
    std::string beyond = recoder;
    beyond[9] = 4;
    CHECK(complaint(traineddata_bytes(lstm, small_unicharset(), beyond)) ==
          "lstm-recoder, byte 13: a code must be from 0 to 3, but is 4");
}
