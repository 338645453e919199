#include "targets.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "generate.hpp"
#include "model.hpp"
#include "proto.hpp"

namespace compiler {

namespace {

[[noreturn]] void complain(char const* about, std::string const& text, std::size_t at)
{
    std::fprintf(stderr, "%s at byte %zu of\n%s\n", about, at, text.c_str());
    std::abort();
}

/// Returns the end of a literal that begins at `at`, or of the text.
std::size_t end_of_literal(std::string const& text, std::size_t at)
{
    char const quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\n')
            complain("a line ends in a literal", text, at);
        else if (text[at] == '\\')
            ++at;
    return at;
}

/// Returns the end of an identifier that begins at `at`.
std::size_t end_of_name(std::string const& text, std::size_t at)
{
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'))
        ++at;
    return at;
}

bool is_digit_separator(std::string const& text, std::size_t at)
{
    return text[at] == '\'' && at != 0 && std::isxdigit(static_cast<unsigned char>(text[at - 1])) != 0;
}

/// Reads the text as a C++ lexer does that knows comments of one line, strings and characters.
void require_no_injection(std::string const& text)
{
    for (std::size_t at = 0; at < text.size(); ++at) {
        char const c = text[at];
        if (c != '\n' && (c < ' ' || c > '~'))
            complain("no printable character", text, at);
        if (text.compare(at, 2, "//") == 0) {
            at = text.find('\n', at);
            if (at == std::string::npos || text[at - 1] == '\\')
                complain("a comment goes on in the next line", text, at);
        } else if (text.compare(at, 2, "/*") == 0) { // the name of a parameter that is not used
            at = end_of_name(text, at + 2);
            if (text.compare(at, 2, "*/") != 0)
                complain("a comment that is no name", text, at);
            ++at;
        } else if (text.compare(at, 2, "?\?") == 0) {
            complain("a trigraph", text, at);
        } else if (c == '"' || (c == '\'' && !is_digit_separator(text, at))) {
            at = end_of_literal(text, at);
        } else if (c == '@') {
            complain("a name as it is", text, at);
        }
    }
}

} // namespace

std::vector<std::string> const& hostile_names()
{
    static std::vector<std::string> const names{"@\"", "@\"; @", "*/ @ /*", "// @", "@\n@", "@\r\n#error @",
        "@\\", "@\\\n@", "@?\?/", "@?\?/\n@", "@'", "@%s{}", "class @", "@ operator", "@\0@", "__@",
        "@\xff\xfe", "@\xc3\xa4\xe2\x80\xae", "@)\"@", "R\"(@", "xloom::@", std::string(5000, '@'),
        std::string("@\0@", 3), "1@", "@_@", "a@", "a@@"};
    return names;
}

void try_compile(std::string_view bytes)
{
    constexpr runner::budget shipped{.time = runner::budget::seconds(0.5)};
    try {
        runner::with_budget const limits(shipped);
        std::istringstream file{std::string(bytes)};
        require_no_injection(generate(runner::read_model(file, "@.onnx"), {.source = "@\n@.onnx"}).header);
    } catch (runner::runner_error const&) {
    } catch (xloom::error const&) {}
}

} // namespace compiler
