#pragma once
// A call of GatherND: the constructor checks the operands, run() executes it.

#include <xloom/detail/check/gather_nd.hpp>
#include <xloom/detail/indexed/gather_run.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked operands of a GatherND call.
template <class Data, class Indices>
class gather_call : public gather_indices<Indices> {
    using T = item_t<Data>;

public:
    gather_call(std::string_view op, Data const& data, Indices const& indices,
        gather_nd_options const& options, index_check when)
        : gather_call(op, data, indices, options, when, detail::layout_of(data),
              check_gather_nd(op, detail::shape_of(data), detail::shape_of(indices), options, sizeof(T)))
    {}

    /// Writes the output's items in row-major order to `output`; writes nothing if data has no items.
    ///
    /// Errors    index_error, with index_check::by_block.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        strided_layout const batch = axes_of(layout_, 0, first_),
                             slice = axes_of(layout_, last_, layout_.dims.size());
        std::size_t const count = this->indices().count();
        bool const is_empty = count == 0 || element_count(layout_.dims) == 0;
        std::size_t const entries = element_count(batch.dims);
        if (is_empty || !run_gather(this->indices(), {batch, count / entries}, slice, data_, output, policy))
            this->require_in_range();
    }

private:
    gather_call(std::string_view op, Data const& data, Indices const& indices,
        gather_nd_options const& options, index_check when, strided_layout const& layout,
        shape const& output_shape)
        : gather_indices<Indices>(op, output_shape, indices,
              axes_of(layout, first_indexed(options), end_of_indexed(options, indices)),
              first_indexed(options), options.bounds, when, index_form::tuples),
          layout_(layout),
          data_(enable_tensor<Data>::data(data)),
          first_(first_indexed(options)),
          last_(end_of_indexed(options, indices))
    {}

    static std::size_t first_indexed(gather_nd_options const& options)
    {
        return static_cast<std::size_t>(options.batch_dims);
    }
    static std::size_t end_of_indexed(gather_nd_options const& options, Indices const& indices)
    {
        return first_indexed(options) + detail::shape_of(indices).back();
    }

    strided_layout layout_;
    T const* data_;
    std::size_t first_; ///< the indexed axes of data are first_ .. last_ - 1
    std::size_t last_;
};

} // namespace xloom::inline XLOOM_ABI::detail
