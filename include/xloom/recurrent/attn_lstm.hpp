#pragma once
// com.microsoft's AttnLSTM, an LSTM with Bahdanau attention over a memory, for a batch of sequences.

#include <utility>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/recurrent/attn_lstm_family.hpp>
#include <xloom/detail/recurrent/attn_lstm_run.hpp>

namespace xloom::inline XLOOM_ABI {

/// The inputs of an AttnLSTM under com.microsoft's names, in its order, followed by two that ONNX Runtime
/// lacks: the state of the attention, which continues a stream. {} omits an input. Tensors may have any
/// strides.
template <class Item>
struct attn_lstm_inputs {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
    tensor_ref<Item const> initial_c{};
    tensor_ref<Item const> P{};
    tensor_ref<Item const> QW{};
    tensor_ref<Item const> MW{};
    tensor_ref<Item const> V{};
    tensor_ref<Item const> M{};
    lengths_ref memory_seq_lens{};
    tensor_ref<Item const> AW{};
    tensor_ref<Item const> initial_attention{};
    tensor_ref<Item const> initial_alignment{};
};

/// The inputs of an AttnLSTM that are constant over calls.
template <class Item>
struct attn_lstm_constants {
    tensor_ref<Item const> W{};
    tensor_ref<Item const> R{};
    tensor_ref<Item const> B{};
    tensor_ref<Item const> P{};
    tensor_ref<Item const> QW{};
    tensor_ref<Item const> MW{};
    tensor_ref<Item const> V{};
    tensor_ref<Item const> AW{};
};

/// The inputs of an AttnLSTM, except X, that vary from call to call.
template <class Item>
struct attn_lstm_start {
    lengths_ref sequence_lens{};
    tensor_ref<Item const> initial_h{};
    tensor_ref<Item const> initial_c{};
    tensor_ref<Item const> M{};
    lengths_ref memory_seq_lens{};
    tensor_ref<Item const> initial_attention{};
    tensor_ref<Item const> initial_alignment{};
};

/// The outputs of attn_lstm_into; {} omits one.
template <class Item>
struct attn_lstm_outputs {
    tensor_ref<Item> Y{};
    tensor_ref<Item> Y_h{};
    tensor_ref<Item> Y_c{};
    tensor_ref<Item> alignments{};
    tensor_ref<Item> Y_attention{};
    tensor_ref<Item> Y_alignment{};
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
    option_list<std::string_view, detail::max_activations>
        activations{}; ///< f, g, h of each direction; none: Sigmoid, Tanh, Tanh
    option_list<double, max_operands> activation_alpha{}; ///< taken in order by the activations that have one
    option_list<double, max_operands> activation_beta{};  ///< likewise; surplus values are ignored
    std::optional<double> clip{};                         ///< the gates' sums are limited to [-clip, clip]
    std::optional<std::int64_t> hidden_size{};            ///< H, to be checked if given
    bool input_forget = false;                            ///< f = 1 - i
};

/// The weights and attributes of an AttnLSTM, checked and packed once for many calls. Copies share the
/// memory, moves copy; const members are thread-safe. Its members are those of detail::recurrent_weights:
/// constructors from constants, options and maybe a weight_storage or for_training, and assign, which packs
/// other constants.
///
/// Errors    shape_error, option_error: as attn_lstm. option_error: the storage cannot hold one of the
///           weights.
/// Cost      one pass over the weights; memory of their size, with widths padded to whole vectors. With
///           for_training, which a backward pass requires, twice that.
template <class Item>
using attn_lstm_weights = detail::recurrent_weights<detail::attn_lstm_family, Item>;

namespace detail {

/// Checks and runs an AttnLSTM. The environment is valid; options in it are passed over.
template <class Item, class Score, class... Env>
attn_lstm_result<Item> run_attn_lstm(Score const& score, tensor_ref<Item const> const& X,
    attn_lstm_weights<Item> const& weights, attn_lstm_start<Item> const& start, Env&... env)
{
    batch_sizes const sizes = check_attn_lstm_call("xloom::attn_lstm", X, weights, start);
    attn_lstm_result<Item> result =
        make_result<attn_lstm_family, Item>(shapes_of_outputs(weights.sizes(), sizes, 0));
    detail::run_attn_lstm_call<Item>(
        X, weights, sizes, start, {result.Y, result.Y_h, result.Y_c}, score, env...);
    return result;
}

/// Runs an AttnLSTM with packed weights.
template <class Item, class Score, class Start, class... Env>
attn_lstm_result<Item> run_packed_attn_lstm(Score const& score, tensor_ref<Item const> const& X,
    attn_lstm_weights<Item> const& weights, Start&& start, Env&&... env)
{
    if constexpr (satisfied<options_policy_and_workspace<attn_lstm_start<Item>, attention_workspace<Item>,
                      Start, Env...>>())
        return detail::run_attn_lstm<Item>(
            score, X, weights, detail::options_of<attn_lstm_start<Item>>(start), start, env...);
    else
        return {};
}

template <class Item, class Score, class... Env>
void run_attn_lstm_outputs(Score const& score, tensor_ref<Item const> const& X,
    attn_lstm_weights<Item> const& weights, attn_lstm_start<Item> const& start,
    attn_lstm_outputs<Item> const& outputs, Env&&... env)
{
    if constexpr (satisfied<policy_and_workspace<attention_workspace<Item>, Env...>>()) {
        static constexpr std::string_view op = "xloom::attn_lstm_into";
        batch_sizes const sizes = check_attn_lstm_call(op, X, weights, start);
        check_attn_lstm_outputs(op, weights, sizes, X, start, outputs);
        detail::run_attn_lstm_call(X, weights, sizes, start, outputs, score, env...);
    }
}

template <class Item>
void check_memory_given(attn_lstm_inputs<Item> const& in)
{
    check_together("xloom::attn_lstm", "QW, MW, V and M",
        std::array{named_presence{"QW", in.QW.is_given()}, named_presence{"MW", in.MW.is_given()},
            named_presence{"V", in.V.is_given()}, named_presence{"M", in.M.is_given()}});
}

/// Runs an AttnLSTM with unpacked weights.
template <class Item, class Score, class Options, class... Env>
attn_lstm_result<Item> run_unpacked_attn_lstm(Score const& score, tensor_ref<Item const> const& X,
    attn_lstm_inputs<Item> const& in, Options&& options, Env&&... env)
{
    if constexpr (satisfied<recurrent_items<Item>, options_policy_and_workspace<attn_lstm_options,
                                                       attention_workspace<Item>, Options, Env...>>()) {
        check_memory_given(in);
        return detail::run_attn_lstm<Item>(score, X,
            detail::weights_for<attn_lstm_family, Item>("xloom::attn_lstm",
                {in.W, in.R, in.B, in.P, in.QW, in.MW, in.V, in.AW},
                detail::options_of<attn_lstm_options>(options)),
            {in.sequence_lens, in.initial_h, in.initial_c, in.M, in.memory_seq_lens, in.initial_attention,
                in.initial_alignment},
            options, env...);
    } else {
        return {};
    }
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
/// Score     attn_lstm(score, X, ...) calls any attention_score in place of the sum above; its arguments
///           include the last alignment.
/// Policy    serial, or one with threads (thread_policy, tbb_policy): each thread has its own rows and
///           directions; where there is one row in one direction, its own columns of large products.
/// Special   Values beyond a row's lengths are not read; a memory of length 0 gives alignments and a context
///           of zeros.
/// NaN       stays NaN.
/// Errors    before anything is written: shape_error, option_error, index_error (a length outside [0, T] or
///           [0, S]). A score's exceptions propagate.
/// Order     as lstm: the bits of a row depend only on the row; a sequence in pieces, with Y_h, Y_c,
///           Y_attention and, if the score reads it, Y_alignment passed on, is bitwise equal to one call
///           (float and wider types).
/// Max error float, H = 512, T = 100, weights uniform in +-1/sqrt(H), X and M in +-1, independent: 2e-6.
///           Rounding of the scores changes an alignment by a relative error of at most 2^-20 sum |V|. Where
///           sum |V| is above 64, each score is a sum of tanh, which keeps the digits of terms near 0.
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
template <class Input, class Item = detail::first_item_t<Input>, class Start = attn_lstm_start<Item>,
    class... Env>
attn_lstm_result<Item> attn_lstm(
    Input const& X, attn_lstm_weights<Item> const& weights, Start&& start = {}, Env&&... env)
{
    return detail::run_packed_attn_lstm<Item>(
        bahdanau(), X, weights, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes AttnLSTM with unpacked weights, which it packs first.
template <class Input, class Item = detail::first_item_t<Input>, class Options = attn_lstm_options,
    class... Env>
attn_lstm_result<Item> attn_lstm(Input const& X, std::type_identity_t<attn_lstm_inputs<Item>> const& inputs,
    Options&& options = {}, Env&&... env)
{
    return detail::run_unpacked_attn_lstm<Item>(
        bahdanau(), X, inputs, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes AttnLSTM with a score of its own.
template <detail::score_argument_like Score, class Input, class Item = detail::first_item_t<Input>,
    class Start = attn_lstm_start<Item>, class... Env>
    requires attention_score<Score, detail::compute_t<Item>>
attn_lstm_result<Item> attn_lstm(Score const& score, Input const& X, attn_lstm_weights<Item> const& weights,
    Start&& start = {}, Env&&... env)
{
    return detail::run_packed_attn_lstm<Item>(
        score, X, weights, std::forward<Start>(start), std::forward<Env>(env)...);
}

/// Computes AttnLSTM with a score of its own and unpacked weights, which it packs first.
template <detail::score_argument_like Score, class Input, class Item = detail::first_item_t<Input>,
    class Options = attn_lstm_options, class... Env>
    requires attention_score<Score, detail::compute_t<Item>>
attn_lstm_result<Item> attn_lstm(Score const& score, Input const& X,
    std::type_identity_t<attn_lstm_inputs<Item>> const& inputs, Options&& options = {}, Env&&... env)
{
    return detail::run_unpacked_attn_lstm<Item>(
        score, X, inputs, std::forward<Options>(options), std::forward<Env>(env)...);
}

/// Computes AttnLSTM into the caller's outputs, of any strides, and maybe with the
/// caller's workspace: it allocates nothing if that is large enough. attention_workspace(weights, {T, N,
/// S}) is for up to T steps, N rows and S steps of memory.
///
/// Errors    as attn_lstm; shape_error: an output's shape; overlap_error: an output shares memory with an
///           input or another output. Y_h, Y_c, Y_attention and Y_alignment may be the same tensors as
///           initial_h and so on, so that a stream updates its state in place.
/// Cost      as attn_lstm; alignments, Y_attention and Y_alignment also require the attention of the last
///           step, which is omitted otherwise.
/// Real time with a workspace, on one thread, after a call of the same sizes.
template <class Input, class Item = detail::first_item_t<Input>, class... Env>
void attn_lstm_into(Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_attn_lstm_outputs<Item>(bahdanau(), X, weights, start, outputs, std::forward<Env>(env)...);
}
/// Runs attn_lstm_into with a score.
template <detail::score_argument_like Score, class Input, class Item = detail::first_item_t<Input>,
    class... Env>
    requires attention_score<Score, detail::compute_t<Item>>
void attn_lstm_into(Score const& score, Input const& X, attn_lstm_weights<Item> const& weights,
    std::type_identity_t<attn_lstm_start<Item>> const& start,
    std::type_identity_t<attn_lstm_outputs<Item>> const& outputs, Env&&... env)
{
    detail::run_attn_lstm_outputs<Item>(score, X, weights, start, outputs, std::forward<Env>(env)...);
}

} // namespace xloom::inline XLOOM_ABI
