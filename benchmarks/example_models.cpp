#include "example_models.hpp"

#include <cmath>
#include <deque>

#include <xloom/detail/tensor/xtensor.hpp>

#include "onnx_model.hpp"
#include "uniform.hpp"

namespace bench {
namespace {

/// A graph that is written node by node; it keeps the weights.
class graph_writer {
public:
    /// Adds a weight of random numbers within +-most.
    void add_weight(std::string name, std::vector<std::size_t> const& shape, double most)
    {
        auto& items = floats_.emplace_back(uniform<xt::xarray<float>>(
            xt::xarray<float>::shape_type(shape.begin(), shape.end()), floats_.size() + 1, most));
        graph.inputs.push_back(weight(std::move(name), items));
    }
    void add_weight(std::string name, xt::xarray<float> const& items)
    {
        graph.inputs.push_back(weight(std::move(name), floats_.emplace_back(items)));
    }
    void add_integers(std::string name, xt::xarray<std::int64_t> const& items)
    {
        graph.inputs.push_back(weight(std::move(name), integers_.emplace_back(items)));
    }

    onnx_graph graph{};

private:
    std::deque<xt::xarray<float>> floats_{};
    std::deque<xt::xarray<std::int64_t>> integers_{};
};

onnx_operand floats(std::string name, std::vector<std::int64_t> shape)
{
    return {std::move(name), false, onnx_type<float>, std::move(shape)};
}
onnx_operand integers(std::string name, std::vector<std::int64_t> shape)
{
    return {std::move(name), false, onnx_type<std::int64_t>, std::move(shape)};
}

double limit_of(std::size_t inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); }

using list = std::vector<std::int64_t>;

/// Lengths with a name.
constexpr std::int64_t width = -2, tokens = -3;

/// The states of one time step, and what they give.
onnx_graph selective_step()
{
    onnx_graph body;
    body.inputs = {scalar<std::int64_t>("i"), scalar<bool>("go_on"), floats("h", {1, 256, 16})};
    body.nodes = {
        {"Gather", {"delta", "i"}, {"delta_t"}, {{"axis", std::int64_t{1}}}},
        {"Gather", {"u", "i"}, {"u_t"}, {{"axis", std::int64_t{1}}}},
        {"Gather", {"B", "i"}, {"B_t"}, {{"axis", std::int64_t{1}}}},
        {"Gather", {"C", "i"}, {"C_t"}, {{"axis", std::int64_t{1}}}},
        {"Unsqueeze", {"delta_t", "axis_2"}, {"delta_column"}},
        {"Mul", {"delta_column", "A"}, {"delta_A"}},
        {"Exp", {"delta_A"}, {"decay"}},
        {"Mul", {"delta_t", "u_t"}, {"delta_u"}},
        {"Unsqueeze", {"delta_u", "axis_2"}, {"delta_u_column"}},
        {"Unsqueeze", {"B_t", "axis_1"}, {"B_row"}},
        {"Mul", {"delta_u_column", "B_row"}, {"taken"}},
        {"Mul", {"decay", "h"}, {"kept"}},
        {"Add", {"kept", "taken"}, {"next_h"}},
        {"Unsqueeze", {"C_t", "axis_2"}, {"C_column"}},
        {"MatMul", {"next_h", "C_column"}, {"y_column"}},
        {"Squeeze", {"y_column", "axis_2"}, {"y_t"}},
        {"Identity", {"go_on"}, {"goes_on"}},
    };
    body.outputs = {scalar<bool>("goes_on"), floats("next_h", {1, 256, 16}), floats("y_t", {1, 256})};
    return body;
}

/// One step of the decoder: the symbol of the last one, the cell's states.
onnx_graph decoder_step()
{
    onnx_graph body;
    body.inputs = {scalar<std::int64_t>("i"), scalar<bool>("go_on"), integers("symbol", {1}),
        floats("h", {1, 1, 128}), floats("c", {1, 1, 128})};
    body.nodes = {
        {"Gather", {"embedding", "symbol"}, {"embedded"}},
        {"Unsqueeze", {"embedded", "axis_0"}, {"X"}},
        {"AttnLSTM", {"X", "W", "R", "bias", "", "h", "c", "", "QW", "MW", "V", "M", "", "AW"},
            {"Y", "next_h", "next_c"}, {{"hidden_size", std::int64_t{128}}}, "com.microsoft"},
        {"Squeeze", {"Y", "axes_0_1"}, {"attended"}},
        {"Gemm", {"attended", "W_out", "b_out"}, {"scores_t"}},
        {"ArgMax", {"scores_t"}, {"next_symbol"}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}},
        {"Equal", {"next_symbol", "end"}, {"is_end"}},
        {"Not", {"is_end"}, {"is_inside"}},
        {"Squeeze", {"is_inside"}, {"goes_on"}},
    };
    body.outputs = {scalar<bool>("goes_on"), integers("next_symbol", {1}), floats("next_h", {1, 1, 128}),
        floats("next_c", {1, 1, 128}), integers("next_symbol", {1}), floats("scores_t", {1, 48})};
    return body;
}

/// The state S [16, d, d] after a token: S' = S + k (beta (v - k S)), and what a query reads of it. S is
/// decayed first if the rule is gated.
onnx_graph delta_step(bool is_gated)
{
    onnx_graph body;
    body.inputs = {floats("state", {16, width, width}), floats("query_t", {16, width}),
        floats("key_t", {16, width}), floats("value_t", {16, width}), floats("beta_t", {16, 1})};
    std::string const before = is_gated ? "decayed" : "state";
    if (is_gated) {
        body.inputs.push_back(floats("decay_t", {16, 1}));
        body.nodes = {{"Unsqueeze", {"decay_t", "axis_2"}, {"log_factor"}},
            {"Exp", {"log_factor"}, {"factor"}}, {"Mul", {"state", "factor"}, {"decayed"}}};
    }
    for (onnx_node const& each : std::vector<onnx_node>{
             {"Unsqueeze", {"key_t", "axis_1"}, {"key_row"}},
             {"MatMul", {"key_row", before}, {"read"}},
             {"Unsqueeze", {"value_t", "axis_1"}, {"value_row"}},
             {"Sub", {"value_row", "read"}, {"difference"}},
             {"Unsqueeze", {"beta_t", "axis_2"}, {"rate"}},
             {"Mul", {"difference", "rate"}, {"change"}},
             {"Unsqueeze", {"key_t", "axis_2"}, {"key_column"}},
             {"MatMul", {"key_column", "change"}, {"update"}},
             {"Add", {before, "update"}, {"next_state"}},
             {"Unsqueeze", {"query_t", "axis_1"}, {"query_row"}},
             {"MatMul", {"query_row", "next_state"}, {"output_row"}},
             {"Squeeze", {"output_row", "axis_1"}, {"output_t"}},
         })
        body.nodes.push_back(each);
    body.outputs = {floats("next_state", {16, width, width}), floats("output_t", {16, width})};
    return body;
}

} // namespace

std::string delta_rule(bool is_gated)
{
    graph_writer rule;
    onnx_node scan{"Scan", {"past_state", "query", "key", "value", "beta"}, {"present_state", "output"},
        {subgraph("body", delta_step(is_gated)), {"num_scan_inputs", std::int64_t{is_gated ? 5 : 4}}}};
    rule.graph.inputs = {floats("past_state", {16, width, width}), floats("query", {tokens, 16, width}),
        floats("key", {tokens, 16, width}), floats("value", {tokens, 16, width}),
        floats("beta", {tokens, 16, 1})};
    if (is_gated) {
        rule.graph.inputs.push_back(floats("decay", {tokens, 16, 1}));
        scan.inputs.push_back("decay");
    }
    rule.add_integers("axis_1", {1});
    rule.add_integers("axis_2", {2});
    rule.graph.nodes = {scan};
    rule.graph.outputs = {floats("present_state", {16, width, width}), floats("output", {tokens, 16, width})};
    return serialized(rule.graph);
}

std::string mamba_block()
{
    graph_writer block;
    block.graph.inputs = {floats("x", {1, -1, 128})};
    block.add_weight("W_in", {128, 512}, limit_of(128));
    block.add_weight("W_conv", {256, 1, 4}, limit_of(4));
    block.add_weight("b_conv", {256}, limit_of(4));
    block.add_weight("W_x", {256, 40}, limit_of(256));
    block.add_weight("W_dt", {8, 256}, limit_of(8));
    block.add_weight("b_dt", xt::xarray<float>(-4.0f * xt::ones<float>({256})));
    block.add_weight("A", xt::xarray<float>(xt::zeros<float>({256, 16}) - xt::arange<float>(1, 17)));
    block.add_weight("D", xt::xarray<float>(xt::ones<float>({256})));
    block.add_weight("h0", xt::xarray<float>(xt::zeros<float>({1, 256, 16})));
    block.add_weight("W_out", {256, 128}, limit_of(256));
    block.add_integers("axis_1", {1});
    block.add_integers("axis_2", {2});
    block.add_integers("dt_B_C", {8, 16, 16});
    block.graph.nodes = {
        {"MatMul", {"x", "W_in"}, {"xz"}},
        {"Split", {"xz"}, {"u_in", "z"}, {{"axis", std::int64_t{2}}, {"num_outputs", std::int64_t{2}}}},
        {"Transpose", {"u_in"}, {"u_channels"}, {{"perm", list{0, 2, 1}}}},
        {"Conv", {"u_channels", "W_conv", "b_conv"}, {"u_filtered"},
            {{"group", std::int64_t{256}}, {"pads", list{3, 0}}}},
        {"Transpose", {"u_filtered"}, {"u_rows"}, {{"perm", list{0, 2, 1}}}},
        {"Sigmoid", {"u_rows"}, {"u_gate"}},
        {"Mul", {"u_rows", "u_gate"}, {"u"}},
        {"MatMul", {"u", "W_x"}, {"parameters"}},
        {"Split", {"parameters", "dt_B_C"}, {"dt", "B", "C"}, {{"axis", std::int64_t{2}}}},
        {"MatMul", {"dt", "W_dt"}, {"dt_wide"}},
        {"Add", {"dt_wide", "b_dt"}, {"dt_biased"}},
        {"Softplus", {"dt_biased"}, {"delta"}},
        {"Shape", {"u"}, {"shape"}},
        constant("one", std::int64_t{1}),
        {"Gather", {"shape", "one"}, {"L"}},
        {"Loop", {"L", "", "h0"}, {"h_end", "y_steps"}, {subgraph("body", selective_step())}},
        {"Transpose", {"y_steps"}, {"y_rows"}, {{"perm", list{1, 0, 2}}}},
        {"Mul", {"u", "D"}, {"skipped"}},
        {"Add", {"y_rows", "skipped"}, {"y_sum"}},
        {"Sigmoid", {"z"}, {"z_gate"}},
        {"Mul", {"z", "z_gate"}, {"z_silu"}},
        {"Mul", {"y_sum", "z_silu"}, {"y_gated"}},
        {"MatMul", {"y_gated", "W_out"}, {"y"}},
    };
    block.graph.outputs = {floats("y", {1, -1, 128})};
    return serialized(block.graph);
}

std::string attention_decoder()
{
    graph_writer decoder;
    xt::xarray<bool> always(true); // without a condition at the start a Loop would ignore that of its body
    decoder.graph.inputs = {floats("M", {1, -1, 64}), scalar<std::int64_t>("max_length")};
    decoder.add_weight("embedding", {48, 64}, 1.0);
    decoder.add_weight("W", {1, 4 * 128, 64 + 128}, limit_of(128));
    decoder.add_weight("R", {1, 4 * 128, 128}, limit_of(128));
    decoder.add_weight("bias", {1, 8 * 128}, limit_of(128));
    decoder.add_weight("QW", {1, 128, 128}, limit_of(128));
    decoder.add_weight("MW", {1, 64, 128}, limit_of(64));
    decoder.add_weight("V", {1, 128}, limit_of(128));
    decoder.add_weight("AW", {1, 128 + 64, 128}, limit_of(128));
    decoder.add_weight("h0", xt::xarray<float>(xt::zeros<float>({1, 1, 128})));
    decoder.add_weight("c0", xt::xarray<float>(xt::zeros<float>({1, 1, 128})));
    decoder.add_weight("W_out", {128, 48}, limit_of(128));
    decoder.add_weight("b_out", {48}, 0.1);
    decoder.add_integers("begin", {1});
    decoder.graph.inputs.push_back(weight("always", always));
    decoder.add_integers("end", {0});
    decoder.add_integers("axis_0", {0});
    decoder.add_integers("axes_0_1", {0, 1});
    decoder.graph.nodes = {
        {"Loop", {"max_length", "always", "begin", "h0", "c0"},
            {"last", "h_end", "c_end", "symbols", "scores"}, {subgraph("body", decoder_step())}},
    };
    decoder.graph.outputs = {integers("symbols", {-1, 1}), floats("scores", {-1, 1, 48})};
    return serialized(decoder.graph);
}

} // namespace bench
