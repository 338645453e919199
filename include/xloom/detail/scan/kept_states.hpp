#pragma once
// The states that a forward pass keeps, their memory, and the backward pass over the iterations between them.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/detail/check/cotangents.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/checkpoint.hpp>
#include <xloom/detail/core/movable_value.hpp>
#include <xloom/detail/scan/element_buffer.hpp>
#include <xloom/detail/scan/step.hpp>
#include <xloom/detail/tensor/operand_tuple.hpp>
#include <xloom/detail/tensor/tensor.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Throws body_error for a state to which an iteration that was run again gave another shape.
[[noreturn]] inline void fail_repeated(
    std::string_view op, std::size_t i, shape const& was, std::string_view is)
{
    fail<body_error>(op, ": a body that runs an iteration again must do the same, but states[", i, "] was ",
        was, " and the body made it ", is, ". Return a value of the original shape.");
}

/// Slots for values of a state whose shape does not change: the items of all values in one block.
template <class State>
class packed_slots {
    using item = item_t<State>;

public:
    /// Allocates memory for `count` values of this shape, if it is not there. Existing values are lost.
    ///
    /// Errors    shape_error: as check_kept_states.
    void reserve(std::string_view op, std::size_t count, State const& like)
    {
        shape_ = detail::shape_of(like);
        size_ = element_count(shape_);
        check_kept_states(op, count, shape_, sizeof(item), "Keep fewer, for example with checkpoint::sqrt()");
        if (items_.size() < count * size_)
            items_.resize(count * size_);
    }

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

    /// Gives a value that a body may have left without its memory the shape of the slots.
    void remake(State& value) const
    {
        if constexpr (tensor<State>)
            value = enable_tensor<State>::make(shape_);
    }
    /// Requires that `value` has the shape of the slots.
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
    void check_shape(std::string_view op, std::size_t i, State const& value) const
    {
        if (!detail::is_shaped_like(value, shape_))
            fail_repeated(op, i, shape_, detail::describe_shape(value));
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

    template <class Value>
    void save(std::size_t slot, Value const& value)
    {
        if (slot == values_.size())
            values_.push_back({detail::to_owned(value)});
        else
            detail::assign_carried(values_[slot].value, value);
    }
    void remake(State&) const {}
    void load(std::size_t slot, State& value) { value = values_[slot].value; }
    void check_shape(std::string_view, std::size_t, State const&) const {}
    /// Returns the initial value, which is kept if there was an iteration.
    State const& first() const { return values_.front().value; }
    /// Moves the value of one slot to an earlier one. Both keep memory for another value.
    void move(std::size_t from, std::size_t to)
    {
        auto const first = values_.begin();
        std::iter_swap(first + static_cast<std::ptrdiff_t>(to), first + static_cast<std::ptrdiff_t>(from));
    }

private:
    struct held_value { // a std::vector<bool> would have no references to its values
        State value;
    };
    std::vector<held_value> values_{};
};

template <template <class> class Slots, class Leaves>
struct slots_of_leaves;
template <template <class> class Slots, class... Xs>
struct slots_of_leaves<Slots, std::tuple<Xs&...>> {
    using type = std::tuple<Slots<Xs>...>;
};

/// The states before some iterations of a forward pass, by the rules of a checkpoint. State holds
/// owned values, Slots the memory of one of them.
template <template <class> class Slots, class State>
class kept_states {
    using slot_tuple = typename slots_of_leaves<Slots, leaves_t<State>>::type;
    static constexpr std::size_t none = (std::numeric_limits<std::size_t>::max)();

public:
    explicit kept_states(checkpoint const& policy) : policy_(policy) {}

    /// Begins a forward pass of `length` iterations or, if that is not exact, of at most that many.
    void start(std::string_view op, std::size_t length, bool is_exact)
    {
        op_ = op;
        is_finished_ = false;
        length_ = length;
        iteration_ = next_ = kept_ = 0;
        stride_ = policy_.policy() == checkpoint::kind::sqrt ? ceil_sqrt(length) : 1;
        capacity_ = capacity_for(length);
        is_exact_ = is_exact;
    }

    /// Notes the states before the next iteration.
    template <class... Xs>
    void visit(std::tuple<Xs...> const& states)
    {
        if (iteration_ == next_)
            keep(states);
        ++iteration_;
    }

    /// Ends the forward pass.
    void finish()
    {
        length_ = iteration_;
        is_finished_ = true;
    }

    checkpoint::kind policy() const { return policy_.policy(); }
    bool is_finished() const { return is_finished_; }
    /// Returns the number of iterations of the forward pass.
    std::size_t length() const { return length_; }
    slot_tuple const& state_slots() const { return slots_; }

    /// Calls pull(t, states before iteration t) for every iteration t, from the last to the first.
    /// advance(states, begin, end) must run the iterations begin .. end - 1 on the states. Afterwards only
    /// the initial states are kept.
    template <class Advance, class Pull>
    void reverse(std::string_view op, Advance const& advance, Pull const& pull)
    {
        std::size_t loaded = none; // the iteration before which the states in current_ are
        for (std::size_t end = length_; end != 0;) {
            std::size_t const begin = iterations_[kept_ - 1];
            State& current = *current_;
            if (loaded != begin)
                load_newest();
            loaded = none; // until nothing has thrown
            if (end - begin == 1) {
                pull(begin, std::as_const(current));
                loaded = begin;
                --end;
                if (begin != 0)
                    --kept_;
            } else if (kept_ == capacity_ || end - begin == 2) {
                --end;
                run_again(op, advance, begin, end);
                pull(end, std::as_const(current));
            } else {
                loaded = begin + binomial_advance(end - begin, capacity_ - kept_ + 1);
                run_again(op, advance, begin, loaded);
                save(loaded, detail::leaves(current));
            }
        }
    }

private:
    /// Runs the iterations begin .. end - 1 on the states in current_.
    template <class Advance>
    void run_again(std::string_view op, Advance const& advance, std::size_t begin, std::size_t end)
    {
        is_current_usable_ = false; // until nothing has thrown
        advance(*current_, begin, end);
        check_shapes(op);
        is_current_usable_ = true;
    }

    std::size_t capacity_for(std::size_t length) const
    {
        switch (policy_.policy()) {
        case checkpoint::kind::all:
            return length;
        case checkpoint::kind::sqrt:
            return length == 0 ? 0 : ceil_div(length, stride_) + stride_ - 1;
        default:
            return (std::min)(policy_.count(), length);
        }
    }

    template <class... Xs>
    void keep(std::tuple<Xs...> const& states)
    {
        if (kept_ == 0)
            open(states);
        if (policy_.policy() == checkpoint::kind::online && kept_ == (capacity_ + 1) / 2) {
            halve();
            if (iteration_ % stride_ != 0) {
                next_ = iteration_ - iteration_ % stride_ + stride_;
                return;
            }
        }
        save(iteration_, states);
        next_ = next_kept();
    }

    /// Drops every second state, so that half of the memory stays free for the iterations between two.
    void halve()
    {
        for (std::size_t i = 1; 2 * i < kept_; ++i) {
            detail::for_each_leaf(slots_, [&](auto, auto& each) { each.move(2 * i, i); });
            iterations_[i] = iterations_[2 * i];
        }
        kept_ = (kept_ + 1) / 2;
        stride_ *= 2;
    }

    std::size_t next_kept() const
    {
        if (policy_.policy() != checkpoint::kind::binomial)
            return iteration_ + stride_;
        std::size_t const left = length_ - iteration_;
        if (kept_ == capacity_ || left < 2)
            return none;
        return iteration_ + binomial_advance(left, capacity_ - kept_ + 1);
    }

    template <class... Xs>
    void open(std::tuple<Xs...> const& states)
    {
        if (is_current_usable_) // the memory of an earlier call
            detail::for_each_leaf(states, [&](auto i, auto const& state) {
                detail::assign_carried(std::get<i>(detail::leaves(*current_)), state);
            });
        else
            std::apply([&](auto const&... state) { current_.emplace(detail::to_owned(state)...); }, states);
        is_current_usable_ = true;
        detail::for_each_leaf(slots_, [&](auto i, auto& each) {
            each.reserve(op_, capacity_, std::get<i>(detail::leaves(*current_)));
        });
        if (is_exact_)
            iterations_.reserve(capacity_); // the loop allocates nothing
    }

    template <class... Xs>
    void save(std::size_t iteration, std::tuple<Xs...> const& states)
    {
        detail::for_each_leaf(slots_, [&](auto i, auto& each) { each.save(kept_, std::get<i>(states)); });
        if (kept_ == iterations_.size())
            iterations_.push_back(iteration);
        else
            iterations_[kept_] = iteration;
        ++kept_;
    }

    void check_shapes(std::string_view op) const
    {
        detail::for_each_leaf(slots_, [&](auto i, auto const& each) {
            each.check_shape(op, i, std::get<i>(detail::leaves(*current_)));
        });
    }

    void load_newest()
    {
        detail::for_each_leaf(slots_, [&](auto i, auto& each) {
            auto& state = std::get<i>(detail::leaves(*current_));
            if (!is_current_usable_)
                each.remake(state);
            each.load(kept_ - 1, state);
        });
        is_current_usable_ = true;
    }

    checkpoint policy_;
    std::string_view op_{};
    slot_tuple slots_{};
    std::vector<std::size_t> iterations_{}; ///< before which the states of the slots are
    std::optional<State> current_{};
    std::size_t capacity_ = 0;
    std::size_t kept_ = 0;
    std::size_t length_ = 0;
    std::size_t stride_ = 1;
    std::size_t iteration_ = 0; ///< the next one of the forward pass
    std::size_t next_ = 0;      ///< the next iteration before which the states are kept
    bool is_exact_ = true;
    /// current_ has states; not after a move, or where a body threw and may have moved one away.
    movable_value<bool> is_current_usable_{};
    movable_value<bool> is_finished_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
