// Greedy and beam search against the probabilities of the model that is trained.

#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include <xloom/types.hpp>

#include "model.hpp"
#include "pronouncer.hpp"

namespace {

using namespace g2p;

/// Weights that say something else for each word.
parameters<float> some_weights()
{
    random_bits random(13);
    auto weights = initial_parameters<float>({6, 5, 4, 7}, random);
    weights.for_each([&](char const*, auto& tensor) {
        for (float& item : tensor)
            item *= 5;
    });
    weights.output_B(end_of_word) = 1; // so that words end, but not at once
    return weights;
}

/// Returns log p of a pronunciation by the forward pass of the training.
double log_probability(parameters<float> const& weights, std::string_view word, pronunciation const& sounds)
{
    std::vector<entry> const entries{{std::string(word), {sounds}}};
    model<float, xloom::serial_policy> of(xloom::serial);
    return -of.loss(weights, batch_of(examples_of(entries))) * static_cast<double>(sounds.size() + 1);
}

/// False if the search was ended by the limit of the number of phonemes.
bool has_end(std::string_view word, transcription const& said)
{
    return said.sounds.size() < 2 * word.size() + 8;
}

} // namespace

TEST_CASE("narrow weights say the same with about the same probability")
{
    auto const weights = some_weights();
    transcription const full = pronouncer(weights).greedy({"hello"})[0];
    for (auto const& [storage, error] :
        {std::pair{xloom::weight_storage::float16, 0.01}, std::pair{xloom::weight_storage::bfloat16, 0.1},
            std::pair{xloom::weight_storage::int8, 0.1}, std::pair{xloom::weight_storage::dynamic_int8, 0.2},
            std::pair{xloom::weight_storage::dynamic_bfloat16, 0.1}}) {
        transcription const narrow = pronouncer(weights, storage).greedy({"hello"})[0];
        CHECK(narrow.sounds == full.sounds);
        CHECK(std::abs(narrow.log_probability - full.log_probability) < error);
        CHECK(narrow.log_probability != full.log_probability);
    }
}

TEST_CASE("what the greedy search says has the probability that the training gives it")
{
    auto const weights = some_weights();
    pronouncer const model(weights);
    std::vector<std::string_view> const words{"abc", "x", "hello", "it's", "zzyzx", "q"};
    auto const said = model.greedy(words);
    REQUIRE(said.size() == words.size());
    std::size_t sounds = 0;
    for (std::size_t n = 0; n < words.size(); ++n) {
        if (has_end(words[n], said[n])) {
            CHECK(said[n].log_probability ==
                  doctest::Approx(log_probability(weights, words[n], said[n].sounds)).epsilon(1e-4));
            sounds += said[n].sounds.size();
        }
        // Alone a word is said as among others.
        CHECK(model.greedy({words[n]})[0].sounds == said[n].sounds);
        CHECK(said[n].alignments.shape()[0] == said[n].sounds.size());
        CHECK(said[n].alignments.shape()[1] == words[n].size());
        for (std::size_t t = 0; t < said[n].sounds.size(); ++t) {
            float sum = 0;
            for (std::size_t s = 0; s < words[n].size(); ++s)
                sum += said[n].alignments(t, s);
            CHECK(sum == doctest::Approx(t == 0 ? 0 : 1));
        }
    }
    CHECK(sounds > 6);
    CHECK(model.greedy({}).empty());
}

TEST_CASE("a beam of one is greedy, a wider one finds what is at least as probable")
{
    auto const weights = some_weights();
    pronouncer const model(weights);
    int ended = 0;
    for (std::string const word : {"abc", "x", "hello", "it's", "zzyzx", "loops"}) {
        transcription const greedy = model.greedy({word})[0];
        auto const narrow = model.beam(word, 1), wide = model.beam(word, 6);
        CHECK(narrow.at(0).sounds == greedy.sounds);
        CHECK(narrow[0].log_probability == doctest::Approx(greedy.log_probability));
        CHECK(narrow[0].alignments == greedy.alignments);
        REQUIRE(wide.size() == 6);
        CHECK(wide[0].log_probability >= greedy.log_probability - 1e-6);
        for (std::size_t k = 0; k < wide.size(); ++k) {
            if (has_end(word, wide[k])) {
                CHECK(wide[k].log_probability ==
                      doctest::Approx(log_probability(weights, word, wide[k].sounds)).epsilon(1e-4));
                ++ended;
            }
            for (std::size_t other = 0; other < k; ++other) {
                CHECK(wide[other].log_probability >= wide[k].log_probability);
                CHECK(wide[other].sounds != wide[k].sounds);
            }
        }
    }
    CHECK(ended > 20);
}

TEST_CASE("a beam that is as wide as there are words of one phoneme finds the best of them")
{
    auto weights = some_weights();
    weights.output_B(end_of_word) = 6; // short words
    pronouncer const model(weights);
    double best = log_probability(weights, "ab", {});
    for (std::size_t sound = 0; sound < phonemes.size(); ++sound)
        best = std::max(best, log_probability(weights, "ab", {static_cast<std::uint8_t>(sound)}));
    CHECK(model.beam("ab", symbols)[0].log_probability >= best - 1e-4);
}
