#include "counting_new.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <malloc.h>
#include <new>

namespace {

std::atomic<std::size_t> count = 0;
std::atomic<std::size_t> bytes_ever = 0;
std::atomic<std::size_t> bytes_held = 0;
std::atomic<std::size_t> first_refused = std::numeric_limits<std::size_t>::max();
thread_local std::size_t granted_to_thread = std::numeric_limits<std::size_t>::max();

/// Counts a request of this thread. Returns true if it is refused.
bool is_refused_to_thread()
{
    if (granted_to_thread == 0)
        return true;
    --granted_to_thread;
    return false;
}

void* counted(std::size_t bytes, std::size_t alignment)
{
    if (count >= first_refused)
        throw std::bad_alloc();
    if (is_refused_to_thread())
        throw std::bad_alloc();
    ++count;
    void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!memory)
        throw std::bad_alloc();
    bytes_ever += malloc_usable_size(memory);
    bytes_held += malloc_usable_size(memory);
    return memory;
}

void give_back(void* memory)
{
    bytes_held -= malloc_usable_size(memory);
    std::free(memory);
}

} // namespace

std::size_t allocations() { return count; }
std::size_t allocated_bytes() { return bytes_ever; }
std::size_t held_bytes() { return bytes_held; }

refusal::refusal(std::size_t granted) { first_refused = count + granted; }
refusal::~refusal() { first_refused = std::numeric_limits<std::size_t>::max(); }

thread_refusal::thread_refusal(std::size_t granted) { granted_to_thread = granted; }
thread_refusal::~thread_refusal() { granted_to_thread = std::numeric_limits<std::size_t>::max(); }

void* operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new[](std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment)
{
    return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept
{
    if (count >= first_refused)
        return 12;
    ++count;
    if (is_refused_to_thread())
        return 12;
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    bytes_ever += malloc_usable_size(*memory);
    return *memory ? 0 : 12;
}
