#pragma once
// Buffers that make elements with strided items contiguous for a body.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <type_traits>

#include <xloom/core/aligned_vector.hpp>
#include <xloom/core/cache.hpp>
#include <xloom/core/tuning.hpp>
#include <xloom/kernel/strided_copy.hpp>
#include <xloom/kernel/time_axis.hpp>
#include <xloom/tensor/xtensor.hpp>

namespace xloom::detail {

/// A container of items in aligned memory, uninitialised if their type is trivial.
template <class T>
using item_buffer = xt::uvector<T, cache_aligned_allocator<T>>;

/// A buffer for the current element of an output. Each element is written back at the end of its iteration,
/// because a body may read, through a captured variable, what earlier iterations wrote.
template <class T>
class element_buffer {
public:
    element_buffer(T* data, kernel::time_axis const& time, std::size_t)
        : time_(time),
          place_(data + time.first),
          items_(element_count(time.element.dims)),
          scatter_(time.unpack_copy(1))
    {}

    /// Initialises every element from the tensor, for an input that is the same tensor. Returns the address
    /// of the buffered items.
    T* start_from_input()
    {
        gather_.emplace(time_.pack_copy(1));
        return items_.data();
    }

    T* enter()
    {
        if (gather_)
            gather();
        return items_.data();
    }

    [[gnu::noinline]] void leave()
    {
        scatter_(items_.data(), place_);
        place_ += time_.step;
    }

private:
    [[gnu::noinline]] void gather() { (*gather_)(place_, items_.data()); }

    kernel::time_axis time_;
    T* place_;
    item_buffer<T> items_;
    kernel::strided_copy scatter_;
    std::optional<kernel::strided_copy> gather_{};
};

/// A buffer for several elements of an input: consecutive elements that share a cache line load it once.
template <class T>
class element_buffer<T const> {
public:
    element_buffer(T const* data, kernel::time_axis const& time, std::size_t length)
        : time_(time),
          first_(data + time.first),
          length_(length),
          next_(first_),
          left_(length),
          element_size_(element_count(time.element.dims)),
          capacity_(neighbours(time.step, element_size_)),
          items_(capacity_ * element_size_),
          gather_(time.pack_copy(capacity_))
    {}

    /// Makes element t the next one.
    void seek(std::size_t t)
    {
        next_ = first_ + static_cast<std::ptrdiff_t>(t) * time_.step;
        left_ = length_ - t;
        position_ = filled_ = 0;
    }

    T const* enter()
    {
        if (position_ == filled_)
            gather();
        return items_.data() + position_ * element_size_;
    }

    void leave() { ++position_; }

private:
    /// Returns the number of elements that share a cache line; 1 where copying items may throw, so that it
    /// throws in the iteration that needs the item.
    static std::size_t neighbours(std::ptrdiff_t step, std::size_t element_size)
    {
        if (!std::is_trivially_copyable_v<T> || step == 0 || element_size == 0)
            return 1;
        std::size_t const in_a_line = cache_line / sizeof(T) / static_cast<std::size_t>(std::abs(step));
        return std::max<std::size_t>(
            1, (std::min)(in_a_line, tuning::element_buffer_bytes / sizeof(T) / element_size));
    }

    [[gnu::noinline]] void gather()
    {
        position_ = 0;
        filled_ = (std::min)(capacity_, left_);
        if (filled_ < capacity_)
            time_.pack_copy(filled_)(next_, items_.data());
        else
            gather_(next_, items_.data());
        left_ -= filled_;
        next_ += time_.step * static_cast<std::ptrdiff_t>(filled_);
    }

    kernel::time_axis time_;
    T const* first_;
    std::size_t length_;
    T const* next_;
    std::size_t left_;
    std::size_t element_size_;
    std::size_t capacity_;
    item_buffer<T> items_;
    kernel::strided_copy gather_;
    std::size_t position_ = 0;
    std::size_t filled_ = 0;
};

} // namespace xloom::detail
