#pragma once
// Shape requirements of GatherND.

#include <cstdint>
#include <string_view>

#include <xloom/detail/check/indices.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/compiler.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of gather_nd.
struct gather_nd_options {
    std::int64_t batch_dims = 0; ///< number of leading batch axes, which data and indices share
    xloom::bounds bounds = xloom::bounds::check;
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The shape of GatherND's output, in error texts.
inline constexpr std::string_view gather_nd_shape_rule = "indices.shape[:-1] ++ data.shape[b + k:] =";

/// Checks the operands of GatherND, whose output has the shape indices.shape[:-1] ++ data.shape[b + k:],
/// with k = indices.shape[-1] and b = batch_dims.
///
/// Errors    shape_error: rank 0; over max_rank; b + k > r; unequal batch axes; a size that overflows.
///           option_error: b < 0, b >= q or b >= r.
/// Differs   from ONNX: k = 0 is allowed; each empty tuple gives a whole batch entry.
/// Source    ONNX GatherND-13, text; its inference checks b + k <= r only.
XLOOM_NOINLINE constexpr indexed_shape check_gather_nd(std::string_view op, shape const& data,
    shape const& indices, gather_nd_options const& options, std::size_t item_bytes = 1)
{
    check_not_scalar(op, "data", data);
    check_not_scalar(op, "indices", indices);
    std::size_t const least_rank = data.size() < indices.size() ? data.size() : indices.size();
    if (options.batch_dims < 0 || static_cast<std::uint64_t>(options.batch_dims) >= least_rank)
        fail<option_error>(op, ": batch_dims must be in [0, min(q, r) - 1] = [0, ", least_rank - 1,
            "], but it is ", options.batch_dims, " (data ", data, ", indices ", indices,
            "). Name fewer axes.");
    auto const b = static_cast<std::size_t>(options.batch_dims);
    for (std::size_t axis = 0; axis < b; ++axis)
        if (data[axis] != indices[axis])
            fail<shape_error>(op, ": the first batch_dims = ", b,
                " axes of data and indices must be equally long, but axis ", axis, " has ", data[axis],
                " in data ", data, " and ", indices[axis], " in indices ", indices, ". Name fewer axes.");
    std::size_t const k = indices.back();
    if (k > data.size() - b)
        fail<shape_error>(op,
            ": indices' last axis must be no longer than data's rank less batch_dims, but indices is ",
            indices, ", data is ", data, " and batch_dims is ", b, ".",
            describe_one_tuple(indices, " Index fewer axes."));
    shape const front = drop_axis(indices, indices.size() - 1);
    check_rank(op, "the output", front.size() + data.size() - b - k);
    shape const dims = joined(front, data, b + k);
    check_result_size(op, "the output", dims, item_bytes, "Gather fewer slices.");
    return {index_form::tuples, b, b + k, dims};
}

} // namespace xloom::inline XLOOM_ABI::detail
