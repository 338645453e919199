// What attn_lstm and attn_lstm_cell refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <xloom/recurrent/attn_lstm_cell.hpp>

#include "support/refused_calls.hpp"

namespace errors_attn_lstm_test {

using namespace xloom;
using namespace refused_calls;

namespace {

/// A call that is right: T = 5, N = 2, D = 1, I = 3, H = 2, S = 4, E = 6, A = 7, C = L = 8. An operand
/// without axes is omitted.
struct attn_case {
    floats X = ones({5, 2, 3}), W = ones({1, 8, 11}), R = ones({1, 8, 2}), B{};
    lengths sequence_lens = {5, 5};
    floats initial_h{}, initial_c{}, P{}, QW = ones({1, 2, 7}), MW = ones({1, 6, 7}), V = ones({1, 7}),
                                          M = ones({2, 4, 6});
    lengths memory_seq_lens = {4, 4};
    floats AW = ones({1, 8, 8}), initial_attention{}, initial_alignment{};
    attn_lstm_options options{};
    bool has_memory_seq_lens = true;

    attn_lstm_constants<float> constants() const
    {
        return {ref_of(W), ref_of(R), ref_of(B), ref_of(P), ref_of(QW), ref_of(MW), ref_of(V), ref_of(AW)};
    }
    lengths_ref memory_lengths() const
    {
        return has_memory_seq_lens ? lengths_ref(memory_seq_lens) : lengths_ref();
    }
    attn_lstm_start<float> start() const
    {
        return {sequence_lens, ref_of(initial_h), ref_of(initial_c), ref_of(M), memory_lengths(),
            ref_of(initial_attention), ref_of(initial_alignment)};
    }
    auto call() const
    {
        return attn_lstm(X,
            {ref_of(W), ref_of(R), ref_of(B), sequence_lens, ref_of(initial_h), ref_of(initial_c), ref_of(P),
                ref_of(QW), ref_of(MW), ref_of(V), ref_of(M), memory_lengths(), ref_of(AW),
                ref_of(initial_attention), ref_of(initial_alignment)},
            options);
    }
};

/// The same without attention: W is [D, 4H, I].
attn_case plain_case()
{
    return {
        .W = ones({1, 8, 3}), .QW = {}, .MW = {}, .V = {}, .M = {}, .AW = {}, .has_memory_seq_lens = false};
}

/// Weights or options that are wrong: the call says so, and the packing.
template <class Error>
void refuse_weights(attn_case const& wrong, std::string const& text)
{
    refuse<Error>("xloom::attn_lstm: " + text, [&] { wrong.call(); });
    refuse<Error>("xloom::attn_lstm_weights: " + text,
        [&] { attn_lstm_weights<float>(wrong.constants(), wrong.options); });
}

/// Outputs of the call that is right.
struct output_case {
    floats Y = ones({5, 1, 2, 2}), Y_h = ones({1, 2, 2}), Y_c = ones({1, 2, 2}),
           alignments = ones({5, 1, 2, 4}), Y_attention = ones({1, 2, 8}), Y_alignment = ones({1, 2, 4});

    attn_lstm_outputs<float> refs() { return {Y, Y_h, Y_c, alignments, Y_attention, Y_alignment}; }
    bool is_untouched() const
    {
        output_case const fresh;
        return Y.memory == fresh.Y.memory && Y_h.memory == fresh.Y_h.memory &&
               Y_c.memory == fresh.Y_c.memory && alignments.memory == fresh.alignments.memory &&
               Y_attention.memory == fresh.Y_attention.memory &&
               Y_alignment.memory == fresh.Y_alignment.memory;
    }
};

/// Other operands that are wrong: the call says so with packed weights, and into outputs, which stay as they
/// are.
template <class Error>
void refuse_packed(attn_case const& wrong, std::string const& text)
{
    attn_lstm_weights<float> const weights(wrong.constants(), wrong.options);
    refuse<Error>("xloom::attn_lstm: " + text, [&] { attn_lstm(wrong.X, weights, wrong.start()); });
    output_case out;
    attention_workspace<float> workspace;
    refuse<Error>("xloom::attn_lstm_into: " + text,
        [&] { attn_lstm_into(wrong.X, weights, wrong.start(), out.refs(), workspace); });
    CHECK(out.is_untouched());
}
/// With plain weights as well.
template <class Error>
void refuse_call(attn_case const& wrong, std::string const& text)
{
    refuse<Error>("xloom::attn_lstm: " + text, [&] { wrong.call(); });
    refuse_packed<Error>(wrong, text);
}

std::string misshapen_lstm(std::string const& facts)
{
    return misshapen(facts, "D = 1, I = 3, H = 2 and C = 8");
}
std::string misshapen_attention(std::string const& facts)
{
    return misshapen(facts, "D = 1, H = 2, E = 6 and A = 7");
}
std::string misshapen_states(std::string const& facts)
{
    return misshapen(facts, "T = 5, N = 2, D = 1 and H = 2");
}
std::string misshapen_memory(std::string const& facts)
{
    return misshapen(facts, "D = 1, N = 2, S = 4, E = 6 and C = 8");
}
std::string misshapen_outputs(std::string const& facts)
{
    return misshapen(facts, "T = 5, N = 2, D = 1, H = 2, S = 4 and C = 8");
}

} // namespace

TEST_CASE("attn_lstm: the calls that are made wrong below are right")
{
    CHECK_NOTHROW(attn_case().call());
    CHECK_NOTHROW(plain_case().call());
}

TEST_CASE("attn_lstm wants W, R, MW, M and AW of rank 3")
{
    refuse_weights<shape_error>({.W = {}}, "W must be given, but it is omitted. Give it 3 axes.");
    refuse_weights<shape_error>({.R = {}}, "R must be given, but it is omitted. Give it 3 axes.");
    refuse_weights<shape_error>(
        {.W = ones({8, 11})}, "W must have 3 axes, but its shape is [8, 11]. Give it 3.");
    refuse_weights<shape_error>(
        {.R = ones({8, 2})}, "R must have 3 axes, but its shape is [8, 2]. Give it 3.");
    refuse_weights<shape_error>(
        {.MW = ones({6, 7})}, "MW must have 3 axes, but its shape is [6, 7]. Give it 3.");
    refuse_weights<shape_error>(
        {.AW = ones({8, 8})}, "AW must have 3 axes, but its shape is [8, 8]. Give it 3.");
    refuse_call<shape_error>({.M = ones({4, 6})}, "M must have 3 axes, but its shape is [4, 6]. Give it 3.");
    refuse_call<shape_error>(
        {.M = ones({2, 4, 6, 1})}, "M must have 3 axes, but its shape is [2, 4, 6, 1]. Give it 3.");
}

TEST_CASE("attn_lstm names each constant that has another shape")
{
    refuse_weights<shape_error>(
        {.W = ones({1, 6, 11})}, misshapen_lstm("W is [1, 6, 11] instead of [D, 4H, I + C] = [1, 8, 11]"));
    refuse_weights<shape_error>(
        {.R = ones({1, 6, 2})}, misshapen_lstm("R is [1, 6, 2] instead of [D, 4H, H] = [1, 8, 2]"));
    refuse_weights<shape_error>(
        {.B = ones({1, 8})}, misshapen_lstm("B is [1, 8] instead of [D, 8H] = [1, 16]"));
    refuse_weights<shape_error>(
        {.B = ones({16})}, reshapable(misshapen_lstm("B is [16] instead of [D, 8H] = [1, 16]")));
    refuse_weights<shape_error>(
        {.P = ones({1, 8})}, misshapen_lstm("P is [1, 8] instead of [D, 3H] = [1, 6]"));
    refuse_weights<shape_error>(
        {.P = ones({6})}, reshapable(misshapen_lstm("P is [6] instead of [D, 3H] = [1, 6]")));
    refuse_weights<shape_error>({.W = ones({2, 8, 11}), .B = ones({2, 16}), .P = ones({2, 6})},
        misshapen_lstm("W is [2, 8, 11] instead of [D, 4H, I + C] = [1, 8, 11], B is [2, 16] instead of [D, "
                       "8H] = [1, 16] and P is [2, "
                       "6] instead of [D, 3H] = [1, 6]"));
    attn_case plain = plain_case();
    plain.W = ones({1, 6, 3});
    refuse_weights<shape_error>(
        plain, misshapen("W is [1, 6, 3] instead of [D, 4H, I] = [1, 8, 3]", "D = 1, I = 3 and H = 2"));
}

TEST_CASE("attn_lstm names each constant of the attention that has another shape")
{
    refuse_weights<shape_error>(
        {.QW = ones({1, 3, 7})}, misshapen_attention("QW is [1, 3, 7] instead of [D, H, A] = [1, 2, 7]"));
    refuse_weights<shape_error>({.QW = ones({2, 7})},
        reshapable(misshapen_attention("QW is [2, 7] instead of [D, H, A] = [1, 2, 7]")));
    refuse_weights<shape_error>(
        {.MW = ones({2, 6, 7})}, misshapen_attention("MW is [2, 6, 7] instead of [D, E, A] = [1, 6, 7]"));
    refuse_weights<shape_error>(
        {.V = ones({1, 6})}, misshapen_attention("V is [1, 6] instead of [D, A] = [1, 7]"));
    refuse_weights<shape_error>(
        {.V = ones({7})}, reshapable(misshapen_attention("V is [7] instead of [D, A] = [1, 7]")));
    refuse_weights<shape_error>(
        {.AW = ones({1, 6, 8})}, misshapen_attention("AW is [1, 6, 8] instead of [D, H + E, L] = [1, 8, 8]"));
    // A comes from MW.
    refuse_weights<shape_error>({.MW = ones({1, 6, 5})},
        misshapen(
            "QW is [1, 2, 7] instead of [D, H, A] = [1, 2, 5] and V is [1, 7] instead of [D, A] = [1, 5]",
            "D = 1, H = 2, E = 6 and A = 5"));
    refuse_weights<shape_error>(
        {.QW = ones({2, 2, 7}), .MW = ones({2, 6, 7}), .V = ones({2, 7}), .AW = ones({2, 8, 8})},
        misshapen_attention(
            "QW is [2, 2, 7] instead of [D, H, A] = [1, 2, 7], MW is [2, 6, 7] instead of [D, E, A] = [1, 6, "
            "7], V is [2, "
            "7] instead of [D, A] = [1, 7] and AW is [2, 8, 8] instead of [D, H + E, L] = [1, 8, 8]"));
}

TEST_CASE("attn_lstm wants a W that is wide enough for the attention")
{
    refuse_weights<shape_error>({.W = ones({1, 8, 7})}, "W must be at least as wide as the attention state, "
                                                        "C = 8, but W is [1, 8, 7]. Give W [D, 4H, I + C].");
    refuse_weights<shape_error>({.W = ones({1, 8, 5}), .AW = {}},
        "W must be at least as wide as the attention state, C = 6, but W "
        "is [1, 8, 5]. Give W [D, 4H, I + C].");
    // Then what is left of it is I.
    refuse_call<shape_error>({.W = ones({1, 8, 8})},
        "X must have the shape [T, N, I] with I = 0, the last axis of W less C = 8, "
        "but X is [5, 2, 3]. Give X that shape.");
}

TEST_CASE("attn_lstm wants QW, MW, V and M together or not at all")
{
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but QW is omitted. Give all of them, "
        "or none for a plain LSTM.",
        [] { attn_case{.QW = {}}.call(); });
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but MW is omitted. Give all of them, "
        "or none for a plain LSTM.",
        [] { attn_case{.MW = {}}.call(); });
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but V is omitted. Give all of them, "
        "or none for a plain LSTM.",
        [] { attn_case{.V = {}}.call(); });
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but M is omitted. Give all of them, "
        "or none for a plain LSTM.",
        [] { attn_case{.M = {}}.call(); });
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but QW and V are omitted. Give all "
        "of them, or none for a plain LSTM.",
        [] { attn_case{.QW = {}, .V = {}}.call(); });
    refuse<shape_error>(
        "xloom::attn_lstm: QW, MW, V and M must be given together, but QW, MW and V are omitted. Give "
        "all of them, or none for a plain LSTM.",
        [] { attn_case{.QW = {}, .MW = {}, .V = {}}.call(); });

    auto const pack = [](attn_case const& wrong) {
        attn_lstm_weights<float>(wrong.constants(), wrong.options);
    };
    refuse<shape_error>(
        "xloom::attn_lstm_weights: QW, MW and V must be given together, but MW is omitted. Give all of "
        "them, or none for a plain LSTM.",
        [&] { pack({.MW = {}}); });
    refuse<shape_error>(
        "xloom::attn_lstm_weights: QW, MW and V must be given together, but QW and V are omitted. Give "
        "all of them, or none for a plain LSTM.",
        [&] { pack({.QW = {}, .V = {}}); });
    refuse_packed<shape_error>({.M = {}}, "M must be given, but it is omitted. Give it 3 axes.");
}

TEST_CASE("attn_lstm wants no part of an attention where there is none")
{
    attn_case wrong = plain_case();
    wrong.AW = ones({1, 8, 8});
    refuse_weights<shape_error>(wrong, "an attention layer needs attention, but AW is [1, 8, 8] and QW, MW "
                                       "and V are omitted. Give them, or omit AW.");
    auto const text = [](std::string const& operand) {
        return "memory is for weights with attention, but QW, MW and V are omitted and " + operand +
               " is given. Give them, or omit it.";
    };
    wrong = plain_case();
    wrong.M = ones({2, 4, 6});
    refuse_packed<shape_error>(wrong, text("M"));
    wrong = plain_case();
    wrong.has_memory_seq_lens = true;
    refuse_call<shape_error>(wrong, text("memory_seq_lens"));
    wrong = plain_case();
    wrong.initial_attention = ones({1, 2, 8});
    refuse_call<shape_error>(wrong, text("initial_attention"));
    wrong = plain_case();
    wrong.initial_alignment = ones({1, 2, 4});
    refuse_call<shape_error>(wrong, text("initial_alignment"));
}

TEST_CASE("attn_lstm requires an X of the columns of W")
{
    auto const but = [](std::string const& X) {
        return "X must have the shape [T, N, I] with I = 3, the last axis of W less C = 8, but X is " + X +
               ". Give X that shape.";
    };
    refuse_call<shape_error>({.X = ones({5, 2, 4})}, but("[5, 2, 4]"));
    refuse_call<shape_error>({.X = ones({5, 2, 11})}, but("[5, 2, 11]"));
    refuse_call<shape_error>({.X = ones({5, 3})}, but("[5, 3]"));
    refuse_call<shape_error>({.X = ones({5, 2, 1, 3})}, but("[5, 2, 1, 3]"));
}

TEST_CASE("attn_lstm names each state that has another shape")
{
    refuse_call<shape_error>({.initial_h = ones({1, 2, 3})},
        misshapen_states("initial_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]"));
    refuse_call<shape_error>({.initial_c = ones({2, 2})},
        reshapable(misshapen_states("initial_c is [2, 2] instead of [D, N, H] = [1, 2, 2]")));
    refuse_call<shape_error>({.initial_h = ones({2, 2, 2}), .initial_c = ones({1, 5, 2})},
        misshapen_states("initial_h is [2, 2, 2] instead of [D, N, H] = [1, 2, 2] and initial_c is [1, 5, 2] "
                         "instead of [D, N, H] = [1, 2, 2]"));
}

TEST_CASE("attn_lstm names each part of the memory and of the attention's state that has another shape")
{
    refuse_call<shape_error>(
        {.M = ones({3, 4, 6})}, misshapen_memory("M is [3, 4, 6] instead of [N, S, E] = [2, 4, 6]"));
    refuse_call<shape_error>(
        {.M = ones({2, 4, 5})}, misshapen_memory("M is [2, 4, 5] instead of [N, S, E] = [2, 4, 6]"));
    refuse_call<shape_error>({.initial_attention = ones({1, 2, 6})},
        misshapen_memory("initial_attention is [1, 2, 6] instead of [D, N, C] = [1, 2, 8]"));
    refuse_call<shape_error>({.initial_attention = ones({2, 8})},
        reshapable(misshapen_memory("initial_attention is [2, 8] instead of [D, N, C] = [1, 2, 8]")));
    refuse_call<shape_error>({.initial_alignment = ones({1, 2, 5})},
        misshapen_memory("initial_alignment is [1, 2, 5] instead of [D, N, S] = [1, 2, 4]"));
    refuse_call<shape_error>({.initial_alignment = ones({2, 4})},
        reshapable(misshapen_memory("initial_alignment is [2, 4] instead of [D, N, S] = [1, 2, 4]")));
    refuse_call<shape_error>(
        {.M = ones({1, 4, 6}), .initial_attention = ones({1, 1, 8}), .initial_alignment = ones({1, 1, 4})},
        misshapen_memory("M is [1, 4, 6] instead of [N, S, E] = [2, 4, 6], initial_attention is [1, 1, 8] "
                         "instead of [D, N, C] = [1, 2, "
                         "8] and initial_alignment is [1, 1, 4] instead of [D, N, S] = [1, 2, 4]"));
}

TEST_CASE("attn_lstm wants a length in [0, T] and one in [0, S] for each row")
{
    refuse_call<shape_error>({.sequence_lens = {5}},
        "sequence_lens must have the shape [N] = [2], but it is [1]. Give a length for each row.");
    refuse_call<shape_error>({.memory_seq_lens = {4, 4, 4}},
        "memory_seq_lens must have the shape [N] = [2], but it is [3]. Give a length for each row.");
    refuse_call<index_error>({.sequence_lens = {5, 6}},
        "lengths must be in [0, T] = [0, 5], but sequence_lens[1] is 6. Correct it.");
    refuse_call<index_error>({.memory_seq_lens = {-1, 5}},
        "lengths must be in [0, S] = [0, 4], but memory_seq_lens[0] is -1 and "
        "memory_seq_lens[1] is 5. Correct it.");
    attn_case wrong{.X = ones({5, 6, 3}),
        .sequence_lens = {5, 5, 5, 5, 5, 5},
        .M = ones({6, 4, 6}),
        .memory_seq_lens = {5, 4, 6, 7, 8, 9}};
    refuse_call<index_error>(wrong,
        "lengths must be in [0, S] = [0, 4], but memory_seq_lens[0] is 5, memory_seq_lens[2] is 6, "
        "memory_seq_lens[3] is 7, memory_seq_lens[4] is 8 and 1 more. Correct it.");
}

TEST_CASE("attn_lstm wants options as lstm does")
{
    refuse_weights<option_error>({.options = {.clip = 0.0}},
        "clip must be greater than 0, but clip is 0.000000. Omit it for no limit.");
    refuse_weights<option_error>({.options = {.clip = std::numeric_limits<double>::quiet_NaN()}},
        "clip must be greater than 0, but clip is nan. Omit it for no limit.");
    refuse_weights<option_error>({.options = {.direction = static_cast<direction>(3)}},
        "direction must be forward, reverse or bidirectional, but it is 3. Choose one of them.");
    for (std::int64_t const size : {3, 0, -2})
        refuse_weights<option_error>({.options = {.hidden_size = size}},
            "hidden_size must be R's last dimension, but hidden_size is " + std::to_string(size) +
                " and R is [1, 8, 2]. Correct one of them.");
    attn_case const agrees{.options = {.hidden_size = 2}};
    CHECK_NOTHROW(agrees.call());
    refuse_weights<option_error>({.options = {.activations = {"Tanh", "Tanh"}}},
        "there must be 3 activations for each direction, but direction is forward and activations has 2. "
        "Give 3 or none.");
    refuse_weights<option_error>({.options = {.activations = {"Sigmoid", "Tan", "Tanh"}}},
        "an activation must be one that ONNX names, but activations[1] is \"Tan\". Choose one of Relu, Tanh, "
        "Sigmoid, Affine, LeakyRelu, "
        "ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus and Softmax.");
    attn_case two{.W = ones({2, 8, 11}),
        .R = ones({2, 8, 2}),
        .QW = ones({2, 2, 7}),
        .MW = ones({2, 6, 7}),
        .V = ones({2, 7}),
        .AW = ones({2, 8, 8})};
    two.options = {.direction = direction::bidirectional, .activations = {"Sigmoid", "Tanh", "Tanh"}};
    refuse_weights<option_error>(two, "there must be 3 activations for each direction, but direction is "
                                      "bidirectional and activations has 3. Give 6 or none.");
}

TEST_CASE("attn_lstm wants at least one hidden unit")
{
    refuse_weights<shape_error>(
        {.W = ones({1, 0, 11}), .R = ones({1, 0, 0}), .QW = ones({1, 0, 7}), .AW = ones({1, 6, 8})},
        "H must be at least 1, but R is [1, 0, 0]. Give the states a length.");
}

namespace {

template <class Error>
void refuse_outputs(attn_case const& in, attn_lstm_outputs<float> const& outputs, std::string const& text)
{
    attn_lstm_weights<float> const weights(in.constants(), in.options);
    attention_workspace<float> workspace;
    refuse<Error>("xloom::attn_lstm_into: " + text,
        [&] { attn_lstm_into(in.X, weights, in.start(), outputs, workspace); });
}

} // namespace

TEST_CASE("attn_lstm_into names each output that has another shape")
{
    floats wrong = ones({1, 2, 3}), steps = ones({5, 2, 4});
    std::string const Y = "Y is [5, 2, 4] instead of [T, D, N, H] = [5, 1, 2, 2]";
    std::string const Y_h = "Y_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]";
    std::string const Y_c = "Y_c is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]";
    std::string const alignments = "alignments is [5, 2, 4] instead of [T, D, N, S] = [5, 1, 2, 4]";
    std::string const Y_attention = "Y_attention is [1, 2, 3] instead of [D, N, C] = [1, 2, 8]";
    std::string const Y_alignment = "Y_alignment is [1, 2, 3] instead of [D, N, S] = [1, 2, 4]";
    refuse_outputs<shape_error>({}, {.Y = steps}, misshapen_outputs(Y));
    refuse_outputs<shape_error>({}, {.Y_h = wrong}, misshapen_outputs(Y_h));
    refuse_outputs<shape_error>({}, {.Y_c = wrong}, misshapen_outputs(Y_c));
    refuse_outputs<shape_error>({}, {.alignments = steps}, reshapable(misshapen_outputs(alignments)));
    refuse_outputs<shape_error>({}, {.Y_attention = wrong}, misshapen_outputs(Y_attention));
    refuse_outputs<shape_error>({}, {.Y_alignment = wrong}, misshapen_outputs(Y_alignment));
    refuse_outputs<shape_error>({}, {steps, wrong, wrong, steps, wrong, wrong},
        misshapen_outputs(Y + ", " + Y_h + ", " + Y_c + ", " + alignments + " and 2 more"));
    refuse_outputs<shape_error>({}, {{}, {}, wrong, steps, wrong, wrong},
        misshapen_outputs(Y_c + ", " + alignments + ", " + Y_attention + " and " + Y_alignment));

    output_case out;
    out.Y_alignment = ones({1, 2, 3});
    refuse_outputs<shape_error>({}, out.refs(), misshapen_outputs(Y_alignment));
    out.Y_alignment = ones({1, 2, 4});
    CHECK(out.is_untouched());
    // Without attention, S and C are 0.
    refuse_outputs<shape_error>(plain_case(), {.alignments = out.alignments},
        misshapen("alignments is [5, 1, 2, 4] instead of [T, D, N, S] = [5, 1, 2, 0]",
            "T = 5, N = 2, D = 1, H = 2, S = 0 and C = 0"));
}

TEST_CASE("attn_lstm_into wants outputs with memory of their own")
{
    // Everything in one block of memory: S = E = C = H = 2, so that one shape serves all states.
    std::vector<float> memory(400, 1.0f);
    auto const at = [&memory](std::size_t first, std::array<std::size_t, 3> const& dims) {
        return xt::adapt(memory.data() + first, dims[0] * dims[1] * dims[2], xt::no_ownership(), dims);
    };
    auto X = at(0, {5, 2, 3}), M = at(100, {2, 2, 2}), h = at(120, {1, 2, 2}), c = at(124, {1, 2, 2}),
         attention = at(128, {1, 2, 2}), alignment = at(132, {1, 2, 2});
    xt::xtensor<std::int64_t, 1> const lens{5, 5}, memory_lens{2, 2};
    floats const W = ones({1, 8, 5}), R = ones({1, 8, 2}), QW = ones({1, 2, 7}), MW = ones({1, 2, 7}),
                 V = ones({1, 7});
    attn_lstm_weights<float> const weights({.W = W, .R = R, .QW = QW, .MW = MW, .V = V});
    attention_workspace<float> workspace;
    auto const into = [&](attn_lstm_outputs<float> const& outputs) {
        attn_lstm_into(X, weights, {lens, h, c, M, memory_lens, attention, alignment}, outputs, workspace);
    };
    auto const refuse_overlap = [&](attn_lstm_outputs<float> const& outputs, std::string const& facts,
                                    std::string const& or_else = "") {
        refuse<overlap_error>(
            "xloom::attn_lstm_into: an operand that is written must have memory of its own, but " + facts +
                ". Copy one of the two" + or_else + ".",
            [&] { into(outputs); });
    };
    refuse_overlap({.Y_h = c}, "Y_h overlaps initial_c");
    refuse_overlap({.Y_c = h}, "Y_c overlaps initial_h");
    refuse_overlap({.Y_attention = alignment}, "Y_attention overlaps initial_alignment");
    refuse_overlap({.Y_alignment = attention}, "Y_alignment overlaps initial_attention");
    auto shifted = at(122, {1, 2, 2}), of_M = at(106, {1, 2, 2}), of_X = at(28, {1, 2, 2});
    refuse_overlap({.Y_h = shifted}, "Y_h overlaps initial_h and Y_h overlaps initial_c",
        ", or pass one tensor as both"); // not the very same tensor
    refuse_overlap({.Y_attention = of_M}, "Y_attention overlaps M");
    refuse_overlap({.Y_c = of_X}, "Y_c overlaps X");

    auto own = at(200, {1, 2, 2}), near = at(203, {1, 2, 2});
    refuse_overlap({.Y_h = own, .Y_c = near}, "Y_h overlaps Y_c");
    refuse_overlap({.Y_attention = own, .Y_alignment = own}, "Y_attention overlaps Y_alignment");
    auto alignments =
        xt::adapt(memory.data() + 300, 20, xt::no_ownership(), std::array<std::size_t, 4>{5, 1, 2, 2});
    auto of_alignments = at(316, {1, 2, 2});
    refuse_overlap({.Y = alignments, .alignments = alignments}, "Y overlaps alignments");
    refuse_overlap(
        {.alignments = alignments, .Y_alignment = of_alignments}, "alignments overlaps Y_alignment");

    CHECK(memory == std::vector<float>(400, 1.0f));

    // The states themselves may be what they become.
    CHECK_NOTHROW(into({.Y_h = h, .Y_c = c, .Y_attention = attention, .Y_alignment = alignment}));
}

TEST_CASE("attn_lstm_into wants no two items of an output in one place")
{
    attn_case const in;
    floats together = ones({1, 2, 8});
    together.layout.strides[1] = 0;
    refuse_outputs<overlap_error>(in, {.Y_attention = together},
        "every item of Y_attention must have memory of its own, but Y_attention has the shape [1, 2, 8] "
        "and the strides [16, 0, 1]. Write to a container.");
}

TEST_CASE("attn_lstm_into wants outputs apart from lengths")
{
    xt::xtensor<std::int32_t, 1> numbers = xt::zeros<std::int32_t>({20});
    auto sequence_lens = xt::adapt(numbers.data(), 2, xt::no_ownership(), std::array<std::size_t, 1>{2});
    attn_case const in;
    attn_lstm_weights<float> const weights(in.constants());
    attention_workspace<float> workspace;
    auto Y_h = xt::adapt(
        reinterpret_cast<float*>(numbers.data()), 4, xt::no_ownership(), std::array<std::size_t, 3>{1, 2, 2});
    refuse<overlap_error>(
        "xloom::attn_lstm_into: an operand that is written must have memory of its own, but Y_h overlaps "
        "sequence_lens. Copy one of the two.",
        [&] {
            attn_lstm_into(
                in.X, weights, {.sequence_lens = sequence_lens, .M = in.M}, {.Y_h = Y_h}, workspace);
        });
    refuse<overlap_error>(
        "xloom::attn_lstm_into: an operand that is written must have memory of its own, but Y_h overlaps "
        "memory_seq_lens. Copy one of the two.",
        [&] {
            attn_lstm_into(
                in.X, weights, {.M = in.M, .memory_seq_lens = sequence_lens}, {.Y_h = Y_h}, workspace);
        });
}

namespace {

std::string sizes_of_step(std::string const& facts)
{
    return "xloom::attn_lstm_cell: the operands of a step must have the sizes that the cell was made for, "
           "but " +
           facts + ". Resize it.";
}

} // namespace

TEST_CASE("attn_lstm_cell wants weights with attention, a direction that there is, and a memory as theirs")
{
    using cell = attn_lstm_cell<float>;
    attn_case const right, plain = plain_case();
    attn_lstm_weights<float> const weights(right.constants());
    refuse<option_error>("xloom::attn_lstm_cell: d must be less than D = 1, but d is 1. Choose one of the "
                         "weights' directions.",
        [&] { cell(weights, right.M, {}, 1); });
    refuse<option_error>("xloom::attn_lstm_cell: the weights must have attention, but QW, MW and V are "
                         "omitted. Use lstm_cell.",
        [&] { cell(attn_lstm_weights<float>(plain.constants()), right.M); });
    refuse<shape_error>("xloom::attn_lstm_cell: M must be given, but it is omitted. Give it 3 axes.",
        [&] { cell(weights, {}); });

    cell made(weights, right.M);
    auto const refuse_memory = [&](floats const& M, std::string const& text) {
        refuse<shape_error>("xloom::attn_lstm_cell: " + text, [&] { cell(weights, M); });
        refuse<shape_error>("xloom::attn_lstm_cell: " + text, [&] { made.set_memory(M); });
    };
    refuse_memory(ones({4, 6}), "M must have 3 axes, but its shape is [4, 6]. Give it 3.");
    refuse_memory(ones({2, 4, 5}),
        misshapen("M is [2, 4, 5] instead of [N, S, E] = [2, 4, 6]", "D = 1, N = 2, S = 4, E = 6 and C = 8"));
    lengths const short_one{4}, long_ones{5, 4};
    refuse<shape_error>("xloom::attn_lstm_cell: memory_seq_lens must have the shape [N] = [2], but it is "
                        "[1]. Give a length for each row.",
        [&] { cell(weights, right.M, short_one); });
    refuse<index_error>(
        "xloom::attn_lstm_cell: lengths must be in [0, S] = [0, 4], but memory_seq_lens[0] is 5. Correct it.",
        [&] { made.set_memory(right.M, long_ones); });
    CHECK((made.batch_size() == 2 && made.memory_steps() == 4));
}

TEST_CASE(
    "attn_lstm_cell names each operand of a step that has another size, and leaves the states as they are")
{
    attn_case const right;
    attn_lstm_cell<float> cell(attn_lstm_weights<float>(right.constants()), right.M);
    std::vector<float> h(4, 1), c(4, 1), attention(16, 1), alignment(8, 1), x(6, 1), y(4, 1), wrong(5, 1);
    auto const check = [&](std::string const& facts, auto&... operands) {
        refuse<shape_error>(sizes_of_step(facts), [&] { cell(operands...); });
        CHECK((h == y && c == y && attention == std::vector<float>(16, 1) &&
               alignment == std::vector<float>(8, 1)));
    };
    check("h has 5 items instead of N H = 4", wrong, c, attention, x);
    check("c has 5 items instead of N H = 4", h, wrong, attention, x);
    check("attention has 5 items instead of N C = 16", h, c, wrong, x);
    check("x_t has 5 items instead of N I = 6", h, c, attention, wrong);
    check("y_t has 5 items instead of N H = 4", h, c, attention, x, wrong);
    check("alignment has 5 items instead of N S = 8", h, c, attention, wrong, x, y);
    check("attention has 5 items instead of N C = 16, alignment has 5 items instead of N S = 8, x_t has 5 "
          "items instead of N I = 6 and y_t "
          "has 5 items instead of N H = 4",
        h, c, wrong, wrong, wrong, wrong);
    check("h has 5 items instead of N H = 4, c has 5 items instead of N H = 4, attention has 5 items instead "
          "of N C = 16, alignment has 5 "
          "items instead of N S = 8 and 2 more",
        wrong, wrong, wrong, wrong, wrong, wrong);
}

} // namespace errors_attn_lstm_test
