#pragma once
// A call of ScatterND: the constructor checks the operands and options, before anything is written.

#include <xloom/check/scatter_nd.hpp>
#include <xloom/kernel/repeated_offset.hpp>
#include <xloom/run/indexed/indexed_operands.hpp>

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
          indices_shape_(detail::shape_of(indices)),
          width_(checked_width(detail::shape_of(updates))),
          indices_(indices),
          updates_(updates)
    {
        shape const indexed(data_shape_.begin(), data_shape_.begin() + width_);
        tuples_ = {indices_.data(), element_count(drop_axis(indices_shape_, indices_shape_.size() - 1)),
            {indexed, row_major_strides(indexed)}};
        check_indices(op, tuples_, indices_shape_, options.bounds);
        check_repeats();
    }

    std::string_view op() const { return op_; }
    scatter_nd_options const& options() const { return options_; }
    item const* updates() const { return updates_.data(); }
    std::size_t slices() const { return element_count(tuples_.axes.dims); }
    std::size_t slice_size() const
    {
        return element_count(shape(data_shape_.begin() + width_, data_shape_.end()));
    }
    /// True if there is nothing to write; so also if data has no items, because then every update is dropped.
    bool is_empty() const { return tuples_.count == 0 || slice_size() == 0 || slices() == 0; }

    /// Returns the index tuples; their offsets are the slices' positions in row-major order.
    kernel::index_tuples<index> const& tuples() const { return tuples_; }

    /// Returns the index tuples for a tensor of data's shape with these strides.
    kernel::index_tuples<index> tuples(strides const& steps) const
    {
        kernel::index_tuples<index> placed = tuples_;
        placed.axes.strides = strides(steps.begin(), steps.begin() + width_);
        return placed;
    }

private:
    std::size_t checked_width(shape const& updates) const
    {
        check_scatter_nd(op_, data_shape_, indices_shape_, updates, options_);
        return indices_shape_.back();
    }

    void check_repeats() const
    {
        kernel::offset_reader const read(tuples_, options_.bounds);
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
            kernel::offset_reader(tuples_, options_.bounds)(number, 1, &slice);
            facts.push_back(
                concat("indices", unravel(number, drop_axis(indices_shape_, indices_shape_.size() - 1)),
                    " names slice ", unravel(static_cast<std::size_t>(slice), tuples_.axes.dims)));
        }
        return join(facts);
    }

    std::string_view op_;
    scatter_nd_options options_;
    shape data_shape_;
    shape indices_shape_;
    std::size_t width_;
    row_major_items<Indices> indices_;
    row_major_items<Updates> updates_;
    kernel::index_tuples<index> tuples_{};
};

} // namespace xloom::detail
