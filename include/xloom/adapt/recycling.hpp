#pragma once
// Memory for what a body returns by value: the same few small blocks in every iteration, taken from the system once.

#include <array>
#include <cstddef>
#include <new>

#include <xloom/core/raise.hpp>

namespace xloom::detail {

/// Keeps the blocks that values of one running operator give back, for the next iteration's values; frees them when the operator
/// returns. Each operator on a thread's stack has its own; values that outlive it use the system's memory as usual.
class block_cache {
public:
    block_cache() : outer_(current) { current = this; }
    block_cache(block_cache const&) = delete;
    block_cache& operator=(block_cache const&) = delete;

    ~block_cache()
    {
        current = outer_;
        for (std::size_t i = 0; i < count_; ++i)
            ::operator delete(blocks_[i].memory);
    }

    static void* take(std::size_t bytes)
    {
        if (current)
            for (std::size_t i = current->count_; i-- > 0;)
                if (current->blocks_[i].bytes == bytes) {
                    void* const memory = current->blocks_[i].memory;
                    current->blocks_[i] = current->blocks_[--current->count_];
                    return memory;
                }
        return ::operator new(bytes);
    }

    static void give_back(void* memory, std::size_t bytes) noexcept
    {
        if (current && current->count_ < current->blocks_.size())
            current->blocks_[current->count_++] = {memory, bytes};
        else
            ::operator delete(memory);
    }

private:
    struct block {
        void* memory;
        std::size_t bytes;
    };

    static inline constinit thread_local block_cache* current = nullptr;

    std::array<block, 8> blocks_;
    std::size_t count_ = 0;
    block_cache* outer_;
};

/// std::allocator over the running operator's block_cache.
template <class T>
struct recycling_allocator {
    using value_type = T;

    recycling_allocator() = default;
    template <class U>
    recycling_allocator(recycling_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            raise(std::bad_array_new_length());
        return static_cast<T*>(block_cache::take(count * sizeof(T)));
    }
    void deallocate(T* items, std::size_t count) noexcept { block_cache::give_back(items, count * sizeof(T)); }

    friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }
};

} // namespace xloom::detail
