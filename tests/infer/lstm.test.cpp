// infer_lstm: the official ONNX tests of LSTM's inference, and the operands that it alone has. What it
// shares with RNN and GRU is in recurrent_outputs.test.cpp.

#include <doctest/doctest.h>

#include <cstdint>

#include <xloom/infer/recurrent.hpp>

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

constexpr direction bidirectional = direction::bidirectional;

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

// initial_c and P would tell D, N and H.
constexpr bool initial_c_and_P_are_not_read()
{
    return is_same(
               infer_lstm({.X = floats(unknown_rank), .initial_c = floats({1, 3, 4}), .P = floats({1, 12})}),
               outputs({unknown, 1, unknown, unknown}, {1, unknown, unknown})) &&
           is_same(
               infer_lstm(
                   {.X = floats({6, 3, 2}), .initial_c = tensor_type(undefined), .P = tensor_type(int64, {})},
                   {}, {.hidden_size = 4}),
               outputs({6, 1, 3, 4}, {1, 3, 4}));
}

constexpr bool Y_h_and_Y_c_are_declared_one_by_one()
{
    lstm_types const element{untyped, floats({1, "B", unknown}), tensor_type(float_)};
    if (!is_same(infer_lstm({.X = floats({6, "N", 2})}, element),
            {floats({6, 1, "N", unknown}), floats({1, "B", unknown}), floats({1, "N", unknown})}))
        return false;
    lstm_types const ranks{untyped, floats({1, "N", 4}), floats({3, 4})};
    for (std::int64_t opset = 1; opset <= 6; ++opset)
        if (!is_same(infer_lstm({.X = floats({6, 3, 2})}, ranks, {.opset = opset, .hidden_size = 4}),
                {floats(unknown_rank), ranks.Y_h, ranks.Y_c}))
            return false;
    return true;
}

constexpr lstm_types infer_declared(partial_type const& Y_c)
{
    return infer_lstm({.X = floats({6, 3, 2})}, {.Y_c = Y_c}, {.hidden_size = 4});
}

TEST_CASE("infer_lstm: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(is_same(infer_lstm(c.inputs, c.declared, c.attributes), c.expected));
    }
}

TEST_CASE("infer_lstm: initial_c, P and Y_c")
{
    static_assert(initial_c_and_P_are_not_read());
    CHECK(initial_c_and_P_are_not_read());
    static_assert(Y_h_and_Y_c_are_declared_one_by_one());
    CHECK(Y_h_and_Y_c_are_declared_one_by_one());

    constexpr auto rank = [] { return infer_declared(floats({3, 4})); };
    constexpr auto dimension = [] { return infer_declared(floats({1, 3, 5})); };
    static_assert(!is_constant<rank> && !is_constant<dimension>);
    CHECK_THROWS_WITH_AS(rank(),
        "xloom::infer_lstm: an inferred shape must have the declared rank, but Y_c is inferred as float[1, "
        "3, 4] and declared as float[3, 4]. Declare what is inferred, or no shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(dimension(),
        "xloom::infer_lstm: an inferred dimension must equal the declared one, but Y_c is inferred as "
        "float[1, 3, 4] and declared as float[1, 3, 5]. Declare what is inferred, or a symbol.",
        shape_error);
}

} // namespace

} // namespace infer_lstm_test
