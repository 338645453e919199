#pragma once
// A bump allocator that pads each allocation to whole cache lines; without memory, it only adds up sizes.

#include <cstddef>
#include <limits>

#include <xloom/detail/core/tuning.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Returns a * b, or the largest std::size_t if the product is larger.
constexpr std::size_t saturated_product(std::size_t a, std::size_t b) noexcept
{
    std::size_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? (std::numeric_limits<std::size_t>::max)() : product;
}

template <class T>
class arena {
public:
    arena() = default;
    explicit arena(T* items) : items_(items) {}

    T* take(std::size_t count) noexcept
    {
        T* const piece = items_ == nullptr ? nullptr : items_ + used_;
        constexpr std::size_t line = elements_per_cache_line<T>;
        if (__builtin_add_overflow(count, line - 1, &count) ||
            __builtin_add_overflow(used_, count / line * line, &used_))
            used_ = (std::numeric_limits<std::size_t>::max)();
        return piece;
    }
    /// Allocates `rows` rows of `columns` items.
    T* take(std::size_t rows, std::size_t columns) noexcept { return take(saturated_product(rows, columns)); }

    bool only_counts() const noexcept { return items_ == nullptr; }
    /// Returns the number of items; the largest std::size_t if it is larger.
    std::size_t used() const noexcept { return used_; }

private:
    T* items_ = nullptr;
    std::size_t used_ = 0;
};

} // namespace xloom::inline XLOOM_ABI::kernel
