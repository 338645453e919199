#pragma once
// The target of the compiler's fuzzer, also used by the test on the files that it found.

#include <string>
#include <string_view>
#include <vector>

namespace compiler {

/// Names that would end a comment, a string or a line, or mean something else, if they stood in C++ as they
/// are. Each holds an @, which generated code has in comments and strings only.
std::vector<std::string> const& hostile_names();

/// Makes a header of a model within the programs' budget and half a second. Errors of the runner and of xloom
/// are expected. Aborts if the text is no printable ASCII, or has an @ outside of comments and strings.
void try_compile(std::string_view bytes);

} // namespace compiler
