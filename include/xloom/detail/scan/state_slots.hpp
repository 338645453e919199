#pragma once
// Memory for several values of one state.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <xloom/detail/scan/element_buffer.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Slots for values of a state whose shape does not change: the items of all values in one block.
template <class State>
class packed_slots {
    using item = item_t<State>;

public:
    /// Allocates memory for `count` values of this shape, if it is not there. Existing values are lost.
    void reserve(std::string_view op, std::size_t count, State const& like)
    {
        shape_ = detail::shape_of(like);
        size_ = element_count(shape_);
        if (!has_strides({count, size_}, sizeof(item)))
            fail<option_error>(op, ": the states that are kept must fit in memory, but there are ", count,
                " of the shape ", shape_, ". Keep fewer, for example with checkpoint::sqrt().");
        if (items_.size() < count * size_)
            items_.resize(count * size_);
    }

    shape const& state_shape() const { return shape_; }
    std::size_t bytes() const { return items_.size() * sizeof(item); }

    template <class Value>
    void save(std::size_t slot, Value const& value)
    {
        if constexpr (!tensor<Value>)
            items_[slot] = value;
        else if constexpr (is_always_row_major<Value>)
            std::copy_n(enable_tensor<Value>::data(value), size_, at(slot));
        else
            kernel::strided_copy(shape_, detail::layout_of(value).strides, row_major_strides(shape_))(
                enable_tensor<Value>::data(value), at(slot));
    }

    void load(std::size_t slot, State& value)
    {
        if constexpr (!tensor<State>)
            value = items_[slot];
        else if constexpr (is_always_row_major<State>)
            std::copy_n(at(slot), size_, enable_tensor<State>::data(value));
        else
            kernel::strided_copy(shape_, row_major_strides(shape_), detail::layout_of(value).strides)(
                static_cast<item const*>(at(slot)), enable_tensor<State>::data(value));
    }

    /// Requires that a state has the shape of the slots after an iteration that was run again.
    void require_shape(std::string_view op, std::size_t i, State const& value) const
    {
        if (!detail::is_shaped_like(value, shape_))
            fail<body_error>(op, ": a body that runs an iteration again must do the same, but states[", i,
                "] was ", shape_, " and the body made it ", detail::describe_shape(value),
                ". Return a value of the original shape.");
    }

    /// Moves the value of one slot to an earlier one.
    void move(std::size_t from, std::size_t to) { std::copy_n(at(from), size_, at(to)); }

private:
    item* at(std::size_t slot) { return items_.data() + slot * size_; }

    shape shape_{};
    std::size_t size_ = 0;
    item_buffer<item> items_{};
};

/// Slots for values of any type, whose shapes may change: a loop's carried values.
template <class State>
class value_slots {
public:
    void reserve(std::string_view, std::size_t, State const&) {}

    void save(std::size_t slot, State const& value)
    {
        if (slot == values_.size())
            values_.push_back(value);
        else
            values_[slot] = value;
    }
    void load(std::size_t slot, State& value) { value = values_[slot]; }
    void require_shape(std::string_view, std::size_t, State const&) const {}
    /// Moves the value of one slot to an earlier one. Both keep memory for another value.
    void move(std::size_t from, std::size_t to)
    {
        auto const first = values_.begin();
        std::iter_swap(first + static_cast<std::ptrdiff_t>(to), first + static_cast<std::ptrdiff_t>(from));
    }

private:
    std::vector<State> values_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
