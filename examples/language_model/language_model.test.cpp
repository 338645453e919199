// The gradient against differences of the loss, a symbol at a time against all at once, the split of a text,
// and the program on a short one, on one thread and two.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../central_differences.hpp"
#include "../program_under_test.hpp"
#include "model.hpp"
#include "text.hpp"

namespace {

program_under_test const& program()
{
    static program_under_test const language_model_program(LANGUAGE_MODEL_PROGRAM);
    return language_model_program;
}

/// Lewis Carroll, Through the Looking-Glass (1871), twice: in the public domain.
std::string rhyme()
{
    std::string const once = "'Twas brillig, and the slithy toves\n  Did gyre and gimble in the wabe:\n"
                             "All mimsy were the borogoves,\n  And the mome raths outgrabe.\n\n"
                             "'Beware the Jabberwock, my son!\n  The jaws that bite, the claws that catch!\n"
                             "Beware the Jubjub bird, and shun\n  The frumious Bandersnatch!'\n\n"
                             "He took his vorpal sword in hand;\n  Long time the manxome foe he sought--\n"
                             "So rested he by the Tumtum tree,\n  And stood awhile in thought.\n\n"
                             "And, as in uffish thought he stood,\n  The Jabberwock, with eyes of flame,\n"
                             "Came whiffling through the tulgey wood,\n  And burbled as it came!\n\n";
    return once + once;
}

constexpr model_sizes small{.symbols = 7, .blocks = 2, .heads = 2, .head = 3};
std::vector<std::uint8_t> const some_symbols{0, 1, 2, 3, 4, 5, 6, 0, 2, 4},
    following{1, 2, 3, 4, 5, 6, 0, 2, 4, 6};

/// A state, or parameters, of numbers from -1 to 1.
model_state<double> random_state(model_sizes const& of, std::size_t B)
{
    std::mt19937_64 random(4);
    model_state<double> state(of, B);
    for (auto& block : state.blocks) {
        for (double& item : block.attention)
            item = 2 * uniform(random) - 1;
        for (double& item : block.inputs)
            item = 2 * uniform(random) - 1;
    }
    return state;
}

parameters<double> random_parameters(model_sizes const& of)
{
    std::mt19937_64 random(3);
    parameters<double> weights(of);
    for_each_tensor(
        [&](auto& tensor) {
            for (double& item : tensor)
                item = 2 * uniform(random) - 1;
        },
        weights);
    return weights;
}

template <class Tensor>
bool has_same_bits(Tensor const& a, Tensor const& b)
{
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

} // namespace

TEST_CASE("the gradient is that of the loss")
{
    std::size_t const B = 2, T = 5;
    auto weights = random_parameters(small);
    auto const past = random_state(small, B);
    auto state = past;
    language_model<double> model(small, B, T);
    auto const loss = [&] {
        model.assign(weights);
        model.forward(weights, some_symbols.data(), past, state);
        return model.loss(following.data(), 1);
    };
    loss();
    parameters<double> gradient(small);
    model.backward(weights, some_symbols.data(), past, gradient);
    for_each_tensor(
        [&](auto& tensor, auto const& derivative) {
            derivative_check const found = check_derivatives(tensor, derivative, 1e-6, loss);
            CHECK(found.error < 1e-7);
            CHECK(found.largest > 0.1);
        },
        weights, gradient);
}

TEST_CASE("a symbol at a time has the bits of all at once, for logits and states, in place")
{
    model_sizes const of{.symbols = 7, .blocks = 2, .heads = 2, .head = 16};
    auto const weights = random_parameters(of);
    auto const past = random_state(of, 1);
    auto whole_state = past, state = past;
    language_model<double> whole(of, 1, some_symbols.size()), one(of, 1, 1);
    whole.assign(weights);
    one.assign(weights);
    auto const& logits = whole.forward(weights, some_symbols.data(), past, whole_state);
    for (std::size_t t = 0; t < some_symbols.size(); ++t) {
        auto const& row = one.forward(weights, &some_symbols[t], state, state);
        CHECK(std::memcmp(row.data(), &logits(t, 0), row.size() * sizeof(double)) == 0);
    }
    for (std::size_t b = 0; b < of.blocks; ++b) {
        CHECK(has_same_bits(state.blocks[b].attention, whole_state.blocks[b].attention));
        CHECK(has_same_bits(state.blocks[b].inputs, whole_state.blocks[b].inputs));
    }
}

TEST_CASE("every twentieth piece is held out, and bytes are numbered in their order")
{
    std::string text;
    for (int piece = 0; piece < 20; ++piece)
        text += std::string(60, piece == 19 ? 'z' : piece % 2 == 0 ? 'a' : 'b');
    split_text const split(text);
    CHECK(split.alphabet == "abz");
    CHECK(split.learnt.size() == 1140);
    CHECK(split.held_out == std::vector<std::uint8_t>(60, 2));
    CHECK(split.symbol_of('b') == 1);
}

TEST_CASE("counting is the mean of -log2 p")
{
    split_text const text(rhyme());
    std::map<std::string, double> counts;
    auto const strings_of = [&](std::vector<std::uint8_t> const& symbols, std::size_t size) {
        std::vector<std::string> all;
        for (std::size_t i = 2; i < symbols.size(); ++i)
            all.emplace_back(symbols.begin() + std::ptrdiff_t(i) - 2,
                symbols.begin() + std::ptrdiff_t(i) - 2 + std::ptrdiff_t(size));
        return all;
    };
    for (std::size_t const size : {2u, 3u})
        for (std::string const& each : strings_of(text.learnt, size))
            ++counts[each];
    double bits = 0;
    auto const held_out = strings_of(text.held_out, 3);
    for (std::string const& each : held_out)
        bits -= std::log2((counts[each] + 1) / (counts[each.substr(0, 2)] + double(text.alphabet.size())));
    CHECK(bits_by_counting(text) == doctest::Approx(bits / double(held_out.size())).epsilon(1e-12));
}

TEST_CASE("a symbol has an interval as long as it is probable")
{
    std::vector<float> const probabilities{0.25f, 0, 0.5f, 0.125f, 0.125f};
    CHECK(symbol_at(0, probabilities) == 0);
    CHECK(symbol_at(0.2499, probabilities) == 0);
    CHECK(symbol_at(0.25, probabilities) == 2);
    CHECK(symbol_at(0.7499, probabilities) == 2);
    CHECK(symbol_at(0.75, probabilities) == 3);
    CHECK(symbol_at(0.99, probabilities) == 4);
    CHECK(symbol_at(1, probabilities) == 4); // sums of rounded numbers may be less than 1
}

TEST_CASE("the program learns and writes, the same on one thread and on two")
{
    std::string const text = program().write("text", rhyme());
    std::string const prompt = "Beware ";
    auto const write = [&](std::string const& threads, std::string const& plot) {
        outcome const done = program().run({text, "--steps", "4", "--threads", threads, "--prompt", prompt,
            "--characters", "90", "--plot", program() / plot});
        REQUIRE_MESSAGE(done.succeeded, done.err);
        CHECK(done.err.find("step 4 of 4, ") != std::string::npos);
        CHECK(number_after(" untrained, ", done.out) < number_after(" held out: ", done.out));
        std::size_t const begin = done.out.find("\n\n" + prompt), end = done.out.rfind("\n\n");
        REQUIRE(begin != std::string::npos);
        CHECK(end - begin == 2 + prompt.size() + 90);
        CHECK(done.out.find("a state of 67584 bytes") != std::string::npos);
        return done.out.substr(begin, end - begin) + read_file(program() / plot);
    };
    std::string const one = write("1", "one.dat"), two = write("2", "two.dat");
    bool const is_same = one == two; // the states are written with all their digits
    CHECK(is_same);
    std::size_t blank = 0;
    for (std::size_t at = one.find("\n\n\n"); at != std::string::npos; at = one.find("\n\n\n", at + 1))
        ++blank;
    CHECK(blank == 3); // between four blocks
}

TEST_CASE("bad input is refused in one line")
{
    std::string const nowhere = program() / "nowhere/file";
    CHECK(program().complaint({}) == "no text is given (see --help)");
    CHECK(program().complaint({"a.txt", "b.txt"}) == "there is an argument too many: b.txt (see --help)");
    CHECK(program().complaint({nowhere}) == "the text " + nowhere + " cannot be read");
    std::string const brief = program().write("brief", "in brief");
    CHECK(program().complaint({brief}) ==
          "the text " + brief + " must have at least 1000 characters, but has 8");
    std::string const text = program().write("text", rhyme());
    CHECK(program().complaint({text, "--prompt", "a#b"}) ==
          "the text to learn has no '#', which the prompt has");
    CHECK(program().complaint({text, "--threads", "0"}) ==
          "--threads must be a whole number from 1 to 1000000, but is 0");
    CHECK(program().complaint({text, "--steps", "0", "--characters", "1", "--plot", nowhere}) ==
          "the file " + nowhere + " cannot be written");
}
