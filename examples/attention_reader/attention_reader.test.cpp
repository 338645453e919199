// Runs the program of examples/attention_reader: the letters read and the attended positions follow from the
// paces.

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../program_under_test.hpp"

namespace {

program_under_test const& program()
{
    static program_under_test const attention_reader(ATTENTION_READER_PROGRAM);
    return attention_reader;
}

std::string reads(std::string const& text)
{
    outcome const done = program().run({text});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    return done.out;
}

/// The equations of reader.hpp in float64.
std::string expected(std::string const& text)
{
    std::string letters;
    for (double position = 0; position < static_cast<double>(text.size()) - 0.5;) {
        double sum = 0, pace = 0, largest = 0;
        std::size_t at = 0;
        for (std::size_t m = 0; m < text.size(); ++m) {
            double const distance = 2 * (static_cast<double>(m) - position);
            double const weight = std::exp(8 * (std::tanh(distance + 1) - std::tanh(distance - 1)));
            sum += weight;
            pace += weight * (std::string("aeiou").find(text[m]) == std::string::npos ? 1 : 0.4);
            if (weight > largest) {
                largest = weight;
                at = m;
            }
        }
        letters += text[at];
        position += pace / sum;
    }
    return letters + '\n';
}

} // namespace

TEST_CASE("it reads letter by letter and lingers on vowels")
{
    CHECK(reads("xyz") == "xyz\n");
    CHECK(reads("a") == "aa\n");
    CHECK(reads("to be or not to be") == expected("to be or not to be"));
    CHECK(reads("structured recurrences") == expected("structured recurrences"));
}

TEST_CASE("the alignments of each step sum to one, and are largest at the letter that was read")
{
    std::string const text = "attention";
    std::string const folder = program() / "";
    outcome const done = program().run({text, "--plot", folder});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    std::istringstream lines(read_file(program() / "alignments.dat"));
    std::string line, letters;
    while (std::getline(lines, line)) {
        std::istringstream numbers(line);
        double sum = 0, largest = 0, weight = 0;
        std::size_t at = 0, m = 0;
        for (; numbers >> weight; ++m) {
            sum += weight;
            if (weight > largest) {
                largest = weight;
                at = m;
            }
        }
        CHECK(m == text.size());
        CHECK(std::abs(sum - 1) < 1e-4);
        letters += text.at(at);
    }
    CHECK(letters + '\n' == done.out);
    CHECK(letters.size() > text.size());
}

TEST_CASE("a stream reads the same letters, bit for bit")
{
    std::string const text = "streams are read as they come", folder = program() / "",
                      alignments = program() / "alignments.dat";
    CHECK(program().run({text, "--plot", folder}).out == expected(text));
    std::string const whole = read_file(alignments);
    CHECK(program().run({text, "--stream", "--plot", folder}).out == expected(text));
    bool const has_same_bits = read_file(alignments) == whole;
    CHECK(has_same_bits);
}

TEST_CASE("each character of the text is a line for the picture")
{
    CHECK(program().run({"a, \"b\n", "--plot", program() / ""}).succeeded);
    CHECK(read_file(program() / "text.dat") == "\"a\"\n\",\"\n\" \"\n\" \"\n\"b\"\n\" \"\n");
}

TEST_CASE("bad input is refused in one line")
{
    CHECK(program().complaint({"abc", "def"}) == "there is an argument too many: def (see --help)");
    CHECK(program().complaint({""}) == "there is no text to read");
    CHECK(program().complaint({"abc", "--plot", program() / "nowhere"}) ==
          "the files of " + (program() / "nowhere") + " cannot be written");
}
