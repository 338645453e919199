// infer_selective_scan: shapes with and without a batch axis, dimensions from every operand, refusals.

#include <doctest/doctest.h>

#include <xloom/infer/selective_scan.hpp>

#include "is_constant.hpp"

namespace infer_selective_scan_test {

using namespace xloom;

namespace {

using enum element_type; // hides the types of the same names

constexpr partial_type floats(partial_shape const& dims) { return tensor_type(float_, dims); }

constexpr bool is_same(selective_scan_types const& a, selective_scan_types const& b)
{
    return a.y == b.y && a.final_state == b.final_state;
}

constexpr selective_scan_types outputs(partial_shape const& y, partial_shape const& final_state)
{
    return {floats(y), floats(final_state)};
}

constexpr selective_scan_input_types all{.u = floats({2, 5, 3}),
    .delta = floats({2, 5, 3}),
    .A = floats({3, 4}),
    .B = floats({2, 5, 4}),
    .C = floats({2, 5, 4}),
    .D = floats({3}),
    .z = floats({2, 5, 3}),
    .delta_bias = floats({3}),
    .initial_state = floats({2, 3, 4})};

constexpr bool known_shapes_hold()
{
    return is_same(infer_selective_scan(all), outputs({2, 5, 3}, {2, 3, 4})) &&
           is_same(infer_selective_scan({.u = floats({5, 3}),
                       .delta = floats({5, 3}),
                       .A = floats({3, 4}),
                       .B = floats({5, 4}),
                       .C = floats({5, 4}),
                       .D = floats({3}),
                       .z = floats({5, 3}),
                       .delta_bias = floats({3}),
                       .initial_state = floats({3, 4})}),
               outputs({5, 3}, {3, 4})) &&
           is_same(infer_selective_scan(
                       {.u = tensor_type(float16, {0, 0, 0}), .A = tensor_type(float16, {0, 0})}),
               {tensor_type(float16, {0, 0, 0}), tensor_type(float16, {0, 0, 0})});
}

// u of an unknown rank: one operand is what is known.
constexpr bool each_operand_is_read()
{
    auto const with = [](selective_scan_input_types inputs) {
        inputs.u = floats(unknown_rank);
        return infer_selective_scan(inputs);
    };
    dim const q = unknown;
    return is_same(with({}), outputs(unknown_rank, unknown_rank)) &&
           is_same(with({.delta = floats({2, 5, 3})}), outputs({2, 5, 3}, {2, 3, q})) &&
           is_same(with({.A = floats({3, 4})}), outputs(unknown_rank, unknown_rank)) &&
           is_same(with({.A = floats({3, 4}), .B = floats({q, q, q})}), outputs({q, q, 3}, {q, 3, 4})) &&
           is_same(with({.B = floats({2, 5, 4})}), outputs({2, 5, q}, {2, q, 4})) &&
           is_same(with({.C = floats({5, 4})}), outputs({5, q}, {q, 4})) &&
           is_same(with({.C = floats({5, 4}), .D = floats({3})}), outputs({5, 3}, {3, 4})) &&
           is_same(with({.z = floats({5, 3})}), outputs({5, 3}, {3, q})) &&
           is_same(with({.z = floats({5, q}), .delta_bias = floats({3})}), outputs({5, 3}, {3, q})) &&
           is_same(with({.initial_state = floats({2, 3, 4})}), outputs({2, q, 3}, {2, 3, 4}));
}

constexpr bool symbols_hold()
{
    return is_same(infer_selective_scan({.u = floats({"N", "T", unknown}),
                       .delta = floats({"M", 5, "K"}),
                       .A = floats({3, "S"}),
                       .B = tensor_type(undefined, {unknown, 5, "R"})}),
               outputs({"N", 5, 3}, {"N", 3, "S"})) &&
           is_same(infer_selective_scan({.u = floats({"N", "T", "K"})},
                       {floats({unknown, 7, "L"}), tensor_type(undefined, {1, unknown, 4})}),
               outputs({"N", 7, "L"}, {1, "K", 4}));
}

constexpr selective_scan_types infer_with(partial_type const& delta)
{
    selective_scan_input_types inputs = all;
    inputs.delta = delta;
    return infer_selective_scan(inputs);
}

} // namespace

TEST_CASE("infer_selective_scan: shapes with and without a batch axis, symbols")
{
    static_assert(known_shapes_hold());
    CHECK(known_shapes_hold());
    static_assert(symbols_hold());
    CHECK(symbols_hold());
}

TEST_CASE("infer_selective_scan: each operand is read")
{
    static_assert(each_operand_is_read());
    CHECK(each_operand_is_read());
}

TEST_CASE("infer_selective_scan: refusals of types")
{
    constexpr auto no_u = [] { return infer_selective_scan({.A = floats({3, 4})}); };
    constexpr auto unknown_items = [] { return infer_selective_scan({.u = tensor_type(undefined, {5, 3})}); };
    constexpr auto other_items = [] { return infer_with(tensor_type(double_, {2, 5, 3})); };
    constexpr auto sequence = [] { return infer_with(sequence_of(floats({2, 5, 3}))); };
    constexpr auto declared = [] { return infer_selective_scan(all, {.y = tensor_type(double_)}); };
    static_assert(!is_constant<no_u> && !is_constant<unknown_items> && !is_constant<other_items> &&
                  !is_constant<sequence> && !is_constant<declared>);
    CHECK_THROWS_WITH_AS(no_u(),
        "xloom::infer_selective_scan: u must be a tensor of a known element type, but u is untyped. Give a "
        "tensor's type.",
        type_error);
    CHECK_THROWS_AS(unknown_items(), type_error);
    CHECK_THROWS_WITH_AS(other_items(),
        "xloom::infer_selective_scan: delta must be a tensor of u's element type, but delta is double[2, 5, "
        "3] and u is float[2, 5, 3]. Give that type, or none.",
        type_error);
    CHECK_THROWS_AS(sequence(), type_error);
    CHECK_THROWS_AS(declared(), type_error);
}

TEST_CASE("infer_selective_scan: refusals of shapes")
{
    constexpr auto rank = [] { return infer_selective_scan({.u = floats({2, 5, 3, 1})}); };
    constexpr auto no_batch = [] { return infer_with(floats({5, 3})); };
    constexpr auto batch = [] {
        return infer_selective_scan({.u = floats({5, 3}), .initial_state = floats({1, 3, 4})});
    };
    constexpr auto steps = [] { return infer_with(floats({2, 6, 3})); };
    constexpr auto states = [] {
        selective_scan_input_types inputs = all;
        inputs.initial_state = floats({"N", "K", 5});
        return infer_selective_scan(inputs);
    };
    constexpr auto channels = [] {
        return infer_selective_scan({.u = floats({5, "K"}), .D = floats({3}), .delta_bias = floats({4})});
    };
    constexpr auto declared = [] { return infer_selective_scan(all, {.final_state = floats({2, 3, 5})}); };
    static_assert(!is_constant<rank> && !is_constant<no_batch> && !is_constant<batch> &&
                  !is_constant<steps> && !is_constant<states> && !is_constant<channels> &&
                  !is_constant<declared>);
    CHECK_THROWS_WITH_AS(rank(),
        "xloom::infer_selective_scan: u must have the shape [N, T, K] = [?, ?, ?], but u is float[2, 5, 3, "
        "1]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(no_batch(),
        "xloom::infer_selective_scan: delta must have the shape [N, T, K] = [2, 5, 3], but delta is float[5, "
        "3]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(batch(),
        "xloom::infer_selective_scan: initial_state must have the shape [K, S] = [3, ?], but initial_state "
        "is "
        "float[1, 3, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(steps(), shape_error);
    CHECK_THROWS_WITH_AS(states(),
        "xloom::infer_selective_scan: initial_state must have the shape [N, K, S] = [2, 3, 4], but "
        "initial_state is float[N, K, 5]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(channels(),
        "xloom::infer_selective_scan: delta_bias must have the shape [K] = [3], but delta_bias is float[4]. "
        "Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(declared(), shape_error);
}

} // namespace infer_selective_scan_test
