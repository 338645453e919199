#pragma once
// The selective scan of state-space models such as Mamba.

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/selective_scan_run.hpp>
#include <xloom/detail/tensor/result_container.hpp>

namespace xloom::inline XLOOM_ABI {

/// Options of selective_scan and its derivative.
struct selective_scan_options {
    bool delta_softplus = false; ///< the step sizes are softplus(delta + delta_bias)
};

/// The inputs of a selective scan other than u, under the names of Mamba's reference; {} omits one. Tensors
/// may have any strides.
template <class Item>
struct selective_scan_inputs {
    tensor_ref<Item const> delta{};
    tensor_ref<Item const> A{};
    tensor_ref<Item const> B{};
    tensor_ref<Item const> C{};
    tensor_ref<Item const> D{};
    tensor_ref<Item const> z{};
    tensor_ref<Item const> delta_bias{};
    tensor_ref<Item const> initial_state{};
};

/// The outputs of selective_scan_into; {} omits one.
template <class Item>
struct selective_scan_outputs {
    tensor_ref<Item> y{};
    tensor_ref<Item> final_state{};
};

/// The outputs of selective_scan, in the shapes given there: tensors of u's rank.
template <class Tensor>
struct selective_scan_result {
    Tensor y, final_state;
};

namespace detail {

template <class Item>
void check_selective_outputs(std::string_view op, tensor_ref<Item const> const& u,
    selective_scan_inputs<Item> const& in, selective_sizes const& sizes,
    selective_scan_outputs<Item> const& outputs)
{
    shape const channels = sizes.channels(), state = sizes.state();
    check_outputs<Item>(
        op, [&] { return sizes.describe(); },
        std::array{
            output_requirement<Item>{"y", sizes.symbolic_channel_shape(), channels, outputs.y, "u"},
            output_requirement<Item>{
                "final_state", sizes.symbolic_state_shape(), state, outputs.final_state, "initial_state"},
        },
        named_selective_inputs(u, in));
}

} // namespace detail

/// Computes the selective scan of Mamba into the caller's outputs, of any strides.
///
///     for each sequence n and each channel k:
///         h = initial_state[n, k]                                  # S states; zeros if omitted
///         for t in range(T):
///             d = delta[n, t, k] + delta_bias[k]                   # softplus of it if delta_softplus
///             h = exp(d * A[k]) * h + d * u[n, t, k] * B[n, t]
///             y[n, t, k] = sum(h * C[n, t]) + D[k] * u[n, t, k]    # times z * sigmoid(z), z[n, t, k]
///         final_state[n, k] = h
///
/// Shapes    u, delta, z, y [N, T, K], A [K, S], B and C [N, T, S], D and delta_bias [K], initial_state and
///           final_state [N, K, S]: N sequences of T steps, K channels of S states. All may be without N. Any
///           strides: Mamba's [N, K, T] is a transposed view. D, z, delta_bias, initial_state and each output
///           may be omitted. A stream is calls in turn, from final_state to initial_state.
/// Types     those of u: float, double; float16 and other storage floats, computed as float and rounded in y
///           and final_state only; user-defined scalars.
/// Options   delta_softplus (false).
/// Policy    serial, or one with threads (thread_policy, tbb_policy): results are bitwise equal to those of
///           serial.
/// Workspace a recurrent_workspace of u's element type, before or after the policy, for further calls.
/// Special   A step of size d = 0 keeps the states, so that delta pads a short sequence if u and B are finite
///           there: 0 times NaN or infinity is NaN. With delta_softplus that is delta = -infinity, without it
///           delta = -delta_bias. NaN and infinity follow IEEE 754.
/// Errors    before anything is written: shape_error, overlap_error, std::bad_alloc. y may be the tensor u,
///           final_state the tensor initial_state.
/// Order     as written, state after state, in multiply-adds that are fused where the processor can. The bits
///           of a sequence do not depend on the batch, on the other channels, or on how it is split into
///           calls (float and wider types).
/// Max error of each exponential 1.5 ULP, and half of one in its argument, up to an argument of 88.3 (of
///           double, 709); above it is infinite.
/// Cost      N T K S exponentials. Memory: 2 S numbers for each SIMD lane of each thread, which are allocated
///           unless a workspace is given that is large enough.
/// Real time with a workspace, on one thread, after a call of the same sizes.
/// Differs   from linear_recurrence, which is the same recurrence in parallel along time: the states of all
///           steps are never in memory.
/// Source    A. Gu, T. Dao, "Mamba" (2023), algorithm 2; its reference selective_scan_ref, whose B and C are
///           [N, S, T].
/// Example
/// ```cpp
/// xt::xtensor<double, 2> const u = {{1}, {2}}, delta = {{1}, {1}}; // T = 2, K = 1
/// xt::xtensor<double, 2> const A = {{0, -1}}, B = {{1, 1}, {1, 1}}, C = {{1, 0}, {1, 0}}; // S = 2
/// xt::xtensor<double, 2> y = u, state = xt::zeros<double>({1, 2});
/// xloom::recurrent_workspace<double> workspace;
/// xloom::selective_scan_into(u, {.delta = delta, .A = A, .B = B, .C = C, .initial_state = state},
///     {.y = y, .final_state = state}, workspace);
/// y; // = [[1], [3]]
/// state; // = [[3, 2.36788]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = selective_scan_options,
    class... Env>
void selective_scan_into(Input const& u, std::type_identity_t<selective_scan_inputs<Item>> const& inputs,
    std::type_identity_t<selective_scan_outputs<Item>> const& outputs, Options&& options = {}, Env&&... env)
{
    static constexpr std::string_view op = "xloom::selective_scan_into";
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<selective_scan_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const u_ref = u;
        detail::selective_sizes const sizes = detail::check_selective_inputs(op, u_ref, inputs);
        detail::check_selective_outputs(op, u_ref, inputs, sizes, outputs);
        detail::selective_call<Item> const call{
            u_ref, inputs, sizes, detail::options_of<selective_scan_options>(options).delta_softplus};
        detail::run_at_level<detail::selective_functions<Item>, Item>(
            std::tie(call, outputs), options, env...);
    }
}

/// Returns the outputs of selective_scan_into.
///
/// Errors    shape_error, std::bad_alloc.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const u = {{{1}, {2}}}, delta = {{{0}, {0}}}, B = {{{1}, {1}}}, C = B;
/// xt::xtensor<double, 2> const A = {{-1}};
/// xt::xtensor<double, 1> const D = {2};
/// auto const [y, final_state] = xloom::selective_scan(
///     u, {.delta = delta, .A = A, .B = B, .C = C, .D = D}, {.delta_softplus = true});
/// y; // = [[[2.69315], [5.73287]]]
/// final_state; // = [[[1.73287]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, class Options = selective_scan_options,
    class... Env>
auto selective_scan(Input const& u, std::type_identity_t<selective_scan_inputs<Item>> const& inputs,
    Options&& options = {}, Env&&... env)
{
    static constexpr std::string_view op = "xloom::selective_scan";
    using tensor_type = detail::result_container_t<Input>;
    selective_scan_result<tensor_type> result{};
    if constexpr (detail::satisfied<detail::options_policy_and_workspace<selective_scan_options,
                      recurrent_workspace<Item>, Options, Env...>>()) {
        tensor_ref<Item const> const u_ref = u;
        detail::selective_sizes const sizes = detail::check_selective_inputs(op, u_ref, inputs);
        detail::selective_call<Item> const call{
            u_ref, inputs, sizes, detail::options_of<selective_scan_options>(options).delta_softplus};
        result = {enable_tensor<tensor_type>::make(sizes.channels()),
            enable_tensor<tensor_type>::make(sizes.state())};
        selective_scan_outputs<Item> const outputs{result.y, result.final_state};
        detail::run_at_level<detail::selective_functions<Item>, Item>(
            std::tie(call, outputs), options, env...);
    }
    return result;
}

} // namespace xloom::inline XLOOM_ABI
