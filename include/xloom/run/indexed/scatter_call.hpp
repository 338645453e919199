#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/check/scatter_nd.hpp>
#include <xloom/kernel/repeated_offset.hpp>
#include <xloom/run/indexed/checked_indices.hpp>

namespace xloom::detail {

/// The checked operands of a ScatterND call. `data` may be moved or copied afterwards.
template <class Indices, class Updates>
class scatter_call {
public:
    using index = item_t<Indices>;
    using item = item_t<Updates>;

    template <class Data>
    scatter_call(std::string_view op, Data const& data, Indices const& indices, Updates const& updates,
        scatter_nd_options const& options)
        : op_(op),
          options_(options),
          data_shape_(detail::shape_of(data)),
          width_(checked_width(detail::shape_of(indices), detail::shape_of(updates))),
          indices_(op, indices, indexed_axes(), 0, options.bounds),
          updates_(updates)
    {
        check_repeats();
    }

    std::string_view op() const { return op_; }
    scatter_nd_options const& options() const { return options_; }
    item const* updates() const { return updates_.data(); }
    std::size_t slices() const { return element_count(tuples().axes.dims); }
    std::size_t slice_size() const
    {
        return element_count(shape(data_shape_.begin() + width_, data_shape_.end()));
    }
    /// True if there is nothing to write; so also if data has no items, because then every update is dropped.
    bool is_empty() const { return indices_.count() == 0 || slice_size() == 0 || slices() == 0; }

    /// Returns the index tuples; their offsets are the slices' positions in row-major order.
    kernel::index_tuples<index> const& tuples() const { return indices_.tuples(); }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const { return indices_.tuples(steps); }

    /// Returns a reader of the slices' positions.
    kernel::offset_reader reader() const { return indices_.reader(); }

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

    void check_repeats() const
    {
        kernel::offset_reader const read = reader();
        if (options_.duplicates == duplicates::error)
            if (auto const pair = kernel::find_repeated(read, slices()))
                fail<index_error>(op_, ": with duplicates::error a slice may be named once, but ",
                    describe(*pair), ". Choose duplicates::last.");
#ifndef NDEBUG
        if (options_.unique)
            if (auto const pair = kernel::find_repeated(read, slices()))
                fail<index_error>(op_, ": indices must keep the promise options.unique, but ",
                    describe(*pair), ". Do not promise it.");
        if (options_.sorted)
            if (auto const pair = kernel::find_descent(read))
                fail<index_error>(op_, ": indices must keep the promise options.sorted, but ",
                    describe(*pair), ". Do not promise it.");
#endif
    }

    /// Returns a text such as "indices[0] names slice [2] and indices[5] names slice [2]".
    std::string describe(kernel::tuple_pair const& pair) const
    {
        std::vector<std::string> facts;
        for (std::size_t const number : {pair.earlier, pair.later}) {
            std::ptrdiff_t slice;
            reader()(number, 1, &slice);
            facts.push_back(concat("indices", unravel(number, indices_.front()), " names slice ",
                unravel(static_cast<std::size_t>(slice), tuples().axes.dims)));
        }
        return join(facts);
    }

    std::string_view op_;
    scatter_nd_options options_;
    shape data_shape_;
    std::size_t width_;
    checked_indices<Indices> indices_;
    row_major_items<Updates> updates_;
};

} // namespace xloom::detail
