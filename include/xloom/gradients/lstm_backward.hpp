#pragma once
// The backward pass of ONNX's LSTM, and the forward pass that keeps what it needs.

#include <array>
#include <string_view>

#include <xloom/detail/recurrent/backward_run.hpp>
#include <xloom/detail/recurrent/lstm_backward_weights.hpp>
#include <xloom/recurrent/lstm.hpp>

namespace xloom::inline XLOOM_ABI {

/// The residuals that lstm_forward_into keeps for lstm_backward_into: the sums of the gates and c of each
/// step that a row has, the initial states, the lengths. Grows like a workspace: a call that needs no more
/// than an earlier one allocates nothing. A backward pass only reads it.
template <class Item>
class lstm_residuals : public detail::residuals_of<Item, kernel::lstm_attributes<detail::compute_t<Item>>> {};

/// The cotangents of an LSTM's outputs; {} omits one, which is zeros.
template <class Item>
struct lstm_cotangents {
    detail::named_ref<tensor_ref<Item const>, detail::names::ct_Y> Y{};
    detail::named_ref<tensor_ref<Item const>, detail::names::ct_Y_h> Y_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::ct_Y_c> Y_c{};
};

/// The cotangents of an LSTM's inputs, the outputs of lstm_backward_into; {} omits one.
template <class Item>
struct lstm_gradients {
    detail::named_ref<tensor_ref<Item>, detail::names::ct_X> X{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_W> W{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_R> R{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_B> B{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_P> P{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item>, detail::names::ct_initial_c> initial_c{};
};

/// The weights and attributes of an LSTM, checked and packed for its backward pass: the constants and options
/// of lstm_weights in another order. B is not read. Copies share the memory, moves copy; const members are
/// thread-safe.
///
/// Errors    shape_error, option_error: as lstm.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class lstm_backward_weights : public detail::packed_weights<detail::lstm_backward_family, Item> {
public:
    lstm_backward_weights(lstm_constants<Item> const& constants, lstm_options const& options = {})
        : lstm_backward_weights::packed_weights({"xloom::lstm_backward_weights"}, constants, options)
    {}

    /// Packs other constants, in the same storage. Allocates nothing if their sizes are the old ones and no
    /// copy shares the memory; copies, and cells made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(lstm_constants<Item> const& constants, lstm_options const& options = {})
    {
        lstm_backward_weights::packed_weights::assign({"xloom::lstm_backward_weights"}, constants, options);
    }
};

namespace detail {

/// The states of an LSTM's rows, whose steps keep residuals.
template <class Item>
struct recorded_lstm_states : lstm_states<Item> {
    using T = compute_t<Item>;

    lstm_residuals<Item>& residuals;
    std::size_t groups;

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        return kernel::recorded_lstm_rows<T>(detail::parameters_of(this->weights, part.d), part.count,
            residuals.steps_to_write(part.d, part.group, groups), memory);
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        lstm_states<Item>::start(part, rows);
        std::size_t const width = kernel::whole_batches<T>(rows.H());
        for (std::size_t r = 0; r < part.count; ++r) {
            T* const kept = residuals.initial_to_write(part.d, part.group + r * groups);
            std::copy_n(rows.h(r), width, kept);
            std::copy_n(rows.c(r), width, kept + width);
        }
    }
};

template <class Item>
void check_lstm_backward(std::string_view op, input_ref<Item> const& X,
    lstm_backward_weights<Item> const& weights, lstm_residuals<Item> const& residuals,
    lstm_cotangents<Item> const& cotangents, lstm_gradients<Item> const& gradients)
{
    check_ranks(op, X, cotangents.Y, cotangents.Y_h, cotangents.Y_c);
    std::int64_t const layout = weights.layout();
    recurrent_widths const& sizes = weights.sizes();
    std::size_t const D = sizes.D, I = sizes.I, H = sizes.H;
    batch_sizes const batch = check_X(op, X.shape(), sizes, layout);
    check_residuals(op, residuals, weights, batch, X);
    shape const state = state_shape(sizes, batch, layout);
    auto const describe_sizes = [&] { return describe(sizes, batch); };
    check_shapes(op,
        std::array{shape_requirement{"ct_Y", output_letters(layout), output_shape(sizes, batch, layout),
                       shape_if_given(cotangents.Y)},
            shape_requirement{"ct_Y_h", state_letters(layout), state, shape_if_given(cotangents.Y_h)},
            shape_requirement{"ct_Y_c", state_letters(layout), state, shape_if_given(cotangents.Y_c)}},
        describe_sizes);
    check_outputs<Item>(op, describe_sizes,
        std::array{
            output_requirement<Item>{"ct_X", layout == 0 ? "[T, N, I]" : "[N, T, I]", X.shape(), gradients.X},
            output_requirement<Item>{"ct_W", "[D, 4H, I]", {D, 4 * H, I}, gradients.W},
            output_requirement<Item>{"ct_R", "[D, 4H, H]", {D, 4 * H, H}, gradients.R},
            output_requirement<Item>{"ct_B", "[D, 8H]", {D, 8 * H}, gradients.B},
            output_requirement<Item>{"ct_P", "[D, 3H]", {D, 3 * H}, gradients.P},
            output_requirement<Item>{
                "ct_initial_h", state_letters(layout), state, gradients.initial_h, "ct_Y_h"},
            output_requirement<Item>{
                "ct_initial_c", state_letters(layout), state, gradients.initial_c, "ct_Y_c"},
        },
        blocks_of(X, cotangents.Y, cotangents.Y_h, cotangents.Y_c));
}

} // namespace detail

/// Computes ONNX's LSTM as lstm_into does, with the same bits, and keeps what its backward pass needs.
///
/// Errors    as lstm_into; option_error: weights of a narrow storage.
/// Cost      that of lstm_into, and writing residuals of T N D 5H numbers, fewer for shorter rows.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void lstm_forward_into(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, lstm_residuals<Item>& residuals,
    recurrent_workspace<Item>& workspace, Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::lstm_forward_into";
    detail::input_ref<Item> const input = X;
    detail::check_recorded_weights(op, weights);
    detail::batch_sizes const batch = detail::check_lstm_call(op, input, weights, start);
    detail::check_lstm_outputs(op, weights, batch, input, start, outputs);
    std::int64_t const layout = weights.layout();
    detail::batch_operands<Item> const operands{batch, weights.sizes(), weights.direction(), {input, layout},
        {outputs.Y, layout}, &start.sequence_lens};
    residuals.start(weights, batch, [&](std::size_t n) { return operands.length(n); });
    auto runner = detail::make_runner(weights, operands, workspace, policy);
    runner(detail::recorded_lstm_states<Item>{{weights, {start.initial_h, layout}, {start.initial_c, layout},
                                                  {outputs.Y_h, layout}, {outputs.Y_c, layout}},
               residuals, runner.groups},
        policy);
    residuals.finish(operands.X);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void lstm_forward_into(Input const&, lstm_weights<Item> const&, std::type_identity_t<lstm_start<Item>> const&,
    std::type_identity_t<lstm_outputs<Item>> const&, lstm_residuals<Item>&, Policy const&,
    recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>, "xloom::lstm_forward_into: the arguments are lstm_forward_into(X, "
                                         "weights, start, outputs, residuals, workspace[, policy])");
}

/// Computes the vector-Jacobian product of ONNX's LSTM: the cotangents of its inputs from those of its
/// outputs.
///
///     Y, Y_h, Y_c = lstm(X, W, R, B, initial_h, initial_c, P)
///     for each operand v:
///         ct_v = sum(ct_Y * dY/dv) + sum(ct_Y_h * dY_h/dv) + sum(ct_Y_c * dY_c/dv)
///
/// Shapes    those of the operands, in the layout of the weights: ct_Y [T, D, N, H], ct_Y_h and ct_Y_c [D, N,
///           H] -> ct_X [T, N, I], ct_W [D, 4H, I], ct_R [D, 4H, H], ct_B [D, 8H], ct_P [D, 3H], ct_initial_h
///           and ct_initial_c [D, N, H]. Each may be omitted. Any strides. The gradients of B and P do not
///           require that the forward pass has them.
/// Types     those of lstm. Storage floats are computed as float, and rounded in the outputs only.
/// Options   those given to lstm_backward_weights, which are those of the forward pass; X is its X.
/// Policy    serial, or one with threads: each thread has its own rows, then its own columns of the products.
/// Special   Derivatives at kinks are those of activate_vjp. Where a sum exceeds clip, its cotangent is 0; at
///           the limit it is not. Steps beyond a row's length have cotangents of 0 in ct_X, and are not read
///           in ct_Y. A row of length 0 passes ct_Y_h and ct_Y_c on.
/// Errors    before anything is written: shape_error: an operand's shape, or residuals that are empty or of
///           other sizes; option_error: residuals of other attributes, or of another X as far as a sample of
///           its items tells; overlap_error: an output shares memory with an input or another output.
///           ct_initial_h and ct_initial_c may be the same tensors as ct_Y_h and ct_Y_c.
/// Order     The bits do not depend on the threads. Those of ct_X and of the states' cotangents depend only
///           on the row. The gradients of weights are sums over all steps of all rows: in blocks of about 512
///           steps of rows, from the last time step to the first, in a block from the first to the last and
///           by descending length, in dependency chains of 128.
/// Cost      T N D 8H (I + H) multiply-adds, half as many without ct_W and ct_R. Allocates nothing if the
///           workspace is large enough.
/// Source    ONNX LSTM-22; Werbos (1990), backpropagation through time.
/// Example
/// ```cpp
/// xt::xtensor<double, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<double, 3> const W = {{{0.5}, {0.5}, {0.5}, {0.5}}}; // H = 1
/// xt::xtensor<double, 3> const R = xt::zeros<double>({1, 4, 1});
/// xt::xtensor<double, 3> Y_h = xt::zeros<double>({1, 1, 1}), ct_X = xt::zeros<double>({2, 1, 1});
/// xloom::lstm_residuals<double> residuals;
/// xloom::recurrent_workspace<double> workspace;
/// xloom::lstm_weights<double> const weights({.W = W, .R = R});
/// xloom::lstm_forward_into(X, weights, {}, {.Y_h = Y_h}, residuals, workspace);
/// xt::xtensor<double, 3> const ct_Y_h = {{{1}}};
/// xloom::lstm_backward_weights<double> const backward_weights({.W = W, .R = R});
/// xloom::lstm_backward_into(X, backward_weights, residuals, {.Y_h = ct_Y_h}, {.X = ct_X}, workspace);
/// ct_X; // = [[[0.0871636]], [[0.114046]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void lstm_backward_into(Input const& X, lstm_backward_weights<Item> const& weights,
    lstm_residuals<Item> const& residuals, std::type_identity_t<lstm_cotangents<Item>> const& cotangents,
    std::type_identity_t<lstm_gradients<Item>> const& gradients, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    detail::input_ref<Item> const input = X;
    detail::check_lstm_backward(
        "xloom::lstm_backward_into", input, weights, residuals, cotangents, gradients);
    std::int64_t const layout = weights.layout();
    auto const& [D, I, H] = weights.sizes();
    detail::run_backward<detail::backward_states<Item, kernel::lstm_backward_rows<detail::compute_t<Item>>>>(
        {residuals.batch(), weights.sizes(), weights.direction(), {input, layout}, {cotangents.Y, layout},
            {gradients.X, layout}, gradients.B, gradients.P, {{{gradients.W, 0, I}, {gradients.R, 0, H}}}},
        {{cotangents.Y_h, layout}, {cotangents.Y_c, layout}, {gradients.initial_h, layout},
            {gradients.initial_c, layout}},
        weights, residuals, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void lstm_backward_into(Input const&, lstm_backward_weights<Item> const&, lstm_residuals<Item> const&,
    std::type_identity_t<lstm_cotangents<Item>> const&, std::type_identity_t<lstm_gradients<Item>> const&,
    Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>, "xloom::lstm_backward_into: the arguments are lstm_backward_into(X, "
                                         "weights, residuals, cotangents, gradients, workspace[, policy])");
}

/// Rejects the weights of the forward pass.
template <class Input, class Item, class... Policy>
void lstm_backward_into(Input const&, lstm_weights<Item> const&, lstm_residuals<Item> const&,
    std::type_identity_t<lstm_cotangents<Item>> const&, std::type_identity_t<lstm_gradients<Item>> const&,
    recurrent_workspace<Item>&, Policy const&...)
{
    static_assert(detail::never<Item>,
        "xloom::lstm_backward_into: the weights must be lstm_backward_weights, "
        "constructed from the constants and options of lstm_weights");
}

} // namespace xloom::inline XLOOM_ABI
