#pragma once
// A memory pool for values that a body returns: every iteration reuses the same blocks.

#include <algorithm>
#include <cstddef>
#include <new>

#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A pool of the blocks that values of one running operator free, for the next iteration's values. It keeps
/// at most as many blocks as were in use at once, the newest; older ones are freed, so that blocks of sizes
/// that no longer occur do not accumulate. The destructor frees the rest, when the operator returns. Each
/// operator on a thread's stack has its own pool; values that outlive it use operator new and delete.
class step_memory_pool {
public:
    step_memory_pool() : outer_(current) { current = this; }
    step_memory_pool(step_memory_pool const&) = delete;
    step_memory_pool& operator=(step_memory_pool const&) = delete;

    ~step_memory_pool()
    {
        current = outer_;
        while (oldest_)
            free_oldest();
    }

    static void* take(std::size_t bytes)
    {
        return current ? current->take_block(allocated(bytes)) : ::operator new(allocated(bytes));
    }

    static void give_back(void* memory, std::size_t bytes) noexcept
    {
        if (current)
            current->keep(memory, allocated(bytes));
        else
            ::operator delete(memory);
    }

private:
    /// A free block, which stores its own node of a list from the oldest to the newest.
    struct block {
        block* older;
        block* newer;
        std::size_t bytes;
    };

    static std::size_t allocated(std::size_t bytes) { return (std::max)(bytes, sizeof(block)); }

    void* take_block(std::size_t bytes)
    {
        block* found = newest_;
        while (found && found->bytes != bytes)
            found = found->older;
        if (found)
            unlink(*found);
        void* const memory = found ? found : ::operator new(bytes);
        most_in_use_ = (std::max)(most_in_use_, ++in_use_);
        return memory;
    }

    void keep(void* memory, std::size_t bytes) noexcept
    {
        if (in_use_ != 0) // values of an outer operator may be freed here
            --in_use_;
        block* const added = ::new (memory) block{newest_, nullptr, bytes};
        (newest_ ? newest_->newer : oldest_) = added;
        newest_ = added;
        if (++kept_ > most_in_use_)
            free_oldest();
    }

    void unlink(block const& each) noexcept
    {
        (each.older ? each.older->newer : oldest_) = each.newer;
        (each.newer ? each.newer->older : newest_) = each.older;
        --kept_;
    }

    void free_oldest() noexcept
    {
        block* const freed = oldest_;
        unlink(*freed);
        ::operator delete(freed);
    }

    static inline constinit thread_local step_memory_pool* current = nullptr;

    block* oldest_ = nullptr;
    block* newest_ = nullptr;
    std::size_t kept_ = 0;
    std::size_t in_use_ = 0;
    std::size_t most_in_use_ = 0;
    step_memory_pool* outer_;
};

/// A standard allocator over the running operator's step_memory_pool.
template <class T>
struct step_memory_allocator {
    using value_type = T;

    step_memory_allocator() = default;
    template <class U>
    step_memory_allocator(step_memory_allocator<U> const&) noexcept
    {}

    T* allocate(std::size_t count)
    {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw_or_abort(std::bad_array_new_length());
        return static_cast<T*>(step_memory_pool::take(count * sizeof(T)));
    }
    void deallocate(T* items, std::size_t count) noexcept
    {
        step_memory_pool::give_back(items, count * sizeof(T));
    }

    friend bool operator==(step_memory_allocator, step_memory_allocator) noexcept { return true; }
};

} // namespace xloom::inline XLOOM_ABI::detail
