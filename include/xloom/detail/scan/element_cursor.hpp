#pragma once
// Cursors over the elements of an operand along time, and the states and shapes that go with them.

#include <limits>
#include <memory>

#include <xloom/detail/kernel/strided_copy.hpp>
#include <xloom/detail/scan/element_buffer.hpp>
#include <xloom/detail/tensor/strided_element.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The element type of an operand of static rank 1: one item. Other operands' elements are views, given by a
/// shape type.
struct item_element {};

/// The shape type of elements that a body takes where they are, as strided_element.
template <std::size_t Rank>
struct strided_shape {};

/// Returns the view of an element at `data`.
template <class T, class ElementShape>
basic_element_view<T, ElementShape> make_element(T* data, strided_layout const& layout, ElementShape const*)
{
    return {data, layout.dims};
}
template <class T, std::size_t Rank>
strided_element<T, Rank> make_element(T* data, strided_layout const& layout, strided_shape<Rank> const*)
{
    return {data, layout};
}

/// The shape type of an operand's elements. The time axis is axis 0 (LeadingAxis) or known at run time only.
template <class Shape, bool LeadingAxis>
struct element_shape {
    using type = xt::dynamic_shape<std::size_t>;
};
template <class Size, std::size_t Rank, bool LeadingAxis>
struct element_shape<std::array<Size, Rank>, LeadingAxis> {
    using type =
        std::conditional_t<Rank <= 1, item_element, std::array<std::size_t, Rank == 0 ? 0 : Rank - 1>>;
};
template <std::size_t First, std::size_t... Rest>
struct element_shape<xt::fixed_shape<First, Rest...>, true> {
    using type = std::conditional_t<sizeof...(Rest) == 0, item_element, xt::fixed_shape<Rest...>>;
};
template <std::size_t... Dims>
struct element_shape<xt::fixed_shape<Dims...>, false>
    : element_shape<std::array<std::size_t, sizeof...(Dims)>, false> {};

/// The place of the current element of an operand along time.
template <class T>
class cursor_position {
public:
    /// Makes element t the one that enter() makes current.
    void seek(std::size_t t) { at_ = first_ + static_cast<std::ptrdiff_t>(t) * stride_; }

    /// Makes element t of the operand at `data`, which has the same layout, the one that enter() makes
    /// current.
    void move_to(T* data, std::size_t t)
    {
        data_ = data;
        seek(t);
    }

    /// Initialises every element of an output from the tensor; those without a buffer are in the tensor.
    void start_from_input() {}

    /// Advances to the next element; called after the body.
    void leave() { at_ += stride_; }

protected:
    cursor_position(T* data, kernel::time_axis const& time)
        : data_(data), first_(time.first), at_(time.first), stride_(time.stride)
    {}

    T* current() const { return data_ + at_; }

private:
    T* data_;
    std::ptrdiff_t first_;
    std::ptrdiff_t at_;
    std::ptrdiff_t stride_;
};

/// A cursor over the elements of an operand along time. Each element's items are contiguous, unless
/// ElementShape is a strided_shape. T is const for an input. The last arguments of the constructors, which
/// buffers need, are the number of elements, when those of an output are written back, and where the memory
/// of the buffers comes from.
template <class T, class ElementShape>
class element_cursor : public cursor_position<T> {
public:
    element_cursor(
        T* data, kernel::time_axis const& time, std::size_t, write_back = {}, scan_workspace* = nullptr)
        : cursor_position<T>(data, time),
          view_(make_element(data, time.element, static_cast<ElementShape const*>(nullptr)))
    {}

    /// Makes element() the current one; called before the body.
    void enter() { view_.rebind(this->current()); }

    auto& element() { return view_; }
    /// True if the view that was assigned another shape is this cursor's element.
    bool is_own(element_reshaped const& found) const { return found.view() == &view_; }
    /// True if the view that was assigned another shape is a copy of this cursor's element.
    bool is_copy(element_reshaped const& found) const { return found.is_of(view_.data(), view_.shape()); }

protected:
    decltype(make_element(
        std::declval<T*>(), strided_layout(), static_cast<ElementShape const*>(nullptr))) view_;
};

/// A cursor over elements whose items may be strided; strided elements are copied through a buffer.
///
/// Why the buffer is a separate object with copies out of line: the compiler keeps a cursor in registers only
/// as long as its address is not passed to a function.
template <class T, class ElementShape>
class buffered_cursor : public element_cursor<T, ElementShape> {
    using base = element_cursor<T, ElementShape>;
    using item = std::remove_const_t<T>;

public:
    buffered_cursor(T* data, kernel::time_axis const& time, std::size_t length, write_back when = {},
        scan_workspace* workspace = nullptr)
        : base(data, time, length)
    {
        if (is_row_major(time.element))
            return;
        buffer_allocator<item> const allocator(workspace);
        buffer_ = std::allocate_shared<element_buffer<T>>(allocator, data, time, length, when, allocator);
    }

    buffered_cursor(buffered_cursor&&) = default; // and no copy: a buffer has one cursor
    buffered_cursor& operator=(buffered_cursor&&) = default;

    void seek(std::size_t t)
    {
        if (buffer_)
            buffer_->seek(t);
        base::seek(t);
    }

    void move_to(T* data, std::size_t t)
    {
        if (buffer_)
            buffer_->move_to(data, t);
        base::move_to(data, t);
    }

    void enter()
    {
        if (buffer_)
            this->view_.rebind(buffer_->enter());
        else if (shared_)
            this->view_.rebind(shared_->current());
        else
            base::enter();
    }

    void leave()
    {
        if (buffer_)
            buffer_->leave();
        base::leave();
    }

    /// Initialises every element of an output from the tensor, if it has a buffer.
    void start_from_input()
    {
        if (buffer_)
            buffer_->start_from_input();
    }

    /// Makes an input refer, in every iteration, to the items in the buffer of an output of the same tensor,
    /// if the output has a buffer.
    template <class OutputShape>
    void share_buffer_of(buffered_cursor<item, OutputShape>& output)
    {
        if (!output.buffer_)
            return;
        output.start_from_input();
        shared_ = output.buffer_.get();
        buffer_.reset();
    }

private:
    template <class, class>
    friend class buffered_cursor;

    std::shared_ptr<element_buffer<T>> buffer_{};
    element_buffer<item>* shared_ = nullptr; ///< the buffer of an output that is the same tensor
};

template <class T>
class element_cursor<T, item_element> : public cursor_position<T> {
public:
    element_cursor(
        T* data, kernel::time_axis const& time, std::size_t, write_back = {}, scan_workspace* = nullptr)
        : cursor_position<T>(data, time)
    {}

    void enter() {}
    T& element() { return *this->current(); }
    bool is_own(element_reshaped const&) const { return false; }
    bool is_copy(element_reshaped const&) const { return false; }
};

template <class T, class ElementShape, bool Contiguous>
using cursor_over = std::conditional_t<(Contiguous || std::is_same_v<ElementShape, item_element>),
    element_cursor<T, ElementShape>, buffered_cursor<T, ElementShape>>;

/// True if an operand's elements are contiguous: slices along the leading axis of a row-major tensor are
/// row-major.
template <class X, bool LeadingAxis>
inline constexpr bool has_packed_elements = LeadingAxis && is_always_row_major<bare<X>>;

/// The shape type of the elements of an operand X that a body takes as contiguous or as strided ones.
template <class X, bool LeadingAxis, bool Strided>
struct element_shape_of : element_shape<shape_type_t<X>, LeadingAxis> {};
template <class X, bool LeadingAxis>
struct element_shape_of<X, LeadingAxis, true> {
    using type = std::conditional_t<enable_tensor<X>::rank == 1, item_element,
        strided_shape<enable_tensor<X>::rank - 1>>;
};

/// The cursor type of an operand X (const for an input).
template <class X, bool LeadingAxis, bool Strided = false>
using cursor_for = cursor_over<std::conditional_t<std::is_const_v<X>, item_t<X> const, item_t<X>>,
    typename element_shape_of<bare<X>, LeadingAxis, Strided>::type,
    Strided || has_packed_elements<X, LeadingAxis>>;

/// A state during a loop. Arithmetic states are kept in a local copy and written back by the destructor, also
/// during unwinding: through the caller's reference the compiler would have to store and reload the state
/// around every write to an output.
template <class State>
class local_state {
public:
    explicit local_state(State& state) : state_(state) {}
    State& get() { return state_; }

private:
    State& state_;
};
template <class State>
    requires std::is_arithmetic_v<State>
class local_state<State> {
public:
    explicit local_state(State& state) : target_(state), value_(state) {}
    local_state(local_state const&) = delete;
    ~local_state() { target_ = value_; }
    State& get() { return value_; }

private:
    State& target_;
    State value_;
};

/// The states of a loop, each a local_state.
template <class... States>
class local_states {
public:
    explicit local_states(std::tuple<States&...> const& states) : held_(states) {}

    /// Returns the states as a body's arguments.
    std::tuple<States&...> get()
    {
        return std::apply([](auto&... state) { return std::tuple<States&...>(state.get()...); }, held_);
    }

private:
    std::tuple<local_state<States>...> held_;
};

/// Fills an output element, an item or a view, with NaN in debug builds, so that one that the body does not
/// write is noticed.
template <class Item>
void poison([[maybe_unused]] Item& item)
{
#ifndef NDEBUG
    if constexpr (std::numeric_limits<Item>::has_quiet_NaN)
        item = std::numeric_limits<Item>::quiet_NaN();
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

template <std::size_t Axis = 0, class T, std::size_t Rank>
void poison_from([[maybe_unused]] strided_element<T, Rank> const& element, [[maybe_unused]] T* first)
{
#ifndef NDEBUG
    if constexpr (Axis == Rank)
        detail::poison(*first);
    else
        for (std::size_t i = 0; i < element.shape(Axis); ++i)
            detail::poison_from<Axis + 1>(
                element, first + static_cast<std::ptrdiff_t>(i) * element.strides()[Axis]);
#endif
}
template <class T, std::size_t Rank>
void poison(strided_element<T, Rank>& element)
{
    detail::poison_from(element, element.data());
}

/// The shape that a state must keep; not stored for scalars and fixed shapes.
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
    explicit shape_guard(State const& state) : expected_(detail::extents_of(state)) {}
    bool holds(State const& state) const { return detail::is_shaped_like(state, expected_); }
    shape expected() const { return {expected_.begin(), expected_.end()}; }

private:
    extents_t<State> expected_;
};

} // namespace xloom::inline XLOOM_ABI::detail
