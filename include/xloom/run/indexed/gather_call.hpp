#pragma once
// A call of GatherND: the constructor checks the operands, run() executes it.

#include <xloom/check/gather_nd.hpp>
#include <xloom/run/indexed/checked_indices.hpp>
#include <xloom/run/indexed/gather_run.hpp>

namespace xloom::detail {

/// The checked operands of a GatherND call.
template <class Data, class Indices>
class gather_call {
    using T = item_t<Data>;

public:
    gather_call(std::string_view op, Data const& data, Indices const& indices,
        gather_nd_options const& options, index_check when)
        : options_(options),
          layout_(detail::layout_of(data)),
          output_shape_(check_gather_nd(op, layout_.dims, detail::shape_of(indices), options, sizeof(T))),
          data_(enable_tensor<Data>::data(data)),
          first_(static_cast<std::size_t>(options.batch_dims)),
          last_(first_ + detail::shape_of(indices).back()),
          indices_(op, indices, part_of_layout(first_, last_), first_, options.bounds, when)
    {}

    shape const& output_shape() const { return output_shape_; }
    bool may_drop() const { return options_.bounds == bounds::drop; }

    /// Requires that every index is within its axis, if that was not checked.
    void require_in_range() const
    {
        if (indices_.rule() == bounds::check)
            indices_.require_in_range();
    }

    /// Writes the output's items in row-major order to `output`; writes nothing if data has no items.
    ///
    /// Errors    index_error, with index_check::by_block.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        strided_layout const batch = part_of_layout(0, first_),
                             slice = part_of_layout(last_, layout_.dims.size());
        std::size_t const count = indices_.count();
        bool const is_empty = count == 0 || element_count(layout_.dims) == 0;
        std::size_t const entries = element_count(batch.dims);
        if (is_empty || !run_gather(indices_.reader({batch, count / entries}), slice, data_, output, policy))
            require_in_range();
    }

private:
    strided_layout part_of_layout(std::size_t first, std::size_t last) const
    {
        return {shape(layout_.dims.begin() + first, layout_.dims.begin() + last),
            strides(layout_.strides.begin() + first, layout_.strides.begin() + last)};
    }

    gather_nd_options options_;
    strided_layout layout_;
    shape output_shape_;
    T const* data_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
    checked_indices<Indices> indices_;
};

} // namespace xloom::detail
