// What lstm, gru, rnn and lstm_cell refuse, word for word, and that they write nothing before.

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>

#include "support/gru_calls.hpp"
#include "support/lstm_calls.hpp"
#include "support/refused_calls.hpp"
#include "support/rnn_calls.hpp"

namespace errors_recurrent_test {

using namespace xloom;
using namespace refused_calls;

namespace {

double const not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A call that is right: T = 5, N = 2, D = 1, I = 3, H = 2. An operand without axes is omitted.
struct lstm_case {
    using names = lstm_names;

    floats X = ones({5, 2, 3}), W = ones({1, 8, 3}), R = ones({1, 8, 2}), B{}, initial_h{}, initial_c{}, P{};
    lengths sequence_lens = {5, 5};
    lstm_options options{};

    lstm_constants<float> constants() const { return {ref_of(W), ref_of(R), ref_of(B), ref_of(P)}; }
    lstm_start<float> start() const { return {sequence_lens, ref_of(initial_h), ref_of(initial_c)}; }
    auto call() const
    {
        return lstm(X,
            {ref_of(W), ref_of(R), ref_of(B), sequence_lens, ref_of(initial_h), ref_of(initial_c), ref_of(P)},
            options);
    }
};

template <class Names, std::size_t Gates>
struct hidden_case {
    using names = Names;

    floats X = ones({5, 2, 3}), W = ones({1, 2 * Gates, 3}), R = ones({1, 2 * Gates, 2}), B{}, initial_h{};
    lengths sequence_lens = {5, 5};
    typename Names::attributes options{};

    typename Names::template constants<float> constants() const { return {ref_of(W), ref_of(R), ref_of(B)}; }
    typename Names::template start<float> start() const { return {sequence_lens, ref_of(initial_h)}; }
    auto call() const
    {
        typename Names::template inputs<float> const inputs{
            ref_of(W), ref_of(R), ref_of(B), sequence_lens, ref_of(initial_h)};
        return Names::run(X, inputs, options);
    }
};
using gru_case = hidden_case<gru_names, 3>;
using rnn_case = hidden_case<rnn_names, 1>;

template <class Case>
using weights_of = typename Case::names::template weights<float>;

template <class Case>
std::string const op_of = std::string("xloom::") + Case::names::name;

/// Weights or options that are wrong: the call says so, and the packing.
template <class Error, class Case>
void refuse_weights(Case const& wrong, std::string const& text)
{
    refuse<Error>(op_of<Case> + ": " + text, [&] { wrong.call(); });
    refuse<Error>(
        op_of<Case> + "_weights: " + text, [&] { weights_of<Case>(wrong.constants(), wrong.options); });
}

/// Other operands that are wrong: the call says so with plain weights and packed ones, and into outputs,
/// which stay as they are.
template <class Error, class Case>
void refuse_call(Case const& wrong, std::string const& text)
{
    using names = typename Case::names;
    weights_of<Case> const weights(wrong.constants(), wrong.options);
    refuse<Error>(op_of<Case> + ": " + text, [&] { wrong.call(); });
    refuse<Error>(op_of<Case> + ": " + text, [&] { names::run(wrong.X, weights, wrong.start()); });
    floats Y = ones({5, 1, 2, 2}), Y_h = ones({1, 2, 2}), Y_c = Y_h;
    typename names::template outputs<float> outputs{Y, Y_h};
    if constexpr (requires { outputs.Y_c; })
        outputs.Y_c = Y_c;
    recurrent_workspace<float> workspace;
    refuse<Error>(op_of<Case> + "_into: " + text,
        [&] { names::run_into(wrong.X, weights, wrong.start(), outputs, workspace); });
    CHECK((Y.memory == ones({5, 1, 2, 2}).memory && Y_h.memory == ones({1, 2, 2}).memory &&
           Y_c.memory == Y_h.memory));
}

using refused_calls::misshapen;
/// The sentence about the constants' shapes.
std::string misshapen(std::string const& facts) { return misshapen(facts, "D = 1, I = 3 and H = 2"); }

std::string const batch = "T = 5, N = 2, D = 1 and H = 2";

} // namespace

TEST_CASE_TEMPLATE(
    "recurrent operators: the calls that are made wrong below are right", Case, lstm_case, gru_case, rnn_case)
{
    CHECK_NOTHROW(Case().call());
}

TEST_CASE_TEMPLATE("recurrent operators want W and R of rank 3", Case, lstm_case, gru_case, rnn_case)
{
    refuse_weights<shape_error>(Case{.W = {}}, "W must be given, but it is omitted. Give it 3 axes.");
    refuse_weights<shape_error>(Case{.R = {}}, "R must be given, but it is omitted. Give it 3 axes.");
    refuse_weights<shape_error>(
        Case{.W = ones({8, 3})}, "W must have 3 axes, but its shape is [8, 3]. Give it 3.");
    refuse_weights<shape_error>(
        Case{.R = ones({1, 2, 4, 2})}, "R must have 3 axes, but its shape is [1, 2, 4, 2]. Give it 3.");
}

TEST_CASE("recurrent operators want weights whose sizes can be counted, be they empty")
{
    constexpr std::size_t huge = std::size_t{1} << 62; // 4 times as many are 0
    auto const W = xt::xtensor<float, 3>::from_shape({1, 0, 1}),
               R = xt::xtensor<float, 3>::from_shape({1, 0, huge});
    std::string const text = "the weights must fit in memory, but W is [1, 0, 1] and R is [1, 0, "
                             "4611686018427387904]. Reduce them.";
    refuse<shape_error>("xloom::lstm_weights: " + text, [&] { lstm_weights<float>({.W = W, .R = R}); });
    refuse<shape_error>("xloom::gru_weights: " + text, [&] { gru_weights<float>({.W = W, .R = R}); });
    refuse<shape_error>("xloom::rnn_weights: " + text, [&] { rnn_weights<float>({.W = W, .R = R}); });
}

TEST_CASE_TEMPLATE(
    "recurrent operators want a hidden_size that agrees, and at least 1", Case, lstm_case, gru_case, rnn_case)
{
    std::string const R = "[1, " + std::to_string(Case().R.layout.dims[1]) + ", 2]";
    for (std::int64_t const size : {3, 1, 0, -2})
        refuse_weights<option_error>(Case{.options = {.hidden_size = size}},
            "hidden_size must be R's last dimension, but hidden_size is " + std::to_string(size) +
                " and R is " + R + ". Correct one of them.");
    Case const agrees{.options = {.hidden_size = 2}};
    CHECK_NOTHROW(agrees.call());
    refuse_weights<shape_error>(Case{.W = ones({1, 0, 3}), .R = ones({1, 0, 0})},
        "H must be at least 1, but R is [1, 0, 0]. Give the states a length.");
}

TEST_CASE("lstm names each constant that has another shape")
{
    refuse_weights<shape_error>(
        lstm_case{.W = ones({1, 6, 3})}, misshapen("W is [1, 6, 3] instead of [D, 4H, I] = [1, 8, 3]"));
    refuse_weights<shape_error>(
        lstm_case{.W = ones({2, 8, 3})}, misshapen("W is [2, 8, 3] instead of [D, 4H, I] = [1, 8, 3]"));
    refuse_weights<shape_error>(
        lstm_case{.R = ones({1, 2, 2})}, misshapen("R is [1, 2, 2] instead of [D, 4H, H] = [1, 8, 2]"));
    refuse_weights<shape_error>(
        lstm_case{.B = ones({1, 8})}, misshapen("B is [1, 8] instead of [D, 8H] = [1, 16]"));
    refuse_weights<shape_error>(
        lstm_case{.B = ones({16})}, reshapable(misshapen("B is [16] instead of [D, 8H] = [1, 16]")));
    refuse_weights<shape_error>(
        lstm_case{.P = ones({1, 2, 3})}, reshapable(misshapen("P is [1, 2, 3] instead of [D, 3H] = [1, 6]")));
    refuse_weights<shape_error>(
        lstm_case{.W = ones({2, 8, 3}), .R = ones({2, 8, 2}), .B = ones({2, 16}), .P = ones({2, 6})},
        misshapen("W is [2, 8, 3] instead of [D, 4H, I] = [1, 8, 3], R is [2, 8, 2] instead of [D, 4H, H] = "
                  "[1, 8, 2], B is [2, 16] "
                  "instead of [D, 8H] = [1, 16] and P is [2, 6] instead of [D, 3H] = [1, 6]"));
    refuse_weights<shape_error>(lstm_case{.options = {.direction = direction::bidirectional}},
        misshapen("W is [1, 8, 3] instead of [D, 4H, I] = [2, 8, 3] and R is [1, 8, 2] instead of [D, 4H, H] "
                  "= [2, 8, 2]",
            "D = 2, I = 3 and H = 2"));
}

TEST_CASE("recurrent operators name weights whose last axes are exchanged, as Keras has them")
{
    floats const lstm_W = ones({1, 3, 8}), lstm_R = ones({1, 2, 8});
    refuse_weights<shape_error>(lstm_case{.W = lstm_W},
        "the axis of the gates must come before the last one in W and R, but W is [1, 3, 8] and R is [1, 8, "
        "2]. Exchange the last two "
        "axes of W by xt::transpose and a copy.");
    refuse_weights<shape_error>(lstm_case{.R = lstm_R},
        "the axis of the gates must come before the last one in W and R, but W is [1, 8, 3] and R is [1, 2, "
        "8]. Exchange the last two "
        "axes of R by xt::transpose and a copy.");
    refuse_weights<shape_error>(lstm_case{.W = lstm_W, .R = lstm_R},
        "the axis of the gates must come before the last one in W and R, but W is [1, 3, 8] and R is [1, 2, "
        "8]. Exchange the last two "
        "axes of both by xt::transpose and a copy.");
    refuse_weights<shape_error>(gru_case{.W = ones({1, 3, 6}), .R = ones({1, 2, 6})},
        "the axis of the gates must come before the last one in W and R, but W is [1, 3, 6] and R is [1, 2, "
        "6]. Exchange the last two "
        "axes of both by xt::transpose and a copy.");
    refuse_weights<shape_error>(rnn_case{.W = ones({1, 3, 2})},
        "the axis of the gates must come before the last one in W and R, but W is [1, 3, 2] and R is [1, 2, "
        "2]. Exchange the last two "
        "axes of W by xt::transpose and a copy.");
}

TEST_CASE("gru names each constant that has another shape")
{
    refuse_weights<shape_error>(
        gru_case{.W = ones({1, 8, 3})}, misshapen("W is [1, 8, 3] instead of [D, 3H, I] = [1, 6, 3]"));
    refuse_weights<shape_error>(
        gru_case{.R = ones({1, 8, 2})}, misshapen("R is [1, 8, 2] instead of [D, 3H, H] = [1, 6, 2]"));
    refuse_weights<shape_error>(gru_case{.R = ones({2, 6, 2}), .B = ones({1, 6})},
        misshapen(
            "R is [2, 6, 2] instead of [D, 3H, H] = [1, 6, 2] and B is [1, 6] instead of [D, 6H] = [1, 12]"));
}

TEST_CASE("rnn names each constant that has another shape")
{
    refuse_weights<shape_error>(
        rnn_case{.W = ones({1, 8, 3})}, misshapen("W is [1, 8, 3] instead of [D, H, I] = [1, 2, 3]"));
    refuse_weights<shape_error>(
        rnn_case{.R = ones({1, 8, 2})}, misshapen("R is [1, 8, 2] instead of [D, H, H] = [1, 2, 2]"));
    refuse_weights<shape_error>(rnn_case{.R = ones({2, 2, 2}), .B = ones({1, 2})},
        misshapen(
            "R is [2, 2, 2] instead of [D, H, H] = [1, 2, 2] and B is [1, 2] instead of [D, 2H] = [1, 4]"));
}

TEST_CASE_TEMPLATE("recurrent operators want a clip above 0", Case, lstm_case, gru_case, rnn_case)
{
    refuse_weights<option_error>(Case{.options = {.clip = 0.0}},
        "clip must be greater than 0, but clip is 0.000000. Omit it for no limit.");
    refuse_weights<option_error>(Case{.options = {.clip = -2.5}},
        "clip must be greater than 0, but clip is -2.500000. Omit it for no limit.");
    refuse_weights<option_error>(Case{.options = {.clip = not_a_number}},
        "clip must be greater than 0, but clip is nan. Omit it for no limit.");
}

TEST_CASE_TEMPLATE(
    "recurrent operators want a layout and a direction that there are", Case, lstm_case, gru_case, rnn_case)
{
    refuse_weights<option_error>(Case{.options = {.layout = 2}},
        "layout must be 0 or 1, but layout is 2. Choose 1 where the batch axis comes first.");
    refuse_weights<option_error>(Case{.options = {.layout = -1}},
        "layout must be 0 or 1, but layout is -1. Choose 1 where the batch axis comes first.");
    refuse_weights<option_error>(Case{.options = {.direction = static_cast<direction>(3)}},
        "direction must be forward, reverse or bidirectional, but it is 3. Choose one of them.");
}

TEST_CASE("recurrent operators want as many activations as they have places for")
{
    refuse_weights<option_error>(lstm_case{.options = {.activations = {"Tanh", "Tanh"}}},
        "there must be 3 activations for each direction, but direction is forward and activations has 2. "
        "Give 3 or none.");
    refuse_weights<option_error>(
        lstm_case{.W = ones({2, 8, 3}),
            .R = ones({2, 8, 2}),
            .options = {.direction = direction::bidirectional, .activations = {"Sigmoid", "Tanh", "Tanh"}}},
        "there must be 3 activations for each direction, but direction is bidirectional and activations has "
        "3. Give 6 or none.");
    refuse_weights<option_error>(
        gru_case{.options = {.direction = direction::reverse, .activations = {"Sigmoid", "Tanh", "Tanh"}}},
        "there must be 2 activations for each direction, but direction is reverse and activations has 3. "
        "Give 2 or none.");
    refuse_weights<option_error>(rnn_case{.options = {.activations = {"Tanh", "Relu"}}},
        "there must be 1 activations for each direction, but direction is forward and activations has 2. "
        "Give 1 or none.");
    refuse_weights<option_error>(
        rnn_case{.W = ones({2, 2, 3}),
            .R = ones({2, 2, 2}),
            .options = {.direction = direction::bidirectional, .activations = {"Tanh"}}},
        "there must be 1 activations for each direction, but direction is bidirectional and activations has "
        "1. Give 2 or none.");
}

TEST_CASE("recurrent operators want activations that ONNX names")
{
    std::string const names = "Choose one of Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, "
                              "ScaledTanh, HardSigmoid, Elu, "
                              "Softsign, Softplus and Softmax.";
    refuse_weights<option_error>(lstm_case{.options = {.activations = {"Sigmoid", "Tan", "Tanh"}}},
        "an activation must be one that ONNX names, but activations[1] is \"Tan\". " + names);
    refuse_weights<option_error>(gru_case{.options = {.activations = {"Sigmoid", ""}}},
        "an activation must be one that ONNX names, but activations[1] is \"\". " + names);
    refuse_weights<option_error>(rnn_case{.options = {.activations = {"Gelu"}}},
        "an activation must be one that ONNX names, but activations[0] is \"Gelu\". " + names);
}

TEST_CASE_TEMPLATE(
    "recurrent operators require an X of the columns of W", Case, lstm_case, gru_case, rnn_case)
{
    refuse_call<shape_error>(Case{.X = ones({5, 2, 4})},
        "X must have the shape [T, N, I] with I = 3, the last axis of W, but X "
        "is [5, 2, 4]. Give X that shape.");
    refuse_call<shape_error>(Case{.X = ones({5, 3})}, "X must have the shape [T, N, I] with I = 3, the last "
                                                      "axis of W, but X is [5, 3]. Give X that shape.");
    refuse_call<shape_error>(Case{.X = ones({5, 2, 1, 3}), .options = {.layout = 1}},
        "X must have the shape [N, T, I] with I = 3, the last axis of W, but X is [5, 2, 1, 3]. Give X that "
        "shape.");
}

TEST_CASE("recurrent operators name each initial state that has another shape")
{
    refuse_call<shape_error>(lstm_case{.initial_h = ones({1, 2, 3})},
        misshapen("initial_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]", batch));
    refuse_call<shape_error>(lstm_case{.initial_c = ones({2, 2})},
        reshapable(misshapen("initial_c is [2, 2] instead of [D, N, H] = [1, 2, 2]", batch)));
    refuse_call<shape_error>(lstm_case{.initial_h = ones({2, 2, 2}), .initial_c = ones({1, 5, 2})},
        misshapen("initial_h is [2, 2, 2] instead of [D, N, H] = [1, 2, 2] and initial_c is [1, 5, 2] "
                  "instead of [D, N, H] = [1, 2, 2]",
            batch));
    refuse_call<shape_error>(
        lstm_case{.X = ones({2, 5, 3}), .initial_h = ones({1, 2, 2}), .options = {.layout = 1}},
        reshapable(misshapen("initial_h is [1, 2, 2] instead of [N, D, H] = [2, 1, 2]", batch)));
    refuse_call<shape_error>(gru_case{.initial_h = ones({1, 2, 3})},
        misshapen("initial_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]", batch));
    refuse_call<shape_error>(rnn_case{.initial_h = ones({1, 2, 3})},
        misshapen("initial_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]", batch));
}

TEST_CASE_TEMPLATE(
    "recurrent operators want a length in [0, T] for each row", Case, lstm_case, gru_case, rnn_case)
{
    refuse_call<shape_error>(Case{.sequence_lens = {5}},
        "sequence_lens must have the shape [N] = [2], but it is [1]. Give a length for each row.");
    refuse_call<index_error>(Case{.sequence_lens = {5, 6}},
        "lengths must be in [0, T] = [0, 5], but sequence_lens[1] is 6. Correct it.");
    refuse_call<index_error>(Case{.sequence_lens = {-1, 9}},
        "lengths must be in [0, T] = [0, 5], but sequence_lens[0] is -1 and "
        "sequence_lens[1] is 9. Correct it.");
    refuse_call<index_error>(Case{.X = ones({5, 7, 3}), .sequence_lens = {6, 7, 5, 8, 9, 10, -3}},
        "lengths must be in [0, T] = [0, 5], but sequence_lens[0] is 6, sequence_lens[1] is 7, "
        "sequence_lens[3] is 8, sequence_lens[4] is 9 and 2 more. Correct it.");
}

TEST_CASE("lengths may not have two axes")
{
    lstm_case const right;
    xt::xtensor<std::int32_t, 2> const table{{5, 5}};
    refuse<shape_error>("xloom::lstm: sequence_lens must have the shape [N] = [2], but it is [1, 2]. Give a "
                        "length for each row.",
        [&] { lstm(right.X, lstm_weights<float>(right.constants()), {.sequence_lens = table}); });
}

namespace {

/// Outputs that are right, and operands, in memory that a test may share out.
struct output_case {
    lstm_case in{.initial_h = ones({1, 2, 2}), .initial_c = ones({1, 2, 2})};
    floats Y = ones({5, 1, 2, 2}), Y_h = ones({1, 2, 2}), Y_c = ones({1, 2, 2});
    recurrent_workspace<float> workspace{};

    void lstm_into(tensor_ref<float> const& y, tensor_ref<float> const& h, tensor_ref<float> const& c)
    {
        xloom::lstm_into(
            in.X, lstm_weights<float>(in.constants(), in.options), in.start(), {y, h, c}, workspace);
    }
    void gru_into(tensor_ref<float> const& y, tensor_ref<float> const& h)
    {
        gru_case const gru{.X = in.X};
        xloom::gru_into(
            in.X, gru_weights<float>(gru.constants()), {in.sequence_lens, in.initial_h}, {y, h}, workspace);
    }
    void rnn_into(tensor_ref<float> const& y, tensor_ref<float> const& h)
    {
        rnn_case const rnn{.X = in.X};
        xloom::rnn_into(
            in.X, rnn_weights<float>(rnn.constants()), {in.sequence_lens, in.initial_h}, {y, h}, workspace);
    }
};

} // namespace

TEST_CASE("lstm_into, gru_into and rnn_into name each output that has another shape")
{
    output_case at;
    floats wrong = ones({5, 2, 2}), wide = ones({1, 2, 3});
    std::string const Y = "Y is [5, 2, 2] instead of [T, D, N, H] = [5, 1, 2, 2]";
    std::string const Y_h = "Y_h is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]";
    std::string const Y_c = "Y_c is [1, 2, 3] instead of [D, N, H] = [1, 2, 2]";
    refuse<shape_error>(
        "xloom::lstm_into: " + reshapable(misshapen(Y, batch)), [&] { at.lstm_into(wrong, {}, {}); });
    refuse<shape_error>(
        "xloom::lstm_into: " + misshapen(Y_h, batch), [&] { at.lstm_into(at.Y, wide, at.Y_c); });
    refuse<shape_error>("xloom::lstm_into: " + misshapen(Y_c, batch), [&] { at.lstm_into({}, {}, wide); });
    refuse<shape_error>("xloom::lstm_into: " + misshapen(Y + ", " + Y_h + " and " + Y_c, batch),
        [&] { at.lstm_into(wrong, wide, wide); });
    refuse<shape_error>(
        "xloom::gru_into: " + reshapable(misshapen(Y, batch)), [&] { at.gru_into(wrong, at.Y_h); });
    refuse<shape_error>(
        "xloom::rnn_into: " + misshapen(Y + " and " + Y_h, batch), [&] { at.rnn_into(wrong, wide); });

    at.in.options.layout = 1;
    at.in.X = ones({2, 5, 3});
    at.in.initial_h = at.in.initial_c = ones({2, 1, 2});
    refuse<shape_error>(
        "xloom::lstm_into: " +
            misshapen("Y is [5, 1, 2, 2] instead of [N, T, D, H] = [2, 5, 1, 2] and Y_h is [1, 2, 2] "
                      "instead of [N, D, H] = [2, 1, 2]",
                batch),
        [&] { at.lstm_into(at.Y, at.Y_h, {}); });
}

TEST_CASE("an output shares memory with no input but the state that it continues")
{
    output_case at;
    auto const overlaps = [](std::string const& op, std::string const& output, std::string const& input,
                              std::string const& or_else = "") {
        return "xloom::" + op + ": an operand that is written must have memory of its own, but " + output +
               " overlaps " + input + ". Copy one of the two" + or_else + ".";
    };
    std::string const or_one = ", or pass one tensor as both";
    // X [5, 2, 3] has 30 items, Y [5, 1, 2, 2] 20.
    auto y_in_x =
        xt::adapt(at.in.X.memory.data() + 10, 20, xt::no_ownership(), std::array<std::size_t, 4>{5, 1, 2, 2});
    refuse<overlap_error>(overlaps("lstm_into", "Y", "X"), [&] { at.lstm_into(y_in_x, {}, {}); });
    refuse<overlap_error>(overlaps("gru_into", "Y", "X"), [&] { at.gru_into(y_in_x, at.Y_h); });
    refuse<overlap_error>(overlaps("rnn_into", "Y", "X"), [&] { at.rnn_into(y_in_x, {}); });
    refuse<overlap_error>(
        overlaps("lstm_into", "Y_h", "initial_c"), [&] { at.lstm_into(at.Y, at.in.initial_c, at.Y_c); });
    refuse<overlap_error>(
        overlaps("lstm_into", "Y_c", "initial_h"), [&] { at.lstm_into(at.Y, {}, at.in.initial_h); });
    // The state's memory, but walked otherwise.
    auto turned = xt::adapt<xt::layout_type::column_major>(
        at.in.initial_h.memory.data(), 4, xt::no_ownership(), std::array<std::size_t, 3>{1, 2, 2});
    refuse<overlap_error>(overlaps("gru_into", "Y_h", "initial_h", or_one), [&] { at.gru_into({}, turned); });
    refuse<overlap_error>(overlaps("rnn_into", "Y_h", "initial_h", or_one), [&] { at.rnn_into({}, turned); });
    // Lengths, in bytes.
    at.in.sequence_lens = {5, 5};
    auto in_lengths = xt::adapt(reinterpret_cast<float*>(at.in.sequence_lens.data()), 4, xt::no_ownership(),
        std::array<std::size_t, 3>{1, 2, 2});
    refuse<overlap_error>(
        overlaps("lstm_into", "Y_c", "sequence_lens"), [&] { at.lstm_into({}, {}, in_lengths); });

    CHECK_NOTHROW(at.lstm_into(at.Y, at.in.initial_h, at.in.initial_c));
    CHECK_NOTHROW(at.gru_into(at.Y, at.in.initial_h));
    CHECK_NOTHROW(at.rnn_into(at.Y, at.in.initial_h));
}

TEST_CASE("no two outputs share memory, and no output with itself")
{
    output_case at;
    refuse<overlap_error>(
        "xloom::lstm_into: an operand that is written must have memory of its own, but Y_h overlaps Y_c. "
        "Copy one of the two.",
        [&] { at.lstm_into(at.Y, at.Y_h, at.Y_h); });
    auto h_in_y =
        xt::adapt(at.Y.memory.data() + 16, 4, xt::no_ownership(), std::array<std::size_t, 3>{1, 2, 2});
    refuse<overlap_error>(
        "xloom::lstm_into: an operand that is written must have memory of its own, but Y overlaps Y_c. "
        "Copy one of the two.",
        [&] { at.lstm_into(at.Y, at.Y_h, h_in_y); });
    refuse<overlap_error>(
        "xloom::gru_into: an operand that is written must have memory of its own, but Y overlaps Y_h. "
        "Copy one of the two.",
        [&] { at.gru_into(at.Y, h_in_y); });
    refuse<overlap_error>(
        "xloom::rnn_into: an operand that is written must have memory of its own, but Y overlaps Y_h. "
        "Copy one of the two.",
        [&] { at.rnn_into(at.Y, h_in_y); });
    at.Y_h.layout.strides[1] = 0;
    refuse<overlap_error>(
        "xloom::lstm_into: every item of Y_h must have memory of its own, but Y_h has the shape [1, 2, "
        "2] and the strides [4, 0, 1]. Write to a container.",
        [&] { at.lstm_into(at.Y, at.Y_h, at.Y_c); });
}

TEST_CASE("lstm_cell says every wrong size, before it writes")
{
    lstm_case const in;
    lstm_cell<float> cell(lstm_weights<float>(in.constants()), 2);
    std::vector<float> h(4, 0.5f), c(4, 0.5f), x(6), y(4);
    auto const refuse_step = [&](std::string const& facts) {
        refuse<shape_error>(
            "xloom::lstm_cell: the operands of a step must have the sizes that the cell was made for, but " +
                facts + ". Resize it.",
            [&] { cell(h, c, x, y); });
    };
    h.resize(2);
    refuse_step("h has 2 items instead of N H = 4");
    c.resize(5);
    x.resize(3);
    y.resize(0);
    refuse_step("h has 2 items instead of N H = 4, c has 5 items instead of N H = 4, x_t has 3 items instead "
                "of N I = 6 and y_t has 0 "
                "items instead of N H = 4");
    refuse<shape_error>(
        "xloom::lstm_cell: the operands of a step must have the sizes that the cell was made for, but h has "
        "2 items instead "
        "of N H = 4, c has 5 items instead of N H = 4 and x_t has 3 items instead of N I = 6. Resize it.",
        [&] { cell(h, c, x); });
    h.assign(4, 0.5f);
    c.assign(4, 0.5f);
    refuse_step("x_t has 3 items instead of N I = 6 and y_t has 0 items instead of N H = 4");
    CHECK(h == std::vector<float>(4, 0.5f));
    CHECK(c == std::vector<float>(4, 0.5f));
}

TEST_CASE("lstm_cell wants a direction that the weights have")
{
    lstm_weights<float> const weights(lstm_case().constants());
    refuse<option_error>(
        "xloom::lstm_cell: d must be less than D = 1, but d is 1. Choose one of the weights' directions.",
        [&] { lstm_cell<float>(weights, 1, 1); });
}

} // namespace errors_recurrent_test
