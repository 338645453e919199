#pragma once
// The targets of the fuzzers, also used by hostile.test.cpp on the files that they found.

#include <string_view>

namespace runner {

/// Reads a model and runs it on random inputs, within the programs' budget and half a second. Errors of the
/// runner and of xloom are expected; any other exception is not.
void try_model(std::string_view bytes);
/// Reads a test's input: a tensor, a sequence, an optional, or a .npy file.
void try_tensor(std::string_view bytes);

} // namespace runner
