#pragma once
// A bump allocator that pads each allocation to whole cache lines; without memory, it only adds up sizes.

#include <cstddef>
#include <limits>
#include <memory>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/tuning.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

template <class T>
class arena {
public:
    arena() = default;
    explicit arena(T* items) : items_(items) {}

    T* take(std::size_t count) noexcept
    {
        T* const piece = items_ == nullptr ? nullptr : items_ + used_;
        constexpr std::size_t line = elements_per_cache_line<T>,
                              most = (std::numeric_limits<std::size_t>::max)();
        std::size_t const padded = saturating_add(count, line - 1);
        used_ = saturating_add(used_, padded == most ? most : padded / line * line);
        return piece;
    }
    /// Allocates `rows` rows of `columns` items.
    T* take(std::size_t rows, std::size_t columns) noexcept { return take(saturating_mul(rows, columns)); }

    /// Allocates rows of value-initialised items of another type, whose alignment is at most a cache line's.
    template <class Other>
    Other* take_as(std::size_t rows, std::size_t columns) noexcept
    {
        std::size_t const count = saturating_mul(rows, columns), bytes = saturating_mul(count, sizeof(Other));
        Other* const items = reinterpret_cast<Other*>(take(xloom::detail::ceil_div(bytes, sizeof(T))));
        if (!only_counts())
            std::uninitialized_value_construct_n(items, count);
        return items;
    }

    bool only_counts() const noexcept { return items_ == nullptr; }
    /// Returns the number of items; the largest std::size_t if it is larger.
    std::size_t used() const noexcept { return used_; }

private:
    T* items_ = nullptr;
    std::size_t used_ = 0;
};

} // namespace xloom::inline XLOOM_ABI::kernel
