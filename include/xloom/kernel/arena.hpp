#pragma once
// A bump allocator that pads each allocation to whole cache lines; without memory, it only adds up sizes.

#include <cstddef>

#include <xloom/core/cache.hpp>

namespace xloom::kernel {

template <class T>
class arena {
public:
    arena() = default;
    explicit arena(T* items) : items_(items) {}

    T* take(std::size_t count) noexcept
    {
        T* const piece = items_ == nullptr ? nullptr : items_ + used_;
        used_ += (count + elements_per_cache_line<T> - 1) / elements_per_cache_line<T> *
                 elements_per_cache_line<T>;
        return piece;
    }

    bool only_counts() const noexcept { return items_ == nullptr; }
    std::size_t used() const noexcept { return used_; }

private:
    T* items_ = nullptr;
    std::size_t used_ = 0;
};

} // namespace xloom::kernel
