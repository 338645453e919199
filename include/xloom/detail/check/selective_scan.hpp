#pragma once
// Requirements of selective_scan on its shapes.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The sizes of a selective scan: N sequences of T steps, K channels of S states. Without a batch axis N is
/// 1.
struct selective_sizes {
    std::size_t N = 1, T = 0, K = 0, S = 0;
    bool has_batch = false;

    constexpr shape with_batch(std::size_t rows, std::size_t columns) const
    {
        return has_batch ? shape{N, rows, columns} : shape{rows, columns};
    }
    constexpr shape channels() const { return with_batch(T, K); }
    constexpr shape states() const { return with_batch(T, S); }
    constexpr shape state() const { return with_batch(K, S); }

    constexpr std::string_view symbolic_channel_shape() const { return has_batch ? "[N, T, K]" : "[T, K]"; }
    constexpr std::string_view symbolic_state_shape() const { return has_batch ? "[N, K, S]" : "[K, S]"; }
    constexpr std::string_view symbolic_step_shape() const { return has_batch ? "[N, T, S]" : "[T, S]"; }

    std::string describe() const
    {
        std::string const batch = has_batch ? concat("N = ", N, ", ") : "";
        return concat(batch, "T = ", T, ", K = ", K, " and S = ", S);
    }
};

/// The shapes of the inputs of a selective scan.
struct selective_shapes {
    shape const& u;
    shape_ref delta, A, B, C, D, z, delta_bias, initial_state;
};

/// Checks all inputs, whose items have item_bytes bytes, and returns the sizes.
///
/// Errors    shape_error
constexpr selective_sizes check_selective_scan(
    std::string_view op, selective_shapes const& of, std::size_t item_bytes)
{
    std::size_t const rank = of.u.size();
    if (rank != 2 && rank != 3)
        fail<shape_error>(op, ": u must have the shape [N, T, K], or [T, K] without a batch axis, but u is ",
            of.u, ". Give it that shape.");
    check_given(op, "delta", of.delta, rank);
    check_given(op, "A", of.A, 2);
    check_given(op, "B", of.B, rank);
    check_given(op, "C", of.C, rank);
    bool const has_batch = rank == 3;
    selective_sizes const sizes{
        has_batch ? of.u[0] : 1, of.u[rank - 2], of.u[rank - 1], (*of.A)[1], has_batch};
    check_shapes(op,
        std::array{
            shape_requirement{"delta", sizes.symbolic_channel_shape(), sizes.channels(), of.delta},
            shape_requirement{"A", "[K, S]", {sizes.K, sizes.S}, of.A},
            shape_requirement{"B", sizes.symbolic_step_shape(), sizes.states(), of.B},
            shape_requirement{"C", sizes.symbolic_step_shape(), sizes.states(), of.C},
            shape_requirement{"D", "[K]", {sizes.K}, of.D},
            shape_requirement{"z", sizes.symbolic_channel_shape(), sizes.channels(), of.z},
            shape_requirement{"delta_bias", "[K]", {sizes.K}, of.delta_bias},
            shape_requirement{"initial_state", sizes.symbolic_state_shape(), sizes.state(), of.initial_state},
        },
        [&] { return sizes.describe(); });
    for (shape const& dims : {sizes.channels(), sizes.states(), sizes.state()})
        if (!has_strides(dims, item_bytes))
            fail<shape_error>(op, ": operands and results must fit in memory, but ", sizes.describe(),
                ". Choose smaller sizes.");
    return sizes;
}

} // namespace xloom::inline XLOOM_ABI::detail
