#include "counting_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
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

/// What precedes each block.
struct block_header {
    void* base;
    std::size_t bytes;
};

void* counted(std::size_t bytes, std::size_t alignment)
{
    if (count >= first_refused)
        throw std::bad_alloc();
    if (is_refused_to_thread())
        throw std::bad_alloc();
    ++count;
    constexpr std::size_t header = sizeof(block_header);
    static_assert(
        header % alignof(block_header) == 0 && alignof(block_header) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    std::size_t space = bytes + alignment;
    void* const base = space < bytes ? nullptr : std::malloc(header + space);
    if (!base)
        throw std::bad_alloc();
    void* memory = static_cast<std::byte*>(base) + header;
    std::align(alignment, bytes, memory, space);
    ::new (static_cast<std::byte*>(memory) - header) block_header{base, bytes};
    bytes_ever += bytes;
    bytes_held += bytes;
    return memory;
}

void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept
try {
    return counted(bytes, alignment);
} catch (std::bad_alloc const&) {
    return nullptr;
}

void give_back(void* memory)
{
    if (!memory)
        return;
    auto const* const header =
        reinterpret_cast<block_header const*>(static_cast<std::byte*>(memory) - sizeof(block_header));
    bytes_held -= header->bytes;
    std::free(header->base);
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
// A sanitizer's own would not reserve what give_back reads.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept
{
    return counted_or_null(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept
{
    return counted_or_null(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept
{
    return counted_or_null(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept
{
    return counted_or_null(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

#ifdef __linux__
/// What xsimd's allocator calls; its memory is freed by free.
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept
{
    if (count >= first_refused)
        return 12;
    ++count;
    if (is_refused_to_thread())
        return 12;
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    bytes_ever += bytes;
    return *memory ? 0 : 12;
}
#endif
