#pragma once
// A call of GatherElements: the constructor checks the operands, run() executes it.

#include <xloom/detail/check/elements.hpp>
#include <xloom/detail/indexed/gather_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked operands of a GatherElements call.
template <class Data, class Indices>
class gather_elements_call : public gather_indices<Indices> {
    using T = item_t<Data>;

public:
    gather_elements_call(indexed_names const& op, Data const& data, Indices const& indices,
        gather_elements_options const& options, index_check when)
        : gather_elements_call(op, data, indices, options, when, detail::layout_of(data),
              check_gather_elements(
                  op, detail::shape_of(data), detail::shape_of(indices), options, sizeof(T)))
    {}

    /// Writes the output's items in row-major order to `output`; writes nothing if data has no items.
    ///
    /// Errors    index_error, with index_check::by_block.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        bool const is_empty = this->indices().count() == 0 || element_count(layout_.dims) == 0;
        strided_layout along{this->output_shape(), layout_.strides};
        along.strides[axis_] = 0;
        if (is_empty ||
            !run_gather(this->indices(), kernel::position_offsets(along), {}, data_, output, policy))
            this->require_in_range();
    }

private:
    gather_elements_call(indexed_names const& op, Data const& data, Indices const& indices,
        gather_elements_options const& options, index_check when, strided_layout const& layout,
        std::size_t axis)
        : gather_indices<Indices>(op, detail::shape_of(indices), indices, axes_of(layout, axis, axis + 1),
              axis, options.bounds, when, index_form::single),
          layout_(layout),
          axis_(axis),
          data_(enable_tensor<Data>::data(data))
    {}

    strided_layout layout_;
    std::size_t axis_;
    T const* data_;
};

} // namespace xloom::inline XLOOM_ABI::detail
