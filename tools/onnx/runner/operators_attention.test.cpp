// LinearAttention and CausalConvWithState as models: the textbook's numbers, each type, the refusals.

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/textbook_causal_conv.hpp"
#include "support/textbook_linear_attention.hpp"
#include "text_model.hpp"

namespace {

using namespace runner;

textbook::array<double> numbers(unsigned seed, textbook::dims const& shape, double lowest, double highest)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> draw(static_cast<float>(lowest), static_cast<float>(highest));
    textbook::array<double> array{shape, {}};
    for (std::size_t i = 0; i < textbook::size_of(shape); ++i)
        array.items.push_back(static_cast<double>(xloom::float16(draw(random))));
    return array;
}

/// A tensor of the type T, without the axis of heads.
template <class T>
tensor packed(textbook::array<double> const& array)
{
    std::vector<T> items;
    for (double const item : array.items)
        items.push_back(static_cast<T>(static_cast<float>(item)));
    textbook::dims dims = array.shape;
    return tensor::of<T>({dims.begin(), dims.end()}, items);
}
template <class T>
tensor without_heads(textbook::array<double> array)
{
    array.shape = {array.shape[0], array.shape[1], array.shape[2] * array.shape[3]};
    return packed<T>(array);
}

template <class T>
void check_close(value const& found, std::vector<double> const& expected, double tolerance)
{
    auto const items = found.as_tensor().items<T>();
    REQUIRE(items.size() == expected.size());
    bool are_close = true;
    for (std::size_t i = 0; i < items.size(); ++i)
        are_close = are_close && std::abs(static_cast<double>(items[i]) - expected[i]) <= tolerance;
    CHECK(are_close);
}

template <class T, class State>
void compare(
    std::string const& domain, std::string const& type, std::string const& state_type, double tolerance)
{
    textbook::attention_operands<double> const of{numbers(1, {2, 5, 4, 3}, -1, 1),
        numbers(2, {2, 5, 2, 3}, -1, 1), numbers(3, {2, 5, 2, 4}, -1, 1), numbers(4, {2, 2, 3, 4}, -1, 1),
        numbers(5, {2, 5, 2}, -1, 0), numbers(6, {2, 5, 2}, 0, 1), {}};
    auto const expected = textbook::linear_attention(of, 0.5);
    std::string const text = "g (" + type + "[2, 5, 12] q, " + type + "[2, 5, 6] k, " + type +
                             "[2, 5, 8] v, " + state_type + "[2, 2, 3, 4] s, " + type + "[2, 5, 2] a, " +
                             type + "[2, 5, 2] b) => (y, t) { y, t = " + domain +
                             "LinearAttention<q_num_heads = 4, kv_num_heads = 2, scale = 0.5, chunk_size = "
                             "2>(q, k, v, s, a, b) }";
    auto proto = model_of(graph_of(text), 27);
    if (!domain.empty()) {
        auto& import = *proto.add_opset_import();
        import.set_domain("com.microsoft");
        import.set_version(1);
    }
    auto const found = model(proto).run({without_heads<T>(of.query), without_heads<T>(of.key),
        without_heads<T>(of.value), packed<State>(of.past_state), packed<T>(of.decay), packed<T>(of.beta)});
    check_close<T>(found[0], expected.output.items, tolerance);
    check_close<State>(found[1], expected.present_state.items, tolerance);
}

} // namespace

TEST_CASE("LinearAttention: the definition, in each type, with states of their own")
{
    compare<float, float>("", "float", "float", 1e-5);
    compare<float, float>("com.microsoft.", "float", "float", 1e-5);
    compare<xloom::float16, xloom::float16>("", "float16", "float16", 5e-3);
    compare<xloom::bfloat16, float>("", "bfloat16", "float", 5e-2);
}

TEST_CASE("CausalConvWithState: the definition")
{
    auto const input = numbers(1, {2, 3, 6}, -1, 1), weight = numbers(2, {3, 1, 4}, -1, 1),
               bias = numbers(3, {3}, -1, 1), past = numbers(4, {2, 3, 3}, -1, 1);
    auto const found =
        model(model_of(graph_of("g (float[2, 3, 6] x, float[3, 1, 4] w, float[3] b, float[2, 3, 3] s)"
                                " => (y, t) { y, t = CausalConvWithState<activation = "
                                "\"swish\">(x, w, b, s) }"),
                  27))
            .run({packed<float>(input), packed<float>(weight), packed<float>(bias), packed<float>(past)});
    auto const expected =
        textbook::causal_conv(textbook::conv_operands<double>{input, weight, bias, past}, true);
    check_close<float>(found[0], expected.output.items, 1e-5);
    check_close<float>(found[1], expected.present_state.items, 0);
}

TEST_CASE("LinearAttention and CausalConvWithState: what they refuse")
{
    auto const attention = [](std::string const& attributes) {
        return error_of(
            "g (float[1, 2, 4] x) => (y) { y = LinearAttention<" + attributes + ">(x, x, x) }", {}, 27);
    };
    CHECK(attention("q_num_heads = 2") == "LinearAttention: its attribute 'kv_num_heads' is missing");
    CHECK(attention("q_num_heads = 2, kv_num_heads = 2, update_rule = \"other\"") ==
          "LinearAttention: its update_rule is 'other'");
    CHECK(attention("q_num_heads = 3, kv_num_heads = 3, update_rule = \"linear\"") ==
          "LinearAttention: xloom::infer_linear_attention: the last dimension of query must be a multiple of "
          "q_num_heads = 3, but query is float[1, 2, 4]. Correct one of them.");
    CHECK(error_of("g (float[1, 2, 4] x, float[2, 1, 2] w) => (y) { y = CausalConvWithState<activation = "
                   "\"relu\">(x, w) }",
              {}, 27) == "CausalConvWithState: its activation is 'relu'");
}
