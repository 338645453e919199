// LSTM, GRU, RNN and com.microsoft's AttnLSTM: xloom's.

#include <algorithm>
#include <array>

#include <xloom/infer/recurrent.hpp>
#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/rnn.hpp>

#include "operators.hpp"
#include "recurrent_cost.hpp"
#include "text.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

xloom::direction direction_of(node_view const& node)
{
    std::string const name = node.text("direction", "forward");
    return xloom::parse_direction("direction", name == "foward" ? "forward" : name); // GRU-1's own spelling
}

/// The attributes that all of them have.
template <class Options>
Options options_of(node_view const& node, std::vector<std::string> const& activations)
{
    Options options;
    options.direction = direction_of(node);
    for (std::string const& name : activations)
        options.activations.push_back(name);
    for (double const alpha : node.numbers("activation_alpha"))
        options.activation_alpha.push_back(alpha);
    for (double const beta : node.numbers("activation_beta"))
        options.activation_beta.push_back(beta);
    if (node.has_attribute("clip"))
        options.clip = node.number("clip", 0);
    if (node.has_attribute("hidden_size"))
        options.hidden_size = node.integer("hidden_size", 0);
    if constexpr (requires { options.layout; })
        options.layout = node.integer("layout", 0);
    if constexpr (requires { options.input_forget; })
        options.input_forget = node.integer("input_forget", 0) != 0;
    if constexpr (requires { options.linear_before_reset; })
        options.linear_before_reset = node.integer("linear_before_reset", 0) != 0;
    return options;
}

xloom::recurrent_attributes attributes_of(typing const& node, xloom::onnx_operator op)
{
    if (!xloom::is_allowed(op, node.opset(), node.at(0).element()))
        throw runner_error(fmt::format(
            "{} does not take {} at opset {}", name_of(op), name_of(node.at(0).element()), node.opset()));
    return {.opset = node.opset(),
        .direction = direction_of(node),
        .hidden_size = node.integer("hidden_size", 0),
        .layout = node.integer("layout", 0),
        .output_sequence = node.integer("output_sequence", 0) != 0};
}

types lstm_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    auto const [Y, Y_h, Y_c] = xloom::infer_lstm({.X = node.at(0)},
        {.Y = node.declared_at(0), .Y_h = node.declared_at(1), .Y_c = node.declared_at(2)},
        attributes_of(node, xloom::onnx_operator::lstm));
    return {Y, Y_h, Y_c};
}

/// Of GRU or RNN, by infer_gru or infer_rnn.
template <xloom::onnx_operator Op, auto Infer>
types single_state_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    auto const [Y, Y_h] = Infer(
        {.X = node.at(0)}, {.Y = node.declared_at(0), .Y_h = node.declared_at(1)}, attributes_of(node, Op));
    return {Y, Y_h};
}

types attn_lstm_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    auto const inferred = xloom::infer_attn_lstm({.X = node.at(0), .M = node.at(11)},
        {.Y = node.declared_at(0), .Y_h = node.declared_at(1), .Y_c = node.declared_at(2)},
        {.direction = direction_of(node), .hidden_size = node.integer("hidden_size", 0)});
    return {inferred.Y, inferred.Y_h, inferred.Y_c};
}

/// Returns an input; null if it is omitted. Before a run only constants are available.
tensor const* given(call const& node, std::size_t i) { return node.has(i) ? &node.tensor_at(i) : nullptr; }
tensor const* given(typing const& node, std::size_t i) { return node.constant_at(i); }

/// Optional inputs as operands that may be omitted.
template <class T, class Node>
xloom::tensor_ref<T const> operand(Node const& node, std::size_t i)
{
    tensor const* const t = given(node, i);
    if (t == nullptr)
        return {};
    return view_of<T>(*t);
}

xloom::lengths_ref lengths(call const& node, std::size_t i)
{
    if (!node.has(i))
        return {};
    return view_of<std::int32_t>(node.tensor_at(i));
}

template <class Expression>
tensor tensor_of(Expression const& expression)
{
    using T = typename Expression::value_type;
    return tensor::of<T>(
        {expression.shape().begin(), expression.shape().end()}, {expression.data(), expression.size()});
}

// Each operator has two parts: packing of the weights, whose inputs are mostly constants, and a call on them.

struct lstm {
    using options = xloom::lstm_options;
    static constexpr std::array<std::size_t, 4> constants{1, 2, 3, 7};

    template <class T, class Node>
    static xloom::lstm_constants<T> constants_of(Node const& node)
    {
        return {.W = operand<T>(node, 1),
            .R = operand<T>(node, 2),
            .B = operand<T>(node, 3),
            .P = operand<T>(node, 7)};
    }
    template <class T, class Node>
    static xloom::lstm_weights<T> pack(Node const& node, options const& attributes)
    {
        return {constants_of<T>(node), attributes};
    }
    template <class T>
    static std::vector<value> run(call const& node, xloom::lstm_weights<T> const& weights)
    {
        auto const [Y, Y_h, Y_c] = xloom::lstm(view_of<T>(node.tensor_at(0)), weights,
            {.sequence_lens = lengths(node, 4),
                .initial_h = operand<T>(node, 5),
                .initial_c = operand<T>(node, 6)});
        return {tensor_of(Y), tensor_of(Y_h), tensor_of(Y_c)};
    }
};

/// An LSTM that rounds its weights, and X and h in each step, to 8 bits.
struct quantized_lstm : lstm {
    template <class T, class Node>
    static xloom::lstm_weights<T> pack(Node const& node, options const& attributes)
    {
        if constexpr (std::is_same_v<T, float>)
            return {constants_of<T>(node), attributes, xloom::weight_storage::dynamic_int8};
        else
            return lstm::pack<T>(node, attributes);
    }
};

/// An operator that carries one state: Function(X, weights, start) runs it.
template <class Options, template <class> class Weights, template <class> class Start, auto Function>
struct single_state {
    using options = Options;
    static constexpr std::array<std::size_t, 3> constants{1, 2, 3};

    template <class T, class Node>
    static Weights<T> pack(Node const& node, options const& attributes)
    {
        return {{.W = operand<T>(node, 1), .R = operand<T>(node, 2), .B = operand<T>(node, 3)}, attributes};
    }
    template <class T>
    static std::vector<value> run(call const& node, Weights<T> const& weights)
    {
        Start<T> const start{.sequence_lens = lengths(node, 4), .initial_h = operand<T>(node, 5)};
        auto const [Y, Y_h] = Function(view_of<T>(node.tensor_at(0)), weights, start);
        return {tensor_of(Y), tensor_of(Y_h)};
    }
};

using gru = single_state<xloom::gru_options, xloom::gru_weights, xloom::gru_start,
    [](auto const&... operands) { return xloom::gru(operands...); }>;
using rnn = single_state<xloom::rnn_options, xloom::rnn_weights, xloom::rnn_start,
    [](auto const&... operands) { return xloom::rnn(operands...); }>;

struct attn_lstm {
    using options = xloom::attn_lstm_options;
    static constexpr std::array<std::size_t, 8> constants{1, 2, 3, 7, 8, 9, 10, 13};

    template <class T, class Node>
    static xloom::attn_lstm_weights<T> pack(Node const& node, options const& attributes)
    {
        return {{.W = operand<T>(node, 1),
                    .R = operand<T>(node, 2),
                    .B = operand<T>(node, 3),
                    .P = operand<T>(node, 7),
                    .QW = operand<T>(node, 8),
                    .MW = operand<T>(node, 9),
                    .V = operand<T>(node, 10),
                    .AW = operand<T>(node, 13)},
            attributes};
    }
    template <class T>
    static std::vector<value> run(call const& node, xloom::attn_lstm_weights<T> const& weights)
    {
        auto const [Y, Y_h, Y_c] = xloom::attn_lstm(view_of<T>(node.tensor_at(0)), weights,
            {.sequence_lens = lengths(node, 4),
                .initial_h = operand<T>(node, 5),
                .initial_c = operand<T>(node, 6),
                .M = operand<T>(node, 11),
                .memory_seq_lens = lengths(node, 12)});
        return {tensor_of(Y), tensor_of(Y_h), tensor_of(Y_c)};
    }
};

/// f(weights) for weights of X's type, or W's before a run.
template <class Op, class Node, class F>
auto with_weights(Node const& node, element_type type, F const& f)
{
    std::vector<std::string> const names = node.texts("activations");
    auto const attributes = options_of<typename Op::options>(node, names);
    return with_float(
        type, [&]<class T>(std::type_identity<T>) { return f(Op::template pack<T>(node, attributes)); });
}

/// Of the weights that are given.
template <class Op, class Node>
std::size_t packed_bytes_of(Node const& node)
{
    std::map<std::size_t, tensor const*> weights;
    for (std::size_t const i : Op::constants)
        if (tensor const* const each = given(node, i))
            weights.emplace(i, each);
    return packed_bytes(weights);
}

template <class Op, class Weights>
std::vector<value> run_packed(call const& node, Weights const& weights)
{
    require_affordable(node);
    reservation const working(working_bytes(node));
    return Op::run(node, weights);
}

template <class Op>
std::vector<value> run(call const& node)
{
    reservation const packed(packed_bytes_of<Op>(node));
    return with_weights<Op>(
        node, node.tensor_at(0).type(), [&](auto const& weights) { return run_packed<Op>(node, weights); });
}

/// Packs weights that are constants once for all runs.
template <class Op>
run_function prepare(typing const& node)
{
    auto const changes = [&](std::size_t i) { return node.has(i) && node.constant_at(i) == nullptr; };
    if (!node.has(1) || std::any_of(Op::constants.begin(), Op::constants.end(), changes))
        return {};
    auto const packed = std::make_shared<reservation const>(packed_bytes_of<Op>(node));
    return with_weights<Op>(node, node.constant_at(1)->type(), [packed](auto const& weights) -> run_function {
        return [weights, packed](call const& reached) {
            return run_packed<Op>(reached, weights);
        }; // copies share the memory
    });
}

} // namespace

void add_recurrent_operators(operator_table& table)
{
    std::string const common =
        "activation_alpha:floats activation_beta:floats activations:strings clip:float "
        "direction:string hidden_size:int";
    table["LSTM"] = {{{1, "rrrooooo", "ooo", common + " input_forget:flag output_sequence:flag"},
                         {7, "rrrooooo", "ooo", common + " input_forget:flag"},
                         {14, "rrrooooo", "ooo", common + " input_forget:flag layout:flag"}},
        run<lstm>, lstm_types, prepare<lstm>};
    table["xloom.QuantizedLSTM"] = {{{1, "rrrooooo", "ooo", common + " input_forget:flag"}},
        run<quantized_lstm>, lstm_types, prepare<quantized_lstm>};
    table["GRU"] = {{{1, "rrrooo", "or", common + " output_sequence:flag"},
                        {3, "rrrooo", "oo", common + " linear_before_reset:flag output_sequence:flag"},
                        {7, "rrrooo", "oo", common + " linear_before_reset:flag"},
                        {14, "rrrooo", "oo", common + " layout:flag linear_before_reset:flag"}},
        run<gru>, single_state_types<xloom::onnx_operator::gru, xloom::infer_gru>, prepare<gru>};
    table["RNN"] = {{{1, "rrrooo", "oo", common + " output_sequence:flag"}, {7, "rrrooo", "oo", common},
                        {14, "rrrooo", "oo", common + " layout:flag"}},
        run<rnn>, single_state_types<xloom::onnx_operator::rnn, xloom::infer_rnn>, prepare<rnn>};
    table["com.microsoft.AttnLSTM"] = {{{1, "rrrooooooooooo", "ooo", common + " input_forget:flag"}},
        run<attn_lstm>, attn_lstm_types, prepare<attn_lstm>};
}

} // namespace runner
