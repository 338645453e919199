#include "text.hpp"

#include <algorithm>

#include <xloom/types.hpp>
#include <xloom_onnx/model/utf8.hpp>

namespace runner {

namespace {

constexpr std::size_t longest_name = 64;

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
        xloom_onnx::utf8_character const next = xloom_onnx::first_character(text.substr(at));
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
