// Training gives the same bits on any number of threads, keeps the best weights and can be ended.

#include <cstring>

#include <doctest/doctest.h>

#include "training.hpp"

namespace {

using namespace g2p;

/// Words in a language where each letter has its phoneme.
split_dictionary spelled_words()
{
    random_bits random(17);
    std::vector<entry> words;
    for (std::size_t i = 0; i < 600; ++i) {
        entry each;
        pronunciation sounds;
        for (std::size_t left = 3 + i % 5; left > 0; --left) {
            auto const letter = static_cast<std::uint8_t>(uniform(random) * 8);
            each.word += letters[letter];
            sounds.push_back(static_cast<std::uint8_t>(letter + 4));
        }
        each.pronunciations.push_back(sounds);
        words.push_back(each);
    }
    return split(words);
}

training_options short_training()
{
    training_options options;
    options.sizes = {8, 8, 8, 8};
    options.epochs = 3;
    options.batch_size = 32;
    options.warm_up = 5;
    options.rate = 0.01;
    return options;
}

observer const nobody{[](progress const&) {}, [](progress const&) {}, [] { return false; }};

bool have_same_bits(parameters<float> const& a, parameters<float> const& b)
{
    bool are_same = true;
    a.for_each(
        [&](char const*, auto const& x, auto const& y) {
            are_same = are_same && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
        },
        b);
    return are_same;
}

} // namespace

TEST_CASE("one thread and two give the same bits, another seed does not")
{
    auto const words = spelled_words();
    auto options = short_training();
    trained const one = train(words, options, xloom::tbb_policy(1), nobody),
                  two = train(words, options, xloom::tbb_policy(2), nobody);
    CHECK(have_same_bits(one.weights, two.weights));
    REQUIRE(one.curve.size() == 3);
    for (std::size_t epoch = 0; epoch < 3; ++epoch) {
        CHECK(one.curve[epoch].loss == two.curve[epoch].loss);
        CHECK(one.curve[epoch].phoneme_error == two.curve[epoch].phoneme_error);
    }
    CHECK(one.curve[2].loss < one.curve[0].loss);
    options.seed = 2;
    CHECK_FALSE(have_same_bits(train(words, options, xloom::tbb_policy(1), nobody).weights, one.weights));
}

TEST_CASE("training that is ended returns the best weights until then")
{
    auto const words = spelled_words();
    auto const options = short_training();
    trained const whole = train(words, options, xloom::tbb_policy(1), nobody);

    bool is_over = false;
    std::size_t batches = 0;
    observer const impatient{[&](progress const& now) {
                                 ++batches;
                                 is_over = now.epoch == 2;
                             },
        [](progress const&) {}, [&] { return is_over; }};
    trained const ended = train(words, options, xloom::tbb_policy(1), impatient);
    CHECK(ended.epoch == 1);
    REQUIRE(ended.curve.size() == 1);
    CHECK(ended.curve[0].loss == whole.curve[0].loss);
    CHECK(batches == 18 + 1); // 558 examples, then one batch

    is_over = true;
    trained const at_once = train(words, options, xloom::tbb_policy(1),
        {[](progress const&) {}, [](progress const&) {}, [&] { return is_over; }});
    CHECK(at_once.epoch == 0);
    CHECK(at_once.curve.empty());
    CHECK(at_once.weights.sizes() == options.sizes);
}
