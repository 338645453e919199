#pragma once
// ONNX's LSTM over a batch of sequences.

#include <array>
#include <optional>
#include <string_view>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/recurrent/batch_call.hpp>
#include <xloom/detail/recurrent/lstm_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an LSTM under ONNX's names, in ONNX's order; {} omits one. Tensors may have any strides.
template <class Item>
struct lstm_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
};

/// The inputs of an LSTM that are constant over calls.
template <class Item>
struct lstm_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
};

/// The inputs of an LSTM, except X, that vary from call to call.
template <class Item>
struct lstm_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
};

/// The outputs of lstm_into; {} omits one.
template <class Item>
struct lstm_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_c> Y_c{};
};

/// The outputs of lstm, in the shapes given there.
template <class Item>
struct lstm_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h, Y_c;
};

/// ONNX's attributes of an LSTM. Names and lists are read only during the call that they are passed to.
struct lstm_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    bool input_forget = false;                            ///< f = 1 - i
    std::int64_t layout = 0; ///< 1: the batch axis comes first in X, Y and the states
};

/// The weights and attributes of an LSTM, checked and packed once for many calls. Copies share the memory,
/// moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as lstm.
/// Cost      one pass over the weights; memory of their size, with H padded to whole vectors.
template <class Item>
class lstm_weights : public detail::packed_weights<detail::lstm_family, Item> {
public:
    lstm_weights(lstm_constants<Item> const& constants, lstm_options const& options = {})
        : lstm_weights({"xloom::lstm_weights"}, constants, options)
    {}
    /// Packs W and R in a narrow type (docs/weights.md).
    ///
    /// Errors    option_error: the type cannot hold one of them.
    lstm_weights(lstm_constants<Item> const& constants, lstm_options const& options, weight_storage storage)
        requires kernel::has_narrow_storage<detail::compute_t<Item>>
        : lstm_weights::packed_weights({"xloom::lstm_weights"}, constants, options, storage)
    {}
    lstm_weights(
        detail::operator_name const& op, lstm_constants<Item> const& constants, lstm_options const& options)
        : lstm_weights::packed_weights(op, constants, options)
    {}

    /// Packs other constants, in the same storage. Allocates nothing if their sizes are the old ones and no
    /// copy shares the memory; copies, and cells made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(lstm_constants<Item> const& constants, lstm_options const& options = {})
    {
        lstm_weights::packed_weights::assign_stored({"xloom::lstm_weights"}, constants, options);
    }
};

namespace detail {

/// The initial and final states of an LSTM's rows.
template <class Item>
struct lstm_states {
    using T = compute_t<Item>;

    lstm_weights<Item> const& weights;
    state_rows<Item const> initial_h, initial_c;
    state_rows<Item> Y_h, Y_c;

    template <class Part>
    auto make_rows(Part const& part, kernel::arena<T>& memory) const
    {
        return kernel::lstm_rows<T>(detail::parameters_of(weights, part.d), part.count, memory);
    }
    template <class Part, class Rows>
    void start(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            load_state(initial_h, part.d, part.first[r].row, rows.H(), rows.h(r));
            load_state(initial_c, part.d, part.first[r].row, rows.H(), rows.c(r));
        }
    }
    template <class Part, class Rows>
    void finish(Part const& part, Rows const& rows) const
    {
        for (std::size_t r = 0; r < part.count; ++r) {
            store_state(rows.h(r), rows.H(), Y_h, part.d, part.first[r].row);
            store_state(rows.c(r), rows.H(), Y_c, part.d, part.first[r].row);
        }
    }
};

template <class Item>
batch_sizes check_lstm_call(std::string_view op, input_ref<Item> const& X, lstm_weights<Item> const& weights,
    lstm_start<Item> const& start)
{
    check_ranks(op, X, start.sequence_lens, start.initial_h, start.initial_c);
    batch_sizes const batch = check_X(op, X.shape(), weights.sizes(), weights.layout());
    check_states(op, weights, batch,
        std::array{named_shape{"initial_h", shape_if_given(start.initial_h)},
            named_shape{"initial_c", shape_if_given(start.initial_c)}});
    check_lengths(op, "sequence_lens", start.sequence_lens, batch.N, "T", batch.T);
    return batch;
}

template <class Item>
void check_lstm_outputs(std::string_view op, lstm_weights<Item> const& weights, batch_sizes const& batch,
    input_ref<Item> const& X, lstm_start<Item> const& start, lstm_outputs<Item> const& outputs)
{
    std::int64_t const layout = weights.layout();
    shape const output = output_shape(weights.sizes(), batch, layout);
    shape const state = state_shape(weights.sizes(), batch, layout);
    check_outputs<Item>(
        op, [&] { return describe(weights.sizes(), batch); },
        std::array{
            output_requirement<Item>{"Y", output_letters(layout), output, outputs.Y},
            output_requirement<Item>{"Y_h", state_letters(layout), state, outputs.Y_h, "initial_h"},
            output_requirement<Item>{"Y_c", state_letters(layout), state, outputs.Y_c, "initial_c"},
        },
        blocks_of(X, start.sequence_lens, start.initial_h, start.initial_c));
}

template <class Item, class Policy>
void run_lstm(input_ref<Item> const& X, lstm_weights<Item> const& weights, batch_sizes const& batch,
    lstm_start<Item> const& start, lstm_outputs<Item> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy)
{
    std::int64_t const layout = weights.layout();
    lstm_states<Item> const states{weights, {start.initial_h, layout}, {start.initial_c, layout},
        {outputs.Y_h, layout}, {outputs.Y_c, layout}};
    run_recurrent<Item>(weights, states, X, start.sequence_lens, outputs.Y, batch, workspace, policy);
}

} // namespace detail

/// Computes ONNX's LSTM.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         i, o, f, g = split(W[d] x_t + Wb[d] + R[d] h + Rb[d], 4)
///         i, f = act_f(i + Pi[d] * c), act_f(f + Pf[d] * c)
///         c = f * c + i * act_g(g)
///         h = act_f(o + Po[d] * c) * act_h(c)
///         Y[t, d, n] = h
///
/// Shapes    X [T, N, I], W [D, 4H, I], R [D, 4H, H], B [D, 8H] = [Wb, Rb], sequence_lens [N], initial_h and
///           initial_c [D, N, H], P [D, 3H] -> Y [T, D, N, H], Y_h and Y_c [D, N, H]; gates in the order i,
///           o, f, g, peepholes i, o, f. Layout 1: X [N, T, I], Y [N, T, D, H], states [N, D, H]. D is 2 for
///           bidirectional, else 1. Any strides.
/// Types     those of X: float, double; float16 and other storage floats, computed as float and rounded in Y,
///           Y_h and Y_c only; user-defined scalars.
/// Options   lstm_options; if the weights are packed, those given to lstm_weights.
/// Policy    serial, or one with threads (tbb_policy): each thread has its own rows and directions; where
///           there is one row in one direction, its own columns of large products.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T]).
/// Order     each sum is bias, then the products of W, then those of R, in dependency chains of 128 products.
///           So the bits of a row depend only on the row: not on the batch, the threads, or how a sequence is
///           split into calls (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X in +-1, independent: 2e-6.
///           NaN stays NaN. Steps beyond a row's length are not read.
/// Cost      T N D 4H (I + H) multiply-adds, fewer for shorter rows. Packing is a pass over the weights;
///           lstm_weights are packed once. Memory: X and the sums of up to 96 rows or of one step.
/// Differs   from the letter of ONNX, whose clip limits the input of every activation, and so c, the input of
///           act_h: here it limits the gates' sums alone, as in ONNX Runtime. With clip = 1 and c = 1.5, of
///           gates that are 0.5, h is 0.452574; with a limited c it would be 0.380797. Unspecified there: a
///           row of length 0 keeps its states, and surplus values of activation_alpha and activation_beta are
///           ignored.
/// Source    ONNX LSTM-1, 7, 14, 22; infer_lstm has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}, {{3}}}; // T = 2, N = 1, I = 1
/// xt::xtensor<float, 3> const W = {{{0.5f}, {0.5f}, {0.5f}, {0.5f}}}; // H = 1
/// xt::xtensor<float, 3> const R = xt::zeros<float>({1, 4, 1});
/// auto const [Y, Y_h, Y_c] = xloom::lstm(X, {.W = W, .R = R});
/// Y; // = [[[[0.17427]]], [[[0.613983]]]]
///
/// xt::xtensor<float, 3> const zero = {{{0}}}, c = {{{3}}}; // clip does not apply to c
/// xloom::lstm(zero, {.W = W, .R = R, .initial_c = c}, {.clip = 1}).Y_h; // = [[[0.452574]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
lstm_result<Item> lstm(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start = {}, Policy const& policy = {})
{
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_lstm_call("xloom::lstm", input, weights, start);
    detail::recurrent_widths const& sizes = weights.sizes();
    lstm_result<Item> result{detail::make_output<Item>(sizes, batch, weights.layout()),
        detail::make_state<Item>(sizes, batch, weights.layout()),
        detail::make_state<Item>(sizes, batch, weights.layout())};
    recurrent_workspace<Item> workspace;
    detail::run_lstm<Item>(
        input, weights, batch, start, {result.Y, result.Y_h, result.Y_c}, workspace, policy);
    return result;
}

/// Computes ONNX's LSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
lstm_result<Item> lstm(Input const& X, std::type_identity_t<lstm_inputs<Item>> const& inputs,
    lstm_options const& options = {}, Policy const& policy = {})
{
    lstm_weights<Item> const weights(
        detail::operator_name{"xloom::lstm"}, {inputs.W, inputs.R, inputs.B, inputs.P}, options);
    return lstm(X, weights, {inputs.sequence_lens, inputs.initial_h, inputs.initial_c}, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
lstm_result<Item> lstm(Input const&, lstm_weights<Item> const&, Policy const&,
    std::type_identity_t<lstm_start<Item>> const& = {})
{
    static_assert(
        detail::never<Policy>, "xloom::lstm: the arguments are lstm(X, weights[, start][, policy])");
    return {};
}

/// Rejects a policy that is not last.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
lstm_result<Item> lstm(
    Input const&, std::type_identity_t<lstm_inputs<Item>> const&, Policy const&, lstm_options const& = {})
{
    static_assert(
        detail::never<Policy>, "xloom::lstm: the arguments are lstm(X, inputs[, options][, policy])");
    return {};
}

/// Computes ONNX's LSTM into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as lstm; shape_error: an output's shape; overlap_error: an output shares memory with an input or
///           another output. Y_h and Y_c may be the same tensors as initial_h and initial_c, so that a stream
///           updates its state in place.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
void lstm_into(Input const& X, lstm_weights<Item> const& weights,
    std::type_identity_t<lstm_start<Item>> const& start,
    std::type_identity_t<lstm_outputs<Item>> const& outputs, recurrent_workspace<Item>& workspace,
    Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::lstm_into";
    detail::input_ref<Item> const input = X;
    detail::batch_sizes const batch = detail::check_lstm_call(op, input, weights, start);
    detail::check_lstm_outputs(op, weights, batch, input, start, outputs);
    detail::run_lstm<Item>(input, weights, batch, start, outputs, workspace, policy);
}

/// Rejects a policy that is not last.
template <class Input, class Item, execution_policy Policy>
void lstm_into(Input const&, lstm_weights<Item> const&, std::type_identity_t<lstm_start<Item>> const&,
    std::type_identity_t<lstm_outputs<Item>> const&, Policy const&, recurrent_workspace<Item>&)
{
    static_assert(detail::never<Policy>,
        "xloom::lstm_into: the arguments are lstm_into(X, weights, start, outputs, workspace[, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows and the policy's
/// threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, execution_policy Policy = serial_policy>
recurrent_workspace<Item> lstm_workspace(
    lstm_weights<Item> const& weights, detail::batch_sizes const& batch, Policy const& policy = {})
{
    return detail::reserved_workspace<Item>(
        "xloom::lstm_workspace", weights, detail::lstm_states<Item>{weights, {}, {}, {}, {}}, batch, policy);
}

} // namespace xloom::inline XLOOM_ABI
