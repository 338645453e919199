// infer_attn_lstm: the rule of LSTM, the alignments, and every refusal.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <xloom/infer/recurrent.hpp>

#include "is_constant.hpp"

namespace infer_attn_lstm_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr bool is_same(attn_lstm_types const& a, attn_lstm_types const& b)
{
    return a.Y == b.Y && a.Y_h == b.Y_h && a.Y_c == b.Y_c && a.alignments == b.alignments;
}

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

constexpr attn_lstm_types outputs(
    partial_shape const& Y, partial_shape const& state, partial_shape const& alignments)
{
    return {floats(Y), floats(state), floats(state), floats(alignments)};
}

constexpr direction reverse = direction::reverse, bidirectional = direction::bidirectional;

// T = 6, N = 3, I = 2, H = 4, S = 5, E = 7, A = 8, L = 9, with every input.
constexpr detail::attn_lstm_input_types all_inputs{floats({6, 3, 2}), floats({1, 16, 11}), floats({1, 16, 4}),
    floats({1, 32}), tensor_type(int32, {3}), floats({1, 3, 4}), floats({1, 3, 4}), floats({1, 12}),
    floats({1, 4, 8}), floats({1, 7, 8}), floats({1, 8}), floats({3, 5, 7}), tensor_type(int32, {3}),
    floats({1, 11, 9})};

constexpr bool shapes_come_from_X_and_M()
{
    return is_same(infer_attn_lstm(all_inputs, {}, {.hidden_size = 4}),
               outputs({6, 1, 3, 4}, {1, 3, 4}, {6, 1, 3, 5})) &&
           is_same(infer_attn_lstm(
                       {.X = floats({"T", "N", "I"}), .M = floats({"N", "S", "E"})}, {}, {.hidden_size = 4}),
               outputs({"T", 1, "N", 4}, {1, "N", 4}, {"T", 1, "N", "S"}));
}

constexpr bool directions_tell_their_number()
{
    return is_same(infer_attn_lstm(all_inputs, {}, {reverse, 4}),
               outputs({6, 1, 3, 4}, {1, 3, 4}, {6, 1, 3, 5})) &&
           is_same(infer_attn_lstm(all_inputs, {}, {bidirectional, 4}),
               outputs({6, 2, 3, 4}, {2, 3, 4}, {6, 2, 3, 5})) &&
           is_same(infer_attn_lstm(all_inputs, {}, {std::nullopt, 4}),
               outputs({6, unknown, 3, 4}, {unknown, 3, 4}, {6, unknown, 3, 5}));
}

// M's batch would tell N, and R tells H.
constexpr bool what_is_unknown_stays_unknown()
{
    detail::attn_lstm_input_types inputs = all_inputs;
    inputs.X = floats(unknown_rank);
    attn_lstm_types const only_S =
        outputs({unknown, 1, unknown, unknown}, {1, unknown, unknown}, {unknown, 1, unknown, 5});
    if (!is_same(infer_attn_lstm(inputs), only_S) ||
        !is_same(infer_attn_lstm(inputs, {}, {.hidden_size = std::nullopt}), only_S) ||
        !is_same(infer_attn_lstm(inputs, {}, {.hidden_size = -4}), only_S))
        return false;
    attn_lstm_types const no_S = outputs({6, 1, 3, 4}, {1, 3, 4}, {6, 1, 3, unknown});
    for (partial_type const& M : {untyped, floats(unknown_rank), floats({3, unknown, 7})})
        if (!is_same(infer_attn_lstm({.X = floats({6, 3, 2}), .M = M}, {}, {.hidden_size = 4}), no_S))
            return false;
    return is_same(infer_attn_lstm({.X = floats({0, 0, 0}), .M = floats({0, 0, 0})}, {}, {.hidden_size = 1}),
        outputs({0, 1, 0, 1}, {1, 0, 1}, {0, 1, 0, 0}));
}

// The batches of X and M differ, and M has another element type.
constexpr bool only_the_steps_of_M_count()
{
    detail::attn_lstm_input_types inputs = all_inputs;
    inputs.M = tensor_type(int64, {30, 50, 70});
    return is_same(
        infer_attn_lstm(inputs, {}, {.hidden_size = 4}), outputs({6, 1, 3, 4}, {1, 3, 4}, {6, 1, 3, 50}));
}

constexpr bool nothing_is_read_of_the_others()
{
    detail::attn_lstm_input_types wrong{.X = all_inputs.X, .M = all_inputs.M};
    wrong.W = wrong.R = wrong.B = wrong.sequence_lens = sequence_of(untyped);
    wrong.initial_h = wrong.initial_c = wrong.P = tensor_type(undefined, {1});
    wrong.QW = wrong.MW = wrong.V = wrong.memory_seq_lens = wrong.AW = tensor_type(string, {});
    return is_same(
        infer_attn_lstm(wrong, {}, {.hidden_size = 4}), outputs({6, 1, 3, 4}, {1, 3, 4}, {6, 1, 3, 5}));
}

constexpr bool the_element_type_is_that_of_X()
{
    for (element_type const element : {float16, float_, double_, bfloat16}) {
        detail::attn_lstm_input_types inputs = all_inputs;
        inputs.X = inputs.X.with_element(element);
        attn_lstm_types const inferred = infer_attn_lstm(inputs, {}, {.hidden_size = 4});
        if (inferred.Y != tensor_type(element, {6, 1, 3, 4}) ||
            inferred.Y_h != tensor_type(element, {1, 3, 4}) || inferred.Y_c != inferred.Y_h ||
            inferred.alignments != tensor_type(element, {6, 1, 3, 5}))
            return false;
    }
    return true;
}

constexpr bool declared_outputs_add_what_they_know()
{
    attn_lstm_types const declared{tensor_type(undefined, {"A", unknown, 3, 4}), floats({1, "B", unknown}),
        tensor_type(float_), floats({unknown, unknown, "C", 5})};
    return is_same(infer_attn_lstm({.X = floats({6, "N", 2})}, declared),
        {floats({6, 1, 3, 4}), floats({1, "B", unknown}), floats({1, "N", unknown}), floats({6, 1, "C", 5})});
}

// --- refusals ---

constexpr attn_lstm_types infer_X(partial_type const& X) { return infer_attn_lstm({.X = X}); }

constexpr attn_lstm_types infer_M(partial_type const& M)
{
    return infer_attn_lstm({.X = floats({6, 3, 2}), .M = M});
}

constexpr attn_lstm_types infer_declared(attn_lstm_types const& declared)
{
    return infer_attn_lstm(all_inputs, declared, {.hidden_size = 4});
}

TEST_CASE("infer_attn_lstm: what it infers")
{
    CHECK(always_holds<shapes_come_from_X_and_M>());
    CHECK(always_holds<directions_tell_their_number>());
    CHECK(always_holds<what_is_unknown_stays_unknown>());
    CHECK(always_holds<only_the_steps_of_M_count>());
    CHECK(always_holds<nothing_is_read_of_the_others>());
    CHECK(always_holds<the_element_type_is_that_of_X>());
    CHECK(always_holds<declared_outputs_add_what_they_know>());
}

TEST_CASE("infer_attn_lstm: X")
{
    constexpr auto no_type = [] { return infer_X(untyped); };
    constexpr auto sparse = [] { return infer_X(sparse_tensor_type(float_, {6, 3, 2})); };
    constexpr auto no_element = [] { return infer_X(tensor_type(undefined, {6, 3, 2})); };
    constexpr auto matrix = [] { return infer_X(floats({6, "N"})); };
    check_refused<no_type, type_error>(
        "xloom::infer_attn_lstm: X must be a tensor of a known element type, but X is untyped. Give a "
        "tensor's type.");
    check_refused<sparse, type_error>(
        "xloom::infer_attn_lstm: X must be a tensor of a known element type, but X is sparse float[6, 3, 2]. "
        "Give a tensor's type.");
    check_refused<no_element, type_error>(
        "xloom::infer_attn_lstm: X must be a tensor of a known element type, but X is undefined[6, 3, 2]. "
        "Give a tensor's type.");
    check_refused<matrix, shape_error>(
        "xloom::infer_attn_lstm: X must have rank 3, but X is float[6, N]. Lay it out as [T, N, I].");
}

TEST_CASE("infer_attn_lstm: M")
{
    constexpr auto no_element = [] { return infer_M(tensor_type(undefined, {3, 5, 7})); };
    constexpr auto sequence = [] { return infer_M(sequence_of(floats({3, 5, 7}))); };
    constexpr auto sparse = [] { return infer_M(sparse_tensor_type(float_)); };
    constexpr auto scalar = [] { return infer_M(floats({})); };
    constexpr auto four = [] { return infer_M(floats({1, "N", 5, unknown})); };
    static_assert(is_constant<no_element>);
    check_refused<sequence, type_error>(
        "xloom::infer_attn_lstm: M must be a tensor, but M is seq(float[3, 5, 7]). Give a tensor's type.");
    check_refused<sparse, type_error>(
        "xloom::infer_attn_lstm: M must be a tensor, but M is sparse float[...]. Give a tensor's type.");
    check_refused<scalar, shape_error>(
        "xloom::infer_attn_lstm: M must have rank 3, but M is float[]. Lay it out as [N, S, E].");
    check_refused<four, shape_error>(
        "xloom::infer_attn_lstm: M must have rank 3, but M is float[1, N, 5, ?]. Lay it out as [N, S, E].");
}

TEST_CASE("infer_attn_lstm: declared outputs")
{
    constexpr auto kind = [] { return infer_declared({.Y = optional_of(untyped)}); };
    constexpr auto element = [] { return infer_declared({.Y_h = tensor_type(double_)}); };
    constexpr auto rank = [] { return infer_declared({.Y_c = floats({3, 4})}); };
    constexpr auto dimension = [] { return infer_declared({.alignments = floats({6, 1, 3, 7})}); };
    check_refused<kind, type_error>(
        "xloom::infer_attn_lstm: an inferred type must be of the declared kind, but Y is inferred as "
        "float[6, 1, 3, 4] and declared as "
        "optional(untyped). Declare what is inferred, or nothing.");
    check_refused<element, type_error>(
        "xloom::infer_attn_lstm: an inferred type must have the declared element type, but Y_h is inferred "
        "as float[1, 3, 4] and declared "
        "as double[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_attn_lstm: an inferred shape must have the declared rank, but Y_c is inferred as "
        "float[1, 3, 4] and declared as "
        "float[3, 4]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_attn_lstm: an inferred dimension must equal the declared one, but alignments is "
        "inferred as float[6, 1, 3, 5] and "
        "declared as float[6, 1, 3, 7]. Declare what is inferred, or a symbol.");
}

} // namespace

} // namespace infer_attn_lstm_test
