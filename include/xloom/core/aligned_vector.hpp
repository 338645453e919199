#pragma once
// A vector whose items begin at a line of the cache, so that no batch of them straddles two.

#include <cstddef>
#include <new>
#include <vector>

#include <xloom/core/cache.hpp>
#include <xloom/core/raise.hpp>

namespace xloom {

namespace detail {

template <class T>
struct line_allocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{alignof(T) > cache_line ? alignof(T) : cache_line};

    line_allocator() = default;
    template <class U>
    line_allocator(line_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            raise(std::bad_array_new_length());
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* items, std::size_t) noexcept { ::operator delete(items, alignment); }

    friend bool operator==(line_allocator const&, line_allocator const&) = default;
};

} // namespace detail

template <class T>
using aligned_vector = std::vector<T, detail::line_allocator<T>>;

} // namespace xloom
