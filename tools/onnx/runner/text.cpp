#include "text.hpp"

#include <algorithm>
#include <array>

#include <xloom/core/error.hpp>

namespace runner {

namespace {

constexpr std::size_t longest_name = 64;

/// A character of UTF-8: how many bytes it takes, and its code point.
struct character {
    std::size_t bytes = 0; ///< 0: there is none
    std::uint32_t code = 0;
};

/// The first character of a text that is not empty. None is longer than it must be, none is half of a UTF-16
/// pair.
character first_of(std::string_view text)
{
    auto const byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    if (byte(0) < 0x80)
        return {1, byte(0)};
    std::size_t const bytes = byte(0) >> 5 == 0x6    ? 2
                              : byte(0) >> 4 == 0xe  ? 3
                              : byte(0) >> 3 == 0x1e ? 4
                                                     : 0;
    if (bytes == 0 || bytes > text.size())
        return {};
    std::uint32_t code = byte(0) & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (byte(i) >> 6 != 0x2)
            return {};
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    bool const is_one = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_one ? character{bytes, code} : character{};
}

bool is_control(std::uint32_t code)
{
    return code < 0x20 || (0x7f <= code && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

void append_escaped(std::string& to, char byte)
{
    constexpr std::string_view digits = "0123456789abcdef";
    auto const number = static_cast<unsigned char>(byte);
    if (byte == '\n' || byte == '\t')
        to += byte == '\n' ? "\\n" : "\\t";
    else
        (((to += "\\x") += digits[number >> 4]) += digits[number & 0xf]);
}

struct shown {
    std::string text;
    bool is_all;
};

/// As many whole characters of a text as `most` bytes hold, escaped; `special` ones with a backslash.
shown show(std::string_view text, std::size_t most, std::string_view special)
{
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        character const next = first_of(text.substr(at));
        std::size_t const bytes = std::max<std::size_t>(next.bytes, 1);
        if (at + bytes > most)
            return {line, false};
        if (next.bytes == 0 || is_control(next.code)) {
            for (char const each : text.substr(at, bytes))
                append_escaped(line, each);
        } else {
            if (special.find(text[at]) != std::string_view::npos)
                line += '\\';
            line += text.substr(at, bytes);
        }
        at += bytes;
    }
    return {line, true};
}

} // namespace

std::string printable(std::string_view text, std::size_t most)
{
    auto const [line, is_all] = show(text, most, "");
    return is_all ? line : line + "...";
}

std::string in_quotes(std::string_view name)
{
    auto const [line, is_all] = show(name, longest_name, "'\\");
    return is_all ? "'" + line + "'" : fmt::format("'{}'... ({} bytes)", line, name.size());
}

std::string listed(std::vector<std::int64_t> const& numbers)
{
    constexpr std::size_t most = 8;
    std::string text = "[";
    for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    return text + (numbers.size() > most ? fmt::format(", ... ({} in all)]", numbers.size()) : "]");
}

} // namespace runner
