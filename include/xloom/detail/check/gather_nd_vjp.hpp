#pragma once
// Shape requirements of the derivative of GatherND.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/gather_nd.hpp>
#include <xloom/detail/core/bounds.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_nd_vjp: those of gather_nd, and those of the scatter that its derivative is.
struct gather_nd_vjp_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
    bool accumulate_in_float =
        false;           ///< storage floats are rounded once, at the end, not after each addition
    bool unique = false; ///< the caller guarantees that no slice is indexed twice
    bool sorted = false; ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the operands of the derivative of GatherND: ct has the shape of GatherND's output.
///
/// Errors    shape_error and option_error: as check_gather_nd; shape_error: the shape of ct, or a size that
///           overflows.
[[gnu::noinline]] constexpr void check_gather_nd_vjp(std::string_view op, shape const& ct, shape const& data,
    shape const& indices, gather_nd_vjp_options const& options, std::size_t item_bytes = 1)
{
    shape const gathered = detail::check_gather_nd(
        op, data, indices, {.batch_dims = options.batch_dims, .bounds = options.bounds});
    if (ct != gathered)
        detail::fail<shape_error>(op,
            ": ct must have the shape of gather_nd's output, indices.shape[:-1] ++ data.shape[b + k:] = ",
            gathered, ", but it is ", ct, " (data ", data, ", indices ", indices, "). Give it that shape.");
    check_result_size(op, "ct_data", data, item_bytes, "Reduce a dimension.");
}

/// Checks the memory of the derivative by data.
///
/// Errors    overlap_error: ct_data shares memory with ct or indices, or two of its items do with each other.
[[gnu::noinline]] constexpr void check_gather_nd_vjp_output(
    std::string_view op, memory_block const& ct_data, memory_block const& ct, memory_block const& indices)
{
    check_gather_memory(op, {"ct_data", ct_data}, {"ct", ct}, {"indices", indices});
}

} // namespace xloom::inline XLOOM_ABI::detail
