#pragma once
// A text as symbols to learn and symbols to be tested with.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

/// The symbols of a text, the numbers of its distinct bytes. Of its pieces of 4,096, or of a twentieth of a
/// short text, every twentieth is held out.
struct split_text {
    std::string alphabet; ///< byte s is symbol s
    std::vector<std::uint8_t> learnt, held_out;

    explicit split_text(std::string const& text)
    {
        std::array<bool, 256> occurs{};
        for (char const each : text)
            occurs[static_cast<unsigned char>(each)] = true;
        for (std::size_t byte = 0; byte < 256; ++byte)
            if (occurs[byte])
                alphabet += static_cast<char>(byte);
        std::size_t const piece = std::min<std::size_t>(4096, text.size() / 20);
        for (std::size_t i = 0; i < text.size(); ++i)
            (i / piece % 20 == 19 ? held_out : learnt).push_back(symbol_of(text[i]));
    }

    /// Returns the number of a byte.
    ///
    /// Errors    std::runtime_error: the text does not have it.
    std::uint8_t symbol_of(char byte) const
    {
        std::size_t const found = alphabet.find(byte);
        if (found == std::string::npos)
            throw std::runtime_error(
                "the text to learn has no '" + std::string(1, byte) + "', which the prompt has");
        return static_cast<std::uint8_t>(found);
    }
};

/// Reads a text.
///
/// Errors    std::runtime_error: it cannot be read, or is short.
inline split_text read_text(std::string const& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw std::runtime_error("the text " + path + " cannot be read");
    if (text.size() < 1000)
        throw std::runtime_error("the text " + path + " must have at least 1000 characters, but has " +
                                 std::to_string(text.size()));
    return split_text(text);
}

/// Returns the mean of -log2 p of the symbols that are held out, where p comes from counting how often each
/// follows the two before it in the others, and once more.
inline double bits_by_counting(split_text const& text)
{
    std::size_t const S = text.alphabet.size();
    std::vector<double> pairs(S * S, static_cast<double>(S)), triples(S * S * S, 1);
    auto const for_each_triple = [&](std::vector<std::uint8_t> const& symbols, auto const& f) {
        for (std::size_t i = 2; i < symbols.size(); ++i) {
            std::size_t const pair = symbols[i - 2] * S + symbols[i - 1];
            f(pairs[pair], triples[pair * S + symbols[i]]);
        }
    };
    for_each_triple(text.learnt, [](double& pair, double& triple) {
        ++pair;
        ++triple;
    });
    double bits = 0;
    for_each_triple(text.held_out, [&](double pair, double triple) { bits -= std::log2(triple / pair); });
    return bits / static_cast<double>(text.held_out.size() - 2);
}
