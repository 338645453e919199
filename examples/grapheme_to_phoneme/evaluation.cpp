#include "evaluation.hpp"

#include <algorithm>

namespace g2p {

error_counts evaluate(
    pronouncer const& model, std::vector<entry> const& words, xloom::tbb_policy const& threads)
{
    std::vector<entry const*> by_length;
    by_length.reserve(words.size());
    for (entry const& each : words)
        by_length.push_back(&each);
    std::stable_sort(by_length.begin(), by_length.end(),
        [](entry const* a, entry const* b) { return a->word.size() < b->word.size(); });
    constexpr std::size_t size = 128; // of a batch
    std::vector<error_counts> parts((words.size() + size - 1) / size);
    threads.for_each(parts.size(), [&](std::size_t part) {
        std::size_t const first = part * size, last = std::min(first + size, words.size());
        std::vector<std::string_view> spelled;
        for (std::size_t i = first; i < last; ++i)
            spelled.push_back(by_length[i]->word);
        auto const said = model.greedy(spelled);
        for (std::size_t i = first; i < last; ++i)
            parts[part].add(said[i - first].sounds, by_length[i]->pronunciations);
    });
    error_counts all;
    for (error_counts const& part : parts)
        all += part;
    return all;
}

} // namespace g2p
