// Dictionaries, their split, batches, and the distance of pronunciations.

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "../scratch_folder.hpp"
#include "batches.hpp"
#include "edit_distance.hpp"

namespace {

using namespace g2p;

std::vector<entry> read(std::string const& text)
{
    scratch_folder const folder("dictionary_test");
    return read_dictionary(folder.write("dictionary.txt", text));
}

std::string error_of(std::string const& text)
{
    try {
        read(text);
    } catch (std::runtime_error const& error) {
        std::string const what = error.what();
        return what.substr(std::min(what.find(".txt ") + 5, what.size()));
    }
    return "none";
}

/// The definition: the best of all ways to match the first phonemes.
std::size_t distance_by_definition(
    pronunciation const& a, pronunciation const& b, std::size_t i, std::size_t j)
{
    if (i == 0 || j == 0)
        return i + j;
    return std::min({distance_by_definition(a, b, i - 1, j) + 1, distance_by_definition(a, b, i, j - 1) + 1,
        distance_by_definition(a, b, i - 1, j - 1) + (a[i - 1] != b[j - 1])});
}

/// A dictionary of `count` words, each with as many pronunciations as its length modulo 3, plus one.
std::vector<entry> made_up(std::size_t count)
{
    std::vector<entry> words;
    for (std::size_t i = 0; i < count; ++i) {
        std::string word;
        for (std::size_t rest = i + 1; rest > 0; rest /= 26)
            word += letters[rest % 26];
        words.push_back({word, {}});
        for (std::size_t k = 0; k <= word.size() % 3; ++k)
            words.back().pronunciations.emplace_back(word.size() + k, static_cast<std::uint8_t>(i % 39));
    }
    return words;
}

} // namespace

TEST_CASE("a dictionary has words, their pronunciations and comments")
{
    auto const words = read("a AH0\na(2) EY1\na(3) EY2 # the same but for its stress\n\nit's IH1 T S\n"
                            "# a comment\nb2b B IY1\nx-ray EH1 K S R EY2\nzoë Z OW1\n");
    REQUIRE(words.size() == 2);
    CHECK(words[0].word == "a");
    CHECK(words[0].pronunciations == std::vector<pronunciation>{{2}, {12}});
    CHECK(words[1].word == "it's");
    CHECK(to_text(words[1].pronunciations.at(0)) == "IH T S");
}

TEST_CASE("a file that is no dictionary")
{
    CHECK(error_of("a AH0\nb XX\n") == "has no phoneme of CMUdict in line 2, but XX");
    CHECK(error_of("a\n") == "has no phonemes in line 1");
    CHECK(error_of("") == "has no words");
    CHECK(error_of("# nothing\n4 F AO1 R\n") == "has no words");
    CHECK_THROWS_WITH(read_dictionary("/nowhere/at all"), "the dictionary /nowhere/at all cannot be opened");
}

TEST_CASE("the parts of a dictionary are disjoint and complete, and do not change")
{
    auto const parts = split(made_up(1000));
    CHECK(parts.test.size() == 50);
    CHECK(parts.validation.size() == 20);
    CHECK(parts.training.size() == 930);
    std::set<std::string> all;
    for (auto const* part : {&parts.test, &parts.validation, &parts.training})
        for (entry const& each : *part)
            all.insert(each.word);
    CHECK(all.size() == 1000);
    CHECK(split(made_up(1000)).test[7].word == parts.test[7].word);
    CHECK(split(made_up(1000), 100).training.size() == 93);
}

TEST_CASE("the edit distance is that of its definition")
{
    random_bits random(5);
    auto const draw = [&] {
        pronunciation sounds(static_cast<std::size_t>(uniform(random) * 7));
        for (std::uint8_t& sound : sounds)
            sound = static_cast<std::uint8_t>(uniform(random) * 3);
        return sounds;
    };
    for (int round = 0; round < 200; ++round) {
        pronunciation const a = draw(), b = draw();
        CHECK(edit_distance(a, b) == distance_by_definition(a, b, a.size(), b.size()));
    }
}

TEST_CASE("a word is compared with its nearest pronunciation")
{
    error_counts errors;
    errors.add({1, 2, 3}, {{1, 2}, {1, 2, 3}});
    CHECK(errors.word_error() == 0);
    errors.add({1, 2, 3, 4}, {{9, 9, 9, 9, 9, 9}, {1, 2, 9}});
    CHECK(errors.words == 2);
    CHECK(errors.wrong_phonemes == 2);
    CHECK(errors.phonemes == 6);
    CHECK(errors.phoneme_error() == doctest::Approx(100.0 / 3));
    CHECK(errors.word_error() == doctest::Approx(50));
    CHECK(error_counts().phoneme_error() == 0);
}

TEST_CASE("a batch has letters, symbols and their counts")
{
    std::vector<entry> const words{{"ab'", {{1, 2}}}, {"c", {{3}, {4}}}};
    batch const both = batch_of(examples_of(words));
    CHECK(both.size() == 3);
    CHECK(both.symbols() == 7);
    CHECK(both.letters == xt::xtensor<std::int32_t, 3>{{{0}, {1}, {26}}, {{2}, {0}, {0}}, {{2}, {0}, {0}}});
    CHECK(both.letter_counts == xt::xtensor<std::int32_t, 1>{3, 1, 1});
    CHECK(both.targets == xt::xtensor<std::int32_t, 2>{{1, 3, 4}, {2, 39, 39}, {39, 0, 0}});
    CHECK(both.inputs == xt::xtensor<std::int32_t, 3>{{{39}, {39}, {39}}, {{1}, {3}, {4}}, {{2}, {0}, {0}}});
    CHECK(both.symbol_counts == xt::xtensor<std::int32_t, 1>{3, 2, 2});
}

TEST_CASE("an epoch has every example once")
{
    auto const words = made_up(500);
    auto const examples = examples_of(words);
    random_bits random(1);
    auto const first = shuffled_batches(examples, 4, random), second = shuffled_batches(examples, 4, random);
    for (auto const* epoch : {&first, &second}) {
        std::size_t rows = 0, all_symbols = 0;
        for (batch const& each : *epoch) {
            rows += each.size();
            all_symbols += each.symbols();
        }
        CHECK(rows == examples.size());
        CHECK(all_symbols ==
              std::accumulate(examples.begin(), examples.end(), std::size_t{0},
                  [](std::size_t sum, example const& each) { return sum + each.sounds().size() + 1; }));
    }
    CHECK(first[0].letters != second[0].letters);
    random_bits again(1);
    CHECK(shuffled_batches(examples, 4, again)[0].letters == first[0].letters);
}
