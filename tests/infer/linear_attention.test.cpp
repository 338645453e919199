// Type and shape inference of LinearAttention and CausalConvWithState, at compile time.

#include <cstdint>

#include <doctest/doctest.h>

#include <xloom/infer/linear_attention.hpp>

#include "is_constant.hpp"

namespace infer_linear_attention_test {

using namespace xloom;

namespace {

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(element_type::float_, dims); }
constexpr partial_type halves(partial_shape const& dims) { return tensor_type(element_type::float16, dims); }

constexpr linear_attention_attributes heads{.q_num_heads = 4, .kv_num_heads = 2};

constexpr bool shapes_follow()
{
    auto const of = infer_linear_attention(
        {.query = halves({2, "T", 12}), .key = halves({2, "T", 6}), .value = halves({2, "T", 10})}, {},
        heads);
    return of.output == halves({2, "T", 20}) && of.present_state == halves({2, 2, 3, 5});
}

constexpr bool the_state_has_a_type_of_its_own()
{
    auto const of = infer_linear_attention({.query = halves({"B", 1, 12}),
                                               .key = halves(unknown_rank),
                                               .value = halves(unknown_rank),
                                               .past_state = floats({"B", 2, 3, unknown})},
        {}, heads);
    return of.output == halves({"B", 1, unknown}) && of.present_state == floats({"B", 2, 3, unknown});
}

constexpr bool keys_tell_what_queries_do_not()
{
    auto const of = infer_linear_attention(
        {.query = floats(unknown_rank), .key = floats({3, 7, 8}), .value = floats({unknown, unknown, 2})},
        {.present_state = floats({3, 2, 4, 1})}, heads);
    return of.output == floats({3, 7, 4}) && of.present_state == floats({3, 2, 4, 1});
}

constexpr bool what_is_no_tensor_tells_nothing()
{
    auto const query = floats({unknown, "T", unknown});
    auto const of = infer_linear_attention({.query = query,
                                               .key = sequence_of(floats({3, 7, 8})),
                                               .value = sequence_of(floats({3, 7, 2})),
                                               .past_state = sequence_of(halves({3, 2, 4, 1}))},
        {}, heads);
    return of.output == query && of.present_state == floats({unknown, 2, unknown, unknown});
}

constexpr bool a_state_without_an_element_type_has_that_of_query()
{
    auto const of = infer_linear_attention(
        {.query = halves({2, 1, 12}), .past_state = tensor_type(element_type::undefined)}, {}, heads);
    return of.present_state == halves({2, 2, 3, unknown});
}

constexpr bool convolutions_follow()
{
    auto const of = infer_causal_conv({.input = floats({"B", 8, "L"}), .weight = floats({8, 1, 4})});
    auto const unknown_taps = infer_causal_conv({.input = halves({1, unknown, 5}),
        .weight = halves({6, 1, unknown}),
        .past_state = halves({1, 6, 2})});
    auto const one_tap = infer_causal_conv({.input = floats({1, 2, 3}), .weight = floats({2, 1, 1})});
    return of.output == floats({"B", 8, "L"}) && of.present_state == floats({"B", 8, 3}) &&
           unknown_taps.output == halves({1, 6, 5}) && unknown_taps.present_state == halves({1, 6, 2}) &&
           one_tap.present_state == floats({1, 2, 0});
}

} // namespace

TEST_CASE("infer_linear_attention and infer_causal_conv: shapes and types")
{
    CHECK(always_holds<shapes_follow>());
    CHECK(always_holds<the_state_has_a_type_of_its_own>());
    CHECK(always_holds<keys_tell_what_queries_do_not>());
    CHECK(always_holds<what_is_no_tensor_tells_nothing>());
    CHECK(always_holds<a_state_without_an_element_type_has_that_of_query>());
    CHECK(always_holds<convolutions_follow>());
}

TEST_CASE("infer_linear_attention: errors")
{
    auto const infer = [](partial_type const& query, partial_type const& decay = {},
                           partial_type const& beta = {}, linear_attention_attributes const& of = heads) {
        infer_linear_attention({.query = query,
                                   .key = floats({1, 2, 6}),
                                   .value = floats({1, 2, 6}),
                                   .decay = decay,
                                   .beta = beta},
            {}, of);
    };
    CHECK_NOTHROW(infer(floats({1, 2, 12}), floats({1, 2, 6}), floats({1, 2, 1})));
    CHECK_NOTHROW(infer(floats({1, 2, 12}), floats({1, 2, 2}), floats({1, 2, 2})));
    CHECK_NOTHROW(infer_linear_attention(
        {.query = floats({1, 2, unknown}), .decay = floats({1, 2, 6})}, {}, heads)); // d_k may be 3
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 12}), {}, {}, {.q_num_heads = 3, .kv_num_heads = 2}),
        "xloom::infer_linear_attention: q_num_heads must be a positive multiple of kv_num_heads, but they "
        "are "
        "3 and 2. Correct them.",
        option_error);
    CHECK_NOTHROW(infer(floats({1, 2, 6}), {}, {}, {.q_num_heads = 1, .kv_num_heads = 1}));
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 12}), {}, {}, {.kv_num_heads = 1}),
        "xloom::infer_linear_attention: q_num_heads must be a positive multiple of kv_num_heads, but they "
        "are 0 and 1. Correct them.",
        option_error);
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 12}), {}, {}, {.q_num_heads = 4}),
        "xloom::infer_linear_attention: q_num_heads must be a positive multiple of kv_num_heads, but they "
        "are 4 and 0. Correct them.",
        option_error);
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 10})),
        "xloom::infer_linear_attention: the last dimension of query must be a multiple of q_num_heads = 4, "
        "but query is float[1, 2, 10]. Correct one of them.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 12}), floats({1, 2, 5})),
        "xloom::infer_linear_attention: the last dimension of decay must be 2 or 6, but decay is float[1, 2, "
        "5]. Correct it.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer(floats({1, 2, 12}), {}, floats({1, 2, 3})),
        "xloom::infer_linear_attention: the last dimension of beta must be 2 or 1, but beta is float[1, 2, "
        "3]. Correct it.",
        shape_error);
    CHECK_THROWS_WITH_AS(infer(floats({2, 12})),
        "xloom::infer_linear_attention: query must have rank 3, but query is float[2, 12]. Give it that "
        "rank.",
        shape_error);
    CHECK_THROWS_AS(infer(untyped), type_error);
    CHECK_THROWS_WITH_AS(infer_causal_conv({.input = floats({1, 2, 3}), .weight = floats({2, 1, 0})}),
        "xloom::infer_causal_conv: weight must have at least one tap, but weight is float[2, 1, 0]. Give it "
        "weights.",
        shape_error);
}

TEST_CASE("infer_linear_attention and infer_causal_conv: operands that contradict each other")
{
    check_refused<[] {
        return infer_linear_attention(
            {.query = floats({2, "T", 12}), .key = floats({3, "T", 6}), .value = floats({"B", "T", 10})}, {},
            heads);
    },
        shape_error>(
        "xloom::infer_linear_attention: the operands must agree on the batch size, but query is "
        "float[2, T, 12], key is float[3, T, 6] and value is float[B, T, 10]. Correct one of them.");
    check_refused<[] {
        return infer_linear_attention(
            {.query = floats({"B", unknown, 12}), .key = floats({"B", 7, 6}), .value = floats({"B", 8, 10})},
            {}, heads);
    },
        shape_error>("xloom::infer_linear_attention: the operands must agree on the sequence length, but "
                     "key is float[B, 7, 6] and value is float[B, 8, 10]. "
                     "Correct one of them.");
    check_refused<[] {
        return infer_linear_attention(
            {.query = floats({1, 2, 12}), .key = floats({1, 2, 8}), .value = floats({1, 2, 6})}, {}, heads);
    },
        shape_error>("xloom::infer_linear_attention: the operands must agree on the width of a key, the last "
                     "dimension divided by the number of heads, but query is float[1, 2, 12] and key is "
                     "float[1, 2, 8]. Correct "
                     "one of them.");
    check_refused<[] {
        return infer_causal_conv({.input = floats({1, 8, "L"}), .weight = floats({6, 1, 4})});
    },
        shape_error>("xloom::infer_causal_conv: the operands must agree on the number of channels, but input "
                     "is float[1, 8, L] and weight is float[6, 1, 4]. Correct one of them.");
}

constexpr bool the_state_and_other_inputs_tell_what_the_rest_does_not()
{
    auto const of = infer_linear_attention({.query = floats({unknown, unknown, unknown}),
                                               .past_state = floats({2, 2, 16, 32}),
                                               .decay = floats({unknown, 7, 2})},
        {}, heads);
    auto const conv = infer_causal_conv({.input = floats(unknown_rank),
        .weight = floats({unknown, 1, 4}),
        .bias = floats({8}),
        .past_state = floats({2, unknown, unknown})});
    return of.output == floats({2, 7, 128}) && of.present_state == floats({2, 2, 16, 32}) &&
           conv.output == floats({2, 8, unknown}) && conv.present_state == floats({2, 8, 3});
}

constexpr bool the_first_symbol_names_a_size()
{
    auto const of = infer_linear_attention(
        {.query = floats({"B", 3, 12}), .key = floats({"M", 3, 6}), .value = floats({"N", 3, 2})}, {}, heads);
    auto const conv = infer_causal_conv({.input = floats({2, "C", 5}), .weight = floats({"M", 1, 4})});
    return of.output == floats({"B", 3, 4}) && conv.output == floats({2, "C", 5});
}

TEST_CASE("infer_linear_attention and infer_causal_conv: every operand counts")
{
    CHECK(always_holds<the_state_and_other_inputs_tell_what_the_rest_does_not>());
    CHECK(always_holds<the_first_symbol_names_a_size>());
    auto const attention = [](partial_type const& past_state, partial_type const& decay = {},
                               partial_type const& beta = {}) {
        auto const query = floats({2, 3, 12});
        return infer_linear_attention(
            {.query = query, .past_state = past_state, .decay = decay, .beta = beta}, {}, heads);
    };
    CHECK_THROWS_WITH_AS(attention(floats({2, 2, 3})),
        "xloom::infer_linear_attention: past_state must have rank 4, but past_state is float[2, 2, 3]. Give "
        "it that rank.",
        shape_error);
    CHECK_THROWS_AS(attention(floats({5, 2, 3, 1})), shape_error);
    CHECK_THROWS_WITH_AS(attention(floats({2, 4, 3, 1})),
        "xloom::infer_linear_attention: axis 1 of past_state must be kv_num_heads = 2, but past_state is "
        "float[2, 4, 3, 1]. Correct one of them.",
        shape_error);
    CHECK_THROWS_AS(attention(floats({2, 2, 4, 1})), shape_error);
    CHECK_THROWS_AS(attention({}, floats({5, 3, 2})), shape_error);
    CHECK_THROWS_AS(attention({}, {}, floats({2, 6, 1})), shape_error);
    CHECK_THROWS_WITH_AS(
        infer_linear_attention({.query = floats(unknown_rank), .decay = floats({2, 3, 5})}, {}, heads),
        "xloom::infer_linear_attention: the last dimension of decay must be a multiple of kv_num_heads = 2, "
        "but "
        "decay is float[2, 3, 5]. Correct one of them.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        infer_linear_attention({.query = floats({"B", "T", "D"}), .value = floats({"B", "T", 8})}, {},
            {.q_num_heads = std::int64_t{1} << 62, .kv_num_heads = 1}),
        "xloom::infer_linear_attention: the width of all heads must be an int64, but it is "
        "4611686018427387904 times 8. Correct one of them.",
        shape_error);

    auto const conv = [](partial_type const& past_state, partial_type const& bias = {},
                          partial_type const& weight = floats({8, 1, 4})) {
        return infer_causal_conv(
            {.input = floats({2, 8, 5}), .weight = weight, .bias = bias, .past_state = past_state});
    };
    partial_shape shorter{2, 8, 99};
    shorter.erase(2);
    CHECK_THROWS_AS(conv(tensor_type(element_type::float_, shorter)), shape_error);
    CHECK_THROWS_WITH_AS(conv(floats({2, 8, 7})),
        "xloom::infer_causal_conv: the operands must agree on the length of past_state, k - 1, but weight "
        "is float[8, 1, 4] and past_state is float[2, 8, 7]. Correct one of them.",
        shape_error);
    CHECK_THROWS_AS(conv(floats({3, 8, 3})), shape_error);
    CHECK_THROWS_AS(conv(floats({2, 9, 3})), shape_error);
    CHECK_THROWS_AS(conv({}, floats({9})), shape_error);
    CHECK_THROWS_AS(conv({}, floats({8, 1})), shape_error);
    CHECK_THROWS_WITH_AS(conv({}, {}, floats({8, 2, 4})),
        "xloom::infer_causal_conv: weight must have the shape [C, 1, k], but it is float[8, 2, 4]. Correct "
        "it.",
        shape_error);
}

} // namespace infer_linear_attention_test
