#include "names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace compiler {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

/// Keywords, alternative tokens, and macros that the standard or common systems define in lower case.
bool is_taken(std::string_view name)
{
    static constexpr std::array words = std::to_array<std::string_view>({"alignas", "alignof", "and",
        "and_eq", "asm", "assert", "atomic_cancel", "atomic_commit", "atomic_noexcept", "auto", "bitand",
        "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
        "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
        "constexpr", "constinit", "continue", "contract_assert", "decltype", "default", "delete", "do",
        "double", "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern", "false", "far",
        "final", "float", "for", "friend", "goto", "i386", "if", "import", "inline", "int", "interface",
        "linux", "long", "main", "major", "makedev", "max", "min", "minor", "module", "mutable", "namespace",
        "near", "new", "noexcept", "not", "not_eq", "nullptr", "offsetof", "operator", "or", "or_eq",
        "override", "pascal", "private", "protected", "public", "reflexpr", "register", "reinterpret_cast",
        "requires", "return", "setjmp", "short", "signed", "sizeof", "small", "static", "static_assert",
        "static_cast", "stderr", "stdin", "stdout", "struct", "switch", "synchronized", "template", "this",
        "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unix", "unsigned",
        "using", "va_arg", "va_copy", "va_end", "va_start", "virtual", "void", "volatile", "wchar_t", "while",
        "xor", "xor_eq"});
    static_assert(std::is_sorted(words.begin(), words.end()));
    return std::binary_search(words.begin(), words.end(), name);
}

/// True for names such as EOF, NAN or I, which are macros somewhere. Single letters but I are not.
bool is_like_macro(std::string_view name)
{
    return name == "I" || (name.size() > 1 && std::none_of(name.begin(), name.end(), is_lower) &&
                              std::any_of(name.begin(), name.end(), is_upper));
}

} // namespace

std::string identifier_of(std::string_view name)
{
    constexpr std::size_t most = 48;
    std::string result;
    for (char const c : name) {
        bool const is_kept = is_lower(c) || is_upper(c) || is_digit(c);
        if (is_kept)
            result += c;
        else if (!result.empty() && result.back() != '_')
            result += '_';
        if (result.size() == most)
            break;
    }
    while (!result.empty() && result.back() == '_')
        result.pop_back();
    if (result.empty() || is_digit(result[0]))
        result.insert(0, "v");
    if (is_taken(result) || is_like_macro(result))
        result += '_';
    return result;
}

std::string name_scope::unique(std::string_view name)
{
    std::string const plain = identifier_of(name);
    if (used_.insert(plain).second)
        return plain;
    for (std::size_t& number = next_.try_emplace(plain, 2).first->second;; ++number) {
        std::string numbered = fmt::format("{}{}{}", plain, plain.back() == '_' ? "" : "_", number);
        if (used_.insert(numbered).second)
            return numbered;
    }
}

std::string comment_text(std::string_view name)
{
    constexpr std::size_t most = 72;
    std::string result = "'";
    for (char const c : name) {
        if (result.size() > most)
            return result + "...'";
        if (is_printable(c) && c != '\\')
            result += c;
        else
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return result + "'";
}

std::string string_literal(std::string_view text)
{
    std::string result = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\' || c == '?')
            (result += '\\') += c;
        else if (is_printable(c))
            result += c;
        else
            result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    return result + '"';
}

} // namespace compiler
