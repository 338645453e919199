#pragma once
// How much memory a piece of work takes.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

/// The most memory in kB that a process holds which does this and nothing else: a child of this one, so that
/// it begins with what this one holds already. 0 if there can be no child.
template <class F>
long peak_kilobytes_of(F const& work)
{
    pid_t const child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    rusage usage{};
    bool const has_ended = child > 0 && wait4(child, nullptr, 0, &usage) == child;
    return has_ended ? usage.ru_maxrss : 0;
}

} // namespace bench
