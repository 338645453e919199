// operator new from ARENA bytes of static memory. Nothing is given back: a program takes at its start what it
// needs.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "firmware.hpp"

namespace {

alignas(64) std::byte arena[ARENA];
std::size_t used = 0;
bool is_closed = false;

void* take(std::size_t bytes, std::size_t alignment)
{
    std::size_t const begin = (used + alignment - 1) / alignment * alignment;
    if (is_closed || begin > sizeof(arena) || bytes > sizeof(arena) - begin) {
        std::puts(is_closed ? "WRONG: a step allocates" : "WRONG: the arena is too small");
        std::_Exit(1);
    }
    used = begin + bytes;
    return arena + begin;
}

} // namespace

std::size_t firmware::arena_used() { return used; }
void firmware::close_arena() { is_closed = true; }

void* operator new(std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
void operator delete(void*, std::align_val_t) noexcept {}
void operator delete(void*, std::size_t, std::align_val_t) noexcept {}
