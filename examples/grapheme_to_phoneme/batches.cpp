#include "batches.hpp"

#include <algorithm>
#include <utility>

namespace g2p {

std::vector<example> examples_of(std::vector<entry> const& words)
{
    std::vector<example> examples;
    for (entry const& word : words)
        for (std::size_t i = 0; i < word.pronunciations.size(); ++i)
            examples.push_back({&word, i});
    return examples;
}

std::size_t batch::symbols() const
{
    std::size_t sum = 0;
    for (std::int32_t const count : symbol_counts)
        sum += static_cast<std::size_t>(count);
    return sum;
}

batch batch_of(std::vector<std::string_view> const& words)
{
    std::size_t const N = words.size();
    std::size_t S = 0;
    for (std::string_view const word : words)
        S = std::max(S, word.size());
    batch numbers;
    numbers.letters = xt::zeros<std::int32_t>({N, S, std::size_t{1}});
    numbers.letter_counts = xt::zeros<std::int32_t>({N});
    for (std::size_t n = 0; n < N; ++n) {
        numbers.letter_counts(n) = static_cast<std::int32_t>(words[n].size());
        for (std::size_t s = 0; s < words[n].size(); ++s)
            numbers.letters(n, s, 0) = static_cast<std::int32_t>(number_of_letter(words[n][s]).value());
    }
    return numbers;
}

batch batch_of(std::vector<example> const& examples)
{
    std::size_t const N = examples.size();
    std::vector<std::string_view> words;
    std::size_t T = 0;
    for (example const& each : examples) {
        words.push_back(each.spelling());
        T = std::max(T, each.sounds().size() + 1);
    }
    batch numbers = batch_of(words);
    numbers.inputs = xt::zeros<std::int32_t>({T, N, std::size_t{1}});
    numbers.targets = xt::zeros<std::int32_t>({T, N});
    numbers.symbol_counts = xt::zeros<std::int32_t>({N});
    for (std::size_t n = 0; n < N; ++n) {
        pronunciation const& sounds = examples[n].sounds();
        std::size_t const count = sounds.size();
        numbers.symbol_counts(n) = static_cast<std::int32_t>(count + 1);
        for (std::size_t t = 0; t <= count; ++t) {
            numbers.inputs(t, n, 0) = t == 0 ? std::int32_t{end_of_word} : std::int32_t{sounds[t - 1]};
            numbers.targets(t, n) = t == count ? std::int32_t{end_of_word} : std::int32_t{sounds[t]};
        }
    }
    return numbers;
}

std::vector<batch> shuffled_batches(std::vector<example> examples, std::size_t size, random_bits& random)
{
    shuffle(examples, random);
    std::size_t const pool = 64 * size;
    auto const at = [&](std::size_t i) { return examples.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<batch> batches;
    for (std::size_t first = 0; first < examples.size(); first += pool) {
        std::size_t const last = std::min(first + pool, examples.size());
        std::stable_sort(at(first), at(last), [](example const& a, example const& b) {
            return std::pair(a.spelling().size(), a.sounds().size()) >
                   std::pair(b.spelling().size(), b.sounds().size());
        });
        for (std::size_t i = first; i < last; i += size)
            batches.push_back(batch_of(std::vector<example>(at(i), at(std::min(i + size, last)))));
    }
    shuffle(batches, random);
    return batches;
}

} // namespace g2p
