#pragma once
// The main function of a program.

#include <cstdio>
#include <exception>

/// Runs a program: f(). An error is a line of stderr, after the program's name.
///
/// Returns   the exit code, 0 or 1.
template <class F>
int run_program(char const* name, F const& f)
try {
    f();
    return 0;
} catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
}
