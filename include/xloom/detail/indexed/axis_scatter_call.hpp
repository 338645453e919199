#pragma once
// A call of a scatter whose indices are single ones, along one axis: ScatterElements and NumPy's ufunc.at.

#include <xloom/detail/check/at.hpp>
#include <xloom/detail/check/elements.hpp>
#include <xloom/detail/indexed/checked_indices.hpp>
#include <xloom/detail/indexed/named_slices.hpp>
#include <xloom/detail/indexed/scatter_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked indices of a scatter along one axis, as run_scatter_nd reads them from a call.
template <class Indices>
class axis_scatter_indices {
public:
    using index = item_t<Indices>;

    /// Indices of `axis`. An update is a slice of the axes of data from `first_slice_axis` on. If that is not
    /// 1, the position of an index is that of its slice along the axes that no index names.
    axis_scatter_indices(indexed_names const& op, shape const& data, Indices const& indices, std::size_t axis,
        std::size_t first_slice_axis, scatter_rules const& options, index_check when)
        : op_(op),
          options_(options),
          data_shape_(data),
          axis_(axis),
          first_slice_axis_(first_slice_axis),
          indices_(op, indices, {shape{data[axis]}, strides{row_major_strides(named_axes())[axis]}}, axis,
              options.bounds, when, index_form::single)
    {
        check_named_slices(op, options, reader(), named_axes(), indices_.front());
    }

    std::string_view op() const { return op_; }
    scatter_rules const& options() const { return options_; }
    std::size_t slices() const { return element_count(named_axes()); }
    std::size_t slice_size() const
    {
        return element_count(shape(data_shape_.begin() + first_slice_axis_, data_shape_.end()));
    }
    std::size_t first_slice_axis() const { return first_slice_axis_; }
    /// True if there is nothing to write; so also if data has no items, because then every update is dropped.
    bool is_empty() const { return indices_.count() == 0 || element_count(data_shape_) == 0; }

    /// False if readers check the indices, by block.
    bool is_checked() const { return indices_.rule() != bounds::check; }

    /// Requires that every index is within its axis, if that was not checked.
    void require_in_range() const { indices_.require_checked(); }

    kernel::index_tuples<index> const& tuples() const { return indices_.tuples(); }

    /// Returns the indices for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the slices' positions in row-major order.
    kernel::offset_reader reader() const
    {
        return indices_.reader(positions(row_major_strides(named_axes())));
    }

    /// Returns a reader of the offsets of tuples(steps). The reader must not outlive the tuples.
    kernel::offset_reader reader(kernel::index_tuples<index> const& tuples, strides const& steps) const
    {
        return {tuples, indices_.rule(), positions(steps)};
    }

private:
    /// Returns the lengths of the axes that name a slice.
    shape named_axes() const { return shape(data_shape_.begin(), data_shape_.begin() + first_slice_axis_); }

    kernel::position_offsets positions(strides const& steps) const
    {
        if (first_slice_axis_ == 1)
            return {};
        strided_layout along{indices_.front(), steps};
        along.strides[axis_] = 0;
        return kernel::position_offsets(along);
    }

    std::string_view op_;
    scatter_rules options_;
    shape data_shape_;
    std::size_t axis_;
    std::size_t first_slice_axis_;
    checked_indices<Indices> indices_;
};

/// The checked operands of a ScatterElements call.
template <class Indices, class Updates, bool IsBroadcast>
class scatter_elements_call : public axis_scatter_indices<Indices>,
                              public scatter_updates<Updates, IsBroadcast> {
public:
    template <class Data>
    scatter_elements_call(indexed_names const& op, Data const& data, Indices const& indices,
        Updates const& updates, scatter_rules const& options, index_check when, std::int64_t axis)
        : axis_scatter_indices<Indices>(op, detail::shape_of(data), indices,
              check_scatter_elements(op, detail::shape_of(data), detail::shape_of(indices),
                  detail::shape_of(updates), IsBroadcast, axis, options),
              detail::rank_of(data), options, when),
          scatter_updates<Updates, IsBroadcast>(updates, detail::shape_of(indices), detail::rank_of(indices))
    {}
};

/// The checked operands of a call of ufunc.at: indices of slices along the first axis.
template <class Indices, class Updates, bool IsBroadcast>
class at_call : public axis_scatter_indices<Indices>, public scatter_updates<Updates, IsBroadcast> {
public:
    template <class Data>
    at_call(indexed_names const& op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_rules const& options, index_check when)
        : at_call(op, data, indices, updates,
              check_at(
                  op, detail::shape_of(data), detail::shape_of(indices), detail::shape_of(updates), options),
              options, when)
    {}

private:
    template <class Data>
    at_call(indexed_names const& op, Data const& data, Indices const& indices, Updates const& updates,
        shape const& required, scatter_rules const& options, index_check when)
        : axis_scatter_indices<Indices>(op, detail::shape_of(data), indices, 0, 1, options, when),
          scatter_updates<Updates, IsBroadcast>(updates, required, detail::rank_of(indices))
    {}
};

} // namespace xloom::inline XLOOM_ABI::detail
