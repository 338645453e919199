#pragma once
// Hands a body one element of an operand after the other.

#include <cstdlib>
#include <limits>
#include <memory>

#include <xloom/adapt/tensor.hpp>
#include <xloom/core/cache.hpp>
#include <xloom/kernel/strided_copy.hpp>
#include <xloom/kernel/time_axis.hpp>

namespace xloom::detail {

/// What an element is: of a statically rank-1 operand one item, otherwise a view with this shape type.
struct item_element {};

/// The element of an operand whose time axis is known at run time only, or (LeadingAxis) is axis 0.
template <class Shape, bool LeadingAxis>
struct element_shape {
    using type = xt::dynamic_shape<std::size_t>;
};
template <class Size, std::size_t Rank, bool LeadingAxis>
struct element_shape<std::array<Size, Rank>, LeadingAxis> {
    using type = std::conditional_t<Rank <= 1, item_element, std::array<std::size_t, Rank == 0 ? 0 : Rank - 1>>;
};
template <std::size_t First, std::size_t... Rest>
struct element_shape<xt::fixed_shape<First, Rest...>, true> {
    using type = std::conditional_t<sizeof...(Rest) == 0, item_element, xt::fixed_shape<Rest...>>;
};
template <std::size_t... Dims>
struct element_shape<xt::fixed_shape<Dims...>, false> : element_shape<std::array<std::size_t, sizeof...(Dims)>, false> {};

/// Carries elements whose items do not lie side by side to or from a buffer made once. T is const for an input.
///
/// Why several at a time, an input's ahead and an output's afterwards: neighbours in time that share a cache line then fetch it once.
template <class T>
class element_buffer {
    using item = std::remove_const_t<T>;
    static constexpr bool is_output = !std::is_const_v<T>;

public:
    /// `length` counts the elements of an input; an output does not need it.
    element_buffer(T* data, kernel::time_axis const& time, std::size_t length)
        : time_(time),
          next_(data + time.first),
          left_(length),
          element_size_(element_count(time.element.dims)),
          capacity_(neighbours(time.step, element_size_)),
          items_(xt::xtensor<item, 1>::from_shape({capacity_ * element_size_})),
          copy_(copy_of(capacity_))
    {}
    element_buffer(element_buffer const&) = delete;
    element_buffer& operator=(element_buffer const&) = delete;

    /// Copies the elements that were left to the output, also when the body throws.
    ~element_buffer() { scatter(); }

    /// The current element.
    item* enter()
    {
        if (!is_output && position_ == filled_)
            gather();
        return items_.data() + position_ * element_size_;
    }

    void leave()
    {
        ++position_;
        if (is_output && position_ == capacity_)
            scatter();
    }

private:
    /// The elements that share a cache line; 1 where copying items may throw, since the destructor copies.
    static std::size_t neighbours(std::ptrdiff_t step, std::size_t element_size)
    {
        constexpr std::size_t most_bytes = std::size_t{1} << 20;
        if (!std::is_trivially_copyable_v<item> || step == 0 || element_size == 0)
            return 1;
        std::size_t const in_a_line = cache_line / sizeof(item) / static_cast<std::size_t>(std::abs(step));
        return std::max<std::size_t>(1, (std::min)(in_a_line, most_bytes / sizeof(item) / element_size));
    }

    kernel::strided_copy copy_of(std::size_t count) const { return is_output ? time_.scattering(count) : time_.gathering(count); }

    /// Copies the next `count` elements. Where copying an item throws, they are given up: the destructor must not copy them again.
    void carry(std::size_t count, item const* from, item* to)
    {
        position_ = 0;
        if (count < capacity_)
            copy_of(count)(from, to);
        else
            copy_(from, to);
        next_ += time_.step * static_cast<std::ptrdiff_t>(count);
    }

    [[gnu::noinline]] void gather()
    {
        filled_ = (std::min)(capacity_, left_);
        left_ -= filled_;
        carry(filled_, next_, items_.data());
    }

    [[gnu::noinline]] void scatter()
    {
        if constexpr (is_output)
            carry(position_, items_.data(), next_);
    }

    kernel::time_axis time_;
    T* next_;
    std::size_t left_;
    std::size_t element_size_;
    std::size_t capacity_;
    xt::xtensor<item, 1> items_; ///< aligned as xtensor's own
    kernel::strided_copy copy_;
    std::size_t position_ = 0;
    std::size_t filled_ = 0;
};

/// Walks an operand along time, where each element's items lie side by side. T is const for an input.
/// The last argument of the constructors is the number of elements.
template <class T, class ElementShape>
class cursor {
public:
    cursor(T* data, kernel::time_axis const& time, std::size_t)
        : data_(data), at_(time.first), step_(time.step), view_(data, time.element.dims)
    {}

    /// Before the body: makes element() the current one.
    void enter() { view_.rebind(data_ + at_); }

    /// After the body.
    void leave() { at_ += step_; }

    auto& element() { return view_; }
    /// Is it the element itself that was assigned another shape?
    bool is_own(element_reshaped const& found) const { return found.view() == &view_; }
    /// A copy of it? An outer operator's element can begin at the same item, but not have the same shape.
    bool is_copy(element_reshaped const& found) const
    {
        return found.data() == view_.data() && std::equal(found.is().begin(), found.is().end(), view_.shape().begin(), view_.shape().end());
    }

protected:
    T* data_;
    std::ptrdiff_t at_;
    std::ptrdiff_t step_;
    basic_element_view<T, ElementShape> view_;
};

/// The same where they may lie apart: such elements are carried through a buffer.
///
/// Why the buffer stands apart, and its copies out of line: while no function sees a cursor, the compiler keeps it in registers.
template <class T, class ElementShape>
class buffered_cursor : public cursor<T, ElementShape> {
    using base = cursor<T, ElementShape>;

public:
    buffered_cursor(T* data, kernel::time_axis const& time, std::size_t length) : base(data, time, length)
    {
        if (!is_row_major(time.element))
            buffer_ = std::make_unique<element_buffer<T>>(data, time, length);
    }

    void enter()
    {
        if (buffer_)
            this->view_.rebind(buffer_->enter());
        else
            base::enter();
    }

    void leave()
    {
        if (buffer_)
            buffer_->leave();
        base::leave();
    }

private:
    std::unique_ptr<element_buffer<T>> buffer_{};
};

template <class T>
class cursor<T, item_element> {
public:
    cursor(T* data, kernel::time_axis const& time, std::size_t) : data_(data), at_(time.first), step_(time.step) {}

    void enter() {}
    void leave() { at_ += step_; }
    T& element() { return data_[at_]; }
    bool is_own(element_reshaped const&) const { return false; }
    bool is_copy(element_reshaped const&) const { return false; }

private:
    T* data_;
    std::ptrdiff_t at_;
    std::ptrdiff_t step_;
};

template <class T, class ElementShape, bool Contiguous>
using cursor_over = std::conditional_t<(Contiguous || std::is_same_v<ElementShape, item_element>), cursor<T, ElementShape>,
    buffered_cursor<T, ElementShape>>;

/// Slices across the leading axis of a row-major tensor are row-major.
template <class X, bool LeadingAxis>
inline constexpr bool has_packed_elements = LeadingAxis&& is_always_row_major<bare<X>>;

/// The cursor type of an operand X (const for an input).
template <class X, bool LeadingAxis>
using cursor_for = cursor_over<std::conditional_t<std::is_const_v<X>, item_t<X> const, item_t<X>>,
    typename element_shape<shape_type_t<bare<X>>, LeadingAxis>::type, has_packed_elements<X, LeadingAxis>>;

/// A state while a loop runs. An arithmetic one lives in a local variable and goes home at the end, also when the body throws:
/// through the caller's reference the compiler would have to store and reload it around every write to an output.
template <class State>
class held_state {
public:
    explicit held_state(State& state) : state_(state) {}
    State& get() { return state_; }

private:
    State& state_;
};
template <class State>
    requires std::is_arithmetic_v<State>
class held_state<State> {
public:
    explicit held_state(State& state) : home_(state), value_(state) {}
    held_state(held_state const&) = delete;
    ~held_state() { home_ = value_; }
    State& get() { return value_; }

private:
    State& home_;
    State value_;
};

/// In debug builds an output element that the body forgets to write stands out.
template <class T>
void poison([[maybe_unused]] T& item)
{
#ifndef NDEBUG
    if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        item = std::numeric_limits<T>::quiet_NaN();
#endif
}
template <class T, class Shape>
void poison([[maybe_unused]] basic_element_view<T, Shape>& element)
{
#ifndef NDEBUG
    if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        element = std::numeric_limits<T>::quiet_NaN();
#endif
}

/// Remembers the shape that a state must keep; of scalars and fixed shapes there is nothing to remember.
template <class State>
class shape_guard {
public:
    explicit shape_guard(State const&) {}
    bool holds(State const&) const { return true; }
    shape expected() const { return {}; }
};

template <tensor State>
    requires(!is_fixed_shape<shape_type_t<State>>)
class shape_guard<State> {
public:
    explicit shape_guard(State const& state) : expected_(extents_of(state)) {}
    bool holds(State const& state) const { return is_shaped_like(state, expected_); }
    shape expected() const { return {expected_.begin(), expected_.end()}; }

private:
    extents_t<State> expected_;
};

} // namespace xloom::detail
