// With RealtimeSanitizer, which ends the program in steady::repeat, nothing is counted and no child is made.

#include "steady.hpp"

namespace steady {

requests requests_so_far() { return {}; }

ending without_system_calls(void (*run)(void const*), void const* argument)
{
    run(argument);
    return ending::alive;
}

} // namespace steady
