#pragma once
// The checked indices of ScatterND and GatherND.

#include <cstddef>
#include <string_view>

#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/kernel/offsets.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The time at which indices are checked: before anything is written, or block by block right before their
/// use, where nobody sees what was written if one is wrong. The latter saves a pass over the indices.
enum class index_check : unsigned char { before_use, by_block };

/// The form of indices: tuples, whose indices are along the last axis, or single ones.
enum class index_form : unsigned char { tuples, single };

/// The indices of a call, in row-major order and checked once. Scatter, gather and their derivatives read the
/// same object: a slice that gather reads is the slice that its derivative adds to.
template <class Indices>
class checked_indices {
public:
    using index = item_t<Indices>;

    /// Indices of the axes of data whose lengths and strides are `axes`, the first of which is `first_axis`.
    /// Requires a last axis of `indices` that has one index for each of them; with index_form::single one
    /// axis.
    ///
    /// Errors    index_error: an index that `rule` does not permit (bounds::assume in debug builds only), or
    ///           bounds::clip to an axis of length 0. With index_check::by_block, bounds::check leaves it to
    ///           the caller to call require_checked() where a reader finds such an index, or before use.
    checked_indices(indexed_names const& op, Indices const& indices, strided_layout const& axes,
        std::size_t first_axis, bounds rule, index_check when = index_check::before_use,
        index_form form = index_form::tuples)
        : op_(op), shape_(detail::shape_of(indices)), items_(indices), rule_(rule), form_(form)
    {
        tuples_ = {items_.data(), element_count(front()), axes, first_axis};
#ifndef NDEBUG
        if (rule == bounds::assume)
            require_in_range();
#endif
        if (rule == bounds::check && when == index_check::before_use) {
            tuples_.signs = kernel::signs_of(tuples_, 0, tuples_.count);
            if (tuples_.signs == kernel::index_signs::out_of_range)
                fail_out_of_range();
            rule_ = bounds::assume;
        }
        check_clip();
    }

    /// Requires that every index is within its axis.
    ///
    /// Errors    index_error.
    void require_in_range() const
    {
        if (!kernel::are_in_range(tuples_))
            fail_out_of_range();
    }

    /// Requires that every index is within its axis, if that was not checked.
    ///
    /// Errors    index_error.
    void require_checked() const
    {
        if (rule_ == bounds::check)
            require_in_range();
    }

    /// Returns the rule for readers of the offsets: indices that were checked are not checked again.
    bounds rule() const { return rule_; }

    std::size_t count() const { return tuples_.count; }

    /// Returns the shape of the indices, if they are tuples without its last axis: an update or output
    /// element has a position in it.
    xloom::shape front() const
    {
        return form_ == index_form::single ? shape_ : drop_axis(shape_, shape_.size() - 1);
    }

    /// Returns the index tuples; their offsets have the unit of the strides that the constructor received.
    kernel::index_tuples<index> const& tuples() const { return tuples_; }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const
    {
        kernel::index_tuples<index> placed = tuples_;
        auto const first = steps.begin() + static_cast<std::ptrdiff_t>(tuples_.first_axis);
        placed.axes.strides = strides(first, first + static_cast<std::ptrdiff_t>(tuples_.width()));
        return placed;
    }

    /// Returns a reader of the tuples' offsets. The reader must not outlive this object.
    kernel::offset_reader reader(kernel::position_offsets const& positions = {}) const
    {
        return {tuples_, rule_, positions};
    }

private:
    [[noreturn]] void fail_out_of_range() const
    {
        fail<index_error>(op_, ": an index into an axis of length d must be in [-d, d - 1], but ",
            describe_outside(), ". Correct it, or choose bounds::drop or bounds::clip.");
    }

    void check_clip() const
    {
        if (rule_ != bounds::clip || tuples_.count == 0)
            return;
        for (std::size_t axis = 0; axis < tuples_.width(); ++axis)
            if (tuples_.axes.dims[axis] == 0)
                fail<index_error>(op_, ": an index can be clipped to an axis that has items only, but axis ",
                    tuples_.first_axis + axis, " of ", op_.data, " has length 0. Choose bounds::drop.");
    }

    /// Returns the positions and values of all indices outside their axes.
    fact_list describe_outside() const
    {
        fact_list outside;
        for (std::size_t flat = 0; flat < tuples_.count * tuples_.width(); ++flat) {
            std::size_t const axis = flat % tuples_.width();
            std::size_t const length = tuples_.axes.dims[axis];
            if (!kernel::is_index(tuples_.first[flat], length))
                outside.add("indices", unravel(flat, shape_), " is ", tuples_.first[flat], " (axis ",
                    tuples_.first_axis + axis, " of length ", length, ")");
        }
        return outside;
    }

    indexed_names op_;
    xloom::shape shape_;
    row_major_items<Indices> items_;
    bounds rule_;
    index_form form_;
    kernel::index_tuples<index> tuples_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
