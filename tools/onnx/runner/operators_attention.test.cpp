// LinearAttention and CausalConvWithState: the textbooks' results in every type, and what is refused.

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

// First: ONNX's parser has a name that is a macro in a system header of the others.
#include "budget.hpp"
#include "text.hpp"
#include "text_model.hpp"

#include "support/causal_conv_calls.hpp"
#include "support/larger_error.hpp"
#include "support/linear_attention_calls.hpp"

namespace {

using namespace runner;

onnx::ModelProto model_in(std::string const& domain, std::string const& text)
{
    onnx::ModelProto proto = model_of(graph_of(text), domain.empty() ? 27 : 21);
    if (!domain.empty()) {
        auto& import = *proto.add_opset_import();
        import.set_domain(domain.substr(0, domain.size() - 1));
        import.set_version(1);
    }
    return proto;
}

/// Rounds the items to T and returns them as a tensor.
template <class T>
tensor rounded_to(textbook::array<double>& array)
{
    std::vector<T> items;
    for (double& item : array.items) {
        items.push_back(static_cast<T>(static_cast<float>(item)));
        item = static_cast<double>(static_cast<float>(items.back()));
    }
    return tensor::of<T>({array.shape.begin(), array.shape.end()}, items);
}

/// The largest difference of the items from the expected ones, which are below 16.
template <class T>
double largest_error(value const& found, textbook::array<double> const& expected)
{
    auto const items = found.as_tensor().items<T>();
    REQUIRE(items.size() == expected.items.size());
    double largest = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
        largest = larger_error(
            largest, std::fabs(static_cast<double>(static_cast<float>(items[i])) - expected.items[i]));
    return largest;
}

/// Four units in the last place of 1, and what rounding once or twice takes of numbers below 16.
template <class T>
constexpr double tolerance = std::is_same_v<T, float>            ? 1e-5
                             : std::is_same_v<T, xloom::float16> ? 8e-3
                                                                 : 7e-2;

template <class T>
std::string name_of_type()
{
    return std::string(name_of(xloom::element_type_of<T>));
}

/// Runs a model of one node, whose omitted inputs are empty, and checks both outputs.
template <class T, class State = T>
void check_attention(std::string const& domain, xloom::update_rule rule, unsigned given)
{
    attention_dims const of{.B = 2, .T = 3, .Hq = 4, .Hkv = 2, .K = 3, .V = 2};
    auto operands = random_attention(of, rule, given, 7);
    std::vector<value> inputs;
    std::string parameters, arguments;
    auto const add = [&]<class Item>(
                         std::type_identity<Item>, char const* name, textbook::array<double>& array) {
        arguments += arguments.empty() ? "" : ", ";
        if (array.items.empty())
            return;
        inputs.push_back(rounded_to<Item>(array));
        parameters += fmt::format("{}{}[] {}", parameters.empty() ? "" : ", ", name_of_type<Item>(), name);
        arguments += name;
    };
    auto const add_tokens = [&](char const* name, textbook::array<double>& array) {
        add(std::type_identity<T>(), name, array);
        auto const dims = packed(array).shape;
        if (!array.items.empty())
            inputs.back() = inputs.back().as_tensor().reshaped({dims.begin(), dims.end()});
    };
    add_tokens("q", operands.query);
    add_tokens("k", operands.key);
    add_tokens("v", operands.value);
    add(std::type_identity<State>(), "s", operands.past_state);
    add_tokens("g", operands.decay);
    add_tokens("b", operands.beta);
    auto const expected = textbook::linear_attention(operands, 0.5);
    auto const results =
        model(model_in(domain, fmt::format("g ({}) => ({}[] y, {}[] p) {{ y, p = {}LinearAttention<"
                                           "q_num_heads = 4, kv_num_heads = 2, scale = 0.5, chunk_size = "
                                           "2, update_rule = \"{}\">({}) }}",
                                   parameters, name_of_type<T>(), name_of_type<State>(), domain,
                                   name_of(rule), arguments)))
            .run(inputs);
    REQUIRE(results.size() == 2);
    CHECK(fmt::format("{}", results[0].as_tensor().shape()) == "[2, 3, 8]");
    CHECK(fmt::format("{}", results[1].as_tensor().shape()) == "[2, 2, 3, 2]");
    CHECK(largest_error<T>(results[0], expected.output) < tolerance<T>);
    CHECK(largest_error<State>(results[1], expected.present_state) < tolerance<State>);
}

constexpr xloom::update_rule rules[] = {xloom::update_rule::linear, xloom::update_rule::gated,
    xloom::update_rule::delta, xloom::update_rule::gated_delta};

template <class T>
void check_conv(std::string const& domain, unsigned given, std::string const& activation, std::size_t steps)
{
    conv_dims const of{.B = 2, .C = 3, .L = steps, .k = 4};
    auto operands = random_conv(of, given, 5);
    std::vector<value> inputs{rounded_to<T>(operands.input), rounded_to<T>(operands.weight)};
    std::string const type = name_of_type<T>();
    std::string parameters = fmt::format("{0}[] x, {0}[] w", type), arguments = "x, w, ";
    if (!operands.bias.items.empty()) {
        inputs.push_back(rounded_to<T>(operands.bias));
        parameters += fmt::format(", {}[] b", type);
        arguments += "b";
    }
    arguments += ", ";
    if (!operands.past_state.items.empty()) {
        inputs.push_back(rounded_to<T>(operands.past_state));
        parameters += fmt::format(", {}[] s", type);
        arguments += "s";
    }
    auto const expected = textbook::causal_conv(operands, activation != "none");
    auto const results =
        model(model_in(domain,
                  fmt::format("g ({}) => ({}[] y, {}[] p) {{ y, p = {}CausalConvWithState<activation = "
                              "\"{}\">({}) }}",
                      parameters, type, type, domain, activation, arguments)))
            .run(inputs);
    REQUIRE(results.size() == 2);
    CHECK(largest_error<T>(results[0], expected.output) < tolerance<T>);
    CHECK(largest_error<T>(results[1], expected.present_state) == 0);
}

/// What y = <node> is refused for, of x float[1, 2, 4], w float[2, 1, 3] and d double[1, 2, 4].
std::string error_of_node(std::string const& node, std::int64_t opset = 27)
{
    tensor x(element_type::float_, {1, 2, 4}), w(element_type::float_, {2, 1, 3}),
        d(element_type::double_, {1, 2, 4});
    std::ranges::fill(x.items<float>(), 1.0f);
    std::ranges::fill(w.items<float>(), 1.0f);
    std::ranges::fill(d.items<double>(), 1.0);
    return error_of("g (float[1, 2, 4] x, float[2, 1, 3] w, double[1, 2, 4] d) => (y) { y = " + node + " }",
        {x, w, d}, opset);
}

} // namespace

TEST_CASE("LinearAttention: the textbook's results for every rule, and states of their own type")
{
    for (std::string const domain : {"", "com.microsoft."})
        for (auto const rule : rules)
            for (unsigned const given : {0u, +with_past_state, with_past_state | with_decay_of_keys,
                     with_past_state | with_one_beta}) {
                CAPTURE(domain);
                CAPTURE(name_of(rule));
                CAPTURE(given);
                check_attention<float>(domain, rule, given);
                check_attention<xloom::float16>(domain, rule, given);
                check_attention<xloom::bfloat16>(domain, rule, given);
            }
    for (auto const rule : rules) {
        check_attention<xloom::bfloat16, float>("", rule, with_past_state);
        check_attention<xloom::float16, float>("", rule, with_past_state);
        check_attention<float, xloom::bfloat16>("", rule, with_past_state);
    }
}

TEST_CASE("CausalConvWithState: the textbook's results")
{
    for (std::string const domain : {"", "com.microsoft."})
        for (std::string const activation : {"none", "silu", "swish"})
            for (unsigned const given : {0u, +with_bias, +with_conv_state, with_bias | with_conv_state})
                for (std::size_t const steps : {0u, 1u, 5u}) {
                    CAPTURE(domain);
                    CAPTURE(activation);
                    CAPTURE(given);
                    CAPTURE(steps);
                    check_conv<float>(domain, given, activation, steps);
                    check_conv<xloom::float16>(domain, given, activation, steps);
                    check_conv<xloom::bfloat16>(domain, given, activation, steps);
                }
}

TEST_CASE("the working memory of CausalConvWithState counts")
{
    tensor x(element_type::float_, {1, 512, 1}), w(element_type::float_, {512, 1, 4});
    std::ranges::fill(x.items<float>(), 1.0f);
    std::ranges::fill(w.items<float>(), 1.0f);
    auto const error = [&](std::size_t bytes) {
        with_budget const limits({.bytes = bytes});
        return error_of("g (float[1, 512, 1] x, float[512, 1, 4] w) => (y) { y = CausalConvWithState(x, w) }",
            {x, w}, 27);
    };
    CHECK(error(70'000) == "CausalConvWithState: all tensors together would take more than 70000 bytes");
    CHECK(error(100'000) == "none");
}

TEST_CASE("LinearAttention and CausalConvWithState: what is wrong with a node")
{
    std::string const heads = "q_num_heads = 2, kv_num_heads = 2";
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", " + heads + ">(x, x, x)") == "none");
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", q_num_heads = 2>(x, x, x)") ==
          "LinearAttention: its attribute 'kv_num_heads' is missing");
    CHECK(error_of_node("LinearAttention<update_rule = \"none\", " + heads + ">(x, x, x)") ==
          "LinearAttention: its update_rule is 'none'");
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", chunk_size = 0, " + heads +
                        ">(x, x, x)") == "LinearAttention: its chunk_size is 0");
    CHECK(error_of_node("LinearAttention<update_rule = \"gated\", " + heads + ">(x, x, x)") ==
          "LinearAttention: the rule gated requires decay, but it is omitted");
    CHECK(error_of_node(
              "LinearAttention<update_rule = \"linear\", q_num_heads = 3, kv_num_heads = 2>(x, x, x)") ==
          "LinearAttention: xloom::infer_linear_attention: q_num_heads must be a positive multiple of "
          "kv_num_heads, but they are 3 and 2. Correct them.");
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", " + heads + ">(d, d, d)") ==
          "LinearAttention: the element type double is not possible here");
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", " + heads + ">(x, x, d)") ==
          "LinearAttention: its input 2 must be float, as its input 0, but it is double");
    CHECK(error_of_node("LinearAttention<update_rule = \"linear\", " + heads + ">(x, x, x)", 26) ==
          "LinearAttention: it begins with opset 27, but the model imports 26");
    CHECK(error_of_node("CausalConvWithState(x, w)") == "none");
    CHECK(error_of_node("CausalConvWithState<activation = \"relu\">(x, w)") ==
          "CausalConvWithState: its activation is 'relu'");
    CHECK(error_of_node("CausalConvWithState<ndim = 1>(x, w)") ==
          "CausalConvWithState: it has no attribute 'ndim' at opset 27, only activation");
    CHECK(error_of_node("CausalConvWithState(d, w)") ==
          "CausalConvWithState: the element type double is not possible here");
    CHECK(error_of_node("CausalConvWithState(x, x)") ==
          "CausalConvWithState: xloom::infer_causal_conv: weight must have the shape [C, 1, k], but it is "
          "float[1, 2, 4]. Correct it.");
}

TEST_CASE("what com.microsoft's nodes have and ONNX's have not is refused, its default accepted")
{
    auto const error = [](std::string const& node) {
        try {
            model(model_in("com.microsoft.",
                "g (float[1, 2, 4] x, float[2, 1, 3] w) => (y, p) { y, p = com.microsoft." + node + " }"));
        } catch (runner_error const& caught) {
            return std::string(caught.what());
        }
        return std::string("none");
    };
    std::string const attention = "LinearAttention<update_rule = \"linear\", kv_num_heads = 2, ";
    CHECK(error(attention + "q_num_heads = 2, state_window = 0>(x, x, x)") == "none");
    CHECK(error(attention + "q_num_heads = 2, state_window = 3>(x, x, x)") ==
          "LinearAttention with state_window = 3 is not implemented");
    CHECK(error(attention + "q_num_heads = 1>(x, x, x)") ==
          "LinearAttention: xloom::infer_linear_attention: q_num_heads must be a positive multiple of "
          "kv_num_heads, but they are 1 and 2. Correct them.");
    // What the rule has not is refused before a run, too.
    std::string const one_head = "q_num_heads = 1, kv_num_heads = 1>";
    for (auto const& [rule, inputs, why] :
        {std::tuple{"gated", "(x, x, x)", "requires decay, but it is omitted"},
            {"gated_delta", "(x, x, x, , , x)", "requires decay, but it is omitted"},
            {"delta", "(x, x, x)", "requires beta, but it is omitted"},
            {"gated_delta", "(x, x, x, , x)", "requires beta, but it is omitted"},
            {"linear", "(x, x, x, , x)", "has no decay, but it is given"},
            {"gated", "(x, x, x, , x, x)", "has no beta, but it is given"}})
        CHECK(error(fmt::format("LinearAttention<update_rule = \"{}\", {}{}", rule, one_head, inputs)) ==
              fmt::format("LinearAttention: the rule {} {}", rule, why));
    CHECK(error("LinearAttention<update_rule = \"odd\", " + one_head + "(x, x, x)") ==
          "LinearAttention: its update_rule is 'odd'");
    CHECK(error("CausalConvWithState<ndim = 1, state_window = 0, dilation = 1, channels_last = 0>(x, w)") ==
          "none");
    CHECK(error("CausalConvWithState<state_window = 2>(x, w)") ==
          "CausalConvWithState with state_window = 2 is not implemented");
    for (std::string const attribute : {"ndim = 2", "dilation = 2", "channels_last = 1"})
        CHECK(error("CausalConvWithState<" + attribute + ">(x, w)") ==
              "CausalConvWithState is implemented with ndim = 1, dilation = 1 and channels_last = 0 only");
}
