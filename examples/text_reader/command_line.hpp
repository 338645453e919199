#pragma once
// The command line's options.

#include <cstddef>
#include <string>
#include <vector>

#include <xloom/types.hpp>

struct command_line {
    std::string model;
    xloom::weight_storage storage = xloom::weight_storage::full;
    std::size_t repeat = 1; ///< how often each line is read, for the time
    std::vector<std::string> images;
    std::string help; ///< not empty: print this and nothing else
};

/// Parses the arguments. Throws std::exception with a one-line message if they are invalid.
command_line read_command_line(int argc, char const* const* argv);
