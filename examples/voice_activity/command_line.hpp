#pragma once
// The command line's options.

#include <optional>
#include <string>
#include <vector>

#include "load_detector.hpp"

struct command_line {
    std::string model;
    float threshold = 0.5f;
    lstm_weighting lstm{};
    std::string json; ///< the file for the probabilities; empty: none
    std::string plot; ///< the folder for the plot's numbers; empty: none
    std::vector<std::string> recordings;
};

/// Parses the arguments, or prints the help and returns nothing. Throws std::exception with a one-line
/// message if they are invalid.
std::optional<command_line> read_command_line(int argc, char const* const* argv);
