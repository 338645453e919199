#pragma once
// Large pages for large memory, where the system has them for those who ask.
//
// Why: a processor keeps in mind where some hundred or thousand pages lie. What takes up more of them, at 4
// KiB each, costs it a look into the system's tables for each page that it comes to, which takes longest on a
// virtual machine.

#include <cstddef>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <xloom/core/exceptions.hpp>

namespace xloom::detail {

/// Bytes of a large page, where small ones have 4 KiB.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Asks for large pages for memory that begins at a multiple of huge_page. It is a wish: without them memory
/// is as good, but slower.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept
{
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
}

} // namespace xloom::detail
