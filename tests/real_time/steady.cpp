// Counters of requests by interposition, and seccomp's filter. glibc's allocator is called by its other
// names, so that no function is looked up while the first request is answered.

#include "steady.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> locks = 0;

using lock_function = int (*)(pthread_mutex_t*);
// No local static, whose guard is a mutex in libc++abi.
std::atomic<lock_function> next_lock = nullptr;

} // namespace

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) noexcept
{
    ++allocations;
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept
{
    ++allocations;
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept
{
    ++allocations;
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept
{
    ++allocations;
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept
{
    ++allocations;
    *memory = __libc_memalign(alignment, bytes);
    return *memory != nullptr ? 0 : 12;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept
{
    lock_function next = next_lock;
    if (next == nullptr)
        next_lock = next = reinterpret_cast<lock_function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    ++locks;
    return next(mutex);
}

} // extern "C"

namespace steady {

requests requests_so_far()
{
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return {allocations, locks, used.ru_minflt};
}

namespace {

/// Forbids this process all system calls but those of seccomp's strict mode. Why not that mode itself: a
/// process that has a filter, as each one in a container of Docker, cannot enter it.
bool forbid_system_calls()
{
    constexpr auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
    std::array<sock_filter, 7> rules = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    sock_fprog const filter{static_cast<unsigned short>(rules.size()), rules.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace

ending without_system_calls(void (*run)(void const*), void const* argument)
{
    pid_t const child = fork();
    if (child == 0) {
        if (!forbid_system_calls())
            _exit(EXIT_FAILURE);
        run(argument);
        syscall(SYS_exit, EXIT_SUCCESS); // _exit calls exit_group, which is forbidden
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return ending::other;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return ending::alive;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? ending::killed : ending::other;
}

} // namespace steady
