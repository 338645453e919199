#pragma once
// The peak memory of a function.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

/// Returns the peak memory in kB of a process that runs only this function: a forked child, which starts with
/// the memory of this process. 0 if fork fails.
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
