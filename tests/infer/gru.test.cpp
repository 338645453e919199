// infer_gru: the official ONNX tests of GRU's inference, the rules they leave out, and every refusal.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <xloom/infer/gru.hpp>

#include "is_constant.hpp"

namespace infer_gru_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr bool is_same(gru_types const& a, gru_types const& b) { return a.Y == b.Y && a.Y_h == b.Y_h; }

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

struct official_case {
    recurrent_attributes attributes;
    gru_input_types inputs;
    gru_types declared, expected;
};

constexpr direction reverse = direction::reverse, bidirectional = direction::bidirectional;

// The version conversions test_GRU_1, _2 and _3, from 7 to the newest. In the third, sequence_lens and
// initial_h are of 5 sequences.
constexpr gru_input_types conversion_1{floats({5, 3, 4}), floats({1, 18, 4}), floats({1, 18, 4})};
constexpr gru_input_types conversion_2{floats({5, 3, 4}), floats({2, 18, 4}), floats({2, 18, 4})};
constexpr gru_input_types conversion_3{floats({5, 3, 4}), floats({1, 18, 4}), floats({1, 18, 4}),
    floats({1, 24}), tensor_type(int64, {5}), floats({1, 5, 6})};
constexpr gru_types converted{floats({5, 1, 3, 6}), floats({1, 3, 6})},
    converted_both{floats({5, 2, 3, 6}), floats({2, 3, 6})};

// test_gru_13_14, test_gru_14_13: only Y_h is declared.
constexpr gru_input_types adapted{floats({1, 2, 3}), floats({1, 15, 3}), floats({1, 15, 5})};
constexpr gru_types only_h{untyped, floats({1, 2, 5})},
    adapted_outputs{floats({1, 1, 2, 5}), floats({1, 2, 5})};

constexpr official_case official_cases[] = {
    {{.opset = 7, .hidden_size = 6}, conversion_1, converted, converted},
    {{.opset = 14, .hidden_size = 6}, conversion_1, converted, converted},
    {{.hidden_size = 6}, conversion_1, converted, converted},
    {{.opset = 7, .direction = bidirectional, .hidden_size = 6}, conversion_2, converted_both,
        converted_both},
    {{.opset = 14, .direction = bidirectional, .hidden_size = 6}, conversion_2, converted_both,
        converted_both},
    {{.direction = bidirectional, .hidden_size = 6}, conversion_2, converted_both, converted_both},
    {{.opset = 7, .hidden_size = 6}, conversion_3, converted, converted},
    {{.opset = 14, .hidden_size = 6}, conversion_3, converted, converted},
    {{.hidden_size = 6}, conversion_3, converted, converted},
    {{.opset = 13, .hidden_size = 5}, adapted, only_h, adapted_outputs},
    {{.opset = 14, .hidden_size = 5}, adapted, only_h, adapted_outputs},
};

constexpr bool official_cases_hold()
{
    for (official_case const& c : official_cases)
        if (!is_same(infer_gru(c.inputs, c.declared, c.attributes), c.expected))
            return false;
    return true;
}

// --- what they leave out ---

// Every opset from 3 on, for shapes T, N and I.
constexpr bool every_version_has_the_shapes()
{
    gru_input_types const inputs{.X = floats({"T", "N", "I"})};
    for (std::int64_t opset = 3; opset <= 30; ++opset) {
        recurrent_attributes const attributes{
            .opset = opset, .direction = bidirectional, .hidden_size = 7, .output_sequence = opset < 7};
        if (!is_same(infer_gru(inputs, {}, attributes), {floats({"T", 2, "N", 7}), floats({2, "N", 7})}))
            return false;
    }
    return true;
}

constexpr bool directions_tell_their_number()
{
    gru_input_types const inputs{.X = floats({6, 3, 2})};
    gru_types const one{floats({6, 1, 3, 4}), floats({1, 3, 4})},
        two{floats({6, 2, 3, 4}), floats({2, 3, 4})};
    return is_same(infer_gru(inputs, {}, {.hidden_size = 4}), one) &&
           is_same(infer_gru(inputs, {}, {.direction = reverse, .hidden_size = 4}), one) &&
           is_same(infer_gru(inputs, {}, {.direction = bidirectional, .hidden_size = 4}), two) &&
           is_same(infer_gru(inputs, {}, {.direction = std::nullopt, .hidden_size = 4}),
               {floats({6, unknown, 3, 4}), floats({unknown, 3, 4})});
}

constexpr bool the_batch_may_come_first()
{
    gru_input_types const inputs{.X = floats({"N", 6, 2})};
    for (std::int64_t const opset : {14, 21, 22, 28})
        if (!is_same(infer_gru(inputs, {},
                         {.opset = opset, .direction = bidirectional, .hidden_size = 4, .layout = 1}),
                {floats({"N", 6, 2, 4}), floats({"N", 2, 4})}))
            return false;
    return is_same(infer_gru({.X = floats(unknown_rank)}, {}, {.hidden_size = 4, .layout = 1}),
        {floats({unknown, unknown, 1, 4}), floats({unknown, 1, 4})});
}

// R and initial_h would tell H, N and D.
constexpr bool what_is_unknown_stays_unknown()
{
    gru_input_types const inputs{.X = floats(unknown_rank),
        .R = floats({1, 12, 4}),
        .sequence_lens = tensor_type(int32, {3}),
        .initial_h = floats({1, 3, 4})};
    gru_types const nothing{floats({unknown, 1, unknown, unknown}), floats({1, unknown, unknown})};
    return is_same(infer_gru(inputs), nothing) &&
           is_same(infer_gru(inputs, {}, {.hidden_size = std::nullopt}), nothing) &&
           is_same(infer_gru(inputs, {}, {.hidden_size = 0}), nothing) &&
           is_same(infer_gru(inputs, {}, {.hidden_size = -4}), nothing) &&
           is_same(infer_gru({.X = floats({"T", unknown, 2})}),
               {floats({"T", 1, unknown, unknown}), floats({1, unknown, unknown})}) &&
           is_same(infer_gru({.X = floats({0, 0, 0})}, {}, {.hidden_size = 1}),
               {floats({0, 1, 0, 1}), floats({1, 0, 1})});
}

constexpr bool only_X_counts()
{
    gru_input_types const wrong{floats({6, 3, 2}), untyped, tensor_type(string, {1}), sequence_of(untyped),
        floats({7}), tensor_type(undefined)};
    return is_same(infer_gru(wrong, {}, {.hidden_size = 4}), {floats({6, 1, 3, 4}), floats({1, 3, 4})});
}

constexpr bool the_element_type_is_that_of_X()
{
    for (element_type const element : {float16, float_, double_, bfloat16, int32})
        if (!is_same(infer_gru({.X = tensor_type(element, {6, 3, 2}), .W = floats({1, 12, 2})}, {},
                         {.hidden_size = 4}),
                {tensor_type(element, {6, 1, 3, 4}), tensor_type(element, {1, 3, 4})}))
            return false;
    return true;
}

// Versions 3 to 6: which outputs there are is open, unless output_sequence is true.
constexpr bool without_output_sequence_there_are_no_shapes()
{
    gru_input_types const inputs{.X = floats({6, 3, 2})};
    gru_types const declared{untyped, floats({1, "N", 4})};
    for (std::int64_t opset = 3; opset <= 6; ++opset)
        if (!is_same(infer_gru(inputs, {}, {.opset = opset, .hidden_size = 4}),
                {floats(unknown_rank), floats(unknown_rank)}) ||
            !is_same(infer_gru(inputs, declared, {.opset = opset, .hidden_size = 4}),
                {floats(unknown_rank), declared.Y_h}))
            return false;
    return true;
}

// Version 1 has no inference: not even X is looked at.
constexpr bool the_first_version_knows_what_is_declared()
{
    gru_types const declared{untyped, floats({1, "N", 4})};
    for (std::int64_t const opset : {1, 2})
        for (partial_type const& X : {floats({6, 3, 2}), floats({6, 3}), untyped})
            for (bool const output_sequence : {false, true}) {
                recurrent_attributes const attributes{
                    .opset = opset, .hidden_size = 4, .output_sequence = output_sequence};
                if (!is_same(infer_gru({.X = X}, {}, attributes), {}) ||
                    !is_same(infer_gru({.X = X}, declared, attributes), declared))
                    return false;
            }
    return true;
}

constexpr bool declared_outputs_add_what_they_know()
{
    return is_same(infer_gru({.X = floats({6, "N", 2})},
                       {tensor_type(undefined, {"A", unknown, 3, 4}), floats({1, "B", unknown})}),
        {floats({6, 1, 3, 4}), floats({1, "B", unknown})});
}

// --- refusals ---

constexpr gru_types infer_X(partial_type const& X) { return infer_gru({.X = X}); }

constexpr gru_types infer_attributes(recurrent_attributes const& attributes)
{
    return infer_gru({.X = floats({6, 3, 2})}, {}, attributes);
}

constexpr gru_types infer_declared(gru_types const& declared)
{
    return infer_gru({.X = floats({6, 3, 2})}, declared, {.hidden_size = 4});
}

TEST_CASE("infer_gru: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(is_same(infer_gru(c.inputs, c.declared, c.attributes), c.expected));
    }
}

TEST_CASE("infer_gru: rules beyond the official tests")
{
    static_assert(every_version_has_the_shapes());
    CHECK(every_version_has_the_shapes());
    static_assert(directions_tell_their_number());
    CHECK(directions_tell_their_number());
    static_assert(the_batch_may_come_first());
    CHECK(the_batch_may_come_first());
    static_assert(what_is_unknown_stays_unknown());
    CHECK(what_is_unknown_stays_unknown());
    static_assert(only_X_counts());
    CHECK(only_X_counts());
    static_assert(the_element_type_is_that_of_X());
    CHECK(the_element_type_is_that_of_X());
    static_assert(without_output_sequence_there_are_no_shapes());
    CHECK(without_output_sequence_there_are_no_shapes());
    static_assert(the_first_version_knows_what_is_declared());
    CHECK(the_first_version_knows_what_is_declared());
    static_assert(declared_outputs_add_what_they_know());
    CHECK(declared_outputs_add_what_they_know());
}

TEST_CASE("infer_gru: attributes")
{
    constexpr auto layout_2 = [] { return infer_attributes({.layout = 2}); };
    constexpr auto layout_at_13 = [] { return infer_attributes({.opset = 13, .layout = 1}); };
    constexpr auto layout_at_14 = [] { return infer_attributes({.opset = 14, .layout = 1}); };
    constexpr auto sequence_at_6 = [] { return infer_attributes({.opset = 6, .output_sequence = true}); };
    constexpr auto sequence_at_7 = [] { return infer_attributes({.opset = 7, .output_sequence = true}); };
    constexpr auto too_old = [] { return infer_attributes({.opset = 0}); };
    static_assert(is_constant<layout_at_14> && is_constant<sequence_at_6>);
    static_assert(!is_constant<layout_2> && !is_constant<layout_at_13> && !is_constant<sequence_at_7> &&
                  !is_constant<too_old>);
    CHECK_THROWS_WITH_AS(layout_2(),
        "xloom::infer_gru: layout must be 0 or 1, but layout is 2. Use 0 for [T, N, I] or 1 for [N, T, I].",
        option_error);
    CHECK_THROWS_WITH_AS(layout_at_13(),
        "xloom::infer_gru: before opset 14 there is only layout 0, but opset is 13 and layout is 1. Use a "
        "newer opset.",
        option_error);
    CHECK_THROWS_WITH_AS(sequence_at_7(),
        "xloom::infer_gru: from opset 7 on there is no output_sequence, but opset is 7 and output_sequence "
        "is true. Omit it.",
        option_error);
    CHECK_THROWS_WITH_AS(too_old(),
        "xloom::operator_version: GRU begins with opset 1, but opset is 0. Give a newer opset.",
        option_error);
}

TEST_CASE("infer_gru: X")
{
    constexpr auto no_type = [] { return infer_X(untyped); };
    constexpr auto optional = [] { return infer_X(optional_of(floats({6, 3, 2}))); };
    constexpr auto no_element = [] { return infer_X(tensor_type(undefined, {6, 3, 2})); };
    constexpr auto matrix = [] { return infer_X(floats({6, "N"})); };
    constexpr auto four = [] { return infer_gru({.X = floats({6, 3, 2, 1})}, {}, {.layout = 1}); };
    // test_rnn_opset1_to_6_invalid_input_rank
    constexpr auto official = [] {
        return infer_gru({.X = floats({4, 5})}, {}, {.opset = 6, .hidden_size = 4});
    };
    static_assert(!is_constant<no_type> && !is_constant<optional> && !is_constant<no_element>);
    static_assert(!is_constant<matrix> && !is_constant<four> && !is_constant<official>);
    CHECK_THROWS_WITH_AS(no_type(),
        "xloom::infer_gru: X must be a tensor of a known element type, but X is untyped. Give a tensor's "
        "type.",
        type_error);
    CHECK_THROWS_WITH_AS(optional(),
        "xloom::infer_gru: X must be a tensor of a known element type, but X is optional(float[6, 3, 2]). "
        "Give a tensor's type.",
        type_error);
    CHECK_THROWS_WITH_AS(no_element(),
        "xloom::infer_gru: X must be a tensor of a known element type, but X is undefined[6, 3, 2]. Give a "
        "tensor's type.",
        type_error);
    CHECK_THROWS_WITH_AS(matrix(),
        "xloom::infer_gru: X must have rank 3, but X is float[6, N]. Lay it out as [T, N, I].", shape_error);
    CHECK_THROWS_WITH_AS(four(),
        "xloom::infer_gru: X must have rank 3, but X is float[6, 3, 2, 1]. Lay it out as [N, T, I].",
        shape_error);
    CHECK_THROWS_WITH_AS(official(),
        "xloom::infer_gru: X must have rank 3, but X is float[4, 5]. Lay it out as [T, N, I].", shape_error);
}

TEST_CASE("infer_gru: declared outputs")
{
    constexpr auto kind = [] { return infer_declared({.Y = sequence_of(untyped)}); };
    constexpr auto element = [] { return infer_declared({.Y_h = tensor_type(double_)}); };
    constexpr auto rank = [] { return infer_declared({.Y_h = floats({3, 4})}); };
    constexpr auto dimension = [] { return infer_declared({.Y = floats({"T", 2, "N", "H"})}); };
    static_assert(
        !is_constant<kind> && !is_constant<element> && !is_constant<rank> && !is_constant<dimension>);
    CHECK_THROWS_WITH_AS(kind(),
        "xloom::infer_gru: an inferred type must be of the declared kind, but Y is inferred as float[6, 1, "
        "3, 4] and declared as "
        "seq(untyped). Declare what is inferred, or nothing.",
        type_error);
    CHECK_THROWS_WITH_AS(element(),
        "xloom::infer_gru: an inferred type must have the declared element type, but Y_h is inferred as "
        "float[1, 3, 4] and declared as "
        "double[...]. Declare what is inferred, or nothing.",
        type_error);
    CHECK_THROWS_WITH_AS(rank(),
        "xloom::infer_gru: an inferred shape must have the declared rank, but Y_h is inferred as float[1, 3, "
        "4] and declared as float[3, "
        "4]. Declare what is inferred, or no shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(dimension(),
        "xloom::infer_gru: an inferred dimension must equal the declared one, but Y is inferred as float[6, "
        "1, 3, 4] and declared as "
        "float[T, 2, N, H]. Declare what is inferred, or a symbol.",
        shape_error);
}

} // namespace

} // namespace infer_gru_test
