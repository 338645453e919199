#pragma once
// ONNX's GRU over a batch of sequences.

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/recurrent/gru_weights.hpp>
#include <xloom/detail/recurrent/single_state.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of a GRU under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct gru_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The inputs of a GRU that are constant over calls.
template <class Item>
struct gru_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
};

/// The inputs of a GRU, except X, that vary from call to call.
template <class Item>
struct gru_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The outputs of gru_into; {} omits one.
template <class Item>
struct gru_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
};

/// The outputs of gru, in the shapes given there.
template <class Item>
struct gru_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// ONNX's attributes of a GRU. Names and lists are read only during the call that they are passed to.
struct gru_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{};                                    ///< f, g of each direction; none: Sigmoid, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    bool linear_before_reset = false;                     ///< r is applied to R h + Rb instead of h
    std::int64_t layout = 0; ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of a GRU, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as gru.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class gru_weights : public detail::packed_weights<detail::gru_family, Item> {
public:
    gru_weights(gru_constants<Item> const& constants, gru_options const& options = {})
        : gru_weights({"xloom::gru_weights"}, constants, options)
    {}
    /// Packs W and R in a narrow type (docs/weights.md).
    ///
    /// Errors    option_error: the type cannot hold one of them.
    gru_weights(gru_constants<Item> const& constants, gru_options const& options, weight_storage storage)
        requires kernel::has_narrow_storage<detail::compute_t<Item>>
        : gru_weights::packed_weights({"xloom::gru_weights"}, constants, options, storage)
    {}
    gru_weights(
        detail::operator_name const& op, gru_constants<Item> const& constants, gru_options const& options)
        : gru_weights::packed_weights(op, constants, options)
    {}

    /// Packs other constants, in the same storage. Allocates nothing if their sizes are the old ones and no
    /// copy shares the memory; copies, and cells made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(gru_constants<Item> const& constants, gru_options const& options = {})
    {
        gru_weights::packed_weights::assign_stored({"xloom::gru_weights"}, constants, options);
    }
};

/// Computes ONNX's GRU.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         z, r = act_f(split(W[d][z, r] x_t + Wb[d] + R[d][z, r] h + Rb[d], 2))
///         h' = act_g(W[d][h] x_t + Wb[d] + R[d][h] (r * h) + Rb[d])
///             # linear_before_reset: + r * (R[d][h] h + Rb[d])
///         h = (1 - z) * h' + z * h
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 3H, I], R [D, 3H, H], B [D, 6H] = [Wb, Rb], sequence_lens [N], initial_h [D,
///           N, H] -> Y [T, D, N, H], Y_h [D, N, H]; gates in the order z, r, h. Layout 1: X [N, T, I], Y [N,
///           T, D, H], states [N, D, H]. Any strides.
/// Types     as lstm.
/// Options   gru_options; if the weights are packed, those given to gru_weights.
/// Policy    serial, or one with threads (tbb_policy): each thread has its own rows and directions; where
///           there is one row in one direction, its own columns of large products.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     as lstm: the bits of a row depend only on the row.
/// Cost      T N D 3H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights.
/// Differs   from ONNX: nothing known. Unspecified there: a row of length 0 keeps its initial state, and
///           surplus values of activation_alpha and activation_beta are ignored.
/// Source    ONNX GRU-1, 3, 7, 14, 22; infer_gru has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 3, 1});
/// auto const [Y, Y_h] = xloom::gru(X, {.W = W, .R = R});
/// Y; // = [[[[0.174468]]], [[[0.307763]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
gru_result<Item> gru(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start = {}, Policy const& policy = {})
{
    return detail::run_hidden<gru_result<Item>, gru_outputs<Item>, kernel::gru_rows<detail::compute_t<Item>>,
        Item>("xloom::gru", X, weights, start, policy);
}

/// Computes ONNX's GRU with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
gru_result<Item> gru(Input const& X, std::type_identity_t<gru_inputs<Item>> const& inputs,
    gru_options const& options = {}, Policy const& policy = {})
{
    gru_weights<Item> const weights(
        detail::operator_name{"xloom::gru"}, {inputs.W, inputs.R, inputs.B}, options);
    return gru(X, weights, {inputs.sequence_lens, inputs.initial_h}, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
gru_result<Item> gru(
    Input const&, gru_weights<Item> const&, Policy const&, std::type_identity_t<gru_start<Item>> const& = {})
{
    static_assert(detail::never<Policy>, "xloom::gru: the arguments are gru(X, weights[, start][, policy])");
    return {};
}

/// Rejects a policy that is not last.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
gru_result<Item> gru(
    Input const&, std::type_identity_t<gru_inputs<Item>> const&, Policy const&, gru_options const& = {})
{
    static_assert(detail::never<Policy>, "xloom::gru: the arguments are gru(X, inputs[, options][, policy])");
    return {};
}

/// Computes ONNX's GRU into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as gru; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h may be the same tensor as initial_h.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void gru_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::gru_into";
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_hidden_call<Item>(op, input, weights, start);
    detail::check_hidden_outputs<Item>(op, weights, batch, input, start, outputs);
    detail::run_hidden_into<kernel::gru_rows<detail::compute_t<Item>>>(
        input, weights, batch, start, outputs, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void gru_into(Input const&, gru_weights<Item> const&, std::type_identity_t<gru_start<Item>> const&,
    std::type_identity_t<gru_outputs<Item>> const&, Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>,
        "xloom::gru_into: the arguments are gru_into(X, weights, start, outputs, workspace[, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows and the policy's
/// threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> gru_workspace(
    gru_weights<Item> const& weights, detail::batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>("xloom::gru_workspace", weights,
        detail::hidden_states<Item, kernel::gru_rows<detail::compute_t<Item>>, gru_weights<Item>>{
            weights, {}, {}},
        batch, policy);
}

} // namespace xloom::inline XLOOM_ABI
