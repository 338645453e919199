#pragma once
// Huge pages for large allocations (madvise).
//
// Why: the TLB covers a few hundred to a few thousand 4 KiB pages. Beyond that, every access to a new page is
// a page-table walk, most expensive under virtualisation.

#include <cstddef>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <xloom/detail/core/abi.hpp>

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

} // namespace xloom::inline XLOOM_ABI::detail
