#pragma once
// The peak memory of a function.

#include <cstdlib>
#include <iostream>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

/// Returns the peak memory in kB of a process that runs only this function: a forked child, which starts with
/// the memory of this process. Stops the program if the child fails.
template <class F>
long peak_kilobytes_of(F const& work)
{
    pid_t const child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    rusage usage{};
    int status = 0;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        std::cerr << "the process whose memory is measured failed\n";
        std::exit(EXIT_FAILURE);
    }
    return usage.ru_maxrss;
}

} // namespace bench
