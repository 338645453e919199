// infer_if: the official ONNX tests of If's inference, the rules they leave out, and every refusal.
//
// Of the official tests these can't be told in full, for a branch here is a callable that gives its types: *
// test_function_subgraph_initializer_replaces_missing_outer_type is about the look-up of names: which
// `missing` a branch sees.
//   Only the branches' types are left of it.
// * test_mi_function_subgraph_attr, test_mi_function_multiple_calls: the model-local function with its
// attribute is expanded. * test_inference_with_conflow: the same, and its non-strict half ("must not raise,
// outputs stay untyped") has no counterpart: a failure
//   in a branch always comes through.

#include <doctest/doctest.h>

#include <xloom/infer/if.hpp>

#include "is_constant.hpp"
#include "node_types.hpp"

namespace infer_if_test {

using namespace xloom;
using enum element_type;

namespace {

constexpr auto gives = [](auto const&... types) {
    return [types...](type_list const&) { return type_list{types...}; };
};

// --- the official tests ---

constexpr bool test_if(std::int64_t opset)
{
    partial_type const one = tensor_type(float_, {1});
    return infer_if(gives(node_types::add(one, one)), gives(node_types::add(one, one)), type_list(1, untyped),
               {.opset = opset}) == type_list{one};
}

constexpr bool test_if_with_different_shapes_in_then_else_branches()
{
    partial_type const one = tensor_type(float_, {1});
    return infer_if(gives(node_types::add(one, one)), gives(node_types::add(one, tensor_type(float_, {5}))),
               type_list(1, untyped)) == type_list{tensor_type(float_, {unknown})};
}

constexpr partial_type x = tensor_type(float_, {4, 8, 16});

constexpr bool test_if_no_shape_in_then_branch()
{
    return infer_if(gives(node_types::reduce_sum_at_run_time(x)), gives(node_types::reduce_sum(x)),
               type_list(1, untyped)) == type_list{tensor_type(float_)};
}

constexpr bool test_if_no_shape_in_else_branch()
{
    return infer_if(gives(node_types::reduce_sum(x)), gives(node_types::reduce_sum_at_run_time(x)),
               type_list(1, untyped)) == type_list{tensor_type(float_)};
}

constexpr bool test_if_with_different_optional_shapes_in_then_else_branches()
{
    return infer_if(gives(optional_of(tensor_type(float_, {1}))),
               gives(optional_of(tensor_type(float_, {5}))),
               type_list(1, untyped)) == type_list{optional_of(tensor_type(float_, {unknown}))};
}

constexpr bool test_function_subgraph_initializer_replaces_missing_outer_type()
{
    return infer_if(gives(tensor_type(float_, {})), gives(tensor_type(float_, {})), type_list(1, untyped),
               {.opset = 25}) == type_list{tensor_type(float_, {})};
}

constexpr bool test_mi_function(element_type to)
{
    partial_type const target = node_types::cast(tensor_type(float_, {"N"}), to);
    return infer_if(gives(target), gives(target), type_list(1, untyped), {.opset = 17})[0].element() == to;
}

// ArgMin along axis 0 of a scalar fails in the branch.
constexpr auto test_inference_with_conflow = [] {
    constexpr auto arg_min = [](partial_type const& data, std::int64_t axis) {
        if (!is_axis(axis, data.shape().rank()))
            throw index_error("ArgMin: axis");
        return tensor_type(int64, data.shape());
    };
    partial_type const self = tensor_type(float_, {});
    return infer_if(
        [&](type_list const&) {
            return type_list{arg_min(self, 0), node_types::reduce_sum_at_run_time(self)};
        },
        gives(tensor_type(int64, {}), self), type_list(2, untyped), {.opset = 18});
};

constexpr bool test_if_up_from_1(std::int64_t opset)
{
    partial_type const cube = tensor_type(float_, {3, 4, 5});
    return infer_if(gives(cube), gives(cube), {cube}, {.opset = opset}) == type_list{cube};
}

// --- what they leave out ---

constexpr partial_shape join(
    partial_shape const& then_shape, partial_shape const& else_shape, std::int64_t opset)
{
    return infer_if(gives(tensor_type(float_, then_shape)), gives(tensor_type(float_, else_shape)),
        type_list(1, untyped), {.opset = opset})[0]
        .shape();
}

constexpr bool if_1_merges()
{
    return join({"N"}, {3}, 1) == partial_shape{3} && join({3}, {"N"}, 1) == partial_shape{3} &&
           join({"N"}, {"M"}, 1) == partial_shape{"N"} && join(unknown_rank, {3}, 1) == partial_shape{3} &&
           join({3}, unknown_rank, 10) == partial_shape{3};
}

constexpr bool if_11_and_later_unite(std::int64_t opset)
{
    return join({2}, {3}, opset) == partial_shape{unknown} &&
           join({"N"}, {3}, opset) == partial_shape{unknown} &&
           join({"N"}, {"M"}, opset) == partial_shape{unknown} &&
           join({"N"}, {"N"}, opset) == partial_shape{"N"} &&
           join({2, 3}, {2, 4}, opset) == partial_shape{2, unknown} &&
           join({2}, {2, 2}, opset) == unknown_rank && join(unknown_rank, {3}, opset) == unknown_rank &&
           join({3}, unknown_rank, opset) == unknown_rank;
}

// An else branch without a shape is a scalar's at 11 and 12, of unknown rank from 13 on.
constexpr bool a_missing_else_shape()
{
    return join({}, unknown_rank, 11) == partial_shape{} && join({}, unknown_rank, 12) == partial_shape{} &&
           join({}, unknown_rank, 13) == unknown_rank && join(unknown_rank, {}, 11) == unknown_rank;
}

constexpr bool sequences_unite_from_13_on()
{
    partial_type const twos = sequence_of(tensor_type(float_, {2}));
    partial_type const threes = sequence_of(tensor_type(float_, {3}));
    constexpr auto joined = [](partial_type const& a, partial_type const& b, std::int64_t opset) {
        return infer_if(gives(a), gives(b), type_list(1, untyped), {.opset = opset})[0];
    };
    return joined(twos, threes, 1) == twos && joined(twos, threes, 11) == twos &&
           joined(twos, threes, 13) == sequence_of(tensor_type(float_, {unknown})) &&
           joined(optional_of(twos), optional_of(threes), 16) ==
               optional_of(sequence_of(tensor_type(float_, {unknown})));
}

// Before 13 only tensors are looked into.
constexpr bool sequences_are_not_compared_before_13()
{
    partial_type const floats = sequence_of(tensor_type(float_));
    constexpr auto joined = [](partial_type const& a, partial_type const& b, std::int64_t opset) {
        return infer_if(gives(a), gives(b), type_list(1, untyped), {.opset = opset})[0];
    };
    return joined(floats, sequence_of(tensor_type(int64)), 1) == floats &&
           joined(floats, sequence_of(tensor_type(int64)), 11) == floats;
}

constexpr bool outputs_are_matched_by_position()
{
    return infer_if(gives(tensor_type(float_, {2}), tensor_type(int64, {"A"})),
               gives(tensor_type(float_, {2}), tensor_type(int64, {"A"})),
               type_list(2, untyped)) == type_list{tensor_type(float_, {2}), tensor_type(int64, {"A"})};
}

// --- declared outputs ---

constexpr partial_type two = tensor_type(float_, {2});
constexpr partial_type three = tensor_type(float_, {3});

/// What becomes of the output of branches that give [2] and [3].
constexpr partial_type declared(partial_type const& type, bool strict)
{
    return infer_if(gives(two), gives(three), {type}, {.strict = strict})[0];
}

constexpr bool what_a_strict_if_accepts()
{
    return declared(untyped, true) == tensor_type(float_, {unknown}) &&
           declared(tensor_type(float_), true) == tensor_type(float_, {unknown}) &&
           declared(tensor_type(float_, {unknown}), true) == tensor_type(float_, {unknown}) &&
           declared(tensor_type(float_, {"new"}), true) == tensor_type(float_, {"new"}) &&
           infer_if(gives(two), gives(two), {two}, {.strict = true}) == type_list{two} &&
           infer_if(gives(two), gives(two), {tensor_type(float_, {unknown})}, {.strict = true}) ==
               type_list{two} &&
           infer_if(gives(two), gives(two), {tensor_type(float_, {"new"})}, {.strict = true}) ==
               type_list{two} &&
           infer_if(gives(tensor_type(float_, {"N"})), gives(tensor_type(float_, {"N"})),
               {tensor_type(float_, {"N"})}, {.strict = true}) == type_list{tensor_type(float_, {"N"})};
}

constexpr bool a_strict_if_ignores_a_removed_axis()
{
    partial_shape dims{2, 7};
    dims.erase(1);
    return infer_if(gives(two), gives(two), {tensor_type(float_, dims)}, {.strict = true}) == type_list{two};
}

constexpr bool a_lenient_if_keeps_what_is_declared() { return declared(two, false) == two; }

constexpr auto strict_value = [] { return declared(two, true); };
constexpr auto strict_then_symbol = [] {
    return infer_if(
        gives(tensor_type(float_, {"N"})), gives(three), {tensor_type(float_, {"N"})}, {.strict = true});
};
constexpr auto strict_else_symbol = [] {
    return infer_if(
        gives(three), gives(tensor_type(float_, {"N"})), {tensor_type(float_, {"N"})}, {.strict = true});
};
constexpr auto strict_scalar = [] {
    return infer_if(gives(two), gives(tensor_type(float_)), {tensor_type(float_, {})}, {.strict = true});
};
constexpr auto strict_rank = [] {
    return infer_if(gives(two), gives(tensor_type(float_, {2, 2})), {two}, {.strict = true});
};
constexpr auto strict_sequence = [] {
    return infer_if(
        gives(sequence_of(two)), gives(sequence_of(three)), {sequence_of(three)}, {.strict = true});
};

// --- refusals ---

template <std::int64_t Opset>
constexpr auto mismatched_kind =
    [] { return infer_if(gives(two), gives(sequence_of(two)), type_list(1, untyped), {.opset = Opset}); };

template <std::int64_t Opset>
constexpr auto mismatched_kind_turned =
    [] { return infer_if(gives(sequence_of(two)), gives(two), type_list(1, untyped), {.opset = Opset}); };

template <std::int64_t Opset>
constexpr auto mismatched_element = [] {
    return infer_if(gives(two), gives(tensor_type(int64, {2})), type_list(1, untyped), {.opset = Opset});
};

template <std::int64_t Opset>
constexpr auto different_shapes =
    [] { return infer_if(gives(two), gives(three), type_list(1, untyped), {.opset = Opset}); };

} // namespace

TEST_CASE("infer_if: the official ONNX tests")
{
    static_assert(test_if(10) && test_if(latest_opset));
    CHECK(test_if(10));
    CHECK(test_if(latest_opset));
    CHECK(always_holds<test_if_with_different_shapes_in_then_else_branches>());
    CHECK(always_holds<test_if_no_shape_in_then_branch>());
    CHECK(always_holds<test_if_no_shape_in_else_branch>());
    CHECK(always_holds<test_if_with_different_optional_shapes_in_then_else_branches>());
    CHECK(always_holds<test_function_subgraph_initializer_replaces_missing_outer_type>());
    static_assert(test_mi_function(int32) && test_mi_function(int64));
    CHECK(test_mi_function(int32));
    CHECK(test_mi_function(int64));
    check_refused<test_inference_with_conflow, index_error>("ArgMin: axis");
    static_assert(
        test_if_up_from_1(1) && test_if_up_from_1(11) && test_if_up_from_1(13) && test_if_up_from_1(28));
    CHECK(test_if_up_from_1(1));
    CHECK(test_if_up_from_1(11));
    CHECK(test_if_up_from_1(13));
    CHECK(test_if_up_from_1(28));
}

TEST_CASE("infer_if: rules beyond the official tests")
{
    CHECK(always_holds<if_1_merges>());
    static_assert(if_11_and_later_unite(11) && if_11_and_later_unite(13) && if_11_and_later_unite(25));
    CHECK(if_11_and_later_unite(11));
    CHECK(if_11_and_later_unite(13));
    CHECK(if_11_and_later_unite(25));
    CHECK(always_holds<a_missing_else_shape>());
    CHECK(always_holds<sequences_unite_from_13_on>());
    CHECK(always_holds<sequences_are_not_compared_before_13>());
    CHECK(always_holds<outputs_are_matched_by_position>());
}

TEST_CASE("infer_if: numbers of outputs")
{
    constexpr auto branches = [] { return infer_if(gives(two), gives(two, three), type_list(1, untyped)); };
    constexpr auto node = [] { return infer_if(gives(two), gives(two), type_list(2, untyped)); };
    check_refused<branches, type_error>(
        "xloom::infer_if: both branches must give as many outputs as the node has, but then_branch gives 1, "
        "else_branch 2, and the node "
        "has 1. Make the three counts equal.");
    check_refused<node, type_error>(
        "xloom::infer_if: both branches must give as many outputs as the node has, but then_branch gives 1, "
        "else_branch 1, and the node "
        "has 2. Make the three counts equal.");

    constexpr auto too_old = [] {
        return infer_if(gives(two), gives(two), type_list(1, untyped), {.opset = 0});
    };
    check_refused<too_old, option_error>(
        "xloom::operator_version: If begins with opset 1, but opset is 0. Give a newer opset.");
}

TEST_CASE("infer_if: branches that differ")
{
    static_assert(!is_constant<mismatched_kind<1>> && !is_constant<mismatched_kind<11>> &&
                  !is_constant<mismatched_kind<13>>);
    constexpr char const* kinds =
        "xloom::infer_if: both branches must give values of one kind, but output[0] is float[2] by "
        "then_branch and seq(float[2]) by else_branch. Give both as tensors, sequences or optionals.";
    CHECK_THROWS_WITH_AS(mismatched_kind<1>(), kinds, type_error);
    CHECK_THROWS_WITH_AS(mismatched_kind<11>(), kinds, type_error);
    CHECK_THROWS_WITH_AS(mismatched_kind<13>(), kinds, type_error);
    constexpr char const* kinds_turned =
        "xloom::infer_if: both branches must give values of one kind, but output[0] is seq(float[2]) by "
        "then_branch and float[2] by else_branch. Give both as tensors, sequences or optionals.";
    CHECK_THROWS_WITH_AS(mismatched_kind_turned<11>(), kinds_turned, type_error);
    CHECK_THROWS_WITH_AS(mismatched_kind_turned<13>(), kinds_turned, type_error);

    static_assert(!is_constant<mismatched_element<1>> && !is_constant<mismatched_element<11>> &&
                  !is_constant<mismatched_element<13>>);
    constexpr char const* elements =
        "xloom::infer_if: both branches must give the same element type, but output[0] is float[2] by "
        "then_branch and int64[2] by else_branch. Cast one of them.";
    CHECK_THROWS_WITH_AS(mismatched_element<1>(), elements, type_error);
    CHECK_THROWS_WITH_AS(mismatched_element<11>(), elements, type_error);
    CHECK_THROWS_WITH_AS(mismatched_element<13>(), elements, type_error);

    constexpr auto contents_at_13 = [] {
        return infer_if(gives(sequence_of(two)), gives(sequence_of(tensor_type(int64))),
            type_list(1, untyped), {.opset = 13});
    };
    check_refused<contents_at_13, type_error>(
        "xloom::infer_if: both branches must give the same element type, but output[0] is seq(float[2]) by "
        "then_branch and seq(int64[...]) by else_branch. Cast one of them.");

    static_assert(!is_constant<different_shapes<1>> && is_constant<different_shapes<11>>);
    CHECK_THROWS_WITH_AS(different_shapes<1>(),
        "xloom::infer_if: before opset 11 both branches must give the same shape, but output[0] is [2] by "
        "then_branch and [3] by "
        "else_branch. Give one shape, or use opset 11.",
        shape_error);
    constexpr auto ranks = [] { return join({2}, {2, 1}, 10); };
    check_refused<ranks, shape_error>(
        "xloom::infer_if: before opset 11 both branches must give the same shape, but output[0] is [2] by "
        "then_branch and [2, 1] by "
        "else_branch. Give one shape, or use opset 11.");

    constexpr auto content = [] {
        return infer_if(gives(sequence_of(untyped)), gives(sequence_of(two)), type_list(1, untyped));
    };
    check_refused<content, type_error>(
        "xloom::infer_if: the content of a sequence or optional must have a type, but output[0] is "
        "seq(untyped) by then_branch and "
        "seq(float[2]) by else_branch. Give the type of the content.");
}

TEST_CASE("infer_if: declared outputs")
{
    CHECK(always_holds<what_a_strict_if_accepts>());
    CHECK(always_holds<a_strict_if_ignores_a_removed_axis>());
    CHECK(always_holds<a_lenient_if_keeps_what_is_declared>());

    check_refused<strict_value, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "float[2], then_branch gives float[2] "
        "and else_branch float[3]. Declare no shape, or unknown dimensions, or new symbols.");
    check_refused<strict_else_symbol, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "float[N], then_branch gives float[3] "
        "and else_branch float[N]. Declare no shape, or unknown dimensions, or new symbols.");
    check_refused<strict_scalar, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "float[], then_branch gives float[2] "
        "and else_branch float[...]. Declare no shape, or unknown dimensions, or new symbols.");
    check_refused<strict_then_symbol, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "float[N], then_branch gives float[N] "
        "and else_branch float[3]. Declare no shape, or unknown dimensions, or new symbols.");
    check_refused<strict_rank, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "float[2], then_branch gives float[2] "
        "and else_branch float[2, 2]. Declare no shape, or unknown dimensions, or new symbols.");
    check_refused<strict_sequence, shape_error>(
        "xloom::infer_if: a declared output must hold for both branches, but output[0] is declared as "
        "seq(float[3]), then_branch gives "
        "seq(float[2]) and else_branch seq(float[3]). Declare no shape, or unknown dimensions, or new "
        "symbols.");

    constexpr auto element = [] { return declared(tensor_type(int64), false); };
    constexpr auto rank = [] { return declared(tensor_type(float_, {2, 2}), false); };
    constexpr auto dimension = [] { return infer_if(gives(two), gives(two), {three}); };
    check_refused<element, type_error>(
        "xloom::infer_if: an inferred type must have the declared element type, but output[0] is inferred as "
        "float[?] and declared as "
        "int64[...]. Declare what is inferred, or nothing.");
    check_refused<rank, shape_error>(
        "xloom::infer_if: an inferred shape must have the declared rank, but output[0] is inferred as "
        "float[?] and declared as "
        "float[2, 2]. Declare what is inferred, or no shape.");
    check_refused<dimension, shape_error>(
        "xloom::infer_if: an inferred dimension must equal the declared one, but output[0] is inferred as "
        "float[2] and declared as "
        "float[3]. Declare what is inferred, or a symbol.");
}

} // namespace infer_if_test
