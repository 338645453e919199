#pragma once
// A std::vector aligned to cache lines, so that no SIMD batch crosses one; large vectors are aligned to huge
// pages and advised to use them.

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include <xloom/detail/core/cache.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/huge_pages.hpp>

namespace xloom::inline XLOOM_ABI::detail {

template <class T>
struct cache_aligned_allocator {
    using value_type = T;

    cache_aligned_allocator() = default;
    template <class U>
    cache_aligned_allocator(cache_aligned_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        if (count > (static_cast<std::size_t>(-1) - huge_page) / sizeof(T))
            throw_or_abort(std::bad_array_new_length());
        std::size_t const bytes = count * sizeof(T);
        void* const memory = ::operator new(bytes, alignment(count));
        if (bytes >= huge_page)
            advise_huge_pages(memory, bytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* items, std::size_t count) noexcept { ::operator delete(items, alignment(count)); }

    static constexpr std::align_val_t alignment(std::size_t count) noexcept
    {
        return std::align_val_t{
            (std::max)(alignof(T), count * sizeof(T) < huge_page ? cache_line : huge_page)};
    }

    friend bool operator==(cache_aligned_allocator const&, cache_aligned_allocator const&) = default;
};

template <class T>
using aligned_vector = std::vector<T, detail::cache_aligned_allocator<T>>;

} // namespace xloom::inline XLOOM_ABI::detail
