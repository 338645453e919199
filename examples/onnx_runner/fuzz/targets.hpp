#pragma once
// What the fuzzers do with a file, and hostile.test.cpp with those that they found.

#include <string_view>

namespace runner {

/// A model: read, and run on random inputs, within the programs' budget and half a second. Errors of the
/// runner's and of xloom's own are as it should be; whatever else it throws is not.
void try_model(std::string_view bytes);
/// What a test's input may be: a tensor, a sequence, an optional, or a .npy file.
void try_tensor(std::string_view bytes);

} // namespace runner
