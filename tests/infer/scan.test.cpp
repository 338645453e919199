// infer_scan: the official ONNX tests of Scan's inference, the rules they leave out, and every refusal.

#include <doctest/doctest.h>

#include <xloom/infer/merge.hpp>
#include <xloom/infer/scan.hpp>

#include "is_constant.hpp"
#include "node_types.hpp"

namespace infer_scan_test {

using namespace xloom;
using enum element_type;
using node_types::identity;

namespace {

constexpr axes one_axis(std::int64_t axis) { return axes{axis}; }

// --- the official tests ---

constexpr bool test_scan()
{
    return infer_scan({untyped, tensor_type(float_, {1, 3}), tensor_type(float_, {1, "sequence", 2})},
               identity, type_list(2, untyped), {.opset = 8, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {1, 3}), tensor_type(float_, {1, "sequence", 2})};
}

constexpr bool test_scan_opset9()
{
    return infer_scan({tensor_type(float_, {3}), tensor_type(float_, {"sequence", 2})}, identity,
               type_list(2, untyped), {.opset = 9, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {3}), tensor_type(float_, {"sequence", 2})};
}

constexpr type_list axis_inputs()
{
    return {tensor_type(float_, {3}), tensor_type(float_, {"axis0", "sequence", 2})};
}

constexpr bool test_scan_opset9_axes()
{
    return infer_scan(axis_inputs(), identity, type_list(2, untyped),
               {.opset = 9, .num_scan_inputs = 1, .scan_input_axes = one_axis(1)}) ==
           type_list{tensor_type(float_, {3}), tensor_type(float_, {"sequence", "axis0", 2})};
}

constexpr bool test_scan_opset9_output_axes()
{
    return infer_scan(axis_inputs(), identity, type_list(2, untyped),
               {.opset = 9,
                   .num_scan_inputs = 1,
                   .scan_input_axes = one_axis(1),
                   .scan_output_axes = one_axis(1)}) ==
           type_list{tensor_type(float_, {3}), tensor_type(float_, {"axis0", "sequence", 2})};
}

constexpr bool test_scan_opset9_negative_axes()
{
    return infer_scan(axis_inputs(), identity, type_list(2, untyped),
               {.opset = 9,
                   .num_scan_inputs = 1,
                   .scan_input_axes = one_axis(-2),
                   .scan_output_axes = one_axis(-2)}) ==
           type_list{tensor_type(float_, {3}), tensor_type(float_, {"axis0", "sequence", 2})};
}

// One scan input of three: in spite of their names, the first two are states, and there is no scan output.
constexpr bool test_scan_inference_with_subgraph()
{
    constexpr auto body = [](type_list const& given) {
        partial_type const undeclared = tensor_type(undefined);
        type_list const in = detail::bind_body_inputs(given, {undeclared, undeclared, undeclared});
        return type_list{merge_type(in[0], undeclared),
            merge_type(node_types::add(in[1], in[2]), tensor_type(float_, {"sequence", 2}))};
    };
    return infer_scan(
               {tensor_type(float_, {3}), tensor_type(float_, {"sequence", 2}), tensor_type(float_, {2})},
               body, type_list(2, untyped), {.opset = 9, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {3}), tensor_type(float_, {"sequence", 2})};
}

// The body of Scan8BasicTest and Scan9BasicTest, whose body's own types are requested, too.
constexpr type_list basic_body(type_list const& given)
{
    type_list const in =
        detail::bind_body_inputs(given, {tensor_type(float_, {2}), tensor_type(float_, {2})});
    return {merge_type(in[0], tensor_type(float_)), merge_type(in[1], tensor_type(float_))};
}

constexpr bool basic_body_alone()
{
    type_list const vectors(2, tensor_type(float_, {2}));
    return basic_body(vectors) == vectors;
}

constexpr bool scan_8_basic_test()
{
    return infer_scan({untyped, tensor_type(float_, {1, 2}), tensor_type(float_, {1, 1, 2})}, basic_body,
               type_list(2, untyped), {.opset = 8, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {1, 2}), tensor_type(float_, {1, 1, 2})};
}

constexpr bool scan_9_basic_test()
{
    return infer_scan({tensor_type(float_, {2}), tensor_type(float_, {1, 2})}, basic_body,
               type_list(2, untyped), {.opset = 9, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {2}), tensor_type(float_, {1, 2})};
}

// Version conversion from 8: declared outputs stand beside the inferred ones.
constexpr bool test_scan_up_from_8()
{
    constexpr auto body = [](type_list const& given) {
        type_list const in = detail::bind_body_inputs(given, type_list(2, tensor_type(float_, {2})));
        partial_type const sum = merge_type(node_types::add(in[0], in[1]), tensor_type(float_, {2}));
        return type_list{sum, sum};
    };
    type_list const declared{tensor_type(float_, {1, 2}), tensor_type(float_, {1, 3, 2})};
    return infer_scan({untyped, tensor_type(float_, {1, 2}), tensor_type(float_, {1, 3, 2})}, body, declared,
               {.opset = 8, .num_scan_inputs = 1}) == declared;
}

// --- what they leave out ---

constexpr bool all_lengths_are_one()
{
    constexpr auto length_of = [](dim const& a, dim const& b) {
        return infer_scan({tensor_type(float_, {a}), tensor_type(float_, {b, 7})}, identity,
            type_list(2, untyped), {.opset = 11, .num_scan_inputs = 2})[0]
            .shape()[0];
    };
    return length_of(4, "M") == 4 && length_of("M", 4) == 4 && length_of("N", "M") == "N" &&
           length_of(unknown, "M") == "M" && length_of(unknown, unknown) == unknown;
}

constexpr bool unknown_ranks_tell_nothing()
{
    return infer_scan({tensor_type(float_), tensor_type(int64)}, identity, type_list(2, untyped),
               {.num_scan_inputs = 1}) == type_list{tensor_type(float_), tensor_type(int64)};
}

// A scan output takes the body's element type, and its length from another input.
constexpr bool a_length_reaches_every_output()
{
    constexpr auto body = [](type_list const&) {
        return type_list{tensor_type(int32, {5}), tensor_type(bool_, {})};
    };
    return infer_scan({tensor_type(float_, {9})}, body, type_list(2, untyped),
               {.num_scan_inputs = 1, .scan_output_axes = axes{-1, -1}}) ==
           type_list{tensor_type(int32, {5, 9}), tensor_type(bool_, {9})};
}

constexpr bool no_scan_inputs_no_length()
{
    constexpr auto body = [](type_list const& given) { return type_list{given[0], given[0]}; };
    return infer_scan({tensor_type(float_, {2})}, body, type_list(2, untyped), {.num_scan_inputs = 0}) ==
           type_list{tensor_type(float_, {2}), tensor_type(float_, {unknown, 2})};
}

constexpr bool a_body_refines_its_state()
{
    constexpr auto body = [](type_list const&) { return type_list{tensor_type(float_, {3, "K"})}; };
    return infer_scan({tensor_type(float_, {"N", unknown}), tensor_type(float_, {2})}, body,
               type_list(1, untyped), {.num_scan_inputs = 1}) == type_list{tensor_type(float_, {3, "K"})};
}

constexpr bool a_state_keeps_its_element_type()
{
    constexpr auto body = [](type_list const&) { return type_list{tensor_type(int32, {2})}; };
    return infer_scan({tensor_type(float_, {2}), tensor_type(float_, {2})}, body, type_list(1, untyped),
               {.num_scan_inputs = 1}) == type_list{tensor_type(float_, {2})};
}

constexpr bool a_silent_body_leaves_the_states()
{
    constexpr auto body = [](type_list const&) { return type_list{}; };
    return infer_scan({tensor_type(float_, {2}), tensor_type(float_, {3})}, body, type_list(2, untyped),
               {.num_scan_inputs = 1}) == type_list{tensor_type(float_, {2}), untyped};
}

// Scan-8: a scan input of scalar elements does not tell N and T.
constexpr bool scalar_elements_tell_nothing_in_scan_8()
{
    return infer_scan({untyped, tensor_type(float_, {4, 6})}, identity, type_list(1, untyped),
               {.opset = 8, .num_scan_inputs = 1}) == type_list{tensor_type(float_, {unknown, unknown})};
}

// Scan-8: what is too short for N and T leaves a scalar in the body.
constexpr bool short_shapes_become_scalars_in_scan_8()
{
    type_list seen;
    infer_scan({untyped, tensor_type(float_, {}), tensor_type(float_, {4})},
        [&seen](type_list const& given) {
            seen = given;
            return type_list{};
        },
        type_list(1, untyped), {.opset = 8, .num_scan_inputs = 1});
    return seen == type_list(2, tensor_type(float_, {}));
}

// Scan-8: only scan inputs tell N and T.
constexpr bool states_do_not_tell_a_length_in_scan_8()
{
    constexpr auto body = [](type_list const& given) { return type_list{tensor_type(float_), given[1]}; };
    return infer_scan({untyped, tensor_type(float_, {"N", 5, 6}), tensor_type(float_, {4, 7, 2})}, body,
               type_list(2, untyped), {.opset = 8, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {"N", 5, 6}), tensor_type(float_, {4, 7, 2})};
}

constexpr bool scan_8_gives_the_batch_to_a_state()
{
    return infer_scan(
               {tensor_type(int64, {4}), tensor_type(float_, {"N", 3}), tensor_type(float_, {4, 6, 2})},
               identity, type_list(2, untyped), {.opset = 8, .num_scan_inputs = 1}) ==
           type_list{tensor_type(float_, {4, 3}), tensor_type(float_, {4, 6, 2})};
}

constexpr bool every_operand_may_be_one_of_32()
{
    type_list inputs(32, tensor_type(float_, {2}));
    inputs.resize(64, tensor_type(float_, {3, 2}));
    type_list const outputs = infer_scan(inputs, identity, type_list(64, untyped), {.num_scan_inputs = 32});
    return outputs == inputs;
}

// --- refusals ---

constexpr type_list state_and_input() { return {tensor_type(float_, {2}), tensor_type(float_, {3, 2})}; }
constexpr type_list one_output() { return {untyped}; }
constexpr type_list two_outputs() { return {untyped, untyped}; }

template <std::int64_t Opset>
constexpr auto num_scan_inputs_out_of_range = [] {
    if constexpr (Opset == 8)
        return infer_scan({untyped, tensor_type(float_, {1, 3}), tensor_type(float_, {1, 2, 2})}, identity,
            one_output(), {.opset = Opset, .num_scan_inputs = 9});
    else
        return infer_scan(state_and_input(), identity, one_output(), {.opset = Opset, .num_scan_inputs = 9});
};

template <std::int64_t Opset>
constexpr auto states_exceed_outputs = [] {
    return infer_scan({tensor_type(float_, {2}), tensor_type(float_, {2}), tensor_type(float_, {3, 2})},
        identity, one_output(), {.opset = Opset, .num_scan_inputs = 1});
};

constexpr type_list infer_declared(partial_type const& type)
{
    return infer_scan(state_and_input(), identity, {untyped, type}, {.num_scan_inputs = 1});
}

constexpr type_list crash_inputs() { return {tensor_type(float_, {1}), tensor_type(float_, {3, 1})}; }
constexpr auto num_scan_inputs_missing = [] {
    return infer_scan(crash_inputs(), identity, crash_inputs(), {.opset = 9});
};
constexpr auto num_scan_inputs_minus_one = [] {
    return infer_scan(crash_inputs(), identity, crash_inputs(), {.opset = 9, .num_scan_inputs = -1});
};

} // namespace

TEST_CASE("infer_scan: the official ONNX tests")
{
    CHECK(always_holds<test_scan>());
    CHECK(always_holds<test_scan_opset9>());
    CHECK(always_holds<test_scan_opset9_axes>());
    CHECK(always_holds<test_scan_opset9_output_axes>());
    CHECK(always_holds<test_scan_opset9_negative_axes>());
    CHECK(always_holds<test_scan_inference_with_subgraph>());
    CHECK(always_holds<basic_body_alone>());
    CHECK(always_holds<scan_8_basic_test>());
    CHECK(always_holds<scan_9_basic_test>());
    CHECK(always_holds<test_scan_up_from_8>());
}

TEST_CASE("infer_scan: the official ONNX tests that must fail")
{
    std::string const too_many =
        "xloom::infer_scan: num_scan_inputs must not exceed the number of states and scan inputs, but "
        "num_scan_inputs is 9 and there are 2. Count only the scan inputs.";
    check_refused<num_scan_inputs_out_of_range<21>, option_error>(too_many);
    check_refused<num_scan_inputs_out_of_range<9>, option_error>(too_many);
    check_refused<num_scan_inputs_out_of_range<8>, option_error>(too_many);

    std::string const without_output =
        "xloom::infer_scan: every state must have an output, but there are 2 loop state variables (inputs "
        "less num_scan_inputs) and 1 output. Give an output for each.";
    check_refused<states_exceed_outputs<9>, type_error>(without_output);
    check_refused<states_exceed_outputs<21>, type_error>(without_output);

    check_refused<num_scan_inputs_missing, option_error>(
        "xloom::infer_scan: num_scan_inputs is required, but it is absent. Give the number of scan inputs.");
    check_refused<num_scan_inputs_minus_one, option_error>(
        "xloom::infer_scan: num_scan_inputs must not be negative, but num_scan_inputs is -1. Give the number "
        "of scan inputs.");
}

TEST_CASE("infer_scan: rules beyond the official tests")
{
    CHECK(always_holds<all_lengths_are_one>());
    CHECK(always_holds<unknown_ranks_tell_nothing>());
    CHECK(always_holds<a_length_reaches_every_output>());
    CHECK(always_holds<no_scan_inputs_no_length>());
    CHECK(always_holds<a_body_refines_its_state>());
    CHECK(always_holds<a_state_keeps_its_element_type>());
    CHECK(always_holds<a_silent_body_leaves_the_states>());
    CHECK(always_holds<scalar_elements_tell_nothing_in_scan_8>());
    CHECK(always_holds<short_shapes_become_scalars_in_scan_8>());
    CHECK(always_holds<states_do_not_tell_a_length_in_scan_8>());
    CHECK(always_holds<scan_8_gives_the_batch_to_a_state>());
    CHECK(always_holds<every_operand_may_be_one_of_32>());
}

TEST_CASE("infer_scan: axes")
{
    constexpr auto input_axis = [] {
        return infer_scan(state_and_input(), identity, two_outputs(),
            {.num_scan_inputs = 1, .scan_input_axes = one_axis(2)});
    };
    check_refused<input_axis, shape_error>(
        "xloom::infer_scan: an axis must be in [-r, r-1] for rank r, but scan_input_axes[0] is 2 and the "
        "rank is 2. Name an axis that exists.");

    constexpr auto scalar_input = [] {
        return infer_scan({tensor_type(float_, {2}), tensor_type(float_, {})}, identity, two_outputs(),
            {.num_scan_inputs = 1});
    };
    check_refused<scalar_input, shape_error>(
        "xloom::infer_scan: an axis must be in [-r, r-1] for rank r, but scan_input_axes[0] is 0 and the "
        "rank is 0. Name an axis that exists.");

    constexpr auto output_axis = [] {
        return infer_scan(state_and_input(), identity, two_outputs(),
            {.num_scan_inputs = 1, .scan_output_axes = one_axis(-3)});
    };
    check_refused<output_axis, shape_error>(
        "xloom::infer_scan: an axis must be in [-r, r-1] for rank r, but scan_output_axes[0] is -3 and the "
        "rank is 2. Name an axis that exists.");

    constexpr auto input_axes_count = [] {
        return infer_scan(state_and_input(), identity, two_outputs(),
            {.num_scan_inputs = 1, .scan_input_axes = axes{0, 1}});
    };
    check_refused<input_axes_count, option_error>(
        "xloom::infer_scan: scan_input_axes must hold one axis for each, but it holds 2: [0, 1], for 1 scan "
        "input. Give 1, or omit the "
        "attribute.");

    constexpr auto output_axes_count = [] {
        return infer_scan(
            state_and_input(), identity, two_outputs(), {.num_scan_inputs = 1, .scan_output_axes = axes{}});
    };
    check_refused<output_axes_count, option_error>(
        "xloom::infer_scan: scan_output_axes must hold one axis for each, but it holds 0: [], for 1 scan "
        "output. Give 1, or omit the "
        "attribute.");
}

TEST_CASE("infer_scan: inputs")
{
    constexpr auto sequence_input = [] {
        return infer_scan({tensor_type(float_, {2}), sequence_of(tensor_type(float_, {3}))}, identity,
            two_outputs(), {.num_scan_inputs = 1});
    };
    check_refused<sequence_input, type_error>(
        "xloom::infer_scan: states and scan inputs must be tensors, but input[1] is seq(float[3]). Give a "
        "tensor, with its type.");

    constexpr auto untyped_state = [] {
        return infer_scan({untyped, untyped, tensor_type(float_, {2, 3})}, identity, two_outputs(),
            {.opset = 8, .num_scan_inputs = 1});
    };
    check_refused<untyped_state, type_error>(
        "xloom::infer_scan: states and scan inputs must be tensors, but input[1] is untyped. Give a tensor, "
        "with its type.");

    constexpr auto undefined_state = [] {
        return infer_scan({tensor_type(undefined, {2}), tensor_type(float_, {2, 3})}, identity, two_outputs(),
            {.num_scan_inputs = 1});
    };
    check_refused<undefined_state, type_error>(
        "xloom::infer_scan: a state must have a known element type, but state[0] is undefined[2]. Give its "
        "element type.");

    constexpr auto lengths = [] {
        return infer_scan({tensor_type(float_, {3}), tensor_type(float_, {"N"}), tensor_type(float_, {4})},
            identity, type_list(3, untyped), {.num_scan_inputs = 3});
    };
    check_refused<lengths, shape_error>(
        "xloom::infer_scan: all scan inputs must agree on the sequence length, but theirs are [3, N, 4]. "
        "Give inputs of one length.");

    constexpr auto batches = [] {
        return infer_scan({untyped, tensor_type(float_, {2, 3, 1}), tensor_type(float_, {5, 3, 1})}, identity,
            two_outputs(), {.opset = 8, .num_scan_inputs = 2});
    };
    check_refused<batches, shape_error>(
        "xloom::infer_scan: all scan inputs must agree on the batch size, but theirs are [2, 5]. Give inputs "
        "of one length.");

    constexpr auto no_inputs_at_8 = [] {
        return infer_scan({}, identity, one_output(), {.opset = 8, .num_scan_inputs = 0});
    };
    check_refused<no_inputs_at_8, type_error>(
        "xloom::infer_scan: the inputs of Scan-8 must begin with sequence_lens, but there are none. Give it, "
        "untyped if it is omitted.");

    constexpr auto too_old = [] {
        return infer_scan(state_and_input(), identity, two_outputs(), {.opset = 7, .num_scan_inputs = 1});
    };
    check_refused<too_old, option_error>(
        "xloom::operator_version: Scan begins with opset 8, but opset is 7. Give a newer opset.");
}

TEST_CASE("infer_scan: what the body returns")
{
    constexpr auto count = [] {
        return infer_scan(state_and_input(), [](type_list const& given) { return type_list{given[0]}; },
            two_outputs(), {.num_scan_inputs = 1});
    };
    check_refused<count, type_error>(
        "xloom::infer_scan: the body must return one value for each output, but outputs has 2 types and the "
        "body returned 1. Return 2.");

    constexpr auto kind = [] {
        return infer_scan(state_and_input(),
            [](type_list const& given) {
                return type_list{given[0], sequence_of(given[1])};
            },
            two_outputs(), {.num_scan_inputs = 1});
    };
    check_refused<kind, type_error>(
        "xloom::infer_scan: the body must return tensors, but output[1] is seq(float[2]). Return a tensor.");

    constexpr auto state_dim = [] {
        return infer_scan(state_and_input(),
            [](type_list const& given) {
                return type_list{tensor_type(float_, {3}), given[1]};
            },
            two_outputs(), {.num_scan_inputs = 1});
    };
    check_refused<state_dim, shape_error>(
        "xloom::infer_scan: a state must keep its shape, but state[0] is [2] and the body makes it [3]. "
        "Return a state shaped like the "
        "initial one.");

    constexpr auto state_rank_at_8 = [] {
        return infer_scan({untyped, tensor_type(float_, {4, 2}), tensor_type(float_, {4, 3, 2})},
            [](type_list const& given) {
                return type_list{tensor_type(float_, {}), given[1]};
            },
            two_outputs(), {.opset = 8, .num_scan_inputs = 1});
    };
    check_refused<state_rank_at_8, shape_error>(
        "xloom::infer_scan: a state must keep its shape, but state[0] is [4, 2] and the body makes it [4]. "
        "Return a state shaped like the "
        "initial one.");
}

TEST_CASE("infer_scan: declared outputs")
{
    constexpr auto refined = [] {
        return infer_scan({tensor_type(float_, {"N"}), tensor_type(float_, {3, unknown})}, identity,
                   {tensor_type(float_, {2}), tensor_type(undefined, {"T", "K"})}, {.num_scan_inputs = 1}) ==
               type_list{tensor_type(float_, {2}), tensor_type(float_, {3, "K"})};
    };
    CHECK(always_holds<refined>());

    constexpr auto kind = [] { return infer_declared(sequence_of(tensor_type(float_))); };
    constexpr auto element = [] { return infer_declared(tensor_type(int64)); };
    constexpr auto rank = [] { return infer_declared(tensor_type(float_, {3})); };
    constexpr auto dimension = [] { return infer_declared(tensor_type(float_, {3, 1})); };
    constexpr auto accepted = [] { return infer_declared(tensor_type(float_, {3, 2})); };
    static_assert(is_constant<accepted>);
    check_refused<kind, type_error>(
        "xloom::infer_scan: an inferred type must be of the declared kind, but output[1] is inferred as "
        "float[3, 2] and declared as "
        "seq(float[...]). Declare what is inferred, or nothing.");
    check_refused<element, type_error>(
        "xloom::infer_scan: an inferred type must have the declared element type, but output[1] is inferred "
        "as float[3, 2] and declared "
        "as int64[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_scan: an inferred shape must have the declared rank, but output[1] is inferred as "
        "float[3, 2] and declared as "
        "float[3]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_scan: an inferred dimension must equal the declared one, but output[1] is inferred as "
        "float[3, 2] and declared as "
        "float[3, 1]. Declare what is inferred, or a symbol.");
}

TEST_CASE("infer_scan: a state and the scan inputs of Scan-8 have one batch size")
{
    constexpr auto other_batch = [] {
        return infer_scan({untyped, tensor_type(float_, {2, 5}), tensor_type(float_, {3, 5}),
                              tensor_type(float_, {2, 7, 5})},
            [](type_list const& given) {
                return type_list{given[0], given[1], given[2]};
            },
            type_list(3, untyped), {.opset = 8, .num_scan_inputs = 1});
    };
    check_refused<other_batch, shape_error>(
        "xloom::infer_scan: a state must have the batch size of the scan inputs, but state[1] is [3, 5] and "
        "their batch size is 2. "
        "Give a state of that batch size.");
}

} // namespace infer_scan_test
