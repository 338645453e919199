// infer_lstm, infer_gru and infer_rnn: the official ONNX tests, GRU's first version, and the operands that
// LSTM alone has. What the three share is in recurrent_outputs.test.cpp.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include <xloom/infer/recurrent.hpp>

#include "is_constant.hpp"

namespace infer_recurrent_operators_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

constexpr direction bidirectional = direction::bidirectional;

struct lstm_case {
    using inputs = detail::lstm_input_types;
    using types = lstm_types;
    static constexpr std::int64_t gates = 4;
    static constexpr auto infer = [](auto const&... of) { return infer_lstm(of...); };
};
struct gru_case {
    using inputs = detail::rnn_input_types;
    using types = gru_types;
    static constexpr std::int64_t gates = 3;
    static constexpr auto infer = [](auto const&... of) { return infer_gru(of...); };
};
struct rnn_case {
    using inputs = detail::rnn_input_types;
    using types = rnn_types;
    static constexpr std::int64_t gates = 1;
    static constexpr auto infer = [](auto const&... of) { return infer_rnn(of...); };
};

template <class Case>
constexpr bool is_same(typename Case::types const& a, typename Case::types const& b)
{
    bool same = a.Y == b.Y && a.Y_h == b.Y_h;
    if constexpr (requires { a.Y_c; })
        same = same && a.Y_c == b.Y_c;
    return same;
}

template <class Case>
constexpr typename Case::types outputs(partial_shape const& Y, partial_shape const& state)
{
    typename Case::types types{floats(Y), floats(state)};
    if constexpr (requires { types.Y_c; })
        types.Y_c = floats(state);
    return types;
}

/// X, and W [D, gates H, I] and R [D, gates H, H].
template <class Case>
constexpr typename Case::inputs inputs(partial_shape const& X, std::int64_t D, std::int64_t I, std::int64_t H)
{
    return {floats(X), floats({D, Case::gates * H, I}), floats({D, Case::gates * H, H})};
}

template <class Case>
struct official_case {
    recurrent_attributes attributes;
    typename Case::inputs inputs;
    typename Case::types declared, expected;
};

/// The version conversions test_LSTM_1, _2 and _3, from 7 to the newest, and test_lstm_13_14 and _14_13;
/// those of GRU and RNN likewise.
template <class Case>
constexpr std::array<official_case<Case>, 11> version_conversions()
{
    auto const plain = inputs<Case>({5, 3, 4}, 1, 4, 6), both = inputs<Case>({5, 3, 4}, 2, 4, 6);
    auto other_batch = plain; // whose sequence_lens and states are of 5 sequences
    other_batch.B = floats({1, 2 * Case::gates * 6});
    other_batch.sequence_lens = tensor_type(int64, {5});
    other_batch.initial_h = floats({1, 5, 6});
    if constexpr (requires { other_batch.P; }) {
        other_batch.initial_c = floats({1, 5, 6});
        other_batch.P = floats({1, 18});
    }
    auto const converted = outputs<Case>({5, 1, 3, 6}, {1, 3, 6}),
               converted_both = outputs<Case>({5, 2, 3, 6}, {2, 3, 6}),
               adapted_outputs = outputs<Case>({1, 1, 2, 5}, {1, 2, 5});
    auto const adapted = inputs<Case>({1, 2, 3}, 1, 3, 5);
    typename Case::types const only_h{.Y_h = floats({1, 2, 5})};
    return {{
        {{.opset = 7, .hidden_size = 6}, plain, converted, converted},
        {{.opset = 14, .hidden_size = 6}, plain, converted, converted},
        {{.hidden_size = 6}, plain, converted, converted},
        {{.opset = 7, .direction = bidirectional, .hidden_size = 6}, both, converted_both, converted_both},
        {{.opset = 14, .direction = bidirectional, .hidden_size = 6}, both, converted_both, converted_both},
        {{.direction = bidirectional, .hidden_size = 6}, both, converted_both, converted_both},
        {{.opset = 7, .hidden_size = 6}, other_batch, converted, converted},
        {{.opset = 14, .hidden_size = 6}, other_batch, converted, converted},
        {{.hidden_size = 6}, other_batch, converted, converted},
        {{.opset = 13, .hidden_size = 5}, adapted, only_h, adapted_outputs},
        {{.opset = 14, .hidden_size = 5}, adapted, only_h, adapted_outputs},
    }};
}

/// test_rnn_forward, whose shapes test_lstm_forward has, too, test_rnn_bidirectional and test_rnn_layout.
template <class Case>
constexpr std::array<official_case<Case>, 4> node_tests()
{
    auto const batch_first = inputs<Case>({32, 64, 10}, 1, 10, 4);
    return {{
        {{.hidden_size = 4}, inputs<Case>({64, 32, 10}, 1, 10, 4), {},
            outputs<Case>({64, 1, 32, 4}, {1, 32, 4})},
        {{.direction = bidirectional, .hidden_size = 4}, inputs<Case>({64, 32, 10}, 2, 10, 4), {},
            outputs<Case>({64, 2, 32, 4}, {2, 32, 4})},
        {{.hidden_size = 4, .layout = 1}, batch_first, {}, outputs<Case>({32, 64, 1, 4}, {32, 1, 4})},
        {{.direction = bidirectional, .hidden_size = 4, .layout = 1}, batch_first, {},
            outputs<Case>({32, 64, 2, 4}, {32, 2, 4})},
    }};
}

template <class Case>
constexpr bool official_cases_hold()
{
    auto const holds = [](official_case<Case> const& c) {
        return is_same<Case>(Case::infer(c.inputs, c.declared, c.attributes), c.expected);
    };
    for (official_case<Case> const& c : version_conversions<Case>())
        if (!holds(c))
            return false;
    for (official_case<Case> const& c : node_tests<Case>())
        if (!holds(c))
            return false;
    return true;
}

TEST_CASE_TEMPLATE(
    "infer_lstm, infer_gru and infer_rnn: the official ONNX tests", Case, lstm_case, gru_case, rnn_case)
{
    static_assert(official_cases_hold<Case>());
    CHECK(official_cases_hold<Case>());
}

// Version 1 has no inference: not even X is read.
constexpr bool the_first_version_knows_what_is_declared()
{
    gru_types const declared{untyped, floats({1, "N", 4})};
    for (std::int64_t const opset : {1, 2})
        for (partial_type const& X : {floats({6, 3, 2}), floats({6, 3}), untyped})
            for (bool const output_sequence : {false, true}) {
                recurrent_attributes const attributes{
                    .opset = opset, .hidden_size = 4, .output_sequence = output_sequence};
                if (!is_same<gru_case>(infer_gru({.X = X}, {}, attributes), {}) ||
                    !is_same<gru_case>(infer_gru({.X = X}, declared, attributes), declared))
                    return false;
            }
    return true;
}

TEST_CASE("infer_gru: the first version") { CHECK(always_holds<the_first_version_knows_what_is_declared>()); }

// initial_c and P hold D, N and H, too.
constexpr bool initial_c_and_P_are_not_read()
{
    return is_same<lstm_case>(
               infer_lstm({.X = floats(unknown_rank), .initial_c = floats({1, 3, 4}), .P = floats({1, 12})}),
               outputs<lstm_case>({unknown, 1, unknown, unknown}, {1, unknown, unknown})) &&
           is_same<lstm_case>(
               infer_lstm(
                   {.X = floats({6, 3, 2}), .initial_c = tensor_type(undefined), .P = tensor_type(int64, {})},
                   {}, {.hidden_size = 4}),
               outputs<lstm_case>({6, 1, 3, 4}, {1, 3, 4}));
}

constexpr bool Y_h_and_Y_c_are_declared_one_by_one()
{
    lstm_types const element{untyped, floats({1, "B", unknown}), tensor_type(float_)};
    if (!is_same<lstm_case>(infer_lstm({.X = floats({6, "N", 2})}, element),
            {floats({6, 1, "N", unknown}), floats({1, "B", unknown}), floats({1, "N", unknown})}))
        return false;
    lstm_types const ranks{untyped, floats({1, "N", 4}), floats({3, 4})};
    for (std::int64_t opset = 1; opset <= 6; ++opset)
        if (!is_same<lstm_case>(
                infer_lstm({.X = floats({6, 3, 2})}, ranks, {.opset = opset, .hidden_size = 4}),
                {floats(unknown_rank), ranks.Y_h, ranks.Y_c}))
            return false;
    return true;
}

constexpr lstm_types infer_declared(partial_type const& Y_c)
{
    return infer_lstm({.X = floats({6, 3, 2})}, {.Y_c = Y_c}, {.hidden_size = 4});
}

TEST_CASE("infer_lstm: initial_c, P and Y_c")
{
    CHECK(always_holds<initial_c_and_P_are_not_read>());
    CHECK(always_holds<Y_h_and_Y_c_are_declared_one_by_one>());

    constexpr auto rank = [] { return infer_declared(floats({3, 4})); };
    constexpr auto dimension = [] { return infer_declared(floats({1, 3, 5})); };
    check_refused<rank, shape_error>(
        "xloom::infer_lstm: an inferred shape must have the declared rank, but Y_c is inferred as float[1, "
        "3, 4] and declared as float[3, 4]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_lstm: an inferred dimension must equal the declared one, but Y_c is inferred as "
        "float[1, 3, 4] and declared as float[1, 3, 5]. Declare what is inferred, or a symbol.");
}

} // namespace

} // namespace infer_recurrent_operators_test
