#include "decode.hpp"

#include <algorithm>
#include <span>

namespace reader {

std::string decode_best_path(
    xt::xtensor<float, 2> const& probabilities, std::vector<std::string> const& characters, std::size_t blank)
{
    std::size_t const codes = probabilities.shape(1);
    std::string text;
    std::size_t previous = blank;
    for (std::size_t t = 0; t < probabilities.shape(0); ++t) {
        std::span<float const> const column(&probabilities(t, 0), codes);
        auto const best = static_cast<std::size_t>(std::ranges::max_element(column) - column.begin());
        bool const is_new = best != blank && best != previous;
        bool const is_repeated_space = characters[best] == " " && (text.empty() || text.back() == ' ');
        if (is_new && !is_repeated_space)
            text += characters[best];
        previous = best;
    }
    if (text.ends_with(' '))
        text.pop_back();
    return text;
}

} // namespace reader
