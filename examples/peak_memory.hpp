#pragma once
// The peak memory of a program.

#include <sys/resource.h>

/// Returns the peak memory of this process, in 10^6 bytes.
inline double peak_megabytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}
