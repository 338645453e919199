#pragma once
// Hands a body one element of an operand after the other.

#include <limits>
#include <memory>

#include <xloom/adapt/tensor.hpp>
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

/// Elements that do not lie side by side, carried to or from a buffer made once.
template <class Item>
class element_buffer {
public:
    element_buffer(strided_layout const& element, bool is_output)
        : items_(std::make_unique<Item[]>(element_count(element.dims))),
          copy_(is_output ? kernel::strided_copy(element.dims, row_major_strides(element.dims), element.steps)
                          : kernel::strided_copy(element.dims, element.steps, row_major_strides(element.dims)))
    {}

    Item* data() { return items_.get(); }
    [[gnu::noinline]] void gather(Item const* from) { copy_(from, items_.get()); }
    [[gnu::noinline]] void scatter(Item* to) const { copy_(static_cast<Item const*>(items_.get()), to); }

private:
    std::unique_ptr<Item[]> items_;
    kernel::strided_copy copy_;
};

/// Walks an operand along time. T is const for an input.
///
/// Why the buffer stands apart, and its copies out of line: while no function sees a cursor, the compiler keeps it in registers.
template <class T, class ElementShape>
class cursor {
    using item = std::remove_const_t<T>;
    static constexpr bool is_output = !std::is_const_v<T>;

public:
    cursor(T* data, kernel::time_axis const& time) : data_(data), at_(time.first), step_(time.step), view_(data, time.element.dims)
    {
        if (!is_row_major(time.element)) {
            buffer_ = std::make_unique<element_buffer<item>>(time.element, is_output);
            view_.rebind(buffer_->data());
        }
    }

    /// Before the body: makes element() the current one.
    void enter()
    {
        if (!buffer_)
            view_.rebind(data_ + at_);
        else if constexpr (!is_output)
            buffer_->gather(data_ + at_);
    }

    /// After the body.
    void leave()
    {
        if constexpr (is_output)
            if (buffer_)
                buffer_->scatter(data_ + at_);
        at_ += step_;
    }

    auto& element() { return view_; }
    /// Is it the element itself that was assigned another shape?
    bool is_own(element_reshaped const& found) const { return found.view() == &view_; }
    /// A copy of it? An outer operator's element can begin at the same item, but not have the same shape.
    bool is_copy(element_reshaped const& found) const
    {
        return found.data() == view_.data() && std::equal(found.is().begin(), found.is().end(), view_.shape().begin(), view_.shape().end());
    }

private:
    T* data_;
    std::ptrdiff_t at_;
    std::ptrdiff_t step_;
    basic_element_view<T, ElementShape> view_;
    std::unique_ptr<element_buffer<item>> buffer_{};
};

template <class T>
class cursor<T, item_element> {
public:
    cursor(T* data, kernel::time_axis const& time) : data_(data), at_(time.first), step_(time.step) {}

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

/// The cursor type of an operand X (const for an input).
template <class X, bool LeadingAxis>
using cursor_for = cursor<std::conditional_t<std::is_const_v<X>, item_t<X> const, item_t<X>>,
    typename element_shape<shape_type_t<bare<X>>, LeadingAxis>::type>;

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
