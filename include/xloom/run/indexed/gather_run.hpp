#pragma once
// The execution of a GatherND call: which loop, how many threads.

#include <atomic>

#include <xloom/core/partition.hpp>
#include <xloom/kernel/gather_nd.hpp>

namespace xloom::detail {

/// Calls a copy, such as kernel::copy_contiguous_slices, for the slices of `data` at the offsets of `read`,
/// on the threads of a policy. Returns false if `read` finds an index out of range.
template <class T, class Copy, class Policy>
bool run_copies(
    kernel::offset_reader const& read, T const* data, T* output, Copy const& copy, Policy const& policy)
{
    std::size_t const count = read.count(), parts = parts_for(policy, count * copy.size);
    std::atomic<bool> are_valid = true;
    policy.for_each(parts, [&](std::size_t part) {
        if (!kernel::gather_nd(read, begin_of_part(part, parts, count), begin_of_part(part + 1, parts, count),
                data, output, copy))
            are_valid = false;
    });
    return are_valid;
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

} // namespace xloom::detail
