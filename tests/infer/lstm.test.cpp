// infer_lstm: the official ONNX tests of LSTM's inference, the rules they leave out, and every refusal.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <xloom/infer/lstm.hpp>

#include "is_constant.hpp"

namespace infer_lstm_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr bool is_same(lstm_types const& a, lstm_types const& b)
{
    return a.Y == b.Y && a.Y_h == b.Y_h && a.Y_c == b.Y_c;
}

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

constexpr lstm_types outputs(partial_shape const& Y, partial_shape const& state)
{
    return {floats(Y), floats(state), floats(state)};
}

struct official_case {
    recurrent_attributes attributes;
    lstm_input_types inputs;
    lstm_types declared, expected;
};

constexpr direction reverse = direction::reverse, bidirectional = direction::bidirectional;

// The version conversions test_LSTM_1, _2 and _3, from 7 to the newest. In the third, sequence_lens and the
// states are of 5 sequences.
constexpr lstm_input_types conversion_1{floats({5, 3, 4}), floats({1, 24, 4}), floats({1, 24, 4})};
constexpr lstm_input_types conversion_2{floats({5, 3, 4}), floats({2, 24, 4}), floats({2, 24, 4})};
constexpr lstm_input_types conversion_3{floats({5, 3, 4}), floats({1, 24, 4}), floats({1, 24, 4}),
    floats({1, 48}), tensor_type(int64, {5}), floats({1, 5, 6}), floats({1, 5, 6}), floats({1, 18})};
constexpr lstm_types converted = outputs({5, 1, 3, 6}, {1, 3, 6}),
                     converted_both = outputs({5, 2, 3, 6}, {2, 3, 6});

// test_lstm_13_14, test_lstm_14_13: only Y_h is declared.
constexpr lstm_input_types adapted{floats({1, 2, 3}), floats({1, 20, 3}), floats({1, 20, 5})};
constexpr lstm_types only_h{untyped, floats({1, 2, 5}), untyped};

constexpr official_case official_cases[] = {
    // test_lstm_forward
    {{.hidden_size = 4}, {floats({64, 32, 10}), floats({1, 16, 10}), floats({1, 16, 4})}, {},
        outputs({64, 1, 32, 4}, {1, 32, 4})},
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
    {{.opset = 13, .hidden_size = 5}, adapted, only_h, outputs({1, 1, 2, 5}, {1, 2, 5})},
    {{.opset = 14, .hidden_size = 5}, adapted, only_h, outputs({1, 1, 2, 5}, {1, 2, 5})},
};

constexpr bool official_cases_hold()
{
    for (official_case const& c : official_cases)
        if (!is_same(infer_lstm(c.inputs, c.declared, c.attributes), c.expected))
            return false;
    return true;
}

// --- what they leave out ---

// One opset below, at and above each version, for shapes T, N and I.
constexpr bool every_version_has_the_shapes()
{
    lstm_input_types const inputs{.X = floats({"T", "N", "I"})};
    for (std::int64_t opset = 1; opset <= 30; ++opset) {
        recurrent_attributes const attributes{
            .opset = opset, .direction = bidirectional, .hidden_size = 7, .output_sequence = opset < 7};
        if (!is_same(infer_lstm(inputs, {}, attributes), outputs({"T", 2, "N", 7}, {2, "N", 7})))
            return false;
    }
    return true;
}

constexpr bool directions_tell_their_number()
{
    lstm_input_types const inputs{.X = floats({6, 3, 2})};
    return is_same(infer_lstm(inputs, {}, {.hidden_size = 4}), outputs({6, 1, 3, 4}, {1, 3, 4})) &&
           is_same(infer_lstm(inputs, {}, {.direction = reverse, .hidden_size = 4}),
               outputs({6, 1, 3, 4}, {1, 3, 4})) &&
           is_same(infer_lstm(inputs, {}, {.direction = bidirectional, .hidden_size = 4}),
               outputs({6, 2, 3, 4}, {2, 3, 4})) &&
           is_same(infer_lstm(inputs, {}, {.direction = std::nullopt, .hidden_size = 4}),
               outputs({6, unknown, 3, 4}, {unknown, 3, 4}));
}

constexpr bool the_batch_may_come_first()
{
    lstm_input_types const inputs{.X = floats({"N", 6, 2})};
    for (std::int64_t const opset : {14, 21, 22, 28})
        if (!is_same(infer_lstm(inputs, {},
                         {.opset = opset, .direction = bidirectional, .hidden_size = 4, .layout = 1}),
                outputs({"N", 6, 2, 4}, {"N", 2, 4})))
            return false;
    return is_same(infer_lstm({.X = floats(unknown_rank)}, {}, {.hidden_size = 4, .layout = 1}),
        outputs({unknown, unknown, 1, 4}, {unknown, 1, 4}));
}

// R and the initial states would tell H, N and D.
constexpr bool what_is_unknown_stays_unknown()
{
    lstm_input_types const inputs{.X = floats(unknown_rank),
        .R = floats({1, 16, 4}),
        .sequence_lens = tensor_type(int32, {3}),
        .initial_h = floats({1, 3, 4}),
        .initial_c = floats({1, 3, 4})};
    lstm_types const nothing = outputs({unknown, 1, unknown, unknown}, {1, unknown, unknown});
    return is_same(infer_lstm(inputs), nothing) &&
           is_same(infer_lstm(inputs, {}, {.hidden_size = std::nullopt}), nothing) &&
           is_same(infer_lstm(inputs, {}, {.hidden_size = 0}), nothing) &&
           is_same(infer_lstm(inputs, {}, {.hidden_size = -4}), nothing) &&
           is_same(infer_lstm({.X = floats({"T", unknown, 2})}),
               outputs({"T", 1, unknown, unknown}, {1, unknown, unknown})) &&
           is_same(infer_lstm({.X = floats({0, 0, 0})}, {}, {.hidden_size = 1}),
               outputs({0, 1, 0, 1}, {1, 0, 1}));
}

constexpr bool only_X_counts()
{
    lstm_input_types const wrong{floats({6, 3, 2}), untyped, tensor_type(string, {1}), sequence_of(untyped),
        floats({7}), floats({9, 9}), tensor_type(undefined), tensor_type(int64, {})};
    return is_same(infer_lstm(wrong, {}, {.hidden_size = 4}), outputs({6, 1, 3, 4}, {1, 3, 4}));
}

constexpr bool the_element_type_is_that_of_X()
{
    for (element_type const element : {float16, float_, double_, bfloat16, int32}) {
        lstm_types const inferred = infer_lstm(
            {.X = tensor_type(element, {6, 3, 2}), .W = floats({1, 16, 2})}, {}, {.hidden_size = 4});
        if (inferred.Y != tensor_type(element, {6, 1, 3, 4}) ||
            inferred.Y_h != tensor_type(element, {1, 3, 4}) || inferred.Y_c != inferred.Y_h)
            return false;
    }
    return true;
}

// Versions 1 to 6: which outputs there are is open, unless output_sequence is true.
constexpr bool without_output_sequence_there_are_no_shapes()
{
    lstm_input_types const inputs{.X = floats({6, 3, 2})};
    lstm_types const declared{untyped, floats({1, "N", 4}), floats({3, 4})};
    for (std::int64_t opset = 1; opset <= 6; ++opset)
        if (!is_same(infer_lstm(inputs, {}, {.opset = opset, .hidden_size = 4}),
                outputs(unknown_rank, unknown_rank)) ||
            !is_same(infer_lstm(inputs, declared, {.opset = opset, .hidden_size = 4}),
                {floats(unknown_rank), declared.Y_h, declared.Y_c}))
            return false;
    return true;
}

constexpr bool declared_outputs_add_what_they_know()
{
    lstm_types const declared{
        tensor_type(undefined, {"A", unknown, 3, 4}), floats({1, "B", unknown}), tensor_type(float_)};
    return is_same(infer_lstm({.X = floats({6, "N", 2})}, declared),
        {floats({6, 1, 3, 4}), floats({1, "B", unknown}), floats({1, "N", unknown})});
}

// --- refusals ---

constexpr lstm_types infer_X(partial_type const& X) { return infer_lstm({.X = X}); }

constexpr lstm_types infer_layout(std::int64_t layout, std::int64_t opset)
{
    return infer_lstm({.X = floats({6, 3, 2})}, {}, {.opset = opset, .layout = layout});
}

constexpr lstm_types infer_sequence(std::int64_t opset)
{
    return infer_lstm({.X = floats({6, 3, 2})}, {}, {.opset = opset, .output_sequence = true});
}

constexpr lstm_types infer_declared(lstm_types const& declared)
{
    return infer_lstm({.X = floats({6, 3, 2})}, declared, {.hidden_size = 4});
}

TEST_CASE("infer_lstm: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(is_same(infer_lstm(c.inputs, c.declared, c.attributes), c.expected));
    }
}

TEST_CASE("infer_lstm: rules beyond the official tests")
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
    static_assert(declared_outputs_add_what_they_know());
    CHECK(declared_outputs_add_what_they_know());
}

TEST_CASE("infer_lstm: layout")
{
    constexpr auto two = [] { return infer_layout(2, latest_opset); };
    constexpr auto negative = [] { return infer_layout(-1, 7); };
    constexpr auto at_13 = [] { return infer_layout(1, 13); };
    constexpr auto at_14 = [] { return infer_layout(1, 14); };
    static_assert(is_constant<at_14>);
    static_assert(!is_constant<two> && !is_constant<negative> && !is_constant<at_13>);
    CHECK_THROWS_WITH_AS(two(),
        "xloom::infer_lstm: layout must be 0 or 1, but layout is 2. Use 0 for [T, N, I] or 1 for [N, T, I].",
        option_error);
    CHECK_THROWS_WITH_AS(negative(),
        "xloom::infer_lstm: layout must be 0 or 1, but layout is -1. Use 0 for [T, N, I] or 1 for [N, T, I].",
        option_error);
    CHECK_THROWS_WITH_AS(at_13(),
        "xloom::infer_lstm: before opset 14 there is only layout 0, but opset is 13 and layout is 1. Use a "
        "newer opset.",
        option_error);
}

TEST_CASE("infer_lstm: output_sequence and opset")
{
    constexpr auto at_6 = [] { return infer_sequence(6); };
    constexpr auto at_7 = [] { return infer_sequence(7); };
    constexpr auto newest = [] { return infer_sequence(latest_opset); };
    constexpr auto too_old = [] { return infer_sequence(0); };
    static_assert(is_constant<at_6>);
    static_assert(!is_constant<at_7> && !is_constant<newest> && !is_constant<too_old>);
    CHECK_THROWS_WITH_AS(at_7(),
        "xloom::infer_lstm: from opset 7 on there is no output_sequence, but opset is 7 and output_sequence "
        "is true. Omit it.",
        option_error);
    CHECK_THROWS_WITH_AS(newest(),
        "xloom::infer_lstm: from opset 7 on there is no output_sequence, but opset is 28 and output_sequence "
        "is true. Omit it.",
        option_error);
    CHECK_THROWS_WITH_AS(too_old(),
        "xloom::operator_version: LSTM begins with opset 1, but opset is 0. Give a newer opset.",
        option_error);
}

TEST_CASE("infer_lstm: X")
{
    constexpr auto no_type = [] { return infer_X(untyped); };
    constexpr auto sequence = [] { return infer_X(sequence_of(floats({6, 3, 2}))); };
    constexpr auto sparse = [] { return infer_X(sparse_tensor_type(float_, {6, 3, 2})); };
    constexpr auto no_element = [] { return infer_X(tensor_type(undefined, {6, 3, 2})); };
    static_assert(
        !is_constant<no_type> && !is_constant<sequence> && !is_constant<sparse> && !is_constant<no_element>);
    CHECK_THROWS_WITH_AS(no_type(),
        "xloom::infer_lstm: X must be a tensor of a known element type, but X is untyped. Give a tensor's "
        "type.",
        type_error);
    CHECK_THROWS_WITH_AS(sequence(),
        "xloom::infer_lstm: X must be a tensor of a known element type, but X is seq(float[6, 3, 2]). Give a "
        "tensor's type.",
        type_error);
    CHECK_THROWS_WITH_AS(sparse(),
        "xloom::infer_lstm: X must be a tensor of a known element type, but X is sparse float[6, 3, 2]. Give "
        "a tensor's type.",
        type_error);
    CHECK_THROWS_WITH_AS(no_element(),
        "xloom::infer_lstm: X must be a tensor of a known element type, but X is undefined[6, 3, 2]. Give a "
        "tensor's type.",
        type_error);

    constexpr auto scalar = [] { return infer_X(floats({})); };
    constexpr auto matrix = [] { return infer_X(floats({6, "N"})); };
    constexpr auto four = [] { return infer_lstm({.X = floats({6, 3, 2, unknown})}, {}, {.layout = 1}); };
    // test_rnn_opset1_to_6_invalid_input_rank
    constexpr auto official = [] {
        return infer_lstm({.X = floats({4, 5})}, {}, {.opset = 6, .hidden_size = 4});
    };
    static_assert(
        !is_constant<scalar> && !is_constant<matrix> && !is_constant<four> && !is_constant<official>);
    CHECK_THROWS_WITH_AS(scalar(),
        "xloom::infer_lstm: X must have rank 3, but X is float[]. Lay it out as [T, N, I].", shape_error);
    CHECK_THROWS_WITH_AS(matrix(),
        "xloom::infer_lstm: X must have rank 3, but X is float[6, N]. Lay it out as [T, N, I].", shape_error);
    CHECK_THROWS_WITH_AS(four(),
        "xloom::infer_lstm: X must have rank 3, but X is float[6, 3, 2, ?]. Lay it out as [N, T, I].",
        shape_error);
    CHECK_THROWS_WITH_AS(official(),
        "xloom::infer_lstm: X must have rank 3, but X is float[4, 5]. Lay it out as [T, N, I].", shape_error);
}

TEST_CASE("infer_lstm: declared outputs")
{
    constexpr auto kind = [] { return infer_declared({.Y = sequence_of(untyped)}); };
    constexpr auto element = [] { return infer_declared({.Y_h = tensor_type(double_)}); };
    constexpr auto rank = [] { return infer_declared({.Y_c = floats({3, 4})}); };
    constexpr auto dimension = [] { return infer_declared({.Y_c = floats({1, 3, 5})}); };
    constexpr auto direction_axis = [] { return infer_declared({.Y = floats({"T", 2, "N", "H"})}); };
    static_assert(!is_constant<kind> && !is_constant<element> && !is_constant<rank> &&
                  !is_constant<dimension> && !is_constant<direction_axis>);
    CHECK_THROWS_WITH_AS(kind(),
        "xloom::infer_lstm: an inferred type must be of the declared kind, but Y is inferred as float[6, 1, "
        "3, 4] and declared as "
        "seq(untyped). Declare what is inferred, or nothing.",
        type_error);
    CHECK_THROWS_WITH_AS(element(),
        "xloom::infer_lstm: an inferred type must have the declared element type, but Y_h is inferred as "
        "float[1, 3, 4] and declared as "
        "double[...]. Declare what is inferred, or nothing.",
        type_error);
    CHECK_THROWS_WITH_AS(rank(),
        "xloom::infer_lstm: an inferred shape must have the declared rank, but Y_c is inferred as float[1, "
        "3, 4] and declared as float[3, "
        "4]. Declare what is inferred, or no shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(dimension(),
        "xloom::infer_lstm: an inferred dimension must equal the declared one, but Y_c is inferred as "
        "float[1, 3, 4] and declared as "
        "float[1, 3, 5]. Declare what is inferred, or a symbol.",
        shape_error);
    CHECK_THROWS_WITH_AS(direction_axis(),
        "xloom::infer_lstm: an inferred dimension must equal the declared one, but Y is inferred as float[6, "
        "1, 3, 4] and declared as "
        "float[T, 2, N, H]. Declare what is inferred, or a symbol.",
        shape_error);
}

} // namespace

} // namespace infer_lstm_test
