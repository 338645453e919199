// infer_loop: the official ONNX tests of Loop's inference, the rules they leave out, and every refusal.

#include <doctest/doctest.h>

#include <xloom/infer/loop.hpp>
#include <xloom/infer/merge.hpp>

#include "is_constant.hpp"
#include "node_types.hpp"

namespace infer_loop_test {

using namespace xloom;
using enum element_type;
using node_types::identity;

namespace {

constexpr partial_type m_vector = tensor_type(int64, {1});
constexpr partial_type trips = tensor_type(int64, {});
constexpr partial_type flag = tensor_type(bool_, {});

// --- the official tests ---

// cond is a float here: its type is not looked at. The last output is a value of the outer scope.
constexpr bool test_loop()
{
    constexpr auto body = [](type_list const& given) {
        type_list const in = detail::bind_body_inputs(given, {m_vector, untyped, untyped});
        return type_list{in[1], in[2], merge_type(tensor_type(float_, {3}), tensor_type(float_, {3}))};
    };
    return infer_loop({m_vector, tensor_type(float_, {1}), tensor_type(float_, {2})}, body,
               type_list(2, untyped)) == type_list{tensor_type(float_), tensor_type(float_, {unknown, 3})};
}

constexpr bool test_loop_no_state()
{
    constexpr auto body = [](type_list const& given) {
        type_list const in = detail::bind_body_inputs(given, {m_vector, untyped});
        return type_list{in[1], tensor_type(float_, {3})};
    };
    return infer_loop({m_vector, tensor_type(float_, {1})}, body, type_list(1, untyped)) ==
           type_list{tensor_type(float_, {unknown, 3})};
}

// M is the constant 5 there, but cond may end the loop before: the length must not become 5. (Data does not
// reach infer_loop at all.)
constexpr bool test_loop_with_constant_trip_count_and_early_exit()
{
    constexpr auto body = [](type_list const& given) {
        detail::bind_body_inputs(given, {trips, flag});
        return type_list{flag, tensor_type(float_, {3})};
    };
    type_list const outputs = infer_loop({trips, flag}, body, type_list(1, untyped), {.opset = 13});
    return outputs[0].shape().rank() == 2 && outputs[0].shape()[0] != 5 && outputs[0].shape()[1] == 3;
}

// Version conversions: cond is omitted, and declared outputs stand where inference alone would know less.
constexpr bool test_loop_1_up_from_1(std::int64_t opset)
{
    constexpr auto body = [](type_list const& given) {
        partial_type const one = tensor_type(float_, {1});
        type_list const in = detail::bind_body_inputs(given, {trips, flag, one});
        partial_type const sum = merge_type(node_types::add(in[2], one), one);
        return type_list{in[1], sum, sum};
    };
    type_list const declared{tensor_type(float_, {1}), tensor_type(float_, {5, 1})};
    return infer_loop({trips, untyped, tensor_type(float_, {1})}, body, declared, {.opset = opset}) ==
               declared &&
           infer_loop({trips, untyped, tensor_type(float_, {1})}, body, type_list(2, untyped),
               {.opset = opset}) == type_list{tensor_type(float_), tensor_type(float_, {unknown, 1})};
}

constexpr bool test_loop_2_up_from_12(std::int64_t opset)
{
    constexpr auto body = [](type_list const& given) {
        partial_type const column = tensor_type(float_, {2, 1});
        type_list const in = detail::bind_body_inputs(given, {trips, flag, column});
        return type_list{in[1], merge_type(node_types::unsqueeze(node_types::squeeze(in[2], 1), 1), column)};
    };
    type_list const declared{tensor_type(float_, {2, 1})};
    return infer_loop({trips, untyped, tensor_type(float_, {2, 1})}, body, declared, {.opset = opset}) ==
           declared;
}

// --- what they leave out ---

/// What the body is given for a carried value, and what becomes of it if the body hands it on.
constexpr partial_type body_sees(partial_type const& carried, std::int64_t opset)
{
    partial_type seen;
    infer_loop({trips, flag, carried},
        [&seen](type_list const& given) {
            seen = given[2];
            return type_list{};
        },
        type_list(1, untyped), {.opset = opset});
    return seen;
}

constexpr partial_type carried_out(
    partial_type const& initial, partial_type const& returned, std::int64_t opset)
{
    return infer_loop({trips, flag, initial},
        [&returned](type_list const&) {
            return type_list{flag, returned};
        },
        type_list(1, untyped), {.opset = opset})[0];
}

constexpr bool a_body_sees_no_carried_shapes()
{
    partial_type const vector = tensor_type(float_, {2});
    partial_type const bare = tensor_type(float_);
    return body_sees(vector, 1) == bare && body_sees(vector, 11) == bare &&
           body_sees(sequence_of(vector), 13) == sequence_of(bare) &&
           body_sees(optional_of(sequence_of(vector)), 16) == optional_of(sequence_of(bare));
}

constexpr bool a_body_sees_iteration_and_cond()
{
    type_list seen;
    infer_loop(
        {untyped, untyped},
        [&seen](type_list const& given) {
            seen = given;
            return type_list{};
        },
        type_list(1, untyped));
    return seen == type_list{tensor_type(int64), untyped};
}

constexpr bool a_carried_shape_is_never_inferred()
{
    partial_type const vector = tensor_type(float_, {2});
    return carried_out(vector, vector, 1) == tensor_type(float_) &&
           carried_out(vector, vector, 25) == tensor_type(float_);
}

// The initial shape inside a sequence or optional stays, sound or not.
constexpr bool an_initial_inner_shape_stays()
{
    partial_type const twos = sequence_of(tensor_type(float_, {2}));
    partial_type const threes = sequence_of(tensor_type(float_, {3}));
    return carried_out(twos, threes, 13) == twos &&
           carried_out(optional_of(twos), optional_of(threes), 16) == optional_of(twos);
}

// From 16 on an optional may go in and its content, or the other way round, come out.
constexpr bool an_optional_may_become_a_sequence()
{
    partial_type const twos = sequence_of(tensor_type(float_, {2}));
    partial_type const bare = sequence_of(tensor_type(float_));
    return carried_out(optional_of(twos), twos, 16) == bare &&
           carried_out(twos, optional_of(twos), 16) == optional_of(bare);
}

constexpr bool a_scan_output_is_stacked()
{
    constexpr auto element_to_output = [](partial_type const& element) {
        return infer_loop(
            {trips, flag},
            [&element](type_list const&) {
                return type_list{flag, element};
            },
            type_list(1, untyped))[0];
    };
    return element_to_output(tensor_type(int32, {})) == tensor_type(int32, {unknown}) &&
           element_to_output(tensor_type(int32, {"A", 2})) == tensor_type(int32, {unknown, "A", 2}) &&
           element_to_output(tensor_type(int32)) == tensor_type(int32);
}

constexpr bool a_silent_body_leaves_the_carried()
{
    return infer_loop(
               {trips, flag, tensor_type(float_, {2})}, [](type_list const&) { return type_list{}; },
               type_list(2, untyped)) == type_list{tensor_type(float_), untyped};
}

constexpr bool every_operand_may_be_one_of_32()
{
    type_list inputs{trips, flag};
    inputs.resize(34, tensor_type(float_));
    auto const body = [](type_list const& given) {
        type_list returned(given.begin() + 1, given.end());
        returned.resize(65, tensor_type(float_, {2}));
        return returned;
    };
    type_list expected(32, tensor_type(float_));
    expected.resize(64, tensor_type(float_, {unknown, 2}));
    return infer_loop(inputs, body, type_list(64, untyped)) == expected;
}

// --- refusals ---

constexpr type_list carry_float() { return {trips, flag, tensor_type(float_, {2})}; }

constexpr type_list infer_returned(partial_type const& returned, std::int64_t opset)
{
    return infer_loop(carry_float(),
        [&returned](type_list const&) {
            return type_list{flag, returned};
        },
        type_list(1, untyped), {.opset = opset});
}

constexpr type_list infer_element(partial_type const& element)
{
    return infer_loop(
        {trips, flag},
        [&element](type_list const&) {
            return type_list{flag, element};
        },
        type_list(1, untyped));
}

constexpr type_list infer_carried(partial_type const& carried, std::int64_t opset)
{
    return infer_loop({trips, flag, carried}, identity, type_list(1, untyped), {.opset = opset});
}

constexpr type_list infer_declared(partial_type const& declared)
{
    return infer_loop({trips, flag},
        [](type_list const&) {
            return type_list{flag, tensor_type(float_, {3})};
        },
        {declared});
}

} // namespace

TEST_CASE("infer_loop: the official ONNX tests")
{
    CHECK(always_holds<test_loop>());
    CHECK(always_holds<test_loop_no_state>());
    CHECK(always_holds<test_loop_with_constant_trip_count_and_early_exit>());
    static_assert(test_loop_1_up_from_1(1) && test_loop_1_up_from_1(11) && test_loop_1_up_from_1(13) &&
                  test_loop_1_up_from_1(28));
    CHECK(test_loop_1_up_from_1(1));
    CHECK(test_loop_1_up_from_1(11));
    CHECK(test_loop_1_up_from_1(13));
    CHECK(test_loop_1_up_from_1(28));
    static_assert(test_loop_2_up_from_12(12) && test_loop_2_up_from_12(13) && test_loop_2_up_from_12(28));
    CHECK(test_loop_2_up_from_12(12));
    CHECK(test_loop_2_up_from_12(13));
    CHECK(test_loop_2_up_from_12(28));
}

TEST_CASE("infer_loop: rules beyond the official tests")
{
    CHECK(always_holds<a_body_sees_no_carried_shapes>());
    CHECK(always_holds<a_body_sees_iteration_and_cond>());
    CHECK(always_holds<a_carried_shape_is_never_inferred>());
    CHECK(always_holds<an_initial_inner_shape_stays>());
    CHECK(always_holds<an_optional_may_become_a_sequence>());
    CHECK(always_holds<a_scan_output_is_stacked>());
    CHECK(always_holds<a_silent_body_leaves_the_carried>());
    CHECK(always_holds<every_operand_may_be_one_of_32>());
}

TEST_CASE("infer_loop: numbers of inputs and outputs")
{
    constexpr auto no_cond = [] { return infer_loop({trips}, identity, type_list(1, untyped)); };
    constexpr auto no_output = [] { return infer_loop(carry_float(), identity, {}); };
    constexpr auto short_body = [] {
        return infer_loop(
            carry_float(), [](type_list const&) { return type_list{flag}; }, type_list(1, untyped));
    };
    check_refused<no_cond, type_error>(
        "xloom::infer_loop: the inputs must begin with M and cond, untyped where omitted, but inputs has 1 "
        "type. Give both.");
    check_refused<no_output, type_error>(
        "xloom::infer_loop: every carried value must have an output, but inputs has 1 carried value and "
        "outputs has 0 types. Give an "
        "output for each.");
    check_refused<short_body, type_error>(
        "xloom::infer_loop: the body must return cond and one value for each output, but outputs has 1 type "
        "and the body returned 1. "
        "Return 2.");

    constexpr auto too_old = [] { return infer_carried(tensor_type(float_), 0); };
    check_refused<too_old, option_error>(
        "xloom::operator_version: Loop begins with opset 1, but opset is 0. Give a newer opset.");
}

TEST_CASE("infer_loop: carried values")
{
    constexpr auto no_type = [] { return infer_carried(untyped, 16); };
    constexpr auto sequence_at_11 = [] { return infer_carried(sequence_of(tensor_type(float_)), 11); };
    constexpr auto optional_at_13 = [] { return infer_carried(optional_of(tensor_type(float_)), 13); };
    check_refused<no_type, type_error>(
        "xloom::infer_loop: a carried value must have a known element type, but input[2] is untyped. Give "
        "its type.");
    check_refused<sequence_at_11, type_error>(
        "xloom::infer_loop: a carried value must be a tensor (from opset 13 also a sequence, from 16 an "
        "optional), but input[2] is seq(float[...]). Carry another kind, or use a newer opset.");
    check_refused<optional_at_13, type_error>(
        "xloom::infer_loop: a carried value must be a tensor (from opset 13 also a sequence, from 16 an "
        "optional), but input[2] is optional(float[...]). Carry another kind, or use a newer opset.");

    constexpr auto element = [] { return infer_returned(tensor_type(int64), 1); };
    constexpr auto undefined_element = [] { return infer_returned(tensor_type(undefined), 16); };
    constexpr auto tensor_for_sequence = [] {
        return infer_loop({trips, flag, sequence_of(tensor_type(float_, {2}))},
            [](type_list const&) {
                return type_list{flag, tensor_type(float_)};
            },
            type_list(1, untyped), {.opset = 13});
    };
    constexpr auto sequence_for_tensor = [] { return infer_returned(sequence_of(tensor_type(float_)), 16); };
    constexpr auto other_elements = [] {
        return infer_loop({trips, flag, optional_of(sequence_of(tensor_type(float_)))},
            [](type_list const&) {
                return type_list{flag, sequence_of(tensor_type(int64))};
            },
            type_list(1, untyped), {.opset = 16});
    };
    constexpr auto other_content = [] {
        return infer_loop({trips, flag, optional_of(tensor_type(int32, {2}))},
            [](type_list const&) {
                return type_list{flag, optional_of(sequence_of(tensor_type(float_)))};
            },
            type_list(1, untyped), {.opset = 16});
    };
    constexpr auto kept = [] { return infer_returned(tensor_type(float_), 1); };
    static_assert(is_constant<kept>);
    check_refused<element, type_error>(
        "xloom::infer_loop: a carried value must keep its element type, but output[0] begins as float[2] and "
        "the body returned int64[...]. "
        "Cast it back in the body.");
    check_refused<undefined_element, type_error>(
        "xloom::infer_loop: the body must return known element types, but output[0] is undefined[...]. Give "
        "its type.");
    check_refused<tensor_for_sequence, type_error>(
        "xloom::infer_loop: a carried value must keep its kind, but output[0] begins as seq(float[2]) and "
        "the body returned float[...]. "
        "Return the kind that the value begins with.");
    check_refused<sequence_for_tensor, type_error>(
        "xloom::infer_loop: a carried value must keep its kind, but output[0] begins as float[2] and the "
        "body returned seq(float[...]). Return the kind that the value begins with.");
    check_refused<other_elements, type_error>(
        "xloom::infer_loop: a carried value must keep its element type, but output[0] begins as "
        "optional(seq(float[...])) and the body returned seq(int64[...]). Cast it back in the body.");
    check_refused<other_content, type_error>(
        "xloom::infer_loop: a carried value must keep its kind, but output[0] begins as optional(int32[2]) "
        "and the body returned optional(seq(float[...])). Return the kind that the value begins with.");
}

TEST_CASE("infer_loop: kinds the body may return, by version")
{
    constexpr auto sequence_at_11 = [] { return infer_returned(sequence_of(tensor_type(float_)), 11); };
    constexpr auto optional_at_13 = [] { return infer_returned(optional_of(tensor_type(float_)), 13); };
    constexpr auto no_type = [] { return infer_returned(untyped, 25); };
    check_refused<sequence_at_11, type_error>(
        "xloom::infer_loop: the body must return tensors (from opset 13 also sequences, from 16 optionals), "
        "but output[0] is "
        "seq(float[...]). Return another kind, or give its type.");
    check_refused<optional_at_13, type_error>(
        "xloom::infer_loop: the body must return tensors (from opset 13 also sequences, from 16 optionals), "
        "but output[0] is "
        "optional(float[...]). Return another kind, or give its type.");
    check_refused<no_type, type_error>(
        "xloom::infer_loop: the body must return tensors (from opset 13 also sequences, from 16 optionals), "
        "but output[0] is untyped. "
        "Return another kind, or give its type.");
}

TEST_CASE("infer_loop: scan outputs")
{
    constexpr auto sequence = [] { return infer_element(sequence_of(tensor_type(float_))); };
    constexpr auto undefined_element = [] { return infer_element(tensor_type(undefined, {2})); };
    check_refused<sequence, type_error>(
        "xloom::infer_loop: a scan output must be a tensor, but the body returned seq(float[...]) for "
        "output[0]. Carry it instead.");
    check_refused<undefined_element, type_error>(
        "xloom::infer_loop: the body must return known element types, but output[0] is undefined[2]. Give "
        "its type.");
}

TEST_CASE("infer_loop: declared outputs")
{
    constexpr auto accepted = [] { return infer_declared(tensor_type(float_, {"T", unknown})); };
    static_assert(accepted() == type_list{tensor_type(float_, {"T", 3})});
    CHECK(accepted() == type_list{tensor_type(float_, {"T", 3})});

    constexpr auto element = [] { return infer_declared(tensor_type(double_)); };
    constexpr auto rank = [] { return infer_declared(tensor_type(float_, {3})); };
    constexpr auto dimension = [] { return infer_declared(tensor_type(float_, {5, 4})); };
    check_refused<element, type_error>(
        "xloom::infer_loop: an inferred type must have the declared element type, but output[0] is inferred "
        "as float[?, 3] and declared "
        "as double[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_loop: an inferred shape must have the declared rank, but output[0] is inferred as "
        "float[?, 3] and declared as "
        "float[3]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_loop: an inferred dimension must equal the declared one, but output[0] is inferred as "
        "float[?, 3] and declared as "
        "float[5, 4]. Declare what is inferred, or a symbol.");
}

} // namespace infer_loop_test
