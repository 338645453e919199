#pragma once
// The derivative of the causal convolution.

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/causal_conv_vjp_run.hpp>
#include <xloom/recurrent/causal_conv.hpp>

namespace xloom::inline XLOOM_ABI {

/// The cotangents of a causal convolution's outputs; {} omits one, which is zeros.
template <class Item>
using causal_conv_cotangents = causal_conv_outputs<Item const>;

/// The gradients that causal_conv_vjp_into adds to; {} omits one.
template <class Item>
struct causal_conv_gradients {
    tensor_ref<Item> input{};
    tensor_ref<Item> weight{};
    tensor_ref<Item> bias{};
    tensor_ref<Item> past_state{};
};

namespace detail {

template <class Item>
void check_conv_vjp(std::string_view op, conv_call<Item> const& call,
    causal_conv_cotangents<Item> const& cotangents, causal_conv_gradients<Item> const& gradients)
{
    conv_sizes const& sizes = call.sizes;
    std::array const given{
        named("ct_output", cotangents.output), named("ct_present_state", cotangents.present_state)};
    check_ranks(op, given);
    shape const channels = sizes.channels(), state = sizes.state(), weight = sizes.weight(), bias{sizes.C};
    auto const describe = [&] { return sizes.describe(); };
    check_shapes(op,
        std::array{
            shape_requirement{
                "ct_output", symbolic_conv_channels, channels, shape_if_given(cotangents.output)},
            shape_requirement{
                "ct_present_state", symbolic_conv_state, state, shape_if_given(cotangents.present_state)},
        },
        describe);
    check_outputs<Item>(op, describe,
        std::array{
            output_requirement<Item>{"ct_input", symbolic_conv_channels, channels, gradients.input},
            output_requirement<Item>{"ct_weight", sizes.symbolic_weight_shape(), weight, gradients.weight},
            output_requirement<Item>{"ct_bias", "[C]", bias, gradients.bias},
            output_requirement<Item>{"ct_past_state", symbolic_conv_state, state, gradients.past_state},
        },
        all_operands(given, named_conv_inputs(call.input, call.weight, call.in)));
}

} // namespace detail

/// Computes the vector-Jacobian product of causal_conv: the gradients of its inputs from the cotangents of
/// the output and of the present state.
///
///     for each input v:
///         ct_v = ct_v + sum(ct_output * doutput/dv) + sum(ct_present_state * dpresent_state/dv)
///
/// Shapes    input, weight and inputs, those of the forward pass; ct_output as output, ct_present_state as
///           present_state; each gradient as its input. Each cotangent and gradient may be omitted. Any
///           strides. The gradients of bias and past state do not require that the forward pass has them.
/// Types     those of causal_conv; the gradients of storage floats are computed as float and rounded once.
/// Options   those of the forward pass.
/// Policy    serial, or one with threads, among which channels are divided: results are bitwise equal to
///           those of serial.
/// Workspace a recurrent_workspace of input's element type, before or after the policy.
/// Errors    before anything is written: shape_error, option_error, overlap_error, std::bad_alloc.
/// Special   Gradients are added to, so that those of several calls add up: set them to zero before the
///           first.
/// Order     sums over steps in order, of one sequence after the other, in fused multiply-adds where the
///           processor can.
/// Cost      the forward pass with silu, and 2 B C L k multiply-adds. Memory: 32 (L + 3 k) numbers for each
///           thread, or a little more, which are allocated unless a workspace is given that is large enough.
/// Source    ONNX CausalConvWithState-27, derived.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const x = {{{1, 2, 3}}}, weight = {{{10, 1}}}, ct_output = {{{1, 1, 1}}};
/// xt::xtensor<double, 3> ct_x = xt::zeros_like(x), ct_weight = xt::zeros_like(weight);
/// xloom::causal_conv_vjp_into(
///     x, weight, {}, {.output = ct_output}, {.input = ct_x, .weight = ct_weight});
/// ct_x; // = [[[11, 11, 1]]]
/// ct_weight; // = [[[3, 6]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = causal_conv_options,
    class... Env>
void causal_conv_vjp_into(Input const& input, std::type_identity_t<tensor_ref<Item const>> const& weight,
    std::type_identity_t<causal_conv_inputs<Item>> const& inputs,
    std::type_identity_t<causal_conv_cotangents<Item>> const& cotangents,
    std::type_identity_t<causal_conv_gradients<Item>> const& gradients, Options&& options = {}, Env&&... env)
{
    static constexpr std::string_view op = "xloom::causal_conv_vjp_into";
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<causal_conv_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const input_ref = input;
        detail::conv_sizes const sizes = detail::check_conv_inputs(op, input_ref, weight, inputs);
        bool const silu = detail::has_silu(op, detail::options_of<causal_conv_options>(options));
        detail::conv_call<Item> const call{input_ref, weight, inputs, sizes, silu};
        detail::check_conv_vjp(op, call, cotangents, gradients);
        detail::run_at_level<detail::conv_vjp_functions<Item>, Item>(
            std::tie(call, cotangents, gradients), options, env...);
    }
}

} // namespace xloom::inline XLOOM_ABI
