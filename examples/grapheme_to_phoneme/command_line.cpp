#include "command_line.hpp"

#include <charconv>
#include <stdexcept>

#define CXXOPTS_NO_REGEX
#include <cxxopts.hpp>

#include "../weights_option.hpp"

namespace g2p {

namespace {

std::size_t read_count(cxxopts::ParseResult const& given, std::string const& name, std::size_t least)
{
    constexpr std::size_t most = 1000000;
    auto const text = given[name].as<std::string>();
    std::size_t count = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < least || count > most)
        throw std::runtime_error("--" + name + " must be a whole number from " + std::to_string(least) +
                                 " to " + std::to_string(most) + ", but is " + text);
    return count;
}

/// Writes a word in lower case, whose characters must be letters.
std::string read_word(std::string word)
{
    if (word.empty())
        throw std::runtime_error("a word must have letters, but is empty");
    if (word.size() > 100)
        throw std::runtime_error(
            "a word must have at most 100 letters, but one has " + std::to_string(word.size()));
    std::string const given = word;
    for (char& letter : word) {
        if (letter >= 'A' && letter <= 'Z')
            letter = static_cast<char>(letter - 'A' + 'a');
        if (!number_of_letter(letter))
            throw std::runtime_error("a word must have the letters a to z and ' only, but one is " + given);
    }
    return word;
}

} // namespace

command_line read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("grapheme_to_phoneme",
        "Learns how words are pronounced, and pronounces words.\n\n"
        "  grapheme_to_phoneme train [DICTIONARY]\n"
        "  grapheme_to_phoneme evaluate [DICTIONARY]\n"
        "  grapheme_to_phoneme pronounce WORD...\n");
    auto const text = [](std::string const& otherwise) {
        return cxxopts::value<std::string>()->default_value(otherwise);
    };
    training_options const usual;
    auto add = options.add_options();
    add("weights", "the file that is written, or read", text("build/data/grapheme_to_phoneme.h5"), "FILE");
    add("storage", "how weights are stored that pronounce: full, float16, bfloat16, int8 or dynamic_int8",
        text("full"), "TYPE");
    add("threads", "threads to work on; the results are the same", text("2"), "N");
    add("epochs", "how often the dictionary is learnt", text(std::to_string(usual.epochs)), "N");
    add("words", "how many words of the dictionary are taken; 0: all", text("0"), "N");
    add("seed", "chooses the first weights and the order of learning", text(std::to_string(usual.seed)), "N");
    add("beam", "pronunciations that the beam search keeps", text("5"), "N");
    add("plot", "write the numbers for the gnuplot files", text(""), "FOLDER");
    add("help", "print this");
    add("arguments", "", cxxopts::value<std::vector<std::string>>());
    options.parse_positional("arguments");
    options.positional_help("[train | evaluate | pronounce] ...");

    auto const given = options.parse(argc, argv);
    command_line asked;
    if (given.count("help") != 0) {
        asked.asked = command_line::task::help;
        asked.help = options.help({""});
        return asked;
    }
    std::vector<std::string> arguments;
    if (given.count("arguments") != 0)
        arguments = given["arguments"].as<std::vector<std::string>>();
    std::string const task = arguments.empty() ? "train" : arguments[0];
    asked.weights = given["weights"].as<std::string>();
    asked.storage = read_storage("storage", given["storage"].as<std::string>());
    asked.plot = given["plot"].as<std::string>();
    asked.threads = read_count(given, "threads", 1);
    asked.most = read_count(given, "words", 0);
    asked.beam = read_count(given, "beam", 1);
    asked.training.epochs = read_count(given, "epochs", 1);
    asked.training.seed = read_count(given, "seed", 0);
    if (task == "train" || task == "evaluate") {
        if (task == "evaluate")
            asked.asked = command_line::task::evaluate;
        if (arguments.size() > 2)
            throw std::runtime_error(task + " takes one dictionary, but there is also " + arguments[2]);
        asked.dictionary = arguments.size() == 2 ? arguments[1] : "build/data/cmudict.txt";
    } else if (task == "pronounce") {
        asked.asked = command_line::task::pronounce;
        for (std::size_t i = 1; i < arguments.size(); ++i)
            asked.words.push_back(read_word(arguments[i]));
        if (asked.words.empty())
            throw std::runtime_error("no word is given to pronounce (see --help)");
    } else {
        throw std::runtime_error("the task must be train, evaluate or pronounce, but is " + task);
    }
    return asked;
}

} // namespace g2p
