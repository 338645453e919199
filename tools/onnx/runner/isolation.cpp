#include "isolation.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <system_error>

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xloom/types.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNNER_WITH_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define RUNNER_WITH_ADDRESS_SANITIZER
#endif

namespace runner {

namespace {

using clock = std::chrono::steady_clock;

void set_limits([[maybe_unused]] process_limits const& allowed)
{
    rlimit const no_core_file{0, 0};
    setrlimit(RLIMIT_CORE, &no_core_file);
#ifndef RUNNER_WITH_ADDRESS_SANITIZER
    auto const most =
        static_cast<rlim_t>(std::min<std::uint64_t>(allowed.bytes, std::numeric_limits<rlim_t>::max()));
    rlimit const memory{most, most};
    setrlimit(RLIMIT_AS, &memory);
#endif
}

/// Runs the test in the child and writes its result to the pipe as a letter and a text.
[[noreturn]] void report(
    std::function<test_result()> const& test, process_limits const& allowed, int pipe_end)
{
    set_limits(allowed);
    test_result const found = test();
    std::string const message = static_cast<char>(found.result) + found.why;
    for (std::size_t written = 0; written < message.size();) {
        ssize_t const count = write(pipe_end, message.data() + written, message.size() - written);
        if (count < 0 && errno != EINTR)
            break;
        written += static_cast<std::size_t>(count < 0 ? 0 : count);
    }
    _exit(0);
}

/// Reads from the pipe until it is closed. Returns false at the timeout.
bool read_until(clock::time_point end, int pipe_end, std::string& text)
{
    for (;;) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
        pollfd watched{pipe_end, POLLIN, 0};
        int const ready = poll(&watched, 1, static_cast<int>(left < 0 ? 0 : left));
        if (ready == 0)
            return false;
        char buffer[4096];
        ssize_t const count = ready < 0 ? -1 : ::read(pipe_end, buffer, sizeof buffer);
        if (count == 0 || (count < 0 && errno != EINTR))
            return true;
        if (count > 0)
            text.append(buffer, static_cast<std::size_t>(count));
    }
}

} // namespace

test_result run_isolated(std::function<test_result()> const& test, process_limits allowed)
{
    int ends[2];
    if (pipe(ends) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    pid_t const child = fork();
    if (child < 0)
        throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        close(ends[0]);
        report(test, allowed, ends[1]);
    }
    close(ends[1]);
    std::string text;
    bool const in_time = read_until(clock::now() + allowed.time, ends[0], text);
    close(ends[0]);
    if (!in_time)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!in_time)
        return {outcome::failed, fmt::format("it does not end within {} ms", allowed.time.count())};
    if (WIFSIGNALED(status))
        return {outcome::failed, fmt::format("it crashes: {}", strsignal(WTERMSIG(status)))};
    if (text.empty() || WEXITSTATUS(status) != 0)
        return {outcome::failed, fmt::format("it ends the process with status {}", WEXITSTATUS(status))};
    return {static_cast<outcome>(text[0]), text.substr(1)};
}

} // namespace runner
