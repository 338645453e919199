#pragma once
// The backward pass of ONNX's GRU, and the forward pass that keeps what it needs.

#include <string_view>

#include <xloom/detail/recurrent/gru_backward_weights.hpp>
#include <xloom/detail/recurrent/hidden_backward.hpp>
#include <xloom/recurrent/gru.hpp>

namespace xloom::inline XLOOM_ABI {

/// The residuals that gru_forward_into keeps for gru_backward_into: the sums of the gates and h of each step
/// that a row has, the initial states, the lengths. Grows like a workspace: a call that needs no more than an
/// earlier one allocates nothing. A backward pass only reads it.
template <class Item>
class gru_residuals : public detail::residuals_of<Item, kernel::gru_attributes<detail::compute_t<Item>>> {};

/// The cotangents of a GRU's outputs; {} omits one, which is zeros.
template <class Item>
struct gru_cotangents {
    detail::named_ref<tensor_ref<Item const>, detail::names::ct_Y> Y{};
    detail::named_ref<tensor_ref<Item const>, detail::names::ct_Y_h> Y_h{};
};

/// The cotangents of a GRU's inputs, the outputs of gru_backward_into; {} omits one.
template <class Item>
struct gru_gradients {
    detail::named_ref<tensor_ref<Item>, detail::names::ct_X> X{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_W> W{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_R> R{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_B> B{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_initial_h> initial_h{};
};

/// The weights and attributes of a GRU, checked and packed for its backward pass: the constants and options
/// of gru_weights in another order. B is not read. Copies share the memory, moves copy; const members are
/// thread-safe.
///
/// Errors    shape_error, option_error: as gru.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class gru_backward_weights : public detail::packed_weights<detail::gru_backward_family, Item> {
public:
    gru_backward_weights(gru_constants<Item> const& constants, gru_options const& options = {})
        : gru_backward_weights::packed_weights({"xloom::gru_backward_weights"}, constants, options)
    {}

    /// Packs other constants, in the same storage. Allocates nothing if their sizes are the old ones and no
    /// copy shares the memory; copies, and cells made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(gru_constants<Item> const& constants, gru_options const& options = {})
    {
        gru_backward_weights::packed_weights::assign({"xloom::gru_backward_weights"}, constants, options);
    }
};

/// Computes ONNX's GRU as gru_into does, with the same bits, and keeps what its backward pass needs.
///
/// Errors    as gru_into.
/// Cost      that of gru_into, and writing residuals of T N D 4H, with linear_before_reset T N D 5H, numbers,
///           fewer for shorter rows.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void gru_forward_into(Input const& X, gru_weights<Item> const& weights,
    std::type_identity_t<gru_start<Item>> const& start,
    std::type_identity_t<gru_outputs<Item>> const& outputs, gru_residuals<Item>& residuals,
    recurrent_workspace<Item>& workspace, Policy const& policy = {})
{
    detail::input_ref<Item> const input = X;
    detail::run_hidden_forward<kernel::recorded_gru_rows<detail::compute_t<Item>>>(
        "xloom::gru_forward_into", input, weights, start, outputs, residuals, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void gru_forward_into(Input const&, gru_weights<Item> const&, std::type_identity_t<gru_start<Item>> const&,
    std::type_identity_t<gru_outputs<Item>> const&, gru_residuals<Item>&, Policy const&,
    recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>, "xloom::gru_forward_into: the arguments are gru_forward_into(X, "
                                         "weights, start, outputs, residuals, workspace[, policy])");
}

/// Computes the vector-Jacobian product of ONNX's GRU: the cotangents of its inputs from those of its
/// outputs.
///
/// Shapes    those of the operands, in the layout of the weights: ct_Y [T, D, N, H], ct_Y_h [D, N, H] -> ct_X
///           [T, N, I], ct_W [D, 3H, I], ct_R [D, 3H, H], ct_B [D, 6H], ct_initial_h [D, N, H]. Each may be
///           omitted. Any strides.
/// Types     those of gru. Storage floats are computed as float, and rounded in the outputs only.
/// Options   those given to gru_backward_weights, which are those of the forward pass; X is its X.
/// Policy    as lstm_backward_into.
/// Special   as lstm_backward_into: kinks, clip, and steps beyond a row's length.
/// Errors    before anything is written, as lstm_backward_into. ct_initial_h may be the same tensor as
///           ct_Y_h.
/// Order     as lstm_backward_into: the bits do not depend on the threads.
/// Cost      T N D 6H (I + H) multiply-adds, half as many without ct_W and ct_R. Allocates nothing if the
///           workspace is large enough.
/// Source    ONNX GRU-22; Werbos (1990), backpropagation through time.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<double, 3> const W = {{{0.5}, {0.5}, {0.5}}}; // H = 1
/// xt::xtensor<double, 3> const R = xt::zeros<double>({1, 3, 1});
/// xt::xtensor<double, 3> ct_X = xt::zeros<double>({2, 1, 1});
/// xloom::gru_residuals<double> residuals;
/// xloom::recurrent_workspace<double> workspace;
/// xloom::gru_weights<double> const weights({.W = W, .R = R});
/// xloom::gru_forward_into(X, weights, {}, {}, residuals, workspace);
/// xt::xtensor<double, 3> const ct_Y_h = {{{1}}};
/// xloom::gru_backward_weights<double> const backward_weights({.W = W, .R = R});
/// xloom::gru_backward_into(X, backward_weights, residuals, {.Y_h = ct_Y_h}, {.X = ct_X}, workspace);
/// ct_X; // = [[[0.0769815]], [[-0.0380064]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void gru_backward_into(Input const& X, gru_backward_weights<Item> const& weights,
    gru_residuals<Item> const& residuals, std::type_identity_t<gru_cotangents<Item>> const& cotangents,
    std::type_identity_t<gru_gradients<Item>> const& gradients, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    detail::input_ref<Item> const input = X;
    detail::run_hidden_backward<kernel::gru_backward_rows<detail::compute_t<Item>>>(
        "xloom::gru_backward_into", {"[D, 3H, I]", "[D, 3H, H]", "[D, 6H]"}, input, weights, residuals,
        cotangents, gradients, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void gru_backward_into(Input const&, gru_backward_weights<Item> const&, gru_residuals<Item> const&,
    std::type_identity_t<gru_cotangents<Item>> const&, std::type_identity_t<gru_gradients<Item>> const&,
    Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>, "xloom::gru_backward_into: the arguments are gru_backward_into(X, "
                                         "weights, residuals, cotangents, gradients, workspace[, policy])");
}

/// Rejects the weights of the forward pass.
template <class Input, class Item, class... Policy>
void gru_backward_into(Input const&, gru_weights<Item> const&, gru_residuals<Item> const&,
    std::type_identity_t<gru_cotangents<Item>> const&, std::type_identity_t<gru_gradients<Item>> const&,
    recurrent_workspace<Item>&, Policy const&...)
{
    static_assert(detail::never<Item>, "xloom::gru_backward_into: the weights must be gru_backward_weights, "
                                       "constructed from the constants and options of gru_weights");
}

} // namespace xloom::inline XLOOM_ABI
