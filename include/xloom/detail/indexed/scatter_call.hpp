#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/indexed/checked_indices.hpp>
#include <xloom/detail/indexed/named_slices.hpp>
#include <xloom/detail/indexed/scatter_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked indices of a ScatterND call, and the slices of data that they name.
template <class Indices>
class scatter_indices {
public:
    using index = item_t<Indices>;

    scatter_indices(std::string_view op, shape const& data, Indices const& indices, shape const& updates,
        scatter_rules const& options, index_check when = index_check::before_use)
        : op_(op),
          options_(options),
          data_shape_(data),
          width_(checked_width(detail::shape_of(indices), updates)),
          indices_(op, indices, indexed_axes(), 0, options.bounds, when)
    {
        check_named_slices(op, options, reader(), tuples().axes.dims, indices_.front());
    }

    std::string_view op() const { return op_; }
    scatter_rules const& options() const { return options_; }
    shape const& data_shape() const { return data_shape_; }
    std::size_t slices() const { return element_count(tuples().axes.dims); }
    std::size_t slice_size() const
    {
        return element_count(shape(data_shape_.begin() + width_, data_shape_.end()));
    }
    /// True if there is nothing to write; so also if data has no items, because then every update is dropped.
    bool is_empty() const { return indices_.count() == 0 || slice_size() == 0 || slices() == 0; }

    /// False if readers check the indices, by block.
    bool is_checked() const { return indices_.rule() != bounds::check; }

    /// Requires that every index is within its axis, if that was not checked.
    void require_in_range() const { indices_.require_checked(); }

    /// Returns the index tuples; their offsets are the slices' positions in row-major order.
    kernel::index_tuples<index> const& tuples() const { return indices_.tuples(); }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the slices' positions.
    kernel::offset_reader reader() const { return indices_.reader(); }

    /// Returns a reader of the offsets of tuples(steps). The reader must not outlive the tuples.
    kernel::offset_reader reader(kernel::index_tuples<index> const& tuples, strides const&) const
    {
        return {tuples, indices_.rule()};
    }

    /// Returns the first axis of data that is not indexed.
    std::size_t first_slice_axis() const { return width_; }

private:
    std::size_t checked_width(shape const& indices, shape const& updates) const
    {
        check_scatter_nd(op_, data_shape_, indices, updates, options_);
        return indices.back();
    }

    strided_layout indexed_axes() const
    {
        shape const indexed(data_shape_.begin(), data_shape_.begin() + width_);
        return {indexed, row_major_strides(indexed)};
    }

    std::string_view op_;
    scatter_rules options_;
    shape data_shape_;
    std::size_t width_;
    checked_indices<Indices> indices_;
};

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates, bool IsBroadcast = false>
class scatter_call : public scatter_indices<Indices>, public scatter_updates<Updates, IsBroadcast> {
public:
    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_rules const& options, index_check when)
        : scatter_call(op, data, indices, updates,
              required_shape(
                  op, detail::shape_of(data), detail::shape_of(indices), detail::shape_of(updates)),
              options, when)
    {}

private:
    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        shape const& required, scatter_rules const& options, index_check when)
        : scatter_indices<Indices>(op, detail::shape_of(data), indices, required, options, when),
          scatter_updates<Updates, IsBroadcast>(updates, required, detail::rank_of(indices) - 1)
    {}

    static shape required_shape(
        std::string_view op, shape const& data, shape const& indices, shape const& updates)
    {
        if constexpr (IsBroadcast)
            return broadcast_shape(op, data, indices, updates);
        else
            return updates;
    }
};

} // namespace xloom::inline XLOOM_ABI::detail
