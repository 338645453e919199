#pragma once
// A call of GatherND: the constructor checks the operands, run() executes it.

#include <xloom/check/gather_nd.hpp>
#include <xloom/core/partition.hpp>
#include <xloom/kernel/gather_nd.hpp>
#include <xloom/run/indexed/indexed_operands.hpp>

namespace xloom::detail {

/// The checked operands of a GatherND call.
template <class Data, class Indices>
class gather_call {
    using T = item_t<Data>;
    using index = item_t<Indices>;

public:
    gather_call(
        std::string_view op, Data const& data, Indices const& indices, gather_nd_options const& options)
        : options_(options),
          layout_(detail::layout_of(data)),
          output_shape_(check_gather_nd(op, layout_.dims, detail::shape_of(indices), options, sizeof(T))),
          data_(enable_tensor<Data>::data(data)),
          indices_(indices)
    {
        shape const dims = detail::shape_of(indices);
        auto const b = static_cast<std::size_t>(options.batch_dims);
        std::size_t const k = dims.back();
        batch_ = part_of_layout(0, b);
        slice_ = part_of_layout(b + k, layout_.dims.size());
        tuples_ = {
            indices_.data(), element_count(drop_axis(dims, dims.size() - 1)), part_of_layout(b, b + k), b};
        check_indices(op, tuples_, dims, options.bounds);
    }

    shape const& output_shape() const { return output_shape_; }
    bool may_leave_out() const { return options_.bounds == bounds::drop; }

    /// Writes the output's items in row-major order to `output`; writes nothing if data has no items.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        std::size_t const size = element_count(slice_.dims);
        std::size_t const count = tuples_.count;
        if (count == 0 || element_count(layout_.dims) == 0)
            return;
        std::size_t const entries = element_count(batch_.dims);
        kernel::offset_reader const read(tuples_, options_.bounds, {batch_, count / entries});
        bool const is_contiguous = is_row_major(slice_);
        std::size_t const parts = parts_for(policy, count * size);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const begin = begin_of_part(part, parts, count),
                              end = begin_of_part(part + 1, parts, count);
            if (is_contiguous && kernel::are_single_indices(tuples_, options_.bounds) && batch_.dims.empty())
                kernel::gather_single(
                    tuples_, begin, end, data_, output, kernel::copy_contiguous_slices{size});
            else if (is_contiguous)
                kernel::gather_nd(read, begin, end, data_, output, kernel::copy_contiguous_slices{size});
            else
                kernel::gather_nd(read, begin, end, data_, output,
                    kernel::copy_strided_slices{
                        {slice_.dims, slice_.strides, row_major_strides(slice_.dims)}, size});
        });
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
    row_major_items<Indices> indices_;
    strided_layout batch_{};
    strided_layout slice_{};
    kernel::index_tuples<index> tuples_{};
};

} // namespace xloom::detail
