#pragma once
// Copies between two layouts of one shape, planned once and run many times.

#include <xloom/core/layout.hpp>

namespace xloom::kernel {

/// Assigns the items of one strided array to those of another of the same shape.
/// Axes of length 1 are dropped and axes that lie side by side on both sides are merged, so that most copies are one or two loops.
/// Cost: each item read once and written once. Allocates nothing.
class strided_copy {
public:
    constexpr strided_copy(shape const& dims, strides const& from, strides const& to)
    {
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            if (dims[axis] == 0)
                empty_ = true;
            if (dims[axis] == 1)
                continue;
            if (!dims_.empty() && continues(from_.back(), from[axis], dims[axis]) && continues(to_.back(), to[axis], dims[axis])) {
                dims_.back() *= dims[axis];
                from_.back() = from[axis];
                to_.back() = to[axis];
            } else {
                dims_.push_back(dims[axis]);
                from_.push_back(from[axis]);
                to_.push_back(to[axis]);
            }
        }
        if (dims_.empty()) {
            dims_.push_back(1);
            from_.push_back(1);
            to_.push_back(1);
        }
    }

    template <class T>
    void operator()(T const* from, T* to) const
    {
        if (!empty_)
            copy(0, from, to);
    }

private:
    static constexpr bool continues(std::ptrdiff_t outer, std::ptrdiff_t inner, std::size_t inner_dim)
    {
        return outer == inner * static_cast<std::ptrdiff_t>(inner_dim);
    }

    /// Why contiguous items too are copied by a loop: std::copy_n calls memmove, which costs more than a row of a small element.
    template <class T>
    void copy(std::size_t axis, T const* from, T* to) const
    {
        std::size_t const count = dims_[axis];
        std::ptrdiff_t const from_step = from_[axis];
        std::ptrdiff_t const to_step = to_[axis];
        if (axis + 1 < dims_.size())
            for (std::size_t i = 0; i < count; ++i, from += from_step, to += to_step)
                copy(axis + 1, from, to);
        else if (from_step == 1 && to_step == 1)
            for (std::size_t i = 0; i < count; ++i)
                to[i] = from[i];
        else
            for (std::size_t i = 0; i < count; ++i, from += from_step, to += to_step)
                *to = *from;
    }

    shape dims_{};
    strides from_{};
    strides to_{};
    bool empty_ = false;
};

} // namespace xloom::kernel
