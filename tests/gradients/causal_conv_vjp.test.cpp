// causal_conv_vjp_into against the definition on scalars that carry derivatives, in float64.

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/causal_conv_vjp.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/causal_conv_calls.hpp"
#include "support/dual_gradients.hpp"
#include "support/plain_number.hpp"
#include "support/used_workspace.hpp"
#include "support/xtensor_extras.hpp"

namespace causal_conv_vjp_test {

namespace {

/// Returns the array, or zeros of this shape in place of an omitted one.
textbook::array<double> or_zeros(textbook::array<double> const& array, textbook::dims const& shape)
{
    if (!array.items.empty())
        return array;
    return {shape, std::vector<double>(textbook::size_of(shape), 0.0)};
}

/// The gradients of input, weight, bias and past_state; omitted ones have the derivative at zeros.
operand_gradients expected_gradients(
    textbook::conv_operands<double> const& of, bool silu, textbook::conv_result<double> const& cotangents)
{
    textbook::conv_operands<dual> const operands{carried(of.input), carried(of.weight),
        carried(or_zeros(of.bias, {of.input.shape[1]})),
        carried(or_zeros(of.past_state, cotangents.present_state.shape))};
    return dual_gradients(operands, [&](textbook::conv_operands<dual> const& each) {
        auto const result = textbook::causal_conv(each, silu);
        return weighted_sum(cotangents.output, result.output) +
               weighted_sum(cotangents.present_state, result.present_state);
    });
}

textbook::conv_result<double> random_cotangents(conv_dims const& of, unsigned seed)
{
    std::mt19937 random(seed);
    auto output = random_array<double>(random, {of.B, of.C, of.L}, -1, 1);
    return {output, random_array<double>(random, {of.B, of.C, of.k - 1}, -1, 1)};
}

/// Calls causal_conv_vjp_into; the gradients have the value `content` before the call.
template <class Item, class Policy = xloom::serial_policy>
std::array<std::vector<Item>, 4> found_gradients(textbook::conv_operands<double> const& operands, bool silu,
    textbook::conv_result<double> const& cotangents, placement how = placement::row_major,
    Policy const& policy = {}, double content = 0, xloom::recurrent_workspace<Item> workspace = {})
{
    placed_conv<Item> const of(operands, how);
    auto const ct_output = place<Item>(cotangents.output, how);
    auto const ct_present_state = place<Item>(cotangents.present_state, how);
    auto const filled = [&](textbook::dims const& shape) {
        return place<Item>(
            textbook::array<double>{shape, std::vector<double>(textbook::size_of(shape), content)}, how);
    };
    auto input = filled(operands.input.shape), weight = filled(operands.weight.shape),
         bias = filled({operands.input.shape[1]}), past_state = filled(cotangents.present_state.shape);
    xloom::causal_conv_vjp_into(of.input, of.weight, of.inputs(),
        {.output = ct_output, .present_state = ct_present_state},
        {.input = input, .weight = weight, .bias = bias, .past_state = past_state}, conv_options(silu),
        workspace, policy);
    return {items_of(input), items_of(weight), items_of(bias), items_of(past_state)};
}

void compare(conv_dims const& dims, unsigned given, bool silu, placement how = placement::row_major)
{
    CAPTURE(dims.L);
    CAPTURE(dims.k);
    CAPTURE(given);
    CAPTURE(silu);
    auto const operands = random_conv(dims, given, given + 11);
    auto const cotangents = random_cotangents(dims, given + 12);
    auto const expected = expected_gradients(operands, silu, cotangents);
    auto const found = found_gradients<double>(operands, silu, cotangents, how);
    auto const sums = found_gradients<double>(operands, silu, cotangents, how, xloom::serial, 0.75,
        used_workspace<double>()); // which are added to
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        check_close(found[i], expected[i], 1e-13);
        check_close(sums[i], each_plus(0.75, expected[i]), 1e-13);
    }
}

} // namespace

TEST_CASE("causal_conv_vjp_into: central differences of the textbook")
{
    auto const operands = random_conv({2, 3, 5, 4}, with_bias | with_conv_state, 61);
    auto const cotangents = random_cotangents({2, 3, 5, 4}, 62);
    auto const expected = central_differences(operands, [&](auto const& each) {
        auto const result = textbook::causal_conv(each, true);
        return weighted_sum(cotangents.output, result.output) +
               weighted_sum(cotangents.present_state, result.present_state);
    });
    auto const found = found_gradients<double>(operands, true, cotangents);
    for (std::size_t i = 0; i < expected.size(); ++i)
        check_close(found[i], expected[i], 1e-8);
}

TEST_CASE("causal_conv_vjp_into: a user's scalars")
{
    conv_dims const dims{2, 3, 9, 4};
    for (bool const silu : {false, true}) {
        auto const operands = random_conv(dims, with_bias | with_conv_state, 63);
        auto const cotangents = random_cotangents(dims, 64);
        auto const expected = expected_gradients(operands, silu, cotangents);
        auto const found = found_gradients<plain_number>(operands, silu, cotangents);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            std::vector<double> values;
            for (plain_number const each : found[i])
                values.push_back(each.value);
            check_close(values, expected[i], 1e-13);
        }
    }
}

TEST_CASE("causal_conv_vjp_into: the definition, with any optional operands, in any layout")
{
    for (bool const silu : {false, true})
        for (unsigned given = 0; given < 4; ++given)
            for (placement const how : every_placement)
                compare({2, 3, 5, 4}, given, silu, how);
}

TEST_CASE("causal_conv_vjp_into: sizes around a vector and a block of channels, none of each, one tap")
{
    using sizes = std::initializer_list<std::size_t>;
    for (bool const silu : {false, true}) {
        for (std::size_t const L : sizes{0, 1, 2, 3, 7})
            for (std::size_t const k : sizes{1, 2, 4, 6})
                compare({2, 1, L, k}, with_bias | with_conv_state, silu);
        for (std::size_t const C : sizes{0, 1, 7, 8, 15, 16, 17, 33})
            compare({1, C, 2, 2}, with_bias | with_conv_state, silu);
        compare({0, 2, 3, 2}, with_bias, silu);
    }
}

TEST_CASE("causal_conv_vjp_into: the same bits on several threads")
{
    conv_dims const dims{3, 70, 300, 4};
    for (bool const silu : {false, true}) {
        auto const operands = random_conv(dims, with_bias | with_conv_state, 5);
        auto const cotangents = random_cotangents(dims, 6);
        auto const whole = found_gradients<float>(operands, silu, cotangents);
        for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7})
            CHECK(found_gradients<float>(operands, silu, cotangents, placement::row_major,
                      xloom::thread_policy(threads)) == whole);
    }
}

TEST_CASE("causal_conv_vjp_into: errors, before anything is written")
{
    xt::xtensor<double, 3> const x = xt::ones<double>({1, 2, 3}), weight = xt::ones<double>({2, 1, 2});
    xt::xtensor<double, 3> gradient = xt::ones<double>({1, 2, 3}), state = xt::ones<double>({1, 2, 1});
    CHECK_THROWS_WITH_AS(xloom::causal_conv_vjp_into(
                             x, weight, {}, {.output = x}, {.input = gradient, .past_state = gradient}),
        "xloom::causal_conv_vjp_into: the operands must have the shapes that B = 1, C = 2, L = 3 and k = 2 "
        "give "
        "them, but ct_past_state is [1, 2, 3] instead of [B, C, k - 1] = [1, 2, 1]. Give it that shape.",
        xloom::shape_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv_vjp_into(
                             x, weight, {}, {.output = gradient}, {.input = gradient, .past_state = state}),
        "xloom::causal_conv_vjp_into: an operand that is written must have memory of its own, but ct_input "
        "overlaps ct_output. Copy one of the two.",
        xloom::overlap_error);
    CHECK_THROWS_AS(xloom::causal_conv_vjp_into(x, weight, {}, {.output = x}, {.input = gradient},
                        {.activation = static_cast<xloom::conv_activation>(9)}),
        xloom::option_error);
    CHECK(gradient == xt::ones<double>({1, 2, 3}));
    CHECK(state == xt::ones<double>({1, 2, 1}));
}

TEST_CASE("causal_conv_vjp_into: omitted cotangents and gradients, storage floats")
{
    conv_dims const dims{2, 5, 6, 3};
    auto const operands = random_conv(dims, with_bias | with_conv_state, 51);
    auto cotangents = random_cotangents(dims, 52);
    auto const expected = expected_gradients(operands, true, cotangents);
    auto const half = found_gradients<xloom::bfloat16>(operands, true, cotangents);
    for (std::size_t i = 0; i < expected.size(); ++i)
        check_close(half[i], expected[i], 0.05);
    placed_conv<double> const of(operands);
    auto const ct_state = place<double>(cotangents.present_state);
    auto ct_past = place<double>(or_zeros({}, cotangents.present_state.shape));
    xloom::causal_conv_vjp_into(
        of.input, of.weight, of.inputs(), {.present_state = ct_state}, {.past_state = ct_past});
    std::fill(cotangents.output.items.begin(), cotangents.output.items.end(), 0.0);
    CHECK(items_of(ct_past) == found_gradients<double>(operands, false, cotangents)[3]);
}

TEST_CASE("causal_conv_vjp_into: an infinite weight of steps that do not exist")
{
    xt::xtensor<double, 3> const one = {{{1}}};
    xt::xtensor<double, 3> ct_input = {{{0}}}, ct_past = {{{0}}};
    double const infinity = std::numeric_limits<double>::infinity();
    xt::xtensor<double, 2> const weight = {{infinity, 2}};
    xloom::causal_conv_vjp_into(
        one, weight, {.past_state = one}, {.output = one}, {.input = ct_input, .past_state = ct_past});
    CHECK(ct_input(0, 0, 0) == 2);
    CHECK(ct_past(0, 0, 0) == infinity);
}

} // namespace causal_conv_vjp_test
