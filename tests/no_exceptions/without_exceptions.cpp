// Built with -fno-exceptions, and linked first: what both files define under one name is taken from here.
#include <cstdio>
#include <cstdlib>

#include "mistake.hpp"

namespace {

void stop(std::exception const& error)
{
    std::printf("handled: %s\n", error.what());
    std::exit(0);
}

} // namespace

void make_mistake_without_exceptions()
{
    xloom::set_error_handler(stop);
    make_mistake();
}
