#pragma once
// Requirements of causal_conv on its shapes.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The sizes of a causal convolution: B sequences of C channels and L steps, and k taps.
struct conv_sizes {
    std::size_t B = 0, C = 0, L = 0, k = 1;
    bool has_unit_axis = true; ///< weight is [C, 1, k], else [C, k]

    constexpr shape channels() const { return {B, C, L}; }
    constexpr shape state() const { return {B, C, k - 1}; }
    constexpr shape weight() const { return has_unit_axis ? shape{C, 1, k} : shape{C, k}; }

    constexpr std::string_view symbolic_weight_shape() const
    {
        return has_unit_axis ? "[C, 1, k]" : "[C, k]";
    }

    std::string describe() const { return concat("B = ", B, ", C = ", C, ", L = ", L, " and k = ", k); }
};

inline constexpr std::string_view symbolic_conv_channels = "[B, C, L]", symbolic_conv_state = "[B, C, k - 1]";

/// The shapes of the inputs of a causal convolution.
struct conv_shapes {
    shape const& input;
    shape const& weight;
    shape_ref bias, past_state;
};

/// Checks all inputs, whose items have item_bytes bytes, and returns the sizes.
///
/// Errors    shape_error
constexpr conv_sizes check_causal_conv(std::string_view op, conv_shapes const& of, std::size_t item_bytes)
{
    if (of.input.size() != 3)
        fail<shape_error>(
            op, ": input must have the shape [B, C, L], but input is ", of.input, ". Give it that shape.");
    std::size_t const rank = of.weight.size();
    if ((rank != 2 && rank != 3) || of.weight[rank - 1] == 0)
        fail<shape_error>(op, ": weight must have the shape [C, 1, k] or [C, k] with k >= 1, but weight is ",
            of.weight, ". Give it that shape.");
    conv_sizes const sizes{of.input[0], of.input[1], of.input[2], of.weight[rank - 1], rank == 3};
    check_shapes(op,
        std::array{
            shape_requirement{"weight", sizes.symbolic_weight_shape(), sizes.weight(), of.weight},
            shape_requirement{"bias", "[C]", {sizes.C}, of.bias},
            shape_requirement{"past_state", symbolic_conv_state, sizes.state(), of.past_state},
        },
        [&] { return sizes.describe(); });
    for (shape const& dims : {sizes.channels(), sizes.state()})
        if (!has_strides(dims, item_bytes))
            fail<shape_error>(op, ": operands and results must fit in memory, but ", sizes.describe(),
                ". Choose smaller sizes.");
    return sizes;
}

} // namespace xloom::inline XLOOM_ABI::detail
