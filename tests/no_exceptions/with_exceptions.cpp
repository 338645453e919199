// Catches the error of a call here; then the other file makes the same mistake.
#include <cstdio>

#include "mistake.hpp"

void make_mistake_without_exceptions();

int main()
{
    try {
        make_mistake();
    } catch (xloom::shape_error const& error) {
        std::printf("caught: %s\n", error.what());
    }
    make_mistake_without_exceptions();
    return 1;
}
