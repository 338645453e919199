#pragma once
// Tests in a separate process, which contains crashes, infinite loops and excessive memory use.

#include <chrono>
#include <cstdint>
#include <functional>

#include "test_folder.hpp"

namespace runner {

struct process_limits {
    std::chrono::milliseconds time{10000};
    /// Of address space; builds with sanitizers need theirs, and have no limit.
    std::uint64_t bytes = std::uint64_t{4} << 30;
};

test_result run_isolated(std::function<test_result()> const& test, process_limits allowed = {});

} // namespace runner
