// LSTM, GRU, RNN and com.microsoft's AttnLSTM: xloom's, their weights packed once. LinearAttention and
// CausalConvWithState.

#include <algorithm>
#include <utility>

#include <xloom/types.hpp>

#include "emitters.hpp"
#include "text.hpp"

namespace compiler {

namespace {

using input_names = std::vector<std::pair<std::size_t, char const*>>;

struct recurrent {
    char const* name;      ///< of xloom's function
    input_names constants; ///< the inputs that are packed
    input_names start;     ///< the others, without X
    std::vector<char const*> outputs;
    char const* storage = nullptr; ///< of packed weights; null: full
};

std::string direction_of(runner::node_view const& view)
{
    std::string const name = view.text("direction", "forward");
    static_cast<void>(xloom::parse_direction("direction", name == "foward" ? "forward" : name));
    return name == "foward" ? "forward" : name; // GRU-1's own spelling
}

std::string real_list(std::vector<double> const& numbers)
{
    std::vector<std::string> texts;
    for (double const each : numbers)
        texts.push_back(number_literal(each));
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string options_of(node const& each)
{
    auto const view = each.view();
    std::vector<std::string> given;
    if (std::string const direction = direction_of(view); direction != "forward")
        given.push_back(".direction = xloom::direction::" + direction);
    if (view.has_attribute("activations")) {
        std::vector<std::string> names;
        for (std::string const& name : view.texts("activations"))
            names.push_back(text_expression(name));
        given.push_back(fmt::format(".activations = {{{}}}", fmt::join(names, ", ")));
    }
    for (char const* const name : {"activation_alpha", "activation_beta"})
        if (view.has_attribute(name))
            given.push_back(fmt::format(".{} = {{{}}}", name, real_list(view.numbers(name))));
    if (view.has_attribute("clip"))
        given.push_back(fmt::format(".clip = {}", real_list({view.number("clip", 0)})));
    if (view.has_attribute("hidden_size"))
        given.push_back(".hidden_size = " + number_literal(view.integer("hidden_size", 0)));
    if (view.integer("input_forget", 0) != 0) // of LSTM and AttnLSTM
        given.push_back(".input_forget = true");
    if (view.integer("linear_before_reset", 0) != 0) // of GRU
        given.push_back(".linear_before_reset = true");
    if (view.integer("layout", 0) != 0)
        given.push_back(".layout = " + number_literal(view.integer("layout", 0)));
    return fmt::format("{{{}}}", fmt::join(given, ", "));
}

/// The given inputs as designated initialisers.
std::string initialisers(emission& out, node& each, input_names const& which, bool as_views)
{
    std::vector<std::string> given;
    for (auto const& [i, name] : which) {
        if (!each.has(i))
            continue;
        if (each.input(i).is_scalar())
            throw runner::runner_error(fmt::format("its {} must be a tensor, but is a scalar", name));
        given.push_back(fmt::format(
            ".{} = {}", name, as_views ? out.constant_view(each.input(i)) : out.operand(each.input(i))));
    }
    return fmt::format("{{{}}}", fmt::join(given, ", "));
}

bool has_constant_weights(node const& each, recurrent const& op)
{
    return std::all_of(op.constants.begin(), op.constants.end(), [&](auto const& operand) {
        return !each.has(operand.first) || each.input(operand.first).tensor() != nullptr;
    });
}

/// The shapes of the outputs.
void give_shapes(emission& out, node& each, std::vector<std::string> const& targets, std::string const& X)
{
    bool const is_batch_first = each.view().integer("layout", 0) == 1;
    std::string const D = direction_of(each.view()) == "bidirectional" ? "2" : "1";
    auto const& R = each.input(2).type.shape();
    std::string const H = R[2].has_value() ? fmt::format("{}", R[2].value())
                                           : fmt::format("{}.shape()[2]", out.operand(each.input(2)));
    auto const dim = [&](std::size_t axis) {
        auto const& known = each.input(0).type.shape();
        return known[axis].has_value() ? fmt::format("{}", known[axis].value())
                                       : fmt::format("{}.shape()[{}]", X, axis);
    };
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k].empty())
            continue;
        std::string const dims = k == 0
                                     ? (is_batch_first ? fmt::format("{}, {}, {}, {}", dim(0), dim(1), D, H)
                                                       : fmt::format("{}, {}, {}, {}", dim(0), D, dim(1), H))
                                     : (is_batch_first ? fmt::format("{}, {}, {}", dim(0), D, H)
                                                       : fmt::format("{}, {}, {}", D, dim(1), H));
        out.line("xloom_onnx::give_shape(\"{}\", {}, xloom::shape{{{}}});", each.name, targets[k], dims);
    }
}

void emit(emission& out, node& each, recurrent const& op)
{
    if (each.input(2).type.shape().rank() != 3)
        throw runner::runner_error("R must have rank 3");
    out.include(fmt::format("xloom/recurrent/{}.hpp", op.name));
    out.include("xloom_onnx/view.hpp");
    std::string const type = item_type(each.input(0).type.element());
    std::string const X = out.operand(each.input(0));
    std::string const label = each.outputs[0] != nullptr ? each.outputs[0]->onnx_name : std::string(op.name);
    bool const is_packed_once = has_constant_weights(each, op);
    std::string const weights = out.unique(label + "_weights");
    std::string const packed = fmt::format("xloom::{}_weights<{}>", op.name, type);
    // The types are spelled: g++ 12 fails with an internal error for plain braces in a member's initialiser.
    std::string const constants = fmt::format("xloom::{0}_constants<{1}>{2}, xloom::{0}_options{3}{4}",
        op.name, type, initialisers(out, each, op.constants, is_packed_once), options_of(each),
        op.storage == nullptr ? "" : fmt::format(", xloom::weight_storage::{}", op.storage));
    if (is_packed_once) {
        out.add_member(fmt::format("{} const {}{{{}}};", packed, weights, constants));
    } else {
        out.include("xloom_onnx/model/assigned.hpp");
        std::string const memory = out.unique(weights + "_memory");
        out.add_memory(fmt::format("std::optional<{}> {}{{}};", packed, memory));
        out.write(fmt::format("auto const& {} = xloom_onnx::assigned({}, {});", weights, memory, constants));
    }
    std::string const workspace = out.unique(label + "_workspace");
    bool const has_attention = each.name == "com.microsoft.AttnLSTM";
    out.add_memory(fmt::format(
        "xloom::{}_workspace<{}> {}{{}};", has_attention ? "attention" : "recurrent", type, workspace));
    std::vector<std::string> targets, outputs;
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
        targets.push_back(each.wants(k) ? out.target(each.output(k)) : "");
        if (!targets.back().empty())
            outputs.push_back(fmt::format(".{} = {}", op.outputs[k], targets.back()));
    }
    give_shapes(out, each, targets, X);
    out.line("xloom::{}_into({}, {}, {}, {{{}}}, {});", op.name, X, weights,
        initialisers(out, each, op.start, false), fmt::join(outputs, ", "), workspace);
}

/// Returns a dimension of an input: a number where inference knows it, else what the tensor has in a run.
std::string dim_of(emission& out, node& each, std::size_t input, std::size_t axis)
{
    auto const& known = each.input(input).type.shape();
    return known[axis].has_value() ? fmt::format("{}", known[axis].value())
                                   : fmt::format("{}.shape()[{}]", out.operand(each.input(input)), axis);
}

/// An operator without weights, whose outputs are a sequence and a state.
struct stateful {
    char const* name;     ///< of xloom's function
    std::size_t operands; ///< the number of inputs before the others
    input_names others;
    std::vector<char const*> outputs;
};

/// Emits a call with an explicit template argument, or none, and options.
void emit(emission& out, node& each, stateful const& op, std::string const& argument,
    std::vector<std::string> const& shapes, std::string const& options)
{
    out.include(fmt::format("xloom/recurrent/{}.hpp", op.name));
    out.include("xloom_onnx/view.hpp");
    std::string const label = each.outputs[0] != nullptr ? each.outputs[0]->onnx_name : std::string(op.name);
    std::string const workspace = out.unique(label + "_workspace");
    out.add_memory(fmt::format(
        "xloom::recurrent_workspace<{}> {}{{}};", item_type(each.input(0).type.element()), workspace));
    take_state(out, each, 3, 1); // past_state and present_state
    std::vector<std::string> operands, outputs;
    for (std::size_t i = 0; i < op.operands; ++i)
        operands.push_back(out.operand(each.input(i)));
    for (std::size_t k = 0; k < op.outputs.size(); ++k)
        if (each.wants(k)) {
            std::string const target = out.target(each.output(k));
            out.line("xloom_onnx::give_shape(\"{}\", {}, xloom::shape{{{}}});", each.name, target, shapes[k]);
            outputs.push_back(fmt::format(".{} = {}", op.outputs[k], target));
        }
    out.line("xloom::{}_into{}({}, {}, {{{}}}, xloom::{}_options{{{}}}, {});", op.name, argument,
        fmt::join(operands, ", "), initialisers(out, each, op.others, false), fmt::join(outputs, ", "),
        op.name, options, workspace);
}

void emit_attention(emission& out, node& each)
{
    static stateful const op{
        "linear_attention", 3, {{3, "past_state"}, {4, "decay"}, {5, "beta"}}, {"output", "present_state"}};
    auto const view = each.view();
    std::int64_t const q_heads = view.integer("q_num_heads", 0), kv_heads = view.integer("kv_num_heads", 0);
    std::string const B = dim_of(out, each, 0, 0), T = dim_of(out, each, 0, 1),
                      K = fmt::format("{} / {}", dim_of(out, each, 0, 2), q_heads),
                      V = fmt::format("{} / {}", dim_of(out, each, 2, 2), kv_heads);
    std::string options =
        fmt::format(".q_num_heads = {}, .kv_num_heads = {}, .update_rule = xloom::update_rule::{}", q_heads,
            kv_heads, view.text("update_rule", "gated_delta"));
    if (double const scale = view.number("scale", 0); scale != 0)
        options += ", .scale = " + number_literal(scale);
    std::size_t const typed = each.has(3) ? 3 : 0;
    emit(out, each, op, fmt::format("<{}>", item_type(each.input(typed).type.element())),
        {fmt::format("{}, {}, {} * {}", B, T, V, q_heads), fmt::format("{}, {}, {}, {}", B, kv_heads, K, V)},
        options);
}

void emit_conv(emission& out, node& each)
{
    static stateful const op{"causal_conv", 2, {{2, "bias"}, {3, "past_state"}}, {"output", "present_state"}};
    std::string const B = dim_of(out, each, 0, 0), C = dim_of(out, each, 0, 1), L = dim_of(out, each, 0, 2),
                      state = dim_of(out, each, 1, 2) + " - 1";
    bool const has_silu = each.view().text("activation", "none") != "none";
    emit(out, each, op, "", {fmt::format("{}, {}, {}", B, C, L), fmt::format("{}, {}, {}", B, C, state)},
        has_silu ? ".activation = xloom::conv_activation::silu" : "");
}

} // namespace

void add_recurrent_emitters(emitter_table& table)
{
    input_names const start{{4, "sequence_lens"}, {5, "initial_h"}};
    input_names lstm_start = start;
    lstm_start.emplace_back(6, "initial_c");
    input_names attention_start = lstm_start;
    attention_start.insert(attention_start.end(), {{11, "M"}, {12, "memory_seq_lens"}});
    recurrent const lstm{"lstm", {{1, "W"}, {2, "R"}, {3, "B"}, {7, "P"}}, lstm_start, {"Y", "Y_h", "Y_c"}};
    recurrent quantized_lstm = lstm;
    quantized_lstm.storage = "dynamic_int8";
    recurrent const gru{"gru", {{1, "W"}, {2, "R"}, {3, "B"}}, start, {"Y", "Y_h"}};
    recurrent const rnn{"rnn", {{1, "W"}, {2, "R"}, {3, "B"}}, start, {"Y", "Y_h"}};
    recurrent const attn_lstm{"attn_lstm",
        {{1, "W"}, {2, "R"}, {3, "B"}, {7, "P"}, {8, "QW"}, {9, "MW"}, {10, "V"}, {13, "AW"}},
        attention_start, {"Y", "Y_h", "Y_c"}};
    table["LSTM"] = [lstm](emission& out, node& each) { emit(out, each, lstm); };
    table["xloom.QuantizedLSTM"] = [quantized_lstm](
                                       emission& out, node& each) { emit(out, each, quantized_lstm); };
    table["GRU"] = [gru](emission& out, node& each) { emit(out, each, gru); };
    table["RNN"] = [rnn](emission& out, node& each) { emit(out, each, rnn); };
    for (char const* const domain : {"", "com.microsoft."}) {
        table[std::string(domain) + "LinearAttention"] = emit_attention;
        table[std::string(domain) + "CausalConvWithState"] = emit_conv;
    }
    table["com.microsoft.AttnLSTM"] = [attn_lstm](emission& out, node& each) { emit(out, each, attn_lstm); };
}

} // namespace compiler
