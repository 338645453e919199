#pragma once
// A call of GatherElements: the constructor checks the operands, run() executes it.

#include <xloom/check/elements.hpp>
#include <xloom/run/indexed/checked_indices.hpp>
#include <xloom/run/indexed/gather_run.hpp>

namespace xloom::detail {

/// The checked operands of a GatherElements call.
template <class Data, class Indices>
class gather_elements_call {
    using T = item_t<Data>;

public:
    gather_elements_call(std::string_view op, Data const& data, Indices const& indices,
        gather_elements_options const& options, index_check when)
        : options_(options),
          layout_(detail::layout_of(data)),
          axis_(check_gather_elements(op, layout_.dims, detail::shape_of(indices), options, sizeof(T))),
          data_(enable_tensor<Data>::data(data)),
          indices_(op, indices, {shape{layout_.dims[axis_]}, strides{layout_.strides[axis_]}}, axis_,
              options.bounds, when, index_form::single),
          output_shape_(indices_.front())
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
        bool const is_empty = indices_.count() == 0 || element_count(layout_.dims) == 0;
        strided_layout along{output_shape_, layout_.strides};
        along.strides[axis_] = 0;
        if (is_empty || !run_copies(indices_.reader(kernel::position_offsets(along)), data_, output,
                            kernel::copy_contiguous_slices{1}, policy))
            require_in_range();
    }

private:
    gather_elements_options options_;
    strided_layout layout_;
    std::size_t axis_;
    T const* data_;
    checked_indices<Indices> indices_;
    shape output_shape_;
};

} // namespace xloom::detail
