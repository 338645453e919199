#include "dictionary.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include "random.hpp"

namespace g2p {

namespace {

[[noreturn]] void fail(std::string const& path, std::string const& what, std::string const& more = "")
{
    throw std::runtime_error("the dictionary " + path + " " + what + more);
}

/// Returns `word` of `word(2)`.
std::string without_variant(std::string word)
{
    if (word.size() > 3 && word.back() == ')')
        word.erase(std::min(word.rfind('('), word.size()));
    return word;
}

bool is_spelled_in_letters(std::string const& word)
{
    return std::all_of(word.begin(), word.end(), [](char c) { return number_of_letter(c).has_value(); });
}

} // namespace

std::vector<entry> read_dictionary(std::string const& path)
{
    std::ifstream file(path);
    if (!file)
        fail(path, "cannot be opened");
    std::vector<entry> dictionary;
    std::unordered_map<std::string, std::size_t> places;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        std::istringstream parts(line.substr(0, line.find('#')));
        std::string word, name;
        if (!(parts >> word))
            continue;
        word = without_variant(word);
        pronunciation sounds;
        while (parts >> name) {
            auto const sound = number_of_phoneme(name);
            if (!sound)
                fail(path, "has no phoneme of CMUdict in line " + std::to_string(number), ", but " + name);
            sounds.push_back(*sound);
        }
        if (sounds.empty())
            fail(path, "has no phonemes in line " + std::to_string(number));
        if (!is_spelled_in_letters(word))
            continue;
        auto const [place, is_new] = places.try_emplace(word, dictionary.size());
        if (is_new)
            dictionary.push_back({word, {}});
        auto& known = dictionary[place->second].pronunciations;
        if (std::find(known.begin(), known.end(), sounds) == known.end())
            known.push_back(std::move(sounds));
    }
    if (file.bad())
        fail(path, "cannot be read");
    if (dictionary.empty())
        fail(path, "has no words");
    return dictionary;
}

split_dictionary split(std::vector<entry> dictionary, std::size_t most)
{
    random_bits random(2026);
    shuffle(dictionary, random);
    if (most != 0 && most < dictionary.size())
        dictionary.resize(most);
    auto const at = [&](std::size_t place) {
        return dictionary.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::size_t const test = dictionary.size() / 20, validation = dictionary.size() / 50;
    auto const take = [&](std::size_t first, std::size_t last) {
        return std::vector<entry>(std::make_move_iterator(at(first)), std::make_move_iterator(at(last)));
    };
    split_dictionary parts;
    parts.test = take(0, test);
    parts.validation = take(test, test + validation);
    parts.training = take(test + validation, dictionary.size());
    return parts;
}

} // namespace g2p
