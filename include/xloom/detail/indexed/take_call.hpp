#pragma once
// A call of take: slices of data at the same indices of one axis, for every position along the axes before
// it.

#include <algorithm>
#include <type_traits>
#include <vector>

#include <xloom/detail/check/take.hpp>
#include <xloom/detail/indexed/gather_run.hpp>
#include <xloom/detail/kernel/broadcast_updates.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The checked operands of a take along an axis of items of the given layout.
template <class T, class Indices>
class take_call : public gather_indices<Indices> {
public:
    take_call(indexed_names const& op, T const* data, strided_layout const& layout, Indices const& indices,
        std::size_t axis, bounds rule, index_check when)
        : gather_indices<Indices>(op, check_take(op, layout.dims, detail::shape_of(indices), axis, sizeof(T)),
              indices, axes_of(layout, axis, axis + 1), axis, rule, when, index_form::single),
          layout_(layout),
          axis_(axis),
          data_(data)
    {}

    /// Writes the output's items in row-major order to `output`.
    ///
    /// Errors    index_error, with index_check::by_block.
    template <class Policy>
    void run(T* output, Policy const& policy) const
    {
        strided_layout const outer = axes_of(layout_, 0, axis_),
                             slice = axes_of(layout_, axis_ + 1, layout_.dims.size());
        std::size_t const count = this->indices().count();
        bool const is_empty = count == 0 || element_count(layout_.dims) == 0;
        if (is_empty)
            return this->require_in_range();
        if (element_count(outer.dims) == 1) {
            if (!run_gather(this->indices(), {}, slice, data_, output, policy))
                this->require_in_range();
            return;
        }
        std::vector<std::ptrdiff_t> offsets(count);
        if (!this->indices().reader()(0, count, offsets.data()))
            return this->require_in_range();
        std::size_t const size = element_count(slice.dims);
        if (is_row_major(slice))
            run_copies_of(outer, offsets, kernel::copy_contiguous_slices{size}, output, policy);
        else
            run_copies_of(outer, offsets,
                kernel::copy_strided_slices{{slice.dims, slice.strides, row_major_strides(slice.dims)}, size},
                output, policy);
    }

private:
    /// Copies the slices at the offsets for every position of `outer`; each thread copies a range of them
    /// all.
    template <class Copy, class Policy>
    void run_copies_of(strided_layout const& outer, std::vector<std::ptrdiff_t> const& offsets,
        Copy const& copy, T* output, Policy const& policy) const
    {
        kernel::offset_map const first_of(outer);
        std::size_t const count = offsets.size(), all = element_count(outer.dims) * count;
        std::size_t const parts = parts_for(policy, all * copy.size);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const end = begin_of_part(part + 1, parts, all);
            for (std::size_t at = begin_of_part(part, parts, all); at < end;) {
                std::size_t const position = at / count, from = at % count,
                                  size = (std::min)(count - from, end - at);
                T const* const data = data_ + first_of(position);
                auto const run = [&]<bool MayDrop>(std::bool_constant<MayDrop>) {
                    copy(kernel::offset_block<T const, MayDrop>{offsets.data() + from, at, size, data,
                             copy.size},
                        data, output);
                };
                this->may_drop() ? run(std::true_type()) : run(std::false_type());
                at += size;
            }
        });
    }

    strided_layout layout_;
    std::size_t axis_;
    T const* data_;
};

} // namespace xloom::inline XLOOM_ABI::detail
