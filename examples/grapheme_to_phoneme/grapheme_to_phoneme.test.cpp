// Runs the program of examples/grapheme_to_phoneme: it learns a made-up language, is interrupted, and refuses
// bad input; where CMUdict is, it learns a part of it.

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../program_under_test.hpp"

namespace {

program_under_test const& program()
{
    static program_under_test const grapheme_to_phoneme(GRAPHEME_TO_PHONEME_PROGRAM);
    return grapheme_to_phoneme;
}

/// A dictionary of a language whose letters have one phoneme each, or two together: `ch`, `sh` and `th`.
std::string made_up_dictionary()
{
    static constexpr char const* syllables[][2] = {{"ba", "B AE"}, {"che", "CH EH"}, {"do", "D AA"},
        {"fi", "F IH"}, {"ga", "G AE"}, {"she", "SH EH"}, {"to", "T AA"}, {"thu", "TH AH"}};
    std::ostringstream text;
    for (auto const& first : syllables)
        for (auto const& second : syllables)
            for (auto const& third : syllables)
                text << first[0] << second[0] << third[0] << ' ' << first[1] << ' ' << second[1] << ' '
                     << third[1] << '\n';
    return program().write("made_up.txt", text.str());
}

/// The numbers of the last line: phoneme error, word error.
std::pair<double, double> errors_of(std::string const& printed)
{
    double phonemes = -1, words = -1, seconds = -1;
    std::size_t const last = printed.rfind('\n', printed.size() - 2) + 1;
    int const read = std::sscanf(printed.c_str() + last, "phoneme error %lf %%, word error %lf %%, %lf s\n",
        &phonemes, &words, &seconds);
    CHECK_MESSAGE(read == 3, printed);
    return {phonemes, words};
}

/// The losses of the epochs in a learning curve.
std::vector<double> losses_of(std::string const& path)
{
    std::vector<double> losses;
    std::istringstream lines(read_file(path));
    for (double epoch, loss, phonemes, words; lines >> epoch >> loss >> phonemes >> words;)
        losses.push_back(loss);
    return losses;
}

} // namespace

TEST_CASE("it learns a language and pronounces words that it has not seen")
{
    std::string const dictionary = made_up_dictionary(), weights = program() / "made_up.h5",
                      folder = program() / "";
    outcome const done =
        program().run({"train", dictionary, "--weights", weights, "--epochs", "40", "--plot", folder});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    CHECK(done.out.starts_with("477 words to learn, 10 to choose the weights, 25 held out\n"));
    auto const [phonemes, words] = errors_of(done.out);
    CHECK(phonemes < 5);
    CHECK(words < 25);
    auto const losses = losses_of(program() / "learning_curve.dat");
    REQUIRE(losses.size() == 40);
    CHECK(losses.front() > 3);
    CHECK(losses.back() < 0.1);

    outcome const again = program().run({"evaluate", dictionary, "--weights", weights});
    REQUIRE_MESSAGE(again.succeeded, again.err);
    CHECK(errors_of(again.out) == errors_of(done.out));
    for (std::string const storage : {"float16", "bfloat16", "int8", "dynamic_int8", "dynamic_bfloat16"}) {
        outcome const narrow =
            program().run({"evaluate", dictionary, "--weights", weights, "--storage", storage});
        REQUIRE_MESSAGE(narrow.succeeded, narrow.err);
        CHECK_MESSAGE(errors_of(narrow.out).first <= phonemes + 0.7, storage); // one of 150 phonemes
    }

    outcome const said =
        program().run({"pronounce", "Bathuche", "--weights", weights, "--beam", "4", "--plot", folder});
    REQUIRE_MESSAGE(said.succeeded, said.err);
    CHECK(said.out.starts_with("bathuche: B AE TH AH CH EH\n  "));
    CHECK(said.out.find("%  B AE TH AH CH EH\n") != std::string::npos);
    CHECK(read_file(program() / "phonemes.dat") == "B\nAE\nTH\nAH\nCH\nEH\n");
    CHECK(read_file(program() / "letters.dat").starts_with("\"b\"\n\"a\"\n"));
}

TEST_CASE("one thread and two write the same bytes")
{
    std::string const dictionary = made_up_dictionary();
    auto const weights_of = [&](std::string const& threads) {
        std::string const path = program() / ("threads_" + threads + ".h5");
        CHECK(program()
                  .run({"train", dictionary, "--weights", path, "--epochs", "3", "--threads", threads})
                  .succeeded);
        return read_file(path);
    };
    bool const are_same = weights_of("1") == weights_of("2");
    CHECK(are_same);
}

TEST_CASE("Ctrl-C ends the training and keeps the weights")
{
    std::string const weights = program() / "interrupted.h5";
    std::string const command =
        "timeout --foreground --preserve-status --signal=INT 3 '" GRAPHEME_TO_PHONEME_PROGRAM "' train '" +
        made_up_dictionary() + "' --epochs 1000000 --weights '" + weights + "' >'" + (program() / "out") +
        "' 2>'" + (program() / "err") + "'";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(read_file(program() / "err").find("interrupted: the weights of epoch ") != std::string::npos);
    errors_of(read_file(program() / "out"));
    CHECK(program().run({"pronounce", "do", "--weights", weights}).succeeded);
}

TEST_CASE("bad input is refused in one line")
{
    std::string const nowhere = program() / "nowhere";
    CHECK(program().complaint({"train", nowhere}) == "the dictionary " + nowhere + " cannot be opened");
    CHECK(program().complaint({"pronounce", "a", "--weights", nowhere}) ==
          "the file of weights " + nowhere + " cannot be opened");
    std::string const text = program().write("text.h5", "hello\n");
    CHECK(program().complaint({"pronounce", "a", "--weights", text}) ==
          "the weights " + text + " are no HDF5 file of this program, or a damaged one");
    CHECK(program().complaint({"train", made_up_dictionary(), "--weights", nowhere + "/x.h5"}) ==
          "the weights " + nowhere + "/x.h5 cannot be written");
    CHECK(program().complaint({"pronounce"}) == "no word is given to pronounce (see --help)");
    CHECK(program().complaint({"pronounce", "x-ray"}) ==
          "a word must have the letters a to z and ' only, but one is x-ray");
    CHECK(program().complaint({"pronounce", "naïve"}) ==
          "a word must have the letters a to z and ' only, but one is naïve");
    CHECK(program().complaint({"pronounce", ""}) == "a word must have letters, but is empty");
    CHECK(program().complaint({"pronounce", std::string(101, 'a')}) ==
          "a word must have at most 100 letters, but one has 101");
    CHECK(program().complaint({"sing"}) == "the task must be train, evaluate or pronounce, but is sing");
    CHECK(
        program().complaint({"evaluate", "a", "b"}) == "evaluate takes one dictionary, but there is also b");
    CHECK(program().complaint({"evaluate", "--storage", "int4"}) ==
          "--storage must be full, float16, bfloat16, int8, dynamic_int8, dynamic_bfloat16, block_sparse or "
          "block_sparse_int8, but is int4");
    CHECK(program().complaint({"train", "a", "b"}) == "train takes one dictionary, but there is also b");
    for (std::string const number : {"0", "-1", "two", "2.5", "", "1000001"})
        CHECK(program().complaint({"train", "--epochs=" + number}) ==
              "--epochs must be a whole number from 1 to 1000000, but is " + number);
    CHECK(program().complaint({"--louder"}).find("louder") != std::string::npos);
    CHECK(program().complaint({"train", program().write("none.txt", "x XX\n")}).find("in line 1, but XX") !=
          std::string::npos);
    CHECK(program().run({"--help"}).out.find("pronounce WORD...") != std::string::npos);
}

TEST_CASE("it learns a part of CMUdict")
{
    outcome const done = program().run({"train", GRAPHEME_TO_PHONEME_DICTIONARY, "--words", "3000",
        "--epochs", "4", "--weights", program() / "cmudict.h5", "--plot", program() / ""});
    REQUIRE_MESSAGE(done.succeeded, done.err);
    auto const losses = losses_of(program() / "learning_curve.dat");
    REQUIRE(losses.size() == 4);
    MESSAGE("loss: " << losses.back());
    CHECK(losses.back() < 2.2); // who guesses has 3.7
    errors_of(done.out);
}
