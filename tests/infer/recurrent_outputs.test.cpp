// infer_rnn, infer_gru, infer_lstm: the rules and refusals that they share.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include <xloom/infer/recurrent.hpp>

#include "is_constant.hpp"

namespace infer_recurrent_outputs_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

/// The inference of RNN. W and R have `gates` rows for each unit; versions before `first` have no inference.
struct rnn_inference {
    using inputs = detail::rnn_input_types;
    using types = rnn_types;
    static constexpr char const* function = "infer_rnn";
    static constexpr char const* name = "RNN";
    static constexpr std::int64_t gates = 1, first = 1;

    static constexpr types infer(
        inputs const& in, types const& declared = {}, recurrent_attributes const& attributes = {})
    {
        return infer_rnn(in, declared, attributes);
    }
};

struct gru_inference {
    using inputs = detail::rnn_input_types;
    using types = gru_types;
    static constexpr char const* function = "infer_gru";
    static constexpr char const* name = "GRU";
    static constexpr std::int64_t gates = 3, first = 3;

    static constexpr types infer(
        inputs const& in, types const& declared = {}, recurrent_attributes const& attributes = {})
    {
        return infer_gru(in, declared, attributes);
    }
};

struct lstm_inference {
    using inputs = detail::lstm_input_types;
    using types = lstm_types;
    static constexpr char const* function = "infer_lstm";
    static constexpr char const* name = "LSTM";
    static constexpr std::int64_t gates = 4, first = 1;

    static constexpr types infer(
        inputs const& in, types const& declared = {}, recurrent_attributes const& attributes = {})
    {
        return infer_lstm(in, declared, attributes);
    }
};

constexpr direction reverse = direction::reverse, bidirectional = direction::bidirectional;

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

/// True if Y has the first type, and all final states have the second.
template <class Types>
constexpr bool is_same(Types const& types, partial_type const& Y, partial_type const& state)
{
    if constexpr (requires { types.Y_c; })
        if (types.Y_c != state)
            return false;
    return types.Y == Y && types.Y_h == state;
}

template <class Types>
constexpr bool is_same(Types const& types, partial_shape const& Y, partial_shape const& state)
{
    return is_same(types, floats(Y), floats(state));
}

/// Returns the types with one type for all final states.
template <class Types>
constexpr Types outputs(partial_type const& Y, partial_type const& state)
{
    Types types{.Y = Y, .Y_h = state};
    if constexpr (requires { types.Y_c; })
        types.Y_c = state;
    return types;
}

// Every opset that has inference, for shapes T, N and I.
template <class Op>
constexpr bool every_version_has_the_shapes()
{
    for (std::int64_t opset = Op::first; opset <= 30; ++opset) {
        recurrent_attributes const attributes{
            .opset = opset, .direction = bidirectional, .hidden_size = 7, .output_sequence = opset < 7};
        if (!is_same(
                Op::infer({.X = floats({"T", "N", "I"})}, {}, attributes), {"T", 2, "N", 7}, {2, "N", 7}))
            return false;
    }
    return true;
}

template <class Op>
constexpr bool directions_tell_their_number()
{
    typename Op::inputs const inputs{.X = floats({6, 3, 2})};
    return is_same(Op::infer(inputs, {}, {.hidden_size = 4}), {6, 1, 3, 4}, {1, 3, 4}) &&
           is_same(
               Op::infer(inputs, {}, {.direction = reverse, .hidden_size = 4}), {6, 1, 3, 4}, {1, 3, 4}) &&
           is_same(Op::infer(inputs, {}, {.direction = bidirectional, .hidden_size = 4}), {6, 2, 3, 4},
               {2, 3, 4}) &&
           is_same(Op::infer(inputs, {}, {.direction = std::nullopt, .hidden_size = 4}), {6, unknown, 3, 4},
               {unknown, 3, 4});
}

template <class Op>
constexpr bool the_batch_may_come_first()
{
    for (std::int64_t const opset : {14, 21, 22, 28})
        if (!is_same(Op::infer({.X = floats({"N", 6, 2})}, {},
                         {.opset = opset, .direction = bidirectional, .hidden_size = 4, .layout = 1}),
                {"N", 6, 2, 4}, {"N", 2, 4}))
            return false;
    return is_same(Op::infer({.X = floats(unknown_rank)}, {}, {.hidden_size = 4, .layout = 1}),
        {unknown, unknown, 1, 4}, {unknown, 1, 4});
}

// R and initial_h would tell H, N and D.
template <class Op>
constexpr bool what_is_unknown_stays_unknown()
{
    typename Op::inputs const inputs{.X = floats(unknown_rank),
        .R = floats({1, Op::gates * 4, 4}),
        .sequence_lens = tensor_type(int32, {3}),
        .initial_h = floats({1, 3, 4})};
    partial_type const Y = floats({unknown, 1, unknown, unknown}), state = floats({1, unknown, unknown});
    return is_same(Op::infer(inputs), Y, state) &&
           is_same(Op::infer(inputs, {}, {.hidden_size = std::nullopt}), Y, state) &&
           is_same(Op::infer(inputs, {}, {.hidden_size = 0}), Y, state) &&
           is_same(Op::infer(inputs, {}, {.hidden_size = -4}), Y, state) &&
           is_same(Op::infer({.X = floats({"T", unknown, 2})}), {"T", 1, unknown, unknown},
               {1, unknown, unknown}) &&
           is_same(Op::infer({.X = floats({0, 0, 0})}, {}, {.hidden_size = 1}), {0, 1, 0, 1}, {1, 0, 1});
}

template <class Op>
constexpr bool only_X_counts()
{
    typename Op::inputs const wrong{.X = floats({6, 3, 2}),
        .W = untyped,
        .R = tensor_type(string, {1}),
        .B = sequence_of(untyped),
        .sequence_lens = floats({7}),
        .initial_h = tensor_type(undefined)};
    return is_same(Op::infer(wrong, {}, {.hidden_size = 4}), {6, 1, 3, 4}, {1, 3, 4});
}

template <class Op>
constexpr bool the_element_type_is_that_of_X()
{
    for (element_type const element : {float16, float_, double_, bfloat16, int32})
        if (!is_same(Op::infer({.X = tensor_type(element, {6, 3, 2}), .W = floats({1, Op::gates * 4, 2})}, {},
                         {.hidden_size = 4}),
                tensor_type(element, {6, 1, 3, 4}), tensor_type(element, {1, 3, 4})))
            return false;
    return true;
}

// Before version 7: which outputs there are is open, unless output_sequence is true.
template <class Op>
constexpr bool without_output_sequence_there_are_no_shapes()
{
    typename Op::inputs const inputs{.X = floats({6, 3, 2})};
    partial_type const state = floats({1, "N", 4});
    for (std::int64_t opset = Op::first; opset <= 6; ++opset)
        if (!is_same(Op::infer(inputs, {}, {.opset = opset, .hidden_size = 4}), unknown_rank, unknown_rank) ||
            !is_same(Op::infer(inputs, outputs<typename Op::types>(untyped, state),
                         {.opset = opset, .hidden_size = 4}),
                floats(unknown_rank), state))
            return false;
    return true;
}

template <class Op>
constexpr bool declared_outputs_add_what_they_know()
{
    auto const declared =
        outputs<typename Op::types>(tensor_type(undefined, {"A", unknown, 3, 4}), floats({1, "B", unknown}));
    return is_same(Op::infer({.X = floats({6, "N", 2})}, declared), {6, 1, 3, 4}, {1, "B", unknown});
}

// --- refusals ---

template <class Op>
constexpr auto infer_X(partial_type const& X)
{
    return Op::infer({.X = X});
}

template <class Op>
constexpr auto infer_attributes(recurrent_attributes const& attributes)
{
    return Op::infer({.X = floats({6, 3, 2})}, {}, attributes);
}

template <class Op>
constexpr auto infer_declared(typename Op::types const& declared)
{
    return Op::infer({.X = floats({6, 3, 2})}, declared, {.hidden_size = 4});
}

/// Checks that the call throws this error, and is no constant expression. `text` follows the function's name.
template <class Op, class Error, class Call>
void check_refusal(Call const& call, std::string const& text)
{
    static_assert(!is_constant<Call{}>);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(call()), (std::string("xloom::") + Op::function + ": " + text).c_str(), Error);
}

TEST_CASE_TEMPLATE("infer_rnn, infer_gru, infer_lstm: rules beyond the official tests", Op, rnn_inference,
    gru_inference, lstm_inference)
{
    static_assert(every_version_has_the_shapes<Op>());
    CHECK(every_version_has_the_shapes<Op>());
    static_assert(directions_tell_their_number<Op>());
    CHECK(directions_tell_their_number<Op>());
    static_assert(the_batch_may_come_first<Op>());
    CHECK(the_batch_may_come_first<Op>());
    static_assert(what_is_unknown_stays_unknown<Op>());
    CHECK(what_is_unknown_stays_unknown<Op>());
    static_assert(only_X_counts<Op>());
    CHECK(only_X_counts<Op>());
    static_assert(the_element_type_is_that_of_X<Op>());
    CHECK(the_element_type_is_that_of_X<Op>());
    static_assert(without_output_sequence_there_are_no_shapes<Op>());
    CHECK(without_output_sequence_there_are_no_shapes<Op>());
    static_assert(declared_outputs_add_what_they_know<Op>());
    CHECK(declared_outputs_add_what_they_know<Op>());
}

TEST_CASE_TEMPLATE(
    "infer_rnn, infer_gru, infer_lstm: attributes", Op, rnn_inference, gru_inference, lstm_inference)
{
    constexpr auto layout_at_14 = [] { return infer_attributes<Op>({.opset = 14, .layout = 1}); };
    constexpr auto sequence_at_6 = [] { return infer_attributes<Op>({.opset = 6, .output_sequence = true}); };
    static_assert(is_constant<layout_at_14> && is_constant<sequence_at_6>);

    check_refusal<Op, option_error>([] { return infer_attributes<Op>({.layout = 2}); },
        "layout must be 0 or 1, but layout is 2. Use 0 for [T, N, I] or 1 for [N, T, I].");
    check_refusal<Op, option_error>([] { return infer_attributes<Op>({.opset = 7, .layout = -1}); },
        "layout must be 0 or 1, but layout is -1. Use 0 for [T, N, I] or 1 for [N, T, I].");
    check_refusal<Op, option_error>([] { return infer_attributes<Op>({.opset = 13, .layout = 1}); },
        "before opset 14 there is only layout 0, but opset is 13 and layout is 1. Use a newer opset.");
    check_refusal<Op, option_error>(
        [] { return infer_attributes<Op>({.opset = 7, .output_sequence = true}); },
        "from opset 7 on there is no output_sequence, but opset is 7 and output_sequence is true. Omit it.");
    check_refusal<Op, option_error>([] { return infer_attributes<Op>({.output_sequence = true}); },
        "from opset 7 on there is no output_sequence, but opset is 28 and output_sequence is true. Omit it.");

    constexpr auto too_old = [] { return infer_attributes<Op>({.opset = 0}); };
    static_assert(!is_constant<too_old>);
    CHECK_THROWS_WITH_AS(static_cast<void>(too_old()),
        (std::string("xloom::operator_version: ") + Op::name +
            " begins with opset 1, but opset is 0. Give a newer opset.")
            .c_str(),
        option_error);
}

TEST_CASE_TEMPLATE("infer_rnn, infer_gru, infer_lstm: X", Op, rnn_inference, gru_inference, lstm_inference)
{
    constexpr auto no_type = [] { return infer_X<Op>(untyped); };
    constexpr auto optional = [] { return infer_X<Op>(optional_of(floats({6, 3, 2}))); };
    constexpr auto sequence = [] { return infer_X<Op>(sequence_of(floats({6, 3, 2}))); };
    constexpr auto sparse = [] { return infer_X<Op>(sparse_tensor_type(float_, {6, 3, 2})); };
    constexpr auto no_element = [] { return infer_X<Op>(tensor_type(undefined, {6, 3, 2})); };
    std::string const known = "X must be a tensor of a known element type, but X is ";
    check_refusal<Op, type_error>(no_type, known + "untyped. Give a tensor's type.");
    check_refusal<Op, type_error>(optional, known + "optional(float[6, 3, 2]). Give a tensor's type.");
    check_refusal<Op, type_error>(sequence, known + "seq(float[6, 3, 2]). Give a tensor's type.");
    check_refusal<Op, type_error>(sparse, known + "sparse float[6, 3, 2]. Give a tensor's type.");
    check_refusal<Op, type_error>(no_element, known + "undefined[6, 3, 2]. Give a tensor's type.");

    constexpr auto scalar = [] { return infer_X<Op>(floats({})); };
    constexpr auto matrix = [] { return infer_X<Op>(floats({6, "N"})); };
    constexpr auto four = [] { return Op::infer({.X = floats({6, 3, 2, 1})}, {}, {.layout = 1}); };
    constexpr auto open = [] { return Op::infer({.X = floats({6, 3, 2, unknown})}, {}, {.layout = 1}); };
    // test_rnn_opset1_to_6_invalid_input_rank
    constexpr auto official = [] {
        return Op::infer({.X = floats({4, 5})}, {}, {.opset = 6, .hidden_size = 4});
    };
    std::string const rank_3 = "X must have rank 3, but X is ";
    check_refusal<Op, shape_error>(scalar, rank_3 + "float[]. Lay it out as [T, N, I].");
    check_refusal<Op, shape_error>(matrix, rank_3 + "float[6, N]. Lay it out as [T, N, I].");
    check_refusal<Op, shape_error>(four, rank_3 + "float[6, 3, 2, 1]. Lay it out as [N, T, I].");
    check_refusal<Op, shape_error>(open, rank_3 + "float[6, 3, 2, ?]. Lay it out as [N, T, I].");
    check_refusal<Op, shape_error>(official, rank_3 + "float[4, 5]. Lay it out as [T, N, I].");
}

TEST_CASE_TEMPLATE(
    "infer_rnn, infer_gru, infer_lstm: declared outputs", Op, rnn_inference, gru_inference, lstm_inference)
{
    constexpr auto kind = [] { return infer_declared<Op>({.Y = sequence_of(untyped)}); };
    constexpr auto element = [] { return infer_declared<Op>({.Y_h = tensor_type(double_)}); };
    constexpr auto rank = [] { return infer_declared<Op>({.Y_h = floats({3, 4})}); };
    constexpr auto dimension = [] { return infer_declared<Op>({.Y = floats({"T", 2, "N", "H"})}); };
    check_refusal<Op, type_error>(kind,
        "an inferred type must be of the declared kind, but Y is inferred as float[6, 1, 3, 4] and declared "
        "as seq(untyped). Declare what is inferred, or nothing.");
    check_refusal<Op, type_error>(element,
        "an inferred type must have the declared element type, but Y_h is inferred as float[1, 3, 4] and "
        "declared as double[...]. Declare what is inferred, or nothing.");
    check_refusal<Op, shape_error>(rank,
        "an inferred shape must have the declared rank, but Y_h is inferred as float[1, 3, 4] and declared "
        "as float[3, 4]. Declare what is inferred, or no shape.");
    check_refusal<Op, shape_error>(dimension,
        "an inferred dimension must equal the declared one, but Y is inferred as float[6, 1, 3, 4] and "
        "declared as float[T, 2, N, H]. Declare what is inferred, or a symbol.");
}

} // namespace

} // namespace infer_recurrent_outputs_test
