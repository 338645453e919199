#pragma once
// The command line's options.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <xloom/types.hpp>

struct command_line {
    std::string model;
    xloom::weight_storage storage = xloom::weight_storage::full;
    std::size_t repeat = 1; ///< how often each line is read, for the time
    std::vector<std::string> images;
};

/// Parses the arguments, or prints the help and returns nothing. Throws std::exception with a one-line
/// message if they are invalid.
std::optional<command_line> read_command_line(int argc, char const* const* argv);
