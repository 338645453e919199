// LSTM, GRU, RNN and com.microsoft's AttnLSTM: xloom's.

#include <xloom/attn_lstm.hpp>
#include <xloom/gru.hpp>
#include <xloom/infer/attn_lstm.hpp>
#include <xloom/infer/gru.hpp>
#include <xloom/infer/lstm.hpp>
#include <xloom/infer/rnn.hpp>
#include <xloom/lstm.hpp>
#include <xloom/rnn.hpp>

#include "moves.hpp"
#include "operators.hpp"
#include "type_rules.hpp"
#include "types.hpp"
#include "views.hpp"

namespace runner {

namespace {

using values = std::vector<value>;

xloom::direction direction_of(node_view const& node)
{
    std::string const name = node.text("direction", "forward");
    return xloom::parse_direction("direction", name == "foward" ? "forward" : name); // GRU-1's own spelling
}

/// The attributes that all of them have.
template <class Options>
Options options_of(call const& node, std::vector<std::string> const& activations)
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

bool has_known_element(typing const& node) { return node.at(0).is_tensor() && node.at(0).element() != element_type::undefined; }

xloom::recurrent_attributes attributes_of(typing const& node, xloom::recurrent op)
{
    if (!xloom::is_allowed(op, node.opset(), node.at(0).element()))
        throw runner_error(
            xloom::detail::concat(name_of(op), " does not take ", name_of(node.at(0).element()), " at opset ", node.opset()));
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
        {.Y = node.declared_at(0), .Y_h = node.declared_at(1), .Y_c = node.declared_at(2)}, attributes_of(node, xloom::recurrent::lstm));
    return {Y, Y_h, Y_c};
}

types gru_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    auto const [Y, Y_h] = xloom::infer_gru(
        {.X = node.at(0)}, {.Y = node.declared_at(0), .Y_h = node.declared_at(1)}, attributes_of(node, xloom::recurrent::gru));
    return {Y, Y_h};
}

types rnn_types(typing const& node)
{
    if (!has_known_element(node))
        return {};
    auto const [Y, Y_h] = xloom::infer_rnn(
        {.X = node.at(0)}, {.Y = node.declared_at(0), .Y_h = node.declared_at(1)}, attributes_of(node, xloom::recurrent::rnn));
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

/// Whether the budget allows for Y, and for its products: each row of X meets all weights, and all memory steps.
void require_affordable(call const& node)
{
    constexpr std::size_t R = 2, V = 10, M = 11;
    tensor const& X = node.tensor_at(0);
    if (X.shape().size() != 3 || node.tensor_at(R).shape().size() != 3)
        return; // the operator will say so
    xloom::shape const& weights = node.tensor_at(R).shape();
    require_room_for(X, {X.shape()[0], X.shape()[1], weights[0], weights[2]});
    auto const size_of = [&](std::size_t i) { return node.has(i) ? static_cast<double>(node.tensor_at(i).size()) : 0; };
    double products = 0;
    for (std::size_t i = 1; i < node.input_count(); ++i)
        products += size_of(i);
    if (node.has(M) && node.tensor_at(M).shape().size() == 3)
        products += static_cast<double>(node.tensor_at(M).shape()[1]) * size_of(V);
    spend_products(products * static_cast<double>(X.shape()[0]) * static_cast<double>(X.shape()[1]));
}

/// Optional inputs as operands that may be left out.
template <class T>
xloom::tensor_ref<T const> operand(call const& node, std::size_t i)
{
    if (!node.has(i))
        return {};
    return view_of<T>(node.tensor_at(i));
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
    return tensor::of<T>({expression.shape().begin(), expression.shape().end()}, {expression.data(), expression.size()});
}

values lstm(call const& node)
{
    require_affordable(node);
    std::vector<std::string> const names = node.texts("activations");
    auto const options = options_of<xloom::lstm_options>(node, names);
    return with_float(node.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        auto const [Y, Y_h, Y_c] = xloom::lstm(view_of<T>(node.tensor_at(0)),
            {.W = operand<T>(node, 1),
                .R = operand<T>(node, 2),
                .B = operand<T>(node, 3),
                .sequence_lens = lengths(node, 4),
                .initial_h = operand<T>(node, 5),
                .initial_c = operand<T>(node, 6),
                .P = operand<T>(node, 7)},
            options);
        return values{tensor_of(Y), tensor_of(Y_h), tensor_of(Y_c)};
    });
}

/// GRU and RNN have the same inputs and outputs.
template <template <class> class Inputs, class Options, class Operator>
values one_state(call const& node, Operator const& op)
{
    require_affordable(node);
    std::vector<std::string> const names = node.texts("activations");
    auto const options = options_of<Options>(node, names);
    return with_float(node.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        auto const [Y, Y_h] = op(view_of<T>(node.tensor_at(0)),
            Inputs<T>{.W = operand<T>(node, 1),
                .R = operand<T>(node, 2),
                .B = operand<T>(node, 3),
                .sequence_lens = lengths(node, 4),
                .initial_h = operand<T>(node, 5)},
            options);
        return values{tensor_of(Y), tensor_of(Y_h)};
    });
}

values gru(call const& node)
{
    return one_state<xloom::gru_inputs, xloom::gru_options>(node, [](auto const&... operands) { return xloom::gru(operands...); });
}

values rnn(call const& node)
{
    return one_state<xloom::rnn_inputs, xloom::rnn_options>(node, [](auto const&... operands) { return xloom::rnn(operands...); });
}

values attn_lstm(call const& node)
{
    require_affordable(node);
    std::vector<std::string> const names = node.texts("activations");
    auto const options = options_of<xloom::attn_lstm_options>(node, names);
    return with_float(node.tensor_at(0).type(), [&]<class T>(std::type_identity<T>) {
        auto const [Y, Y_h, Y_c] = xloom::attn_lstm(view_of<T>(node.tensor_at(0)),
            {.W = operand<T>(node, 1),
                .R = operand<T>(node, 2),
                .B = operand<T>(node, 3),
                .sequence_lens = lengths(node, 4),
                .initial_h = operand<T>(node, 5),
                .initial_c = operand<T>(node, 6),
                .P = operand<T>(node, 7),
                .QW = operand<T>(node, 8),
                .MW = operand<T>(node, 9),
                .V = operand<T>(node, 10),
                .M = operand<T>(node, 11),
                .memory_seq_lens = lengths(node, 12),
                .AW = operand<T>(node, 13)},
            options);
        return values{tensor_of(Y), tensor_of(Y_h), tensor_of(Y_c)};
    });
}

} // namespace

void add_recurrent_operators(operator_table& table)
{
    table["LSTM"] = {lstm, lstm_types};
    table["GRU"] = {gru, gru_types};
    table["RNN"] = {rnn, rnn_types};
    table["com.microsoft.AttnLSTM"] = {attn_lstm, attn_lstm_types};
}

} // namespace runner
