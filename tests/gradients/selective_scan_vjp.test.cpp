// selective_scan_vjp_into against the definition on scalars that carry derivatives, in float64.

#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/selective_scan_vjp.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/dual_gradients.hpp"
#include "support/plain_number.hpp"
#include "support/selective_scan_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace selective_scan_vjp_test {

namespace {

/// The gradients of u, delta, A, B, C, D, z, delta_bias and initial_state. An omitted D, delta_bias or
/// initial state has the derivative at zeros.
operand_gradients expected_gradients(textbook::selective_operands<double> const& of,
    selective_dims const& dims, bool delta_softplus, textbook::selective_result<double> const& cotangents)
{
    auto const or_zeros = [](textbook::array<double> const& operand, textbook::dims const& shape) {
        return carried(operand.shape.empty() ? textbook::array<double>{shape,
                                                   std::vector<double>(textbook::size_of(shape), 0.0)}
                                             : operand);
    };
    textbook::selective_operands<dual> const operands{carried(of.u), carried(of.delta), carried(of.A),
        carried(of.B), carried(of.C), or_zeros(of.D, {dims.K}), carried(of.z),
        or_zeros(of.delta_bias, {dims.K}), or_zeros(of.initial_state, {dims.N, dims.K, dims.S})};
    return dual_gradients(operands, [&](textbook::selective_operands<dual> const& each) {
        auto const result = textbook::selective_scan(each, delta_softplus);
        return weighted_sum(cotangents.y, result.y) +
               weighted_sum(cotangents.final_state, result.final_state);
    });
}

textbook::selective_result<double> random_cotangents(selective_dims const& of, unsigned seed)
{
    std::mt19937 random(seed);
    auto y = random_array<double>(random, {of.N, of.T, of.K}, -1, 1);
    return {y, random_array<double>(random, {of.N, of.K, of.S}, -1, 1)};
}

/// All gradients, whose items have a value before the call.
template <class Item>
struct placed_gradients {
    placed_tensor<Item> u, delta, A, B, C, D, z, delta_bias, initial_state;

    placed_gradients(selective_dims const& of, bool has_z, placement how, Item const& content)
        : u(filled({of.N, of.T, of.K}, how, content)),
          delta(u),
          A(filled({of.K, of.S}, how, content)),
          B(filled({of.N, of.T, of.S}, how, content)),
          C(B),
          D(filled({of.K}, how, content)),
          z(has_z ? u : placed_tensor<Item>()),
          delta_bias(D),
          initial_state(filled({of.N, of.K, of.S}, how, content))
    {}
    static placed_tensor<Item> filled(textbook::dims const& shape, placement how, Item const& content)
    {
        return place<Item>(
            textbook::array<Item>{shape, std::vector<Item>(textbook::size_of(shape), content)}, how);
    }

    xloom::selective_scan_gradients<Item> refs()
    {
        return {u, delta, A, B, C, D, ref_of(z), delta_bias, initial_state};
    }

    std::vector<std::vector<Item>> items() const
    {
        std::vector<std::vector<Item>> all{
            items_of(u), items_of(delta), items_of(A), items_of(B), items_of(C), items_of(D)};
        all.push_back(z.memory.empty() ? std::vector<Item>() : items_of(z));
        all.push_back(items_of(delta_bias));
        all.push_back(items_of(initial_state));
        return all;
    }
};

template <class Item, class Policy = xloom::serial_policy>
std::vector<std::vector<Item>> found_gradients(textbook::selective_operands<double> const& operands,
    selective_dims const& dims, bool delta_softplus, textbook::selective_result<double> const& cotangents,
    placement how = placement::row_major, Policy const& policy = {}, Item const& content = Item(0))
{
    placed_selective<Item> const of(operands, how);
    auto const ct_y = place<Item>(cotangents.y, how), ct_state = place<Item>(cotangents.final_state, how);
    placed_gradients<Item> to(dims, !operands.z.shape.empty(), how, content);
    xloom::recurrent_workspace<Item> workspace;
    xloom::selective_scan_vjp_into(of.u, of.inputs(), {.y = ct_y, .final_state = ct_state}, to.refs(),
        {.delta_softplus = delta_softplus}, workspace, policy);
    return to.items();
}

void compare(selective_dims const& dims, unsigned given, bool delta_softplus, placement how)
{
    CAPTURE(given);
    auto const operands = random_selective(dims, given, given + 11);
    auto const cotangents = random_cotangents(dims, given + 12);
    auto const expected = expected_gradients(operands, dims, delta_softplus, cotangents);
    auto const found = found_gradients<double>(operands, dims, delta_softplus, cotangents, how);
    auto const sums = found_gradients<double>(
        operands, dims, delta_softplus, cotangents, how, xloom::serial, 0.75); // which are added to
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        REQUIRE(found[i].size() == expected[i].size());
        double const scale = largest(expected[i]);
        for (std::size_t j = 0; j < found[i].size(); ++j) {
            REQUIRE(std::abs(found[i][j] - expected[i][j]) <= 1e-13 * scale);
            REQUIRE(std::abs(sums[i][j] - 0.75 - found[i][j]) <= 1e-13 * (1 + scale));
        }
    }
}

} // namespace

TEST_CASE("selective_scan_vjp_into: the definition, with any optional operands, in any layout")
{
    for (unsigned given = 0; given < 16; ++given)
        for (bool const delta_softplus : {false, true})
            compare({2, 5, 3, 2}, given, delta_softplus, every_placement[given % 4]);
}

TEST_CASE("selective_scan_vjp_into: sizes around a vector and a segment, zero and one of each")
{
    using sizes = std::initializer_list<std::size_t>;
    for (std::size_t const T : sizes{0, 1, 2, 3, 4, 7, 9, 10})
        compare({1, T, 2, 2}, 15, true, placement::row_major);
    for (std::size_t const K : sizes{0, 1, 7, 8, 9, 17})
        compare({1, 2, K, 1}, 15, true, placement::row_major);
    for (std::size_t const S : sizes{0, 1, 5})
        for (std::size_t const N : sizes{0, 1, 3})
            compare({N, 3, 2, S}, 15, true, placement::row_major);
}

TEST_CASE("selective_scan_vjp_into: several groups of channels, with the same bits on several threads")
{
    // Channels that are equal: the sums over them are multiples of one.
    std::size_t const copies = 601;
    selective_dims const one{2, 20, 1, 3}, many{2, 20, copies, 3};
    auto const operands = random_selective(one, 15, 31);
    auto const cotangents = random_cotangents(one, 32);
    auto const repeat = [&](textbook::array<double> const& from, textbook::dims const& shape,
                            std::size_t width) {
        textbook::array<double> to{shape, {}};
        for (std::size_t i = 0; i < from.items.size(); i += width)
            for (std::size_t copy = 0; copy < copies; ++copy)
                to.items.insert(to.items.end(), from.items.begin() + static_cast<std::ptrdiff_t>(i),
                    from.items.begin() + static_cast<std::ptrdiff_t>(i + width));
        return to;
    };
    textbook::dims const steps{2, 20, copies}, states{2, copies, 3};
    textbook::selective_operands<double> const repeated{repeat(operands.u, steps, 1),
        repeat(operands.delta, steps, 1), repeat(operands.A, {copies, 3}, 3), operands.B, operands.C,
        repeat(operands.D, {copies}, 1), repeat(operands.z, steps, 1),
        repeat(operands.delta_bias, {copies}, 1), repeat(operands.initial_state, states, 3)};
    textbook::selective_result<double> const all_cotangents{
        repeat(cotangents.y, steps, 1), repeat(cotangents.final_state, states, 3)};
    auto const expected = expected_gradients(operands, one, true, cotangents);
    auto const found = found_gradients<double>(repeated, many, true, all_cotangents);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        bool const is_sum = i == 3 || i == 4; // B and C
        std::size_t const width = i == 2 || i == 8 ? 3 : 1;
        REQUIRE(found[i].size() == expected[i].size() * (is_sum ? 1 : copies));
        for (std::size_t j = 0; j < found[i].size(); ++j) {
            std::size_t const from = is_sum ? j : j / (width * copies) * width + j % width;
            REQUIRE(found[i][j] / (is_sum ? static_cast<double>(copies) : 1.0) ==
                    doctest::Approx(expected[i][from]).epsilon(1e-12).scale(1e-3));
        }
    }
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 5}) {
        CHECK(found_gradients<double>(repeated, many, true, all_cotangents, placement::row_major,
                  xloom::thread_policy(threads)) == found);
        CHECK(found_gradients<float>(
                  repeated, many, true, all_cotangents, placement::spread, xloom::thread_policy(threads)) ==
              found_gradients<float>(repeated, many, true, all_cotangents));
    }
}

TEST_CASE("selective_scan_vjp_into: floats and storage floats, rounded in the gradients only")
{
    selective_dims const dims{2, 6, 5, 3};
    auto const operands = random_selective(dims, 15, 41);
    auto const cotangents = random_cotangents(dims, 42);
    auto const expected = expected_gradients(operands, dims, true, cotangents);
    auto const found = found_gradients<float>(operands, dims, true, cotangents);
    auto const half = found_gradients<xloom::bfloat16>(operands, dims, true, cotangents);
    for (std::size_t i = 0; i < expected.size(); ++i)
        for (std::size_t j = 0; j < expected[i].size(); ++j) {
            CHECK(std::abs(static_cast<double>(found[i][j]) - expected[i][j]) <= 1e-5);
            CHECK(std::abs(static_cast<double>(static_cast<float>(half[i][j])) - expected[i][j]) <= 0.2);
        }
}

TEST_CASE("selective_scan_vjp_into: omitted cotangents and gradients")
{
    selective_dims const dims{1, 5, 3, 2};
    auto const operands = random_selective(dims, 15, 51);
    auto const cotangents = random_cotangents(dims, 52);
    auto const whole = found_gradients<double>(operands, dims, false, cotangents);
    placed_selective<double> const of(operands);
    auto ct_y = place<double>(cotangents.y), ct_state = place<double>(cotangents.final_state);
    auto const u = without_batch(of.u), delta = without_batch(of.delta), B = without_batch(of.B),
               C = without_batch(of.C), z = without_batch(of.z), initial = without_batch(of.initial_state);
    xloom::selective_scan_inputs<double> const inputs{
        delta, of.A, B, C, ref_of(of.D), z, ref_of(of.delta_bias), initial};
    auto const y = without_batch(ct_y);
    auto const state = without_batch(ct_state);
    xloom::recurrent_workspace<double> workspace;
    auto const zeros = [](placed_tensor<double> like) {
        std::fill(like.memory.begin(), like.memory.end(), 0.0);
        return like;
    };
    placed_tensor<double> d_initial = zeros(of.initial_state);
    auto d_initial_state = without_batch(d_initial);
    xloom::selective_scan_vjp_into(
        u, inputs, {.y = y, .final_state = state}, {.initial_state = d_initial_state}, workspace);
    CHECK(items_of(d_initial_state) == whole[8]);
    // Without cotangents all gradients are 0; that of a final state of zeros is the same as none.
    placed_tensor<double> d_A = zeros(of.A);
    xloom::selective_scan_vjp_into(u, inputs, {}, {.A = d_A}, workspace);
    CHECK(items_of(d_A) == std::vector<double>(6, 0.0));
    auto no_state = cotangents, no_y = cotangents;
    std::fill(no_state.final_state.items.begin(), no_state.final_state.items.end(), 0.0);
    std::fill(no_y.y.items.begin(), no_y.y.items.end(), 0.0);
    d_A = zeros(d_A);
    xloom::selective_scan_vjp_into(u, inputs, {.y = y}, {.A = d_A}, workspace);
    CHECK(items_of(d_A) == found_gradients<double>(operands, dims, false, no_state)[2]);
    d_A = zeros(d_A);
    xloom::selective_scan_vjp_into(u, inputs, {.final_state = state}, {.A = d_A}, workspace);
    CHECK(items_of(d_A) == found_gradients<double>(operands, dims, false, no_y)[2]);
}

TEST_CASE("selective_scan_vjp_into: infinity in B does not spread to padding")
{
    xt::xtensor<double, 2> const u = {{1}}, B = {{std::numeric_limits<double>::infinity()}}, C = {{1}};
    xt::xtensor<double, 2> const A = {{-1}}, delta = {{1}};
    xt::xtensor<double, 2> d_B = {{0}}, d_C = {{0}};
    xloom::recurrent_workspace<double> workspace;
    xloom::selective_scan_vjp_into(
        u, {.delta = delta, .A = A, .B = B, .C = C}, {.y = u}, {.B = d_B, .C = d_C}, workspace);
    CHECK(d_B(0, 0) == 1);
    CHECK(d_C(0, 0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("selective_scan_vjp_into: errors, before anything is written")
{
    using xloom::overlap_error, xloom::shape_error;
    xt::xtensor<double, 3> const u = xt::zeros<double>({2, 3, 4}), states = xt::zeros<double>({2, 3, 5});
    xt::xtensor<double, 2> const A = xt::zeros<double>({4, 5});
    xt::xtensor<double, 3> d_u = xt::ones<double>({2, 3, 4});
    xloom::recurrent_workspace<double> workspace;
    xloom::selective_scan_inputs<double> const inputs{.delta = u, .A = A, .B = states, .C = states};
    CHECK_THROWS_WITH_AS(xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.z = d_u}, workspace),
        "xloom::selective_scan_vjp_into: ct_z requires z, but z is omitted. Omit ct_z, too.", shape_error);
    CHECK_THROWS_WITH_AS(xloom::selective_scan_vjp_into(u, inputs, {.y = states}, {.u = d_u}, workspace),
        "xloom::selective_scan_vjp_into: the operands must have the shapes that N = 2, T = 3, K = 4 and S = "
        "5 "
        "give them, but ct_y is [2, 3, 5] instead of [N, T, K] = [2, 3, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::selective_scan_vjp_into(u, inputs, {.y = d_u}, {.u = d_u}, workspace),
        "xloom::selective_scan_vjp_into: an operand that is written must have memory of its own, but "
        "ct_u overlaps ct_y. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_AS(xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.u = d_u, .delta = d_u}, workspace),
        overlap_error);
    CHECK(d_u == xt::ones<double>({2, 3, 4}));
}

TEST_CASE("selective_scan_vjp_into: a scalar of one's own")
{
    using own = xt::xtensor<plain_number, 2>;
    own const u = {{1}, {2}}, delta = {{1}, {1}}, A = {{0}}, B = {{1}, {1}}, ct_y = {{1}, {1}};
    own ct_u = {{0}, {0}};
    xloom::selective_scan_vjp_into(u, {.delta = delta, .A = A, .B = B, .C = B}, {.y = ct_y}, {.u = ct_u});
    CHECK(ct_u(0, 0).value == 2); // y = [u0, u0 + u1]
    CHECK(ct_u(1, 0).value == 1);
}

} // namespace selective_scan_vjp_test
