#pragma once
// The memory that calls of scan_into use again.

#include <cstddef>
#include <new>
#include <vector>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

template <class T>
class buffer_allocator;

} // namespace detail

/// Reusable memory of scan_into, for the buffers of elements that are not contiguous. It grows to the size
/// that a call needs; a call with the same operands as an earlier one allocates nothing. Calls of one thread
/// may use it, also a call in the body of another; calls of several threads at once must not. It must live,
/// and not be assigned to, until a call ends. A copy is empty.
class scan_workspace {
public:
    scan_workspace() = default;
    scan_workspace(scan_workspace const&) noexcept {}
    scan_workspace& operator=(scan_workspace const&) noexcept
    {
        blocks_.clear();
        return *this;
    }

    /// Returns the number of bytes allocated.
    std::size_t bytes() const noexcept
    {
        std::size_t sum = blocks_.capacity() * sizeof(block);
        for (block const& each : blocks_)
            sum += each.memory.capacity();
        return sum;
    }

private:
    template <class T>
    friend class detail::buffer_allocator;

    struct block {
        detail::aligned_vector<std::byte> memory{};
        bool is_taken = false;
    };

    /// Returns a free block of at least this size, aligned to cache lines.
    ///
    /// Errors    std::bad_alloc.
    void* take(std::size_t bytes)
    {
        for (block& each : blocks_)
            if (!each.is_taken)
                return take(each, bytes);
        return take(blocks_.emplace_back(), bytes);
    }

    static void* take(block& from, std::size_t bytes)
    {
        if (from.memory.size() < bytes) {
            from.memory.clear();
            from.memory.resize(bytes);
        }
        from.is_taken = true;
        return from.memory.data();
    }

    void give_back(void const* memory) noexcept
    {
        for (block& each : blocks_)
            if (each.memory.data() == memory)
                each.is_taken = false;
    }

    std::vector<block> blocks_{};
};

namespace detail {

/// Allocates from a workspace, or without one as cache_aligned_allocator.
template <class T>
class buffer_allocator {
public:
    using value_type = T;

    explicit buffer_allocator(scan_workspace* workspace) noexcept : workspace_(workspace) {}
    template <class U>
    buffer_allocator(buffer_allocator<U> const& other) noexcept : workspace_(other.workspace_)
    {}

    T* allocate(std::size_t count)
    {
        if (!uses_workspace())
            return cache_aligned_allocator<T>().allocate(count);
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw_or_abort(std::bad_array_new_length());
        return static_cast<T*>(workspace_->take(count * sizeof(T)));
    }
    void deallocate(T* items, std::size_t count) noexcept
    {
        if (uses_workspace())
            workspace_->give_back(items);
        else
            cache_aligned_allocator<T>().deallocate(items, count);
    }

    friend bool operator==(buffer_allocator const&, buffer_allocator const&) = default;

private:
    template <class U>
    friend class buffer_allocator;

    bool uses_workspace() const noexcept { return workspace_ != nullptr && alignof(T) <= cache_line; }

    scan_workspace* workspace_;
};

} // namespace detail

} // namespace xloom::inline XLOOM_ABI
