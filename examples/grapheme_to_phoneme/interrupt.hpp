#pragma once
// Ctrl-C as a question: has it been pressed?

#include <atomic>
#include <csignal>

namespace g2p {

inline std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free); // so that a signal handler may set it

/// Makes the first SIGINT set `interrupted`; a second one ends the program as usual.
inline void expect_interrupt()
{
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

} // namespace g2p
