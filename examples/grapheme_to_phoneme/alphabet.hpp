#pragma once
// Letters and phonemes as numbers.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace g2p {

/// The letters that a word may have; others are not pronounced.
inline constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz'";

/// The phonemes of CMUdict, without the digits that mark the stress of vowels.
inline constexpr std::array<std::string_view, 39> phonemes{"AA", "AE", "AH", "AO", "AW", "AY", "B", "CH", "D",
    "DH", "EH", "ER", "EY", "F", "G", "HH", "IH", "IY", "JH", "K", "L", "M", "N", "NG", "OW", "OY", "P", "R",
    "S", "SH", "T", "TH", "UH", "UW", "V", "W", "Y", "Z", "ZH"};

/// The symbol after the last phoneme; as an input of the decoder, the one before the first.
inline constexpr std::size_t end_of_word = phonemes.size();
inline constexpr std::size_t symbols = phonemes.size() + 1;

/// Numbers of phonemes, without the end.
using pronunciation = std::vector<std::uint8_t>;

/// Returns the letter's number; none if it is not among `letters`.
constexpr std::optional<std::size_t> number_of_letter(char letter)
{
    std::size_t const at = letters.find(letter);
    return at == std::string_view::npos ? std::nullopt : std::optional(at);
}

/// Returns the phoneme's number, whatever stress it has; none if there is no such phoneme.
constexpr std::optional<std::uint8_t> number_of_phoneme(std::string_view phoneme)
{
    if (!phoneme.empty() && phoneme.back() >= '0' && phoneme.back() <= '2')
        phoneme.remove_suffix(1);
    for (std::size_t at = 0; at < phonemes.size(); ++at)
        if (phonemes[at] == phoneme)
            return static_cast<std::uint8_t>(at);
    return std::nullopt;
}

/// Returns the phonemes' names with spaces between them.
inline std::string to_text(pronunciation const& sounds)
{
    std::string text;
    for (std::uint8_t const sound : sounds)
        text += (text.empty() ? "" : " ") + std::string(phonemes[sound]);
    return text;
}

} // namespace g2p
