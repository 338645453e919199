#pragma once
// A std::vector aligned to cache lines, so that no SIMD batch crosses one; large vectors are aligned to huge
// pages and advised to use them (madvise).
//
// Why huge pages: the TLB covers a few hundred to a few thousand 4 KiB pages. Beyond that, every access to a
// new page is a page-table walk, most expensive under virtualisation.

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/tuning.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace xloom::inline XLOOM_ABI::detail {

/// The size of a huge page in bytes; a regular page has 4 KiB.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Advises the system to use huge pages for memory aligned to huge_page. Best effort: without huge pages
/// accesses are only slower.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept
{
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
}

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
