#pragma once
// GRU: ONNX's, over a batch of sequences.

#include <xloom/run/recurrent/gru_weights.hpp>
#include <xloom/run/recurrent/single_state.hpp>

namespace xloom {

/// The inputs of a GRU under ONNX's names, in ONNX's order; {} is one that is left out. Tensors of any
/// layout.
template <class Item>
struct gru_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// The inputs that stay the same from call to call.
template <class Item>
struct gru_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
};

/// The inputs that do not.
template <class Item>
struct gru_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
};

/// Where gru_into writes; {} is an output that is not wanted.
template <class Item>
struct gru_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
};

/// What gru returns, shaped as its comment says.
template <class Item>
struct gru_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h;
};

/// ONNX's attributes. Names and lists are read during the call that they are handed to.
struct gru_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{};                                    ///< f, g of each direction; none: Sigmoid, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};
    std::optional<double> clip{};              ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{}; ///< H, if you want it checked
    bool linear_before_reset = false;          ///< r meets R h + Rb instead of h
    std::int64_t layout = 0;                   ///< 1: the batch axis comes first in X, Y and the states
};

/// Weights and attributes of a GRU, checked and laid out once for many calls. Copies share the memory, moves
/// copy; const is thread-safe.
///
/// Errors    shape_error, option_error: as gru.
/// Cost      one pass over the weights; as much memory as they take, H filled up to whole vectors.
template <class Item>
class gru_weights : public detail::packed_weights<kernel::gru_parameters<detail::compute_t<Item>>> {
    using T = detail::compute_t<Item>;

public:
    gru_weights(gru_constants<Item> const& constants, gru_options const& options = {})
        : gru_weights("xloom::gru_weights", constants, options)
    {}
    gru_weights(std::string_view op, gru_constants<Item> const& constants, gru_options const& options)
        : gru_weights(constants, options,
              detail::checked_weights{detail::check_gru_constants(op, constants, options),
                  detail::check_activations(op, options, detail::gru_activations, activation_dialect::onnx)})
    {}

private:
    gru_weights(gru_constants<Item> const& constants, gru_options const& options,
        detail::checked_weights const& checked)
        : detail::packed_weights<kernel::gru_parameters<T>>(
              checked.sizes, options, [&](std::size_t d, kernel::arena<T>& memory) {
                  return detail::pack_gru<T>(constants, checked.sizes, options, checked.functions, d, memory);
              })
    {}
};

/// ONNX's GRU.
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
/// Options   gru_options; given with the weights, if these are packed.
/// Policy    serial, or one with threads (xloom/tbb.hpp): each works on rows and directions of its own.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     as lstm: the bits of a row depend on nothing but the row.
/// Cost      T N D 3H (I + H) multiply-adds, for rows that are shorter fewer. Packing is a pass over the
///           weights.
/// Differs   from ONNX: nothing known. A row of length 0 keeps its initial state.
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

/// With weights as they are: packs them first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
gru_result<Item> gru(Input const& X, std::type_identity_t<gru_inputs<Item>> const& inputs,
    gru_options const& options = {}, Policy const& policy = {})
{
    gru_weights<Item> const weights("xloom::gru", {inputs.W, inputs.R, inputs.B}, options);
    return gru(X, weights, {inputs.sequence_lens, inputs.initial_h}, policy);
}

/// Into the caller's outputs, of any strides, with a workspace of the caller's: allocates nothing if that is
/// large enough.
///
/// Errors    as gru; shape_error: an output's shape.  overlap_error: an output shares memory with an input or
///           another output; but Y_h may be the very tensor initial_h.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void gru_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::gru_into";
    detail::input_ref<Item> const input = X;
    batch_sizes const batch = detail::check_hidden_call<Item>(op, input, weights, start);
    detail::check_hidden_outputs<Item>(op, weights, batch, input, start, outputs);
    detail::run_hidden_into<kernel::gru_rows<detail::compute_t<Item>>>(
        input, weights, batch, start, outputs, workspace, policy);
}

/// A workspace that is large enough for all calls with up to T steps, N rows and so many threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> gru_workspace(
    gru_weights<Item> const& weights, batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>("xloom::gru_workspace", weights,
        detail::hidden_states<Item, kernel::gru_rows<detail::compute_t<Item>>, gru_weights<Item>>{
            weights, {}, {}},
        batch, policy);
}

} // namespace xloom
