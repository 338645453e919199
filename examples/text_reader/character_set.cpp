#include "character_set.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace reader {

namespace {

/// Takes a line from the text, without its end.
std::string_view next_line(std::string_view& text)
{
    std::size_t const length = std::min(text.find('\n'), text.size());
    std::string_view const line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return line;
}

/// The first word of a line is the character; its properties follow.
std::string character_of(std::string_view line)
{
    std::string_view const character = line.substr(0, line.find_first_of(" \t\r"));
    return character == "NULL" ? " " : std::string(character);
}

/// Reads the component lstm-unicharset: the number of characters, then a line for each.
std::vector<std::string> read_unicharset(byte_reader from)
{
    auto const bytes = from.take("the text", from.left());
    std::string_view text(bytes.data(), bytes.size());
    std::string_view const first = next_line(text);
    std::size_t count = 0;
    auto const [end, error] = std::from_chars(first.data(), first.data() + first.size(), count);
    if (error != std::errc{} || end == first.data())
        from.fail("the first line must be the number of characters");
    // Each line has at least its end.
    if (count > bytes.size())
        from.fail(join("the number of characters must be at most that of the bytes, ", bytes.size(),
            ", but is ", count));
    std::vector<std::string> characters;
    for (std::size_t i = 0; i < count; ++i) {
        std::string const character = character_of(next_line(text));
        if (character.empty())
            from.fail(
                join("the text must have a line for each of ", count, " characters, but has none for ", i));
        characters.push_back(character);
    }
    return characters;
}

} // namespace

std::vector<std::string> read_characters(traineddata const& file, std::size_t code_count)
{
    std::vector<std::string> const characters = read_unicharset(file.open(component::lstm_unicharset));
    byte_reader from = file.open(component::lstm_recoder);
    from.read_in<std::uint32_t>("the number of characters", characters.size(), characters.size());
    std::vector<std::string> by_code(code_count);
    for (std::string const& character : characters) {
        from.read<std::int8_t>("the flag of a character");
        from.read_in<std::uint32_t>("the number of codes of a character", 1, 1);
        by_code[from.read_in<std::int32_t>("a code", 0, code_count - 1)] = character;
    }
    from.end();
    return by_code;
}

} // namespace reader
