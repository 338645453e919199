#pragma once
// The command line's options.

#include <string>
#include <vector>

#include <xloom/types.hpp>

#include "training.hpp"

namespace g2p {

struct command_line {
    enum class task { help, train, evaluate, pronounce };
    task asked = task::train;
    std::string help;                  ///< what to print for task::help
    std::string dictionary, weights;   ///< files
    std::string plot;                  ///< the folder for the plots' numbers; empty: none
    std::size_t threads = 1, most = 0; ///< words of the dictionary; 0: all
    xloom::weight_storage storage = xloom::weight_storage::full; ///< of the weights that pronounce
    training_options training;
    std::vector<std::string> words; ///< to pronounce
    std::size_t beam = 0;
};

/// Parses the arguments. Throws std::exception with a one-line message if they are invalid.
command_line read_command_line(int argc, char const* const* argv);

} // namespace g2p
