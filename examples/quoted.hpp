#pragma once
// A character in a file for gnuplot.

#include <string>

/// Returns a character in quotes; instead of a quote or the end of a line, which would end it, a space.
inline std::string quoted(char character)
{
    return {'"', character == '"' || character == '\n' ? ' ' : character, '"'};
}
