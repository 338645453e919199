#pragma once
// The derivative of the selective scan.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/selective_scan_vjp_run.hpp>
#include <xloom/recurrent/selective_scan.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of a selective scan's outputs; {} omits one, which is zeros.
template <class Item>
using selective_scan_cotangents = selective_scan_outputs<Item const>;

/// The gradients that selective_scan_vjp_into adds to; {} omits one.
template <class Item>
struct selective_scan_gradients {
    tensor_ref<Item> u{};
    tensor_ref<Item> delta{};
    tensor_ref<Item> A{};
    tensor_ref<Item> B{};
    tensor_ref<Item> C{};
    tensor_ref<Item> D{};
    tensor_ref<Item> z{};
    tensor_ref<Item> delta_bias{};
    tensor_ref<Item> initial_state{};
};

namespace detail {

template <class Item>
void check_selective_vjp(std::string_view op, tensor_ref<Item const> const& u,
    selective_scan_inputs<Item> const& in, selective_sizes const& sizes,
    selective_scan_cotangents<Item> const& cotangents, selective_scan_gradients<Item> const& gradients)
{
    std::array const given{named("ct_y", cotangents.y), named("ct_final_state", cotangents.final_state)};
    check_ranks(op, given);
    shape const channels = sizes.channels(), state = sizes.state(), states = sizes.states();
    shape const matrix{sizes.K, sizes.S}, vector{sizes.K};
    std::string_view const of_channels = sizes.symbolic_channel_shape(),
                           of_states = sizes.symbolic_step_shape();
    auto const describe = [&] { return sizes.describe(); };
    check_shapes(op,
        std::array{shape_requirement{"ct_y", of_channels, channels, shape_if_given(cotangents.y)},
            shape_requirement{"ct_final_state", sizes.symbolic_state_shape(), state,
                shape_if_given(cotangents.final_state)}},
        describe);
    if (gradients.z.is_given() && !in.z.is_given())
        fail<shape_error>(op, ": ct_z requires z, but z is omitted. Omit ct_z, too.");
    check_outputs<Item>(op, describe,
        std::array{
            output_requirement<Item>{"ct_u", of_channels, channels, gradients.u},
            output_requirement<Item>{"ct_delta", of_channels, channels, gradients.delta},
            output_requirement<Item>{"ct_A", "[K, S]", matrix, gradients.A},
            output_requirement<Item>{"ct_B", of_states, states, gradients.B},
            output_requirement<Item>{"ct_C", of_states, states, gradients.C},
            output_requirement<Item>{"ct_D", "[K]", vector, gradients.D},
            output_requirement<Item>{"ct_z", of_channels, channels, gradients.z},
            output_requirement<Item>{"ct_delta_bias", "[K]", vector, gradients.delta_bias},
            output_requirement<Item>{
                "ct_initial_state", sizes.symbolic_state_shape(), state, gradients.initial_state},
        },
        all_operands(named_selective_inputs(u, in), given));
}

} // namespace detail

/// Computes the vector-Jacobian product of selective_scan: the gradients of its inputs from the cotangents of
/// y and of the final state.
///
///     for each input v:
///         ct_v = ct_v + sum(ct_y * dy/dv) + sum(ct_final_state * dfinal_state/dv)
///
/// Shapes    u and inputs, those of the forward pass; ct_y as y, ct_final_state as final_state; each gradient
///           as its input. Each cotangent and gradient may be omitted. Any strides. The gradients of D,
///           delta_bias and the initial state do not require that the forward pass has them.
/// Types     those of selective_scan. Storage floats are computed as float, rounded in the gradients only.
/// Options   those of the forward pass.
/// Policy    serial, or one with threads: results are bitwise equal to those of serial.
/// Workspace a recurrent_workspace of u's element type, before or after the policy.
/// Errors    before anything is written: shape_error, overlap_error, std::bad_alloc.
/// Special   Gradients are added to, so that those of several calls add up: set them to zero before the
///           first.
/// Order     ct_B and ct_C are sums over 256 channels each, whose sums are added up in order; ct_A, ct_D and
///           ct_delta_bias are sums over the steps from the last to the first, then over the sequences.
/// Cost      the forward pass twice, its states being computed again from about sqrt(T) of them, and a
///           backward pass. Memory: 3 sqrt(T) S numbers for each SIMD lane of each thread, and of each group
///           of 256 channels of each sequence 2 T S + 256 S. Allocates nothing if a workspace is given that
///           is large enough.
/// Source    A. Gu, T. Dao, "Mamba" (2023), section 3.3.2, whose backward pass computes states again, too.
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const u = {{1}, {2}}, delta = {{1}, {1}}, B = {{1}, {1}}, C = B;
/// xt::xtensor<double, 2> const A = {{0}}, ct_y = {{1}, {1}};
/// xt::xtensor<double, 2> ct_u = xt::zeros_like(u), ct_A = xt::zeros_like(A);
/// xloom::recurrent_workspace<double> workspace;
/// xloom::selective_scan_vjp_into(u, {.delta = delta, .A = A, .B = B, .C = C}, {.y = ct_y},
///     {.u = ct_u, .A = ct_A}, workspace); // y = {u[0], exp(A) u[0] + u[1]}
/// ct_u; // = [[2], [1]]
/// ct_A; // = [[1]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = selective_scan_options,
    class... Env>
void selective_scan_vjp_into(Input const& u, std::type_identity_t<selective_scan_inputs<Item>> const& inputs,
    std::type_identity_t<selective_scan_cotangents<Item>> const& cotangents,
    std::type_identity_t<selective_scan_gradients<Item>> const& gradients, Options&& options = {},
    Env&&... env)
{
    static constexpr std::string_view op = "xloom::selective_scan_vjp_into";
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<selective_scan_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const u_ref = u;
        detail::selective_sizes const sizes = detail::check_selective_inputs(op, u_ref, inputs);
        detail::check_selective_vjp(op, u_ref, inputs, sizes, cotangents, gradients);
        detail::selective_call<Item> const call{
            u_ref, inputs, sizes, detail::options_of<selective_scan_options>(options).delta_softplus};
        detail::run_at_level<detail::selective_vjp_functions<Item>, Item>(
            std::tie(call, cotangents, gradients), options, env...);
    }
}

} // namespace xloom::inline XLOOM_ABI
