#pragma once
// The command line's options.

#include <optional>
#include <string>
#include <vector>

#include <xloom/types.hpp>

#include "training.hpp"

namespace g2p {

struct command_line {
    enum class task_kind { train, evaluate, pronounce };
    task_kind task = task_kind::train;
    std::string dictionary, weights;   ///< files
    std::string plot;                  ///< the folder for the plots' numbers; empty: none
    std::size_t threads = 1, most = 0; ///< words of the dictionary; 0: all
    xloom::weight_storage storage = xloom::weight_storage::full; ///< of the weights that pronounce
    training_options training;
    std::vector<std::string> words; ///< to pronounce
    std::size_t beam = 0;
};

/// Parses the arguments, or prints the help and returns nothing. Throws std::exception with a one-line
/// message if they are invalid.
std::optional<command_line> read_command_line(int argc, char const* const* argv);

} // namespace g2p
