// infer_gru: the official ONNX tests of GRU's inference, and its first version. What it shares with RNN and
// LSTM is in recurrent_outputs.test.cpp.

#include <doctest/doctest.h>

#include <cstdint>

#include <xloom/infer/recurrent.hpp>

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

constexpr direction bidirectional = direction::bidirectional;

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

TEST_CASE("infer_gru: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(is_same(infer_gru(c.inputs, c.declared, c.attributes), c.expected));
    }
}

TEST_CASE("infer_gru: the first version")
{
    static_assert(the_first_version_knows_what_is_declared());
    CHECK(the_first_version_knows_what_is_declared());
}

} // namespace

} // namespace infer_gru_test
