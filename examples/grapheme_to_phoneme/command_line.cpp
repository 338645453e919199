#include "command_line.hpp"

#include "../program_options.hpp"

namespace g2p {

namespace {

std::size_t read_count(cxxopts::ParseResult const& given, std::string const& name, std::size_t least)
{
    return read_number<std::size_t>(given, name, least, 1000000, "a whole number");
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

std::optional<command_line> read_command_line(int argc, char const* const* argv)
{
    cxxopts::Options options("grapheme_to_phoneme",
        "Learns how words are pronounced, and pronounces words.\n\n"
        "  grapheme_to_phoneme train [DICTIONARY]\n"
        "  grapheme_to_phoneme evaluate [DICTIONARY]\n"
        "  grapheme_to_phoneme pronounce WORD...\n");
    training_options const usual;
    auto add = options.add_options();
    add("weights", "the file that is written, or read", text_option("build/data/grapheme_to_phoneme.h5"),
        "FILE");
    add("storage", "how weights are stored that pronounce: " + storage_names, text_option("full"), "TYPE");
    add("threads", "threads to work on; the results are the same", text_option("2"), "N");
    add("epochs", "how often the dictionary is learnt", text_option(std::to_string(usual.epochs)), "N");
    add("words", "how many words of the dictionary are taken; 0: all", text_option("0"), "N");
    add("seed", "chooses the first weights and the order of learning",
        text_option(std::to_string(usual.seed)), "N");
    add("beam", "pronunciations that the beam search keeps", text_option("5"), "N");
    add("plot", "write the numbers for the gnuplot files", text_option(""), "FOLDER");

    auto const given = parse_options(options, argc, argv, "arguments", "[train | evaluate | pronounce] ...");
    if (!given)
        return std::nullopt;
    command_line parsed;
    std::vector<std::string> const arguments = files_of(*given, "arguments", "");
    std::string const task = arguments.empty() ? "train" : arguments[0];
    parsed.weights = (*given)["weights"].as<std::string>();
    parsed.storage = read_storage(*given, "storage");
    parsed.plot = text_of(*given, "plot");
    parsed.threads = read_count(*given, "threads", 1);
    parsed.most = read_count(*given, "words", 0);
    parsed.beam = read_count(*given, "beam", 1);
    parsed.training.epochs = read_count(*given, "epochs", 1);
    parsed.training.seed = read_count(*given, "seed", 0);
    if (task == "train" || task == "evaluate") {
        if (task == "evaluate")
            parsed.task = command_line::task_kind::evaluate;
        if (arguments.size() > 2)
            throw std::runtime_error(task + " takes one dictionary, but there is also " + arguments[2]);
        parsed.dictionary = arguments.size() == 2 ? arguments[1] : "build/data/cmudict.txt";
    } else if (task == "pronounce") {
        parsed.task = command_line::task_kind::pronounce;
        for (std::size_t i = 1; i < arguments.size(); ++i)
            parsed.words.push_back(read_word(arguments[i]));
        if (parsed.words.empty())
            throw std::runtime_error("no word is given to pronounce (see --help)");
    } else {
        throw std::runtime_error("the task must be train, evaluate or pronounce, but is " + task);
    }
    return parsed;
}

} // namespace g2p
