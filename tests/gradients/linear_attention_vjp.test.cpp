// linear_attention_vjp_into against the definition on scalars that carry derivatives, in float64.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/dual_gradients.hpp"
#include "support/linear_attention_calls.hpp"
#include "support/placed_items.hpp"
#include "support/plain_number.hpp"
#include "support/used_workspace.hpp"
#include "support/xtensor_extras.hpp"

namespace linear_attention_vjp_test {

namespace {

using xloom::update_rule;

constexpr update_rule every_rule[] = {
    update_rule::linear, update_rule::gated, update_rule::delta, update_rule::gated_delta};

/// The gradients of query, key, value, past_state, decay and beta. An omitted past state has the derivative
/// at zeros.
operand_gradients expected_gradients(textbook::attention_operands<double> const& of,
    attention_dims const& dims, textbook::attention_result<double> const& cotangents)
{
    textbook::array<double> past_state = of.past_state;
    if (past_state.items.empty())
        past_state = {
            cotangents.present_state.shape, std::vector<double>(cotangents.present_state.items.size(), 0.0)};
    textbook::attention_operands<dual> const operands{carried(of.query), carried(of.key), carried(of.value),
        carried(past_state), carried(of.decay), carried(of.beta), of.lengths};
    dual const scale = 1 / std::sqrt(static_cast<double>(dims.K));
    return dual_gradients(operands, [&](textbook::attention_operands<dual> const& each) {
        auto const result = textbook::linear_attention(each, scale);
        return weighted_sum(cotangents.output, result.output) +
               weighted_sum(cotangents.present_state, result.present_state);
    });
}

textbook::attention_result<double> random_cotangents(attention_dims const& of, unsigned seed)
{
    std::mt19937 random(seed);
    auto output = random_array<double>(random, {of.B, of.T, of.Hq, of.V}, -1, 1);
    return {output, random_array<double>(random, {of.B, of.Hkv, of.K, of.V}, -1, 1)};
}

/// Calls linear_attention_vjp_into; the gradients have a value before the call.
template <class Item, class State = Item, class Policy = xloom::serial_policy>
std::array<std::vector<Item>, 6> found_gradients(textbook::attention_operands<double> const& operands,
    attention_dims const& dims, update_rule rule, unsigned given,
    textbook::attention_result<double> const& cotangents, placement how = placement::row_major,
    Policy const& policy = {}, double content = 0, xloom::recurrent_workspace<Item> workspace = {})
{
    placed_attention<Item, State> const of(operands, given, how);
    auto const as_given = [&](auto const& array) {
        return (given & with_packed_heads) != 0 ? packed(array) : array;
    };
    auto const ct_output = place<Item>(as_given(cotangents.output), how);
    auto const ct_present_state = place<State>(cotangents.present_state, how);
    auto const filled = [&]<class T>(placed_tensor<T> const& like) {
        placed_tensor<T> tensor = like;
        textbook::dims const shape(like.layout.dims.begin(), like.layout.dims.end());
        for (std::size_t flat = 0; flat < textbook::size_of(shape) && !shape.empty(); ++flat)
            tensor.memory[tensor.place_of(flat)] = static_cast<T>(content);
        return tensor;
    };
    auto query = filled(of.query), key = filled(of.key), value = filled(of.value), decay = filled(of.decay),
         beta = filled(of.beta);
    auto past_state = filled(ct_present_state);
    xloom::linear_attention_vjp_into<State>(of.query, of.key, of.value, of.inputs(),
        {.output = ct_output, .present_state = ct_present_state},
        {.query = query,
            .key = key,
            .value = value,
            .past_state = past_state,
            .decay = ref_of(decay),
            .beta = ref_of(beta)},
        attention_options(dims, rule, given), workspace, policy);
    auto const items = [](auto const& tensor) {
        std::vector<Item> all;
        if (!tensor.layout.dims.empty())
            for (auto const& each : items_of(tensor))
                all.push_back(static_cast<Item>(each));
        return all;
    };
    return {items(query), items(key), items(value), items(past_state), items(decay), items(beta)};
}

void compare(
    attention_dims const& dims, update_rule rule, unsigned given, placement how = placement::row_major)
{
    CAPTURE(name_of(rule));
    CAPTURE(given);
    auto const operands = random_attention(dims, rule, given, given + 11);
    auto const cotangents = random_cotangents(dims, given + 12);
    auto const expected = expected_gradients(operands, dims, cotangents);
    auto const found = found_gradients<double>(operands, dims, rule, given, cotangents, how);
    auto const sums = found_gradients<double>(operands, dims, rule, given, cotangents, how, xloom::serial,
        0.75, used_workspace<double>()); // which are added to
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        check_close(found[i], expected[i], 1e-13);
        check_close(sums[i], each_plus(0.75, expected[i]), 1e-13);
    }
}

} // namespace

TEST_CASE("linear_attention_vjp_into: the definition, with any optional operands, in any layout")
{
    for (update_rule const rule : every_rule)
        for (unsigned given = 0; given < 32; ++given)
            compare({2, 5, 4, 2, 2, 3}, rule, given, every_placement[given % 4]);
}

TEST_CASE("linear_attention_vjp_into: sizes around a vector and a block of tokens, none of each")
{
    using sizes = std::initializer_list<std::size_t>;
    for (update_rule const rule : every_rule) {
        for (std::size_t const T : sizes{0, 1, 2, 3, 4, 7, 9, 10})
            compare({1, T, 1, 1, 2, 2}, rule, with_past_state);
        for (std::size_t const V : sizes{0, 1, 7, 8, 9, 17})
            compare({1, 2, 1, 1, 1, V}, rule, with_past_state);
        for (std::size_t const K : sizes{1, 8, 17})
            for (std::size_t const B : sizes{0, 1, 3})
                compare({B, 2, 3, 1, K, 1}, rule, with_decay_of_keys);
        for (std::size_t const V : sizes{32, 41}) // panels of several batches
            compare({1, 3, 2, 1, 2, V}, rule, with_past_state);
        compare({1, 5, 1, 1, 9, 33}, rule, with_decay_of_keys);
    }
}

TEST_CASE("linear_attention_vjp_into: central differences of the textbook")
{
    attention_dims const dims{1, 4, 2, 1, 3, 2};
    for (update_rule const rule : every_rule) {
        auto const operands = random_attention(dims, rule, with_past_state, 61);
        auto const cotangents = random_cotangents(dims, 62);
        auto const expected = central_differences(operands, [&](auto const& each) {
            auto const result = textbook::linear_attention(each, 1 / std::sqrt(3.0));
            return weighted_sum(cotangents.output, result.output) +
                   weighted_sum(cotangents.present_state, result.present_state);
        });
        auto const found = found_gradients<double>(operands, dims, rule, with_past_state, cotangents);
        for (std::size_t i = 0; i < expected.size(); ++i)
            check_close(found[i], expected[i], 1e-8);
    }
}

TEST_CASE("linear_attention_vjp_into: the same bits on several threads")
{
    attention_dims const dims{3, 40, 8, 4, 8, 20};
    for (update_rule const rule : every_rule)
        for (unsigned const given : {with_past_state + 0U, with_one_beta | with_lengths}) {
            auto const operands = random_attention(dims, rule, given, 5);
            auto const cotangents = random_cotangents(dims, 6);
            auto const whole = found_gradients<float>(operands, dims, rule, given, cotangents);
            for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7})
                CHECK(found_gradients<float>(operands, dims, rule, given, cotangents, placement::row_major,
                          xloom::thread_policy(threads)) == whole);
        }
}

TEST_CASE("linear_attention_vjp_into: floats and storage floats, rounded in the gradients only")
{
    attention_dims const dims{2, 6, 2, 1, 4, 5};
    for (update_rule const rule : every_rule) {
        auto const operands = random_attention(dims, rule, with_past_state, 41);
        auto const cotangents = random_cotangents(dims, 42);
        auto const expected = expected_gradients(operands, dims, cotangents);
        auto const found = found_gradients<float>(operands, dims, rule, with_past_state, cotangents);
        auto const half = found_gradients<xloom::bfloat16>(operands, dims, rule, with_past_state, cotangents);
        auto const mixed =
            found_gradients<xloom::bfloat16, float>(operands, dims, rule, with_past_state, cotangents);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            check_close(found[i], expected[i], 1e-5);
            check_close(half[i], expected[i], 0.05);
            check_close(mixed[i], expected[i], 0.05);
        }
    }
}

// v - S^T k is 1, which beta multiplies. Sums of bfloat16 would end at 256, whose successor is 258.
TEST_CASE("linear_attention_vjp_into: the gradient of a beta that heads share is rounded once")
{
    using storage = xloom::bfloat16;
    xt::xtensor<storage, 4> const heads({1, 1, 300, 1}, storage(1));
    xt::xtensor<storage, 3> const beta({1, 1, 1}, storage(1));
    xt::xtensor<storage, 3> ct_beta({1, 1, 1}, storage(0));
    xloom::linear_attention_vjp_into(heads, heads, heads, {.beta = beta}, {.output = heads},
        {.beta = ct_beta}, {.update_rule = update_rule::delta, .scale = 1});
    CHECK(static_cast<float>(ct_beta(0, 0, 0)) == 300);
}

TEST_CASE("linear_attention_vjp_into: omitted cotangents and gradients")
{
    attention_dims const dims{1, 5, 2, 2, 3, 4};
    auto const rule = update_rule::gated_delta;
    auto const operands = random_attention(dims, rule, with_past_state, 51);
    auto const cotangents = random_cotangents(dims, 52);
    auto const whole = found_gradients<double>(operands, dims, rule, 0, cotangents);
    placed_attention<double> const of(operands, 0);
    auto const ct_output = place<double>(cotangents.output),
               ct_state = place<double>(cotangents.present_state);
    auto ct_beta = place<double>(textbook::array<double>{operands.beta.shape, std::vector<double>(10, 0.0)});
    auto ct_past =
        place<double>(textbook::array<double>{operands.past_state.shape, std::vector<double>(24, 0.0)});
    xloom::linear_attention_vjp_into(of.query, of.key, of.value, of.inputs(),
        {.output = ct_output, .present_state = ct_state}, {.beta = ct_beta});
    CHECK(items_of(ct_beta) == whole[5]);
    xloom::linear_attention_vjp_into(of.query, of.key, of.value, of.inputs(),
        {.output = ct_output, .present_state = ct_state}, {.past_state = ct_past});
    CHECK(items_of(ct_past) == whole[3]);
    std::fill(ct_past.memory.begin(), ct_past.memory.end(), 0.0);
    xloom::linear_attention_vjp_into(of.query, of.key, of.value, of.inputs(), {}, {.past_state = ct_past});
    CHECK(items_of(ct_past) == std::vector<double>(24, 0.0));
    auto no_state = cotangents;
    std::fill(no_state.present_state.items.begin(), no_state.present_state.items.end(), 0.0);
    xloom::linear_attention_vjp_into(
        of.query, of.key, of.value, of.inputs(), {.output = ct_output}, {.past_state = ct_past});
    CHECK(items_of(ct_past) == found_gradients<double>(operands, dims, rule, 0, no_state)[3]);
}

TEST_CASE("linear_attention_vjp_into: the memory of about sqrt(T) states")
{
    std::size_t const T = 400, width = 8;
    xt::xtensor<double, 4> const query = xt::zeros<double>({std::size_t{1}, T, std::size_t{1}, width});
    auto gradient = query;
    xloom::recurrent_workspace<double> workspace;
    xloom::linear_attention_vjp_into(query, query, query, {}, {.output = query}, {.query = gradient},
        xloom::linear_attention_options{.update_rule = update_rule::linear}, workspace);
    CHECK(workspace.bytes() < 10 * 20 * width * width * sizeof(double));
}

TEST_CASE("linear_attention_vjp_into: errors, before anything is written")
{
    using xloom::overlap_error, xloom::shape_error;
    xt::xtensor<double, 4> const query = xt::zeros<double>({1, 2, 1, 3});
    xt::xtensor<double, 4> gradient = xt::ones<double>({1, 2, 1, 3}), state = xt::ones<double>({1, 1, 3, 3});
    xt::xtensor<double, 3> heads = xt::ones<double>({1, 2, 1});
    xloom::linear_attention_options const linear{.update_rule = update_rule::linear};
    CHECK_THROWS_WITH_AS(xloom::linear_attention_vjp_into(query, query, query, {}, {.output = query},
                             {.query = gradient, .decay = heads}, linear),
        "xloom::linear_attention_vjp_into: ct_decay requires decay, but decay is omitted. Omit "
        "ct_decay, too.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::linear_attention_vjp_into(query, query, query, {}, {.output = query},
                             {.query = gradient, .key = state}, linear),
        "xloom::linear_attention_vjp_into: the operands must have the shapes that B = 1, T = 2, q_num_heads "
        "= "
        "1, kv_num_heads = 1, d_k = 3 and d_v = 3 give them, but ct_key is [1, 1, 3, 3] instead of key = [1, "
        "2, 1, 3]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::linear_attention_vjp_into(
                             query, query, query, {}, {.output = gradient}, {.query = gradient}, linear),
        "xloom::linear_attention_vjp_into: an operand that is written must have memory of its own, but "
        "ct_query overlaps ct_output. Copy one of the two.",
        overlap_error);
    CHECK(gradient == xt::ones<double>({1, 2, 1, 3}));
    CHECK(state == xt::ones<double>({1, 1, 3, 3}));
    CHECK(heads == xt::ones<double>({1, 2, 1}));
}

// With blocks of 2, 4 tokens need as many states as 5 with blocks of 3, and memory for no more tokens.
TEST_CASE("linear_attention_vjp_into: a shorter sequence beside a longer one")
{
    attention_dims const dims{2, 5, 1, 1, 8, 64};
    for (update_rule const rule : every_rule) {
        auto operands = random_attention(dims, rule, with_past_state, 71);
        auto const cotangents = random_cotangents(dims, 72);
        auto const gradients = [&](std::size_t first, std::size_t second) {
            operands.lengths = {first, second};
            return found_gradients<double>(operands, dims, rule, with_past_state | with_lengths, cotangents);
        };
        auto const of_both = gradients(5, 4), of_longer = gradients(5, 5), of_shorter = gradients(4, 4);
        for (std::size_t i = 0; i < of_both.size(); ++i) {
            auto const half = static_cast<std::ptrdiff_t>(of_both[i].size() / 2); // a sequence
            CHECK(std::equal(of_both[i].begin(), of_both[i].begin() + half, of_longer[i].begin()));
            CHECK(std::equal(of_both[i].begin() + half, of_both[i].end(), of_shorter[i].begin() + half));
        }
    }
}

TEST_CASE("linear_attention_vjp_into: subnormal gradients that are added to are zeros, that of beta, too")
{
    xt::xtensor<float, 4> const zero = {{{{0}}}};
    xt::xtensor<float, 3> const none = {{{0}}};
    xt::xtensor<float, 4> ct_query = {{{{1e-40f}}}};
    xt::xtensor<float, 3> ct_beta = {{{1e-40f}}};
    xloom::linear_attention_vjp_into(zero, zero, zero, {.decay = none, .beta = none}, {.output = zero},
        {.query = ct_query, .beta = ct_beta});
    float const kept = xloom::flush_subnormals::is_supported ? 0 : 1e-40f;
    CHECK(ct_query(0, 0, 0, 0) == kept);
    CHECK(ct_beta(0, 0, 0) == kept);
}

TEST_CASE("linear_attention and linear_attention_vjp_into: a scalar of one's own")
{
    xt::xtensor<plain_number, 4> const two = {{{{2}}}}, three = {{{{3}}}}, five = {{{{5}}}};
    CHECK(
        xloom::linear_attention(two, three, five, {}, {.update_rule = xloom::update_rule::linear, .scale = 1})
            .output(0, 0, 0, 0)
            .value == 30);
    xt::xtensor<plain_number, 4> ct_query = {{{{1}}}};
    xloom::linear_attention_vjp_into(two, three, five, {}, {.output = two}, {.query = ct_query},
        {.update_rule = xloom::update_rule::linear, .scale = 1});
    CHECK(ct_query(0, 0, 0, 0).value == 1 + 2 * 3 * 5);
}

} // namespace linear_attention_vjp_test
