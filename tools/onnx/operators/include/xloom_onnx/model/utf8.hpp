#pragma once
// Characters of UTF-8.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace xloom_onnx {

/// A character of UTF-8: the number of its bytes, and its code point.
struct utf8_character {
    std::size_t bytes = 0; ///< 0: there is none
    std::uint32_t code = 0;
};

/// True for the code point of a character; false for half of a UTF-16 pair.
constexpr bool is_code_point(std::uint32_t code)
{
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/// Returns the first character of a text that is not empty. None is longer than it must be.
inline utf8_character first_character(std::string_view text)
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
    return code >= least[bytes] && is_code_point(code) ? utf8_character{bytes, code} : utf8_character{};
}

/// Appends the character of a code point.
inline void append_character(std::string& text, std::uint32_t code)
{
    std::size_t const more = code < 0x80      ? 0
                             : code < 0x800   ? 1
                             : code < 0x10000 ? 2
                                              : 3; // bytes after the first
    constexpr std::array<std::uint32_t, 4> first{0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(first[more] | code >> 6 * more);
    for (std::size_t i = more; i-- > 0;)
        text += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

} // namespace xloom_onnx
