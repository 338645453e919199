#pragma once
// Buffers that make elements with strided items contiguous for a body, and the memory that calls use again.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/tensor/item_buffer.hpp>
#include <xloom/detail/tensor/xtensor.hpp>

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

/// When the elements of outputs that are not contiguous must be in the tensor: at the end of their iteration,
/// because a body may read there, through a captured variable, what earlier iterations wrote; or several at
/// once, before the operator returns.
enum class write_back { each_element, blocks };

/// The number of elements that a buffer has room for, and the distance in items from one to the next.
struct buffer_extent {
    std::size_t capacity;
    std::size_t spacing;
};

/// Returns the extent of a buffer for one element, or in blocks, for those that share a cache line in the
/// tensor: the line is then loaded or stored once for all of them. Items whose copy may throw have no blocks,
/// so that it throws in the iteration that needs the item.
///
/// Why the spacing is an odd number of cache lines: items at the same place of several elements would compete
/// for the same lines of the L1 cache if it were a power of two.
template <class T>
buffer_extent buffer_extent_of(kernel::time_axis const& time, bool in_blocks)
{
    constexpr std::size_t line = elements_per_cache_line<T>;
    std::size_t const size = element_count(time.element.dims);
    std::size_t const spacing = (ceil_div(size, line) | 1) * line;
    if (!in_blocks || !std::is_trivially_copyable_v<T> || time.stride == 0 || size == 0)
        return {1, spacing};
    std::size_t const in_a_line = cache_line / sizeof(T) / static_cast<std::size_t>(std::abs(time.stride));
    std::size_t const in_the_buffer = tuning::element_buffer_bytes / sizeof(T) / spacing;
    return {std::max<std::size_t>(1, (std::min)(in_a_line, in_the_buffer)), spacing};
}

/// A buffer for elements of an output. Each is written back at the end of its iteration or, in blocks, with
/// the last of its block; the destructor writes back the rest, also during unwinding.
template <class T>
class element_buffer {
public:
    element_buffer(T* data, kernel::time_axis const& time, std::size_t length, write_back when,
        buffer_allocator<T> const& allocator)
        : time_(time),
          data_(data),
          place_(time.first),
          length_(length),
          left_(length),
          extent_(buffer_extent_of<T>(time, when == write_back::blocks)),
          items_(extent_.capacity * extent_.spacing, allocator),
          scatter_(time.unpack_copy(extent_.capacity, extent_.spacing))
    {}
    element_buffer(element_buffer const&) = delete;

    ~element_buffer()
    {
        if (filled_ != 0)
            write_back_filled();
    }

    /// Initialises every element from the tensor, for an input that is the same tensor.
    void start_from_input() { gather_.emplace(time_.pack_copy(extent_.capacity, extent_.spacing)); }

    /// Makes element t of the operand at `data` the next one.
    void move_to(T* data, std::size_t t)
    {
        if (filled_ != 0)
            write_back_filled();
        data_ = data;
        place_ = time_.first + static_cast<std::ptrdiff_t>(t) * time_.stride;
        left_ = length_ - t;
    }

    /// Returns the address of the current element, or of the one that enter() will make current.
    T* current() { return items_.data() + filled_ * extent_.spacing; }

    T* enter()
    {
        if (gather_ && filled_ == 0)
            gather();
        return current();
    }

    void leave()
    {
        if (++filled_ == extent_.capacity)
            write_back_block();
    }

private:
    XLOOM_NOINLINE void write_back_block() { scatter_(items_.data(), take_place()); }

    XLOOM_NOINLINE void write_back_filled()
    {
        kernel::strided_copy const scatter = time_.unpack_copy(filled_, extent_.spacing);
        scatter(items_.data(), take_place());
    }

    /// Empties the buffer and returns the place of its first element, before a copy that may throw: the
    /// destructor does not try again.
    T* take_place()
    {
        T* const place = data_ + place_;
        place_ += time_.stride * static_cast<std::ptrdiff_t>(filled_);
        filled_ = 0;
        return place;
    }

    XLOOM_NOINLINE void gather()
    {
        std::size_t const count = (std::min)(extent_.capacity, left_);
        if (count < extent_.capacity)
            time_.pack_copy(count, extent_.spacing)(data_ + place_, items_.data());
        else
            (*gather_)(data_ + place_, items_.data());
        left_ -= count;
    }

    kernel::time_axis time_;
    T* data_;
    std::ptrdiff_t place_; ///< of the buffer's first element; after the last one it may be no item's
    std::size_t length_;
    std::size_t left_; ///< elements of the tensor that are not in the buffer yet
    buffer_extent extent_;
    xt::uvector<T, buffer_allocator<T>> items_;
    kernel::strided_copy scatter_;
    std::optional<kernel::strided_copy> gather_{};
    std::size_t filled_ = 0;
};

/// A buffer for elements of an input, which are loaded in blocks.
template <class T>
class element_buffer<T const> {
public:
    element_buffer(T const* data, kernel::time_axis const& time, std::size_t length, write_back,
        buffer_allocator<T> const& allocator)
        : time_(time),
          data_(data),
          length_(length),
          next_(time.first),
          left_(length),
          extent_(buffer_extent_of<T>(time, true)),
          items_(extent_.capacity * extent_.spacing, allocator),
          gather_(time.pack_copy(extent_.capacity, extent_.spacing))
    {}

    /// Makes element t the next one.
    void seek(std::size_t t)
    {
        next_ = time_.first + static_cast<std::ptrdiff_t>(t) * time_.stride;
        left_ = length_ - t;
        position_ = filled_ = 0;
    }

    /// Makes element t of the operand at `data` the next one.
    void move_to(T const* data, std::size_t t)
    {
        data_ = data;
        seek(t);
    }

    T const* enter()
    {
        if (position_ == filled_)
            gather();
        return items_.data() + position_ * extent_.spacing;
    }

    void leave() { ++position_; }

private:
    XLOOM_NOINLINE void gather()
    {
        position_ = 0;
        filled_ = (std::min)(extent_.capacity, left_);
        if (filled_ < extent_.capacity)
            time_.pack_copy(filled_, extent_.spacing)(data_ + next_, items_.data());
        else
            gather_(data_ + next_, items_.data());
        left_ -= filled_;
        next_ += time_.stride * static_cast<std::ptrdiff_t>(filled_);
    }

    kernel::time_axis time_;
    T const* data_;
    std::size_t length_;
    std::ptrdiff_t next_; ///< the place of the next element; after the last one it may be no item's
    std::size_t left_;
    buffer_extent extent_;
    xt::uvector<T, buffer_allocator<T>> items_;
    kernel::strided_copy gather_;
    std::size_t position_ = 0;
    std::size_t filled_ = 0;
};

} // namespace detail
} // namespace xloom::inline XLOOM_ABI
