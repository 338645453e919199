#pragma once
// What the user asks for.

#include <string>
#include <vector>

struct command_line {
    std::string model;
    float threshold = 0.5f;
    std::string json; ///< the file for the probabilities; empty: none
    std::string plot; ///< the folder for the plot's numbers; empty: none
    std::vector<std::string> recordings;
    std::string help; ///< not empty: print this and nothing else
};

/// Throws std::exception, in one line, if the arguments make no sense.
command_line read_command_line(int argc, char const* const* argv);
