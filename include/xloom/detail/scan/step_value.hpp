#pragma once
// The values of steps that a step evaluates when it is made, in memory that the running operator offers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/tensor/elementwise.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Memory that a running operator offers for value K of the step that the body returns to it. The values of a
/// step are counted from its first state to its last output.
///
/// Only values in the operator's own step take the memory: a body that returns a new step constructs it
/// there. Other steps, which may live on, have memory of their own.
template <class T, std::size_t K>
class step_place {
public:
    step_place() : outer_(std::exchange(current, this)) {}
    step_place(step_place const&) = delete;
    step_place& operator=(step_place const&) = delete;
    ~step_place() { current = outer_; }

    /// Offers memory for `count` items of a value in `step`, which may not exist yet.
    template <class Step>
    void offer(T* items, std::size_t count, Step* step)
    {
        items_ = items;
        count_ = count;
        first_ = reinterpret_cast<std::uintptr_t>(step);
        bytes_ = sizeof(Step);
    }

    /// Returns the memory if it is for `count` items of a value there; otherwise nullptr.
    static T* find(std::size_t count, void const* value)
    {
        bool const is_found = current && current->count_ == count &&
                              reinterpret_cast<std::uintptr_t>(value) - current->first_ < current->bytes_;
        return is_found ? current->items_ : nullptr;
    }

private:
    T* items_ = nullptr;
    std::size_t count_ = 0;
    std::uintptr_t first_ = 0;
    std::size_t bytes_ = 0;
    step_place* outer_;
    static inline constinit thread_local step_place* current = nullptr;
};

/// The items of value K of a step, a storage for xtensor's containers: in memory of their own, or in that of
/// a step_place. Copies, and what items are moved to, own their memory.
template <class T, std::size_t K>
class step_items {
public:
    using place = step_place<T, K>;
    using value_type = T;
    using allocator_type = std::allocator<T>;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = T const&;
    using pointer = T*;
    using const_pointer = T const*;
    using iterator = T*;
    using const_iterator = T const*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    step_items() = default;
    explicit step_items(std::size_t count) { resize(count); }
    step_items(std::size_t count, T const& value) : step_items(count) { std::fill(begin(), end(), value); }
    step_items(step_items const& other) : step_items(other.size_)
    {
        std::copy(other.begin(), other.end(), data_);
    }
    step_items& operator=(step_items const& other)
    {
        resize(other.size_);
        std::copy(other.begin(), other.end(), data_);
        return *this;
    }

    /// Makes room for `count` items, where the running operator wants them if it does.
    void allocate(std::size_t count)
    {
        if (T* const offered = place::find(count, this)) {
            data_ = offered;
            size_ = count;
        } else {
            resize(count);
        }
    }
    void resize(std::size_t count)
    {
        if (count == size_)
            return;
        own_.resize(count);
        data_ = own_.data();
        size_ = count;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    T const* data() const { return data_; }
    T* begin() { return data_; }
    T const* begin() const { return data_; }
    T const* cbegin() const { return data_; }
    T* end() { return data_ + size_; }
    T const* end() const { return data_ + size_; }
    T const* cend() const { return data_ + size_; }
    reverse_iterator rbegin() { return reverse_iterator(end()); }
    const_reverse_iterator rbegin() const { return crbegin(); }
    const_reverse_iterator crbegin() const { return const_reverse_iterator(end()); }
    reverse_iterator rend() { return reverse_iterator(begin()); }
    const_reverse_iterator rend() const { return crend(); }
    const_reverse_iterator crend() const { return const_reverse_iterator(begin()); }
    T& operator[](std::size_t i) { return data_[i]; }
    T const& operator[](std::size_t i) const { return data_[i]; }

private:
    xt::uvector<T, std::allocator<T>> own_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A value of a step, one of xtensor's containers over step_items. Its constructor evaluates an expression
/// while the variables of the body exist. The class has one parameter, because xtensor takes a class for an
/// expression that is derived from its argument.
template <class Container>
class step_value : public Container {
    using item = typename Container::value_type;
    using items = typename Container::storage_type;

public:
    step_value() = default;
    template <class E>
    step_value(xt::xexpression<E> const& expression) : Container(items(), {}, {})
    {
        E const& e = expression.derived_cast();
        if constexpr (is_elementwise<item, E> && is_always_row_major<Container>) {
            elementwise<item, E> const from(e);
            if (from.is_shaped_like(from.dims())) {
                allocate(from.dims());
                detail::store_items(from, this->size(), this->data());
                return;
            }
        }
        evaluate(e);
    }
    using Container::operator=;

private:
    /// Why not inline: the registers of the caller are those of the plain loop.
    template <class E>
    XLOOM_NOINLINE void evaluate(E const& e)
    {
        allocate(e.shape());
        xt::noalias(static_cast<Container&>(*this)) = e;
    }
    template <class Dims>
    void allocate(Dims const& dims)
    {
        if constexpr (is_always_row_major<Container>) // as the operator's memory
            this->storage().allocate(xt::compute_size(dims));
        this->resize(dims, true);
    }
};

template <class Container>
inline constexpr bool is_xcontainer<step_value<Container>> = true;

/// The type of value K of a step that is evaluated from an expression, where Owner would own the items: a
/// step_value for a container of xtensor's whose shape is not fixed.
template <class Owner, std::size_t K>
struct evaluated {
    using type = Owner;
};
template <class Storage, std::size_t Rank, xt::layout_type Layout, class Tag, std::size_t K>
struct evaluated<xt::xtensor_container<Storage, Rank, Layout, Tag>, K> {
    using type =
        step_value<xt::xtensor_container<step_items<typename Storage::value_type, K>, Rank, Layout, Tag>>;
};
template <class Storage, xt::layout_type Layout, class Shape, class Tag, std::size_t K>
struct evaluated<xt::xarray_container<Storage, Layout, Shape, Tag>, K> {
    using type =
        step_value<xt::xarray_container<step_items<typename Storage::value_type, K>, Layout, Shape, Tag>>;
};
template <class Container, std::size_t K>
struct evaluated<step_value<Container>, K> : evaluated<Container, K> {};

} // namespace xloom::inline XLOOM_ABI::detail
