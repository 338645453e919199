#pragma once
// The causal convolution of each channel along time, with a state: ONNX's CausalConvWithState.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/causal_conv_run.hpp>
#include <xloom/detail/recurrent/operands.hpp>

namespace xloom::inline XLOOM_ABI {

/// The activation of a causal convolution. ONNX's swish is silu.
enum class conv_activation : unsigned char {
    none,
    silu, ///< x / (1 + exp(-x))
};

/// Options of causal_conv and its derivative.
struct causal_conv_options {
    conv_activation activation = conv_activation::none; ///< of each sum
};

/// The inputs of a causal convolution other than input and weight, under ONNX's names; {} omits one. Tensors
/// may have any strides.
template <class Item>
struct causal_conv_inputs {
    tensor_ref<Item const> bias{};
    tensor_ref<Item const> past_state{};
};

/// The outputs of causal_conv_into; {} omits one.
template <class Item>
struct causal_conv_outputs {
    tensor_ref<Item> output{};
    tensor_ref<Item> present_state{};
};

/// The outputs of causal_conv, in the shapes given there.
template <class Item>
struct causal_conv_result {
    xt::xtensor<Item, 3> output, present_state;
};

namespace detail {

/// Returns true if the activation is silu.
///
/// Errors    option_error
constexpr bool has_silu(std::string_view op, causal_conv_options const& options)
{
    if (options.activation != conv_activation::none && options.activation != conv_activation::silu)
        fail<option_error>(op, ": options.activation must be none or silu, but it is number ",
            static_cast<int>(options.activation), ". Choose one of the two.");
    return options.activation == conv_activation::silu;
}

template <class Item>
void check_conv_outputs(std::string_view op, tensor_ref<Item const> const& input,
    tensor_ref<Item const> const& weight, causal_conv_inputs<Item> const& in, conv_sizes const& sizes,
    causal_conv_outputs<Item> const& outputs)
{
    shape const channels = sizes.channels(), state = sizes.state();
    check_outputs<Item>(
        op, [&] { return sizes.describe(); },
        std::array{
            output_requirement<Item>{"output", symbolic_conv_channels, channels, outputs.output, "input"},
            output_requirement<Item>{
                "present_state", symbolic_conv_state, state, outputs.present_state, "past_state"},
        },
        named_conv_inputs(input, weight, in));
}

} // namespace detail

/// Convolves each channel along time with its own weights, causally, into the caller's outputs, of any
/// strides.
///
///     padded = concatenate(past_state, input, axis=2)            # zeros if past_state is omitted
///     for each sequence b, channel c and step t:
///         sum = bias[c]                                          # 0 if omitted
///         for j in range(k):
///             sum = sum + weight[c, 0, j] * padded[b, c, t + j]
///         output[b, c, t] = sum                                  # sum / (1 + exp(-sum)) with silu
///     present_state = padded[:, :, L:]                           # the last k - 1 steps, even if L < k - 1
///
/// Shapes    input and output [B, C, L], weight [C, 1, k] or [C, k], bias [C], past_state and present_state
///           [B, C, k - 1]: B sequences of C channels of L steps, and k >= 1 taps. Any strides: [B, L, C],
///           channels last, is a transposed view. bias, past_state and each output may be omitted. A stream
///           is calls in turn, from present_state to past_state.
/// Types     those of input: float, double; float16 and other storage floats, in which the sum is computed as
///           float and rounded, then SiLU of that, and rounded again, as in ONNX; user-defined scalars.
/// Options   activation (none).
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Workspace a recurrent_workspace of input's element type, before or after the policy, for further calls.
/// Special   NaN and infinity follow IEEE 754; SiLU of -infinity is NaN, as in ONNX's expression.
/// Errors    before anything is written: shape_error, option_error, overlap_error, std::bad_alloc. output may
///           be the tensor input, present_state the tensor past_state.
/// Order     as written, in multiply-adds that are fused where the processor can. The bits of a sequence do
///           not depend on the strides, on the batch, on the other channels, or on how it is split into
///           calls.
/// Cost      B C L k multiply-adds, and an exponential for each item of output with silu. Memory: 12,800 +
///           1,024 k numbers at most for each thread, which are allocated unless a workspace is given that is
///           large enough.
/// Real time with a workspace, on one thread, after a call of the same sizes.
/// Source    ONNX CausalConvWithState-27. The short convolutions of Mamba and of Gated DeltaNet.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> x = {{{1, 2, 3}}}, state = {{{0}}};
/// xt::xtensor<float, 3> const weight = {{{10, 1}}}; // [C, 1, k]
/// xloom::recurrent_workspace<float> workspace;
/// xloom::causal_conv_into(
///     x, weight, {.past_state = state}, {.output = x, .present_state = state}, workspace);
/// x; // = [[[1, 12, 23]]]
/// state; // = [[[3]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = causal_conv_options,
    class... Env>
void causal_conv_into(Input const& input, std::type_identity_t<tensor_ref<Item const>> const& weight,
    std::type_identity_t<causal_conv_inputs<Item>> const& inputs,
    std::type_identity_t<causal_conv_outputs<Item>> const& outputs, Options&& options = {}, Env&&... env)
{
    static constexpr std::string_view op = "xloom::causal_conv_into";
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<causal_conv_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const input_ref = input;
        detail::conv_sizes const sizes = detail::check_conv_inputs(op, input_ref, weight, inputs);
        bool const silu = detail::has_silu(op, detail::options_of<causal_conv_options>(options));
        detail::check_conv_outputs(op, input_ref, weight, inputs, sizes, outputs);
        detail::conv_call<Item> const call{input_ref, weight, inputs, sizes, silu};
        detail::run_at_level<detail::conv_functions<Item>, Item>(std::tie(call, outputs), options, env...);
    }
}

/// Returns the outputs of causal_conv_into.
///
/// Errors    shape_error, option_error, std::bad_alloc.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const x = {{{1, -1}}};
/// xt::xtensor<double, 2> const weight = {{0, 1}}; // [C, k]
/// auto const silu = xloom::conv_activation::silu;
/// auto const [output, state] = xloom::causal_conv(x, weight, {}, {.activation = silu});
/// output; // = [[[0.731059, -0.268941]]]
/// state; // = [[[-1]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = causal_conv_options,
    class... Env>
auto causal_conv(Input const& input, std::type_identity_t<tensor_ref<Item const>> const& weight,
    std::type_identity_t<causal_conv_inputs<Item>> const& inputs = {}, Options&& options = {}, Env&&... env)
{
    static constexpr std::string_view op = "xloom::causal_conv";
    using tensor_type = xt::xtensor<Item, 3>;
    causal_conv_result<Item> result{};
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<causal_conv_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const input_ref = input;
        detail::conv_sizes const sizes = detail::check_conv_inputs(op, input_ref, weight, inputs);
        bool const silu = detail::has_silu(op, detail::options_of<causal_conv_options>(options));
        detail::conv_call<Item> const call{input_ref, weight, inputs, sizes, silu};
        result = {enable_tensor<tensor_type>::make(sizes.channels()),
            enable_tensor<tensor_type>::make(sizes.state())};
        causal_conv_outputs<Item> const outputs{result.output, result.present_state};
        detail::run_at_level<detail::conv_functions<Item>, Item>(std::tie(call, outputs), options, env...);
    }
    return result;
}

} // namespace xloom::inline XLOOM_ABI
