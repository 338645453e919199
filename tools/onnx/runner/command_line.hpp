#pragma once
// What the command lines of the programs share: cxxopts, arguments INPUT=TEXT, exit codes.

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#define CXXOPTS_NO_REGEX
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#include "text.hpp"
#include "value.hpp"

namespace runner {

/// Returns an input's name and what is after the last '=', which the names of inputs may hold, too.
///
/// Throws runner_error if there is none; `usage` is how it is given: "INPUT=FILE.npy".
inline std::pair<std::string, std::string> assignment_of(std::string const& text, char const* usage)
{
    std::size_t const sign = text.rfind('=');
    if (sign == std::string::npos)
        throw runner_error(fmt::format("an input is given as {}, but here as {}", usage, in_quotes(text)));
    return {text.substr(0, sign), text.substr(sign + 1)};
}

/// Prints a line for each warning of a program.
template <class Texts>
void print_warnings(char const* name, Texts const& warnings)
{
    for (std::string const& each : warnings)
        std::fprintf(stderr, "%s: warning: %s\n", name, each.c_str());
}

/// Reads the command line and runs a program, or prints its help. Returns the exit code: what run(parsed)
/// returns, 0 for help, 1 after an exception, whose text is printed.
template <class Read, class Run>
int run_program(char const* name, Read read, Run run)
try {
    auto const parsed = read();
    if (parsed.help.empty())
        return run(parsed);
    std::printf("%s", parsed.help.c_str());
    return 0;
} catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
}

} // namespace runner
