// infer_rnn: the official ONNX tests of RNN's inference. What it shares with GRU and LSTM is in
// recurrent_outputs.test.cpp.

#include <doctest/doctest.h>

#include <xloom/infer/recurrent.hpp>

namespace infer_rnn_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr bool is_same(rnn_types const& a, rnn_types const& b) { return a.Y == b.Y && a.Y_h == b.Y_h; }

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

struct official_case {
    recurrent_attributes attributes;
    rnn_input_types inputs;
    rnn_types declared, expected;
};

constexpr direction bidirectional = direction::bidirectional;

// The version conversions test_RNN_1, _2 and _3, from 7 to the newest. In the third, sequence_lens and
// initial_h are of 5 sequences.
constexpr rnn_input_types conversion_1{floats({5, 3, 4}), floats({1, 6, 4}), floats({1, 6, 4})};
constexpr rnn_input_types conversion_2{floats({5, 3, 4}), floats({2, 6, 4}), floats({2, 6, 4})};
constexpr rnn_input_types conversion_3{floats({5, 3, 4}), floats({1, 6, 4}), floats({1, 6, 4}),
    floats({1, 12}), tensor_type(int64, {5}), floats({1, 5, 6})};
constexpr rnn_types converted{floats({5, 1, 3, 6}), floats({1, 3, 6})},
    converted_both{floats({5, 2, 3, 6}), floats({2, 3, 6})};

// test_rnn_13_14, test_rnn_14_13: only Y_h is declared.
constexpr rnn_input_types adapted{floats({1, 2, 3}), floats({1, 5, 3}), floats({1, 5, 5})};
constexpr rnn_types only_h{untyped, floats({1, 2, 5})},
    adapted_outputs{floats({1, 1, 2, 5}), floats({1, 2, 5})};

// test_rnn_forward, test_rnn_bidirectional, test_rnn_layout
constexpr rnn_input_types forward_inputs{floats({64, 32, 10}), floats({1, 4, 10}), floats({1, 4, 4})};
constexpr rnn_input_types bidirectional_inputs{floats({64, 32, 10}), floats({2, 4, 10}), floats({2, 4, 4})};
constexpr rnn_input_types batch_first{floats({32, 64, 10}), floats({1, 4, 10}), floats({1, 4, 4})};

constexpr official_case official_cases[] = {
    {{.hidden_size = 4}, forward_inputs, {}, {floats({64, 1, 32, 4}), floats({1, 32, 4})}},
    {{.direction = bidirectional, .hidden_size = 4}, bidirectional_inputs, {},
        {floats({64, 2, 32, 4}), floats({2, 32, 4})}},
    {{.hidden_size = 4, .layout = 1}, batch_first, {}, {floats({32, 64, 1, 4}), floats({32, 1, 4})}},
    {{.direction = bidirectional, .hidden_size = 4, .layout = 1}, batch_first, {},
        {floats({32, 64, 2, 4}), floats({32, 2, 4})}},
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
        if (!is_same(infer_rnn(c.inputs, c.declared, c.attributes), c.expected))
            return false;
    return true;
}

TEST_CASE("infer_rnn: the official ONNX tests")
{
    static_assert(official_cases_hold());
    for (official_case const& c : official_cases) {
        CAPTURE(c.attributes.opset);
        CHECK(is_same(infer_rnn(c.inputs, c.declared, c.attributes), c.expected));
    }
}

} // namespace

} // namespace infer_rnn_test
