#pragma once
// com.microsoft's AttnLSTM, an LSTM with Bahdanau attention over a memory, for a batch of sequences.

#include <utility>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/recurrent/attn_lstm_call.hpp>
#include <xloom/detail/recurrent/attn_lstm_run.hpp>
#include <xloom/detail/recurrent/attn_lstm_weights.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an AttnLSTM under com.microsoft's names, in its order, followed by two that ONNX Runtime
/// lacks: the state of the attention, which continues a stream. {} omits an input. Tensors may have any
/// strides.
template <class Item>
struct attn_lstm_inputs {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
    detail::named_ref<tensor_ref<Item const>, detail::names::QW> QW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::MW> MW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::V> V{};
    detail::named_ref<tensor_ref<Item const>, detail::names::M> M{};
    detail::named_ref<lengths_ref, detail::names::memory_seq_lens> memory_seq_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::AW> AW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_attention> initial_attention{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_alignment> initial_alignment{};
};

/// The inputs of an AttnLSTM that are constant over calls.
template <class Item>
struct attn_lstm_constants {
    detail::named_ref<tensor_ref<Item const>, detail::names::W> W{};
    detail::named_ref<tensor_ref<Item const>, detail::names::R> R{};
    detail::named_ref<tensor_ref<Item const>, detail::names::B> B{};
    detail::named_ref<tensor_ref<Item const>, detail::names::P> P{};
    detail::named_ref<tensor_ref<Item const>, detail::names::QW> QW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::MW> MW{};
    detail::named_ref<tensor_ref<Item const>, detail::names::V> V{};
    detail::named_ref<tensor_ref<Item const>, detail::names::AW> AW{};
};

/// The inputs of an AttnLSTM, except X, that vary from call to call.
template <class Item>
struct attn_lstm_start {
    detail::named_ref<lengths_ref, detail::names::sequence_lens> sequence_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_h> initial_h{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_c> initial_c{};
    detail::named_ref<tensor_ref<Item const>, detail::names::M> M{};
    detail::named_ref<lengths_ref, detail::names::memory_seq_lens> memory_seq_lens{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_attention> initial_attention{};
    detail::named_ref<tensor_ref<Item const>, detail::names::initial_alignment> initial_alignment{};
};

/// The outputs of attn_lstm_into; {} omits one.
template <class Item>
struct attn_lstm_outputs {
    detail::named_ref<tensor_ref<Item>, detail::names::Y> Y{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_h> Y_h{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_c> Y_c{};
    detail::named_ref<tensor_ref<Item>, detail::names::alignments> alignments{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_attention> Y_attention{};
    detail::named_ref<tensor_ref<Item>, detail::names::Y_alignment> Y_alignment{};
};

/// The outputs of attn_lstm, in the shapes given there; attn_lstm_into has the other outputs.
template <class Item>
struct attn_lstm_result {
    xt::xtensor<Item, 4> Y;
    xt::xtensor<Item, 3> Y_h, Y_c;
};

/// The attributes of an AttnLSTM. Names and lists are read only during the call that they are passed to.
struct attn_lstm_options {
    xloom::direction direction = xloom::direction::forward;
    option_list<std::string_view, max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    bool input_forget = false;                            ///< f = 1 - i
};

/// The weights and attributes of an AttnLSTM, checked and packed once for many calls. Copies share the
/// memory, moves copy; const members are thread-safe.
///
/// Errors    shape_error, option_error: as attn_lstm.
/// Cost      one pass over the weights; memory of their size, with widths padded to whole vectors.
template <class Item>
class attn_lstm_weights : public detail::packed_weights<detail::attn_lstm_family, Item> {
public:
    attn_lstm_weights(attn_lstm_constants<Item> const& constants, attn_lstm_options const& options = {})
        : attn_lstm_weights({"xloom::attn_lstm_weights"}, constants, options)
    {}
    /// Packs the matrices in a narrow type (docs/weights.md).
    ///
    /// Errors    option_error: the type cannot hold one of them.
    attn_lstm_weights(
        attn_lstm_constants<Item> const& constants, attn_lstm_options const& options, weight_storage storage)
        requires kernel::has_narrow_storage<detail::compute_t<Item>>
        : attn_lstm_weights::packed_weights({"xloom::attn_lstm_weights"}, constants, options, storage)
    {}
    attn_lstm_weights(detail::operator_name const& op, attn_lstm_constants<Item> const& constants,
        attn_lstm_options const& options)
        : attn_lstm_weights::packed_weights(op, constants, options)
    {}

    detail::attention_widths const& attention() const noexcept { return this->checked().attention; }

    /// Packs other constants, in the same storage. Allocates nothing if their sizes are the old ones and no
    /// copy shares the memory; copies, and cells made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(attn_lstm_constants<Item> const& constants, attn_lstm_options const& options = {})
    {
        attn_lstm_weights::packed_weights::assign_stored({"xloom::attn_lstm_weights"}, constants, options);
    }
};

namespace detail {

template <class Item, class Score, class Policy>
attn_lstm_result<Item> run_attn_lstm(input_ref<Item> const& X, attn_lstm_weights<Item> const& weights,
    attn_lstm_start<Item> const& start, Score const& score, Policy const& policy)
{
    attn_lstm_sizes const sizes = check_attn_lstm_call("xloom::attn_lstm", X, weights, start);
    batch_sizes const batch{sizes.T, sizes.N};
    attn_lstm_result<Item> result{make_output<Item>(weights.sizes(), batch, 0),
        make_state<Item>(weights.sizes(), batch, 0), make_state<Item>(weights.sizes(), batch, 0)};
    attention_workspace<Item> workspace;
    detail::run_attn_lstm_into(X, weights, sizes, start,
        attn_lstm_outputs<Item>{result.Y, result.Y_h, result.Y_c}, score, workspace, policy);
    return result;
}

template <class Item>
void check_memory_given(attn_lstm_inputs<Item> const& in)
{
    check_together("xloom::attn_lstm", "QW, MW, V and M",
        std::array{named_presence{"QW", in.QW.is_given()}, named_presence{"MW", in.MW.is_given()},
            named_presence{"V", in.V.is_given()}, named_presence{"M", in.M.is_given()}});
}

template <class Item>
attn_lstm_constants<Item> constants_of(attn_lstm_inputs<Item> const& in)
{
    return {.W = in.W, .R = in.R, .B = in.B, .P = in.P, .QW = in.QW, .MW = in.MW, .V = in.V, .AW = in.AW};
}

template <class Item>
attn_lstm_start<Item> start_of(attn_lstm_inputs<Item> const& in)
{
    return {.sequence_lens = in.sequence_lens,
        .initial_h = in.initial_h,
        .initial_c = in.initial_c,
        .M = in.M,
        .memory_seq_lens = in.memory_seq_lens,
        .initial_attention = in.initial_attention,
        .initial_alignment = in.initial_alignment};
}

} // namespace detail

/// Computes com.microsoft's AttnLSTM: an LSTM with Bahdanau attention over a memory, whose result is an input
/// of the next step.
///
///     for each direction d, each row n, each t < sequence_lens[n] (in reverse: from the last):
///         h, c = lstm_step([x_t, attention], h, c)  # as lstm; attention is zeros at first
///         Y[t, d, n] = h
///         scores = sum(V[d] * tanh(M[n] MW[d] + h QW[d]), axis=-1)      # memory_seq_lens[n] steps
///         alignments[t, d, n] = softmax(scores)
///         context = sum(alignments[t, d, n] * M[n], axis=0)
///         attention = [h, context] AW[d] if AW else context
///
/// Shapes    X [T, N, I], W [D, 4H, I + C], R [D, 4H, H], B [D, 8H], sequence_lens [N], initial_h and
///           initial_c [D, N, H], P [D, 3H], QW [D, H, A], MW [D, E, A], V [D, A], M [N, S, E],
///           memory_seq_lens [N], AW [D, H + E, L], initial_attention [D, N, C], initial_alignment [D, N, S]
///           -> Y [T, D, N, H], Y_h and Y_c [D, N, H], alignments [T, D, N, S], Y_attention [D, N, C],
///           Y_alignment [D, N, S]. C = L with AW, else E. QW, MW, V and M are given together, or all
///           omitted: then it is an LSTM.
/// Types     those of X: float, double; float16 and other storage floats, computed as float; user-defined
///           scalars.
/// Options   attn_lstm_options; if the weights are packed, those given to attn_lstm_weights.
/// Score     any attention_score in place of the sum above; its arguments include the last alignment.
/// Policy    serial, or one with threads (tbb_policy): each thread has its own rows and directions; where
///           there is one row in one direction, its own columns of large products.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T] or
///           [0, S]). A score's exceptions propagate.
/// Order     as lstm: the bits of a row depend only on the row; a sequence in pieces, with Y_h, Y_c,
///           Y_attention and, if the score reads it, Y_alignment passed on, is bitwise equal to one call
///           (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X and M in +-1, independent: 2e-6.
///           Rounding of the scores changes an alignment by a relative error of at most 2^-21 sum |V|. Where
///           sum |V| is above 64, each score is a sum of tanh, which keeps the digits of terms near 0. NaN
///           stays NaN. Values beyond a row's lengths are not read; a memory of length 0 gives alignments and
///           a context of zeros.
/// Cost      T N D (4H (I + C + H) + H A + S E + (H + E) L) + N D S E A multiply-adds, fewer for shorter
///           rows, and, for the scores, T N D S A times a multiplication and a division, or a tanh where sum
///           |V| is above 64. Packing is a pass over the weights; attn_lstm_weights are packed once.
/// Differs   from ONNX Runtime: softmax subtracts the maximum, NaN is not clipped to a number, lengths of 0
///           and T, N, S = 0 are defined, ThresholdedRelu keeps x >= alpha, all types are supported,
///           hidden_size is optional.
/// Source    com.microsoft AttnLSTM-1; infer_attn_lstm has the shape rule.
/// Example
/// ```cpp
/// xt::xtensor<float, 3> const X = {{{1}}}, M = {{{1}, {2}}}; // T = N = I = 1, S = 2, E = 1
/// xt::xtensor<float, 3> const W = xt::ones<float>({1, 4, 2}), R = xt::ones<float>({1, 4, 1});
/// xt::xtensor<float, 3> const QW = {{{1}}}, MW = {{{1}}};
/// xt::xtensor<float, 2> const V = {{1}};
/// xloom::attn_lstm(X, {.W = W, .R = R, .QW = QW, .MW = MW, .V = V, .M = M}).Y; // = [[[[0.369606]]]]
/// ```
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start, Policy const& policy = {})
{
    return detail::run_attn_lstm<Item>(X, weights, start, bahdanau(), policy);
}

/// Computes AttnLSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, std::type_identity_t<attn_lstm_inputs<Item>> const& inputs,
    attn_lstm_options const& options = {}, Policy const& policy = {})
{
    return attn_lstm(X, inputs, bahdanau(), options, policy);
}

/// Computes AttnLSTM with a user-defined score.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start, Score const& score, Policy const& policy = {})
{
    return detail::run_attn_lstm<Item>(X, weights, start, score, policy);
}

/// Computes AttnLSTM with a user-defined score and unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy = serial_policy>
attn_lstm_result<Item> attn_lstm(Input const& X, std::type_identity_t<attn_lstm_inputs<Item>> const& inputs,
    Score const& score, attn_lstm_options const& options = {}, Policy const& policy = {})
{
    detail::check_memory_given(inputs);
    attn_lstm_weights<Item> const weights(
        detail::operator_name{"xloom::attn_lstm"}, detail::constants_of(inputs), options);
    return detail::run_attn_lstm<Item>(X, weights, detail::start_of(inputs), score, policy);
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item, execution_policy Policy, class Score>
attn_lstm_result<Item> attn_lstm(Input const&, attn_lstm_weights<Item> const&,
    std::type_identity_t<attn_lstm_start<Item>> const&, Policy const&, Score const&)
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, weights, start[, score][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
attn_lstm_result<Item> attn_lstm(Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&,
    Policy const&, attn_lstm_options const& = {})
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score>
attn_lstm_result<Item> attn_lstm(
    Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&, attn_lstm_options const&, Score const&)
{
    static_assert(detail::never<Score>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Rejects a policy that is not last, and a score behind the options or the policy.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score, execution_policy Policy>
attn_lstm_result<Item> attn_lstm(Input const&, std::type_identity_t<attn_lstm_inputs<Item>> const&,
    Score const&, Policy const&, attn_lstm_options const& = {})
{
    static_assert(detail::never<Policy>,
        "xloom::attn_lstm: the arguments are attn_lstm(X, inputs[, score][, options][, policy])");
    return {};
}

/// Computes AttnLSTM into the caller's outputs, of any strides, with the caller's workspace. Allocates
/// nothing if the workspace is large enough.
///
/// Errors    as attn_lstm; shape_error: an output's shape; overlap_error: an output shares memory with an
///           input or another output. Y_h, Y_c, Y_attention and Y_alignment may be the same tensors as
///           initial_h and so on, so that a stream updates its state in place.
/// Cost      as attn_lstm; alignments, Y_attention and Y_alignment also require the attention of the last
///           step, which is omitted otherwise.
template <class Input, class Item = detail::first_item_t<Input>,
    attention_score<detail::compute_t<Item>> Score = bahdanau, execution_policy Policy = serial_policy>
void attn_lstm_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, attention_workspace<Item>& workspace,
    Score const& score = {}, Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::attn_lstm_into";
    detail::input_ref<Item> const input = X;
    attn_lstm_sizes const sizes = detail::check_attn_lstm_call(op, input, weights, start);
    detail::check_attn_lstm_outputs(op, weights, sizes, input, start, outputs);
    detail::run_attn_lstm_into(input, weights, sizes, start, outputs, score, workspace, policy);
}

/// Runs attn_lstm_into with the default score on the threads of a policy.
template <class Input, class Item = detail::first_item_t<Input>, execution_policy Policy>
void attn_lstm_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, attention_workspace<Item>& workspace,
    Policy const& policy)
{
    attn_lstm_into(X, weights, start, outputs, workspace, bahdanau(), policy);
}

/// Rejects a score or a policy before the workspace.
template <class Input, class Item, class Other>
void attn_lstm_into(Input const&, attn_lstm_weights<Item> const&,
    std::type_identity_t<attn_lstm_start<Item>> const&, std::type_identity_t<attn_lstm_outputs<Item>> const&,
    Other const&, attention_workspace<Item>&)
{
    static_assert(detail::never<Other>, "xloom::attn_lstm_into: the arguments are attn_lstm_into(X, "
                                        "weights, start, outputs, workspace[, score][, policy])");
}

/// Returns a workspace that is large enough for all calls with up to T steps, N rows, S steps of memory and
/// the policy's threads.
///
/// Errors    shape_error: sizes that cannot be counted in bytes.
template <class Item, attention_score<detail::compute_t<Item>> Score = bahdanau,
    execution_policy Policy = serial_policy>
attention_workspace<Item> attn_lstm_workspace(attn_lstm_weights<Item> const& weights,
    attn_lstm_sizes const& sizes, Score const& score = {}, Policy const& policy = {})
{
    static constexpr std::string_view op = "xloom::attn_lstm_workspace";
    detail::check_batch_sizes(op, weights.sizes(), {sizes.T, sizes.N});
    detail::check_memory_sizes(op, weights.attention(), weights.sizes().D, sizes.N, sizes.S);
    attention_workspace<Item> workspace;
    detail::with_attn_lstm_runner<Item>({}, weights, sizes, attn_lstm_start<Item>{},
        attn_lstm_outputs<Item>{}, score, workspace, policy,
        [](auto& runner, auto const& states) { runner.reserve_all(states); });
    return workspace;
}

/// Returns a workspace for the default score and the threads of a policy.
template <class Item, execution_policy Policy>
attention_workspace<Item> attn_lstm_workspace(
    attn_lstm_weights<Item> const& weights, attn_lstm_sizes const& sizes, Policy const& policy)
{
    return attn_lstm_workspace(weights, sizes, bahdanau(), policy);
}

} // namespace xloom::inline XLOOM_ABI
