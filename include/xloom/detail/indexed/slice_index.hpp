#pragma once
// The index of a gather, a scatter or a derivative: which slices of data its indices are about, and their
// offsets.

#include <cstddef>
#include <string>
#include <vector>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/kernel/offsets.hpp>
#include <xloom/detail/kernel/repeated_offset.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The slices of a tensor at an index: their offsets in the tensor's memory, and their layout.
struct slices_in_memory {
    kernel::offset_reader read;
    strided_layout slice;

    std::size_t slice_size() const { return element_count(slice.dims); }
};

/// The time at which indices are checked: before anything is written, or block by block right before their
/// use, if data is a private copy, so that a failed check leaves no trace. The latter saves a pass over them.
enum class index_check : unsigned char { before_use, by_block };

/// The indices of a call, in row-major order and checked once, and the slices of data that they are about.
/// Gathers, scatters and their derivatives read the same object: a slice that a gather reads is the slice
/// that its derivative adds to.
template <std::integral Index>
class slice_index {
public:
    /// Indices of the axes that `indexed` says, of data of the shape `data`.
    ///
    /// Errors    shape_error: a size overflows. option_error: `rule` is no enumerator. index_error: an index
    ///           that it does not permit (bounds::assume in debug builds only), or bounds::clip to an axis of
    ///           length 0. With index_check::by_block, bounds::check leaves it to the caller to call
    ///           require_checked() where a reader finds such an index, or before use.
    template <class Indices>
    slice_index(indexed_names const& op, shape const& data, Indices const& indices,
        indexed_shape const& indexed, bounds rule, index_check when = index_check::before_use)
        : op_(op),
          data_(check_operand_size(op, op.data, data, 1)), // in items: their type is not known here
          shape_(check_operand_size(op, "indices", detail::shape_of(indices), sizeof(Index))),
          form_(indexed.form),
          first_(indexed.first),
          last_(indexed.last),
          rule_(rule),
          items_(indices),
          count_(element_count(front()))
    {
        check_bounds(op, rule);
#ifndef NDEBUG
        if (rule == bounds::assume)
            require_in_range();
#endif
        if (rule == bounds::check && when == index_check::before_use) {
            signs_ = kernel::signs_of(items_.data(), count_, lengths());
            if (signs_ == kernel::index_signs::out_of_range)
                fail_out_of_range();
            rule_ = bounds::assume;
        }
        check_clip();
    }

    /// Requires that every index is within its axis, if that was not checked.
    ///
    /// Errors    index_error.
    void require_checked() const
    {
        if (rule_ == bounds::check)
            require_in_range();
    }

    /// Requires that the slices comply with duplicates::error and, in debug builds, with the promises unique
    /// and sorted.
    ///
    /// Errors    index_error: the first offending index, and the preceding one.
    void require_distinct(scatter_rules const& rules) const
    {
        if (rules.duplicates == duplicates::error)
            if (auto const pair = kernel::find_repeated(reader(), slices()))
                fail<index_error>(op_, ": with duplicates::error a slice may be named once, but ",
                    describe(*pair), ". Choose duplicates::last.");
#ifndef NDEBUG
        if (rules.unique)
            if (auto const pair = kernel::find_repeated(reader(), slices()))
                fail<index_error>(op_, ": indices must keep the promise options.unique, but ",
                    describe(*pair), ". Do not promise it.");
        if (rules.sorted)
            if (auto const pair = kernel::find_descent(reader()))
                fail<index_error>(op_, ": indices must keep the promise options.sorted, but ",
                    describe(*pair), ". Do not promise it.");
#endif
    }

    shape const& data_shape() const { return data_; }

    /// Returns the number of indices or of index tuples: of updates, or of slices in an output.
    std::size_t count() const { return count_; }
    /// Returns the number of slices in data.
    std::size_t slices() const { return element_count(outer_dims()); }
    std::size_t slice_size() const { return element_count(shape(data_.begin() + slice_axis(), data_.end())); }
    /// True if there is nothing to read or to write; so also if data has no items: every index is dropped
    /// then.
    bool is_empty() const { return count_ == 0 || element_count(data_) == 0; }

    /// Returns the rule for readers of the offsets: indices that were checked are not checked again.
    bounds rule() const { return rule_; }
    bool may_drop() const { return rule_ == bounds::drop; }

    /// Returns the shape of the positions: an update, or a slice of an output, has one of them.
    shape front() const
    {
        return form_ == index_form::tuples ? drop_axis(shape_, shape_.size() - 1) : shape_;
    }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<Index> tuples(strides const& of_data) const
    {
        return {items_.data(), count_, axes_of({data_, of_data}, first_, last_), signs_};
    }

    /// Returns the offsets of positions for a tensor of data's shape with these strides; they are added to
    /// those of the tuples.
    kernel::position_offsets positions(strides const& of_data) const
    {
        if (form_ == index_form::items) {
            strided_layout along{shape_, of_data};
            along.strides[first_] = 0;
            return kernel::position_offsets(along);
        }
        if (form_ == index_form::slices || first_ == 0 || count_ == 0)
            return {};
        strided_layout const batch = axes_of({data_, of_data}, 0, first_);
        return {batch, count_ / element_count(batch.dims)};
    }

    /// Returns the slices of a tensor of data's shape. The index must outlive them.
    slices_in_memory in(strided_layout const& layout) const
    {
        return {reader(layout.strides), axes_of(layout, slice_axis(), layout.dims.size())};
    }

    /// Returns a reader of the slices' numbers in row-major order. The index must outlive it.
    kernel::offset_reader reader() const
    {
        strides of_slices = row_major_strides(outer_dims());
        of_slices.resize(data_.size());
        return reader(of_slices);
    }

private:
    kernel::offset_reader reader(strides const& of_data) const
    {
        return {tuples(of_data), rule_, positions(of_data)};
    }

    /// Returns the first axis of a slice.
    std::size_t slice_axis() const { return form_ == index_form::items ? data_.size() : last_; }
    /// Returns the axes before those of a slice, which tell the slices apart.
    shape outer_dims() const { return shape(data_.begin(), data_.begin() + slice_axis()); }
    shape lengths() const { return shape(data_.begin() + first_, data_.begin() + last_); }

    void require_in_range() const
    {
        if (!kernel::are_in_range(items_.data(), count_, lengths()))
            fail_out_of_range();
    }

    [[noreturn]] void fail_out_of_range() const
    {
        fail<index_error>(op_, ": an index into an axis of length d must be in [-d, d - 1], but ",
            describe_outside(), ". Correct it, or choose bounds::drop or bounds::clip.");
    }

    void check_clip() const
    {
        if (rule_ != bounds::clip || count_ == 0)
            return;
        for (std::size_t axis = first_; axis < last_; ++axis)
            if (data_[axis] == 0)
                fail<index_error>(op_, ": an index can be clipped to an axis that has items only, but axis ",
                    axis, " of ", op_.data, " has length 0. Choose bounds::drop.");
    }

    /// Returns the positions and values of all indices outside their axes.
    fact_list describe_outside() const
    {
        fact_list outside;
        std::size_t const width = last_ - first_;
        for (std::size_t flat = 0; flat < count_ * width; ++flat) {
            std::size_t const axis = first_ + flat % width;
            if (!kernel::is_index(items_.data()[flat], data_[axis]))
                outside.add("indices", unravel(flat, shape_), " is ", items_.data()[flat], " (axis ", axis,
                    " of length ", data_[axis], ")");
        }
        return outside;
    }

    /// Returns a text such as "indices[0] names slice [2] and indices[5] names slice [2]".
    std::string describe(kernel::tuple_pair const& pair) const
    {
        std::vector<std::string> facts;
        kernel::offset_reader const read = reader();
        for (std::size_t const number : {pair.earlier, pair.later})
            facts.push_back(concat("indices", unravel(number, front()), " names slice ",
                unravel(static_cast<std::size_t>(read[number]), outer_dims())));
        return join(facts);
    }

    indexed_names op_;
    shape data_;
    shape shape_; ///< of indices
    index_form form_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
    bounds rule_;
    row_major_items<Index> items_;
    std::size_t count_;
    kernel::index_signs signs_ = kernel::index_signs::any;
};

template <class Indices>
slice_index(indexed_names const&, shape const&, Indices const&, indexed_shape const&, bounds)
    -> slice_index<item_t<Indices>>;
template <class Indices>
slice_index(indexed_names const&, shape const&, Indices const&, indexed_shape const&, bounds, index_check)
    -> slice_index<item_t<Indices>>;

} // namespace xloom::inline XLOOM_ABI::detail
