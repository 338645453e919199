#pragma once
// Shape and memory requirements of the derivatives of GatherND and ScatterND.

#include <cstdint>
#include <optional>
#include <string_view>

#include <xloom/detail/check/gather_nd.hpp>
#include <xloom/detail/check/scatter_nd.hpp>
#include <xloom/detail/core/bounds.hpp>
#include <xloom/detail/core/compiler.hpp>

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

/// The handling of several values that equal the maximum or the minimum of a slot: each gets an even part of
/// the cotangent, or the first one in the order of application, the old value before all updates, gets it.
enum class ties : unsigned char { even, first };

/// Options of scatter_nd_vjp: those of the scatter_nd that is differentiated, and `ties`.
/// accumulate_in_float is missing: the rounding of intermediate values has no derivative.
struct scatter_nd_vjp_options {
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    xloom::ties ties = xloom::ties::even; ///< of max and min; the others have none
    bool unique = false;                  ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;                  ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Checks the operands of the derivative of GatherND: ct has the shape of GatherND's output.
///
/// Errors    shape_error and option_error: as check_gather_nd; shape_error: the shape of ct, or a size that
///           overflows.
XLOOM_NOINLINE constexpr indexed_shape check_gather_nd_vjp(std::string_view op, shape const& ct,
    shape const& data, shape const& indices, gather_nd_vjp_options const& options, std::size_t item_bytes = 1)
{
    indexed_shape const indexed = detail::check_gather_nd(
        op, data, indices, {.batch_dims = options.batch_dims, .bounds = options.bounds});
    if (ct != indexed.values)
        detail::fail<shape_error>(op,
            ": ct must have the shape of gather_nd's output, indices.shape[:-1] ++ data.shape[b + k:] = ",
            indexed.values, ", but it is ", ct, " (data ", data, ", indices ", indices,
            "). Give it that shape.");
    check_result_size(op, "ct_data", data, item_bytes, "Reduce a dimension.");
    return indexed;
}

/// Checks the memory of the derivative by data.
///
/// Errors    overlap_error: ct_data shares memory with ct or indices, or two of its items do with each other.
XLOOM_NOINLINE constexpr void check_gather_nd_vjp_output(
    std::string_view op, memory_block const& ct_data, memory_block const& ct, memory_block const& indices)
{
    check_written(op, std::array{operand_memory("ct_data", ct_data)},
        std::array<operand_memory, 2>{{{"ct", ct}, {"indices", indices}}});
}

/// Checks what ScatterND itself does not have: the shape of ct, and ties.
///
/// Errors    shape_error: ct does not have data's shape.  option_error: ties is no enumerator.
XLOOM_NOINLINE constexpr void check_scatter_nd_vjp(
    std::string_view op, shape const& ct, shape const& data, scatter_nd_vjp_options const& options)
{
    if (ct != data)
        detail::fail<shape_error>(op,
            ": ct must have the shape of scatter_nd's result, which is data's, but ct is ", ct,
            " and data is ", data, ". Give it that shape.");
    if (options.ties > ties::first)
        detail::fail<option_error>(op, ": options.ties must be even or first, but it is number ",
            static_cast<int>(options.ties), ". Choose one.");
}

/// The memory of the operands of a call; that of an omitted output is std::nullopt.
struct scatter_nd_vjp_memory {
    memory_block ct, data, indices, updates;
    std::optional<memory_block> ct_data{}, ct_updates{};
};

/// Checks the shapes and the memory of the outputs.
///
/// Errors    shape_error: an output does not have the shape of its operand.  overlap_error: an output shares
///           memory with an operand or the other output, or two of its items do with each other.
XLOOM_NOINLINE constexpr void check_scatter_nd_vjp_outputs(
    std::string_view op, scatter_nd_vjp_memory const& memory)
{
    auto const check_one = [=](std::string_view name, std::optional<memory_block> const& output,
                               std::string_view operand, memory_block const& expected) {
        if (output && output->layout.dims != expected.layout.dims)
            detail::fail<shape_error>(op, ": ", name, " must have the shape of ", operand, ", ",
                expected.layout.dims, ", but it is ", output->layout.dims, ". Give it that shape.");
    };
    check_one("ct_data", memory.ct_data, "data", memory.data);
    check_one("ct_updates", memory.ct_updates, "updates", memory.updates);
    auto const if_given = [](std::optional<memory_block> const& output) {
        return output ? &*output : nullptr;
    };
    check_written(op,
        std::array<operand_memory, 2>{
            {{"ct_data", if_given(memory.ct_data)}, {"ct_updates", if_given(memory.ct_updates)}}},
        std::array<operand_memory, 4>{{{"ct", memory.ct}, {"data", memory.data}, {"indices", memory.indices},
            {"updates", memory.updates}}});
}

} // namespace xloom::inline XLOOM_ABI::detail
