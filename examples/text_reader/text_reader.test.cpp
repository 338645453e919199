// Runs the program of examples/text_reader on Tesseract's English: compares what it reads with what Tesseract
// reads, and checks its errors for bad input.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../program_under_test.hpp"

namespace {

program_under_test const& program()
{
    static program_under_test const reader(TEXT_READER_PROGRAM);
    return reader;
}

std::string const model = TEXT_READER_MODEL;

std::string image(std::string const& name) { return TEXT_READER_LINES "/" + name + ".png"; }

/// Returns the text of a line.
std::string read(std::string const& name, std::string const& weights)
{
    outcome const done = program().run({"--model", model, "--weights", weights, image(name)});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    std::size_t const tab = done.out.rfind('\t');
    REQUIRE(tab != std::string::npos);
    return done.out.substr(tab + 1, done.out.size() - tab - 2);
}

/// The texts that Tesseract 5.3.0 reads without its dictionaries (scripts/text-reader).
std::map<std::string, std::string> const tesseract_reads = {
    {"sans", "The quick brown fox jumps over the lazy dog, 0123456789."},
    {"scanned", "Wackground. These markers are pixels that we can label"},
    {"serif", "“\"Sphinx of black quartz, judge my vow!\" (37 % of $1,024)"},
};

} // namespace

TEST_CASE("lines are read as Tesseract reads them")
{
    for (auto const& [name, text] : tesseract_reads)
        CHECK(read(name, "full") == text);
}

TEST_CASE("lines are read with narrow weights")
{
    for (char const* const weights : {"float16", "bfloat16", "int8"})
        CHECK(read("sans", weights) == tesseract_reads.at("sans"));
}

TEST_CASE("an image that cannot be used")
{
    auto const says = [](std::string const& path) {
        std::string const said = program().complaint({"--model", model, path});
        REQUIRE(said.starts_with("the image " + path + ": "));
        return said.substr(path.size() + 12);
    };
    std::string const png = read_file(image("sans"));
    CHECK(says(program() / "nowhere.png") == "the file cannot be opened");
    CHECK(says(program().write("text.png", "hello\n"))
              .starts_with("the file must be a PNG, but libpng says: "));
    CHECK(says(program().write("cut.png", png.substr(0, 20))).starts_with("the file must be a PNG, but "));
    CHECK(
        says(program().write("cut.png", png.substr(0, png.size() / 2))).starts_with("the PNG is damaged, "));
    CHECK(
        says(image("narrow")) == "the image, scaled to the network's height, must be 3 to 16384 pixels wide");
    CHECK(says(image("large")) == "the image must have at most 2^26 pixels");
}

TEST_CASE("a model that cannot be used")
{
    auto const says = [](std::string const& path) {
        std::string const said = program().complaint({"--model", path, image("sans")});
        REQUIRE(said.starts_with("the model " + path + ": "));
        return said.substr(path.size() + 12);
    };
    std::string const english = read_file(model);
    CHECK(says(program() / "nowhere.traineddata") == "the file cannot be opened");
    CHECK(says(program().write("empty.traineddata", "")) ==
          "traineddata, byte 0: the number of components must be 4 bytes, but 0 remain");
    CHECK(says(program().write("cut.traineddata", english.substr(0, 100000)))
              .find("the offset of component 18") != std::string::npos);
    CHECK(says(TEXT_READER_LINES) == "the file cannot be opened");
}

TEST_CASE("arguments that make no sense")
{
    CHECK(program().complaint({"--model", model}) == "no image is given (see --help)");
    CHECK(program().complaint({image("sans")}) == "--model is missing (see --help)");
    for (std::string const text : {"0", "1001", "-1", "x", "3x", ""})
        CHECK(program().complaint({"--model", model, image("sans"), "--repeat=" + text}) ==
              "--repeat must be a number from 1 to 1000, but is " + text);
    CHECK(program().complaint({"--model", model, image("sans"), "--weights=int4"}) ==
          "--weights must be full, float16, bfloat16, int8, dynamic_int8, dynamic_bfloat16, block_sparse or "
          "block_sparse_int8, but is int4");
}
