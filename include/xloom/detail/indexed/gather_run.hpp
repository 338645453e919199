#pragma once
// The base of the calls of all gathers, with checked indices and the shape of the output, and their loops.

#include <atomic>
#include <string_view>

#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/checked_indices.hpp>
#include <xloom/detail/kernel/gather_nd.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// Calls gather(from, to), which returns false if it finds an index out of range, for parts of `count` slices
/// on the threads of a policy. Returns false if one of them does.
template <class Policy, class Gather>
bool run_parts(std::size_t count, std::size_t slice_size, Policy const& policy, Gather const& gather)
{
    std::size_t const parts = parts_for(policy, count * slice_size);
    std::atomic<bool> are_valid = true;
    policy.for_each(parts, [&](std::size_t part) {
        if (!gather(begin_of_part(part, parts, count), begin_of_part(part + 1, parts, count)))
            are_valid = false;
    });
    return are_valid;
}

/// Calls a copy, such as kernel::copy_contiguous_slices, for the slices of `data` at the offsets of `read`,
/// on the threads of a policy. Returns false if `read` finds an index out of range.
template <class T, class Copy, class Policy>
bool run_copies(
    kernel::offset_reader const& read, T const* data, T* output, Copy const& copy, Policy const& policy)
{
    return detail::run_parts(read.count(), copy.size, policy, [&](std::size_t from, std::size_t to) {
        return kernel::gather_nd(read, from, to, data, output, copy);
    });
}

/// Copies the slices of `data`, of the layout `slice`, at the offsets of `read` to their positions in
/// `output`, in row-major order; those of dropped tuples are not written. Returns false if `read` finds an
/// index out of range.
template <class T, class Policy>
bool run_gather(kernel::offset_reader const& read, strided_layout const& slice, T const* data, T* output,
    Policy const& policy)
{
    std::size_t const size = element_count(slice.dims);
    if (is_row_major(slice))
        return detail::run_copies(read, data, output, kernel::copy_contiguous_slices{size}, policy);
    return detail::run_copies(read, data, output,
        kernel::copy_strided_slices{{slice.dims, slice.strides, row_major_strides(slice.dims)}, size},
        policy);
}

/// As run_gather, for the slices at checked indices and at the offsets of their positions.
template <class Indices, class T, class Policy>
bool run_gather(checked_indices<Indices> const& indices, kernel::position_offsets const& positions,
    strided_layout const& slice, T const* data, T* output, Policy const& policy)
{
    auto const& tuples = indices.tuples();
    bool const are_items = element_count(slice.dims) == 1 && kernel::are_in_rows(tuples, positions);
    if (!are_items || !guarantees_in_range(indices.rule()))
        return detail::run_gather(indices.reader(positions), slice, data, output, policy);
    return detail::run_parts(tuples.count, 1, policy, [&](std::size_t from, std::size_t to) {
        return kernel::gather_items(tuples, positions, indices.rule(), from, to, data, output);
    });
}

/// The checked indices of a gather, and the shape of its output.
template <class Indices>
class gather_indices {
public:
    shape const& output_shape() const { return output_shape_; }
    bool may_drop() const { return may_drop_; }

    /// Requires that every index is within its axis, if that was not checked.
    void require_in_range() const { indices_.require_checked(); }

protected:
    /// Requires that `axes`, of data, and the others are those of checked_indices.
    gather_indices(indexed_names const& op, shape const& output_shape, Indices const& indices,
        strided_layout const& axes, std::size_t first_axis, bounds rule, index_check when, index_form form)
        : output_shape_(output_shape),
          may_drop_(rule == bounds::drop),
          indices_(op, indices, axes, first_axis, rule, when, form)
    {}

    checked_indices<Indices> const& indices() const { return indices_; }

private:
    shape output_shape_;
    bool may_drop_;
    checked_indices<Indices> indices_;
};

/// Returns the axes first .. last - 1 of a layout.
inline strided_layout axes_of(strided_layout const& layout, std::size_t first, std::size_t last)
{
    auto const begin = static_cast<std::ptrdiff_t>(first), end = static_cast<std::ptrdiff_t>(last);
    return {shape(layout.dims.begin() + begin, layout.dims.begin() + end),
        strides(layout.strides.begin() + begin, layout.strides.begin() + end)};
}

} // namespace xloom::inline XLOOM_ABI::detail
