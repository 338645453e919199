// selective_scan and selective_scan_into against the loops of the definition, in float64.

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/selective_scan_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace selective_scan_test {

namespace {

using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

template <class T>
void compare(selective_dims const& dims, unsigned given, bool delta_softplus, placement how, double tolerance)
{
    CAPTURE(given);
    auto const operands = random_selective(dims, given, given + 1);
    auto const expected = textbook::selective_scan(operands, delta_softplus);
    auto const found = call_selective_scan(placed_selective<T>(operands, how), dims, delta_softplus, how);
    check_close(items_of(found.y), expected.y.items, tolerance);
    check_close(items_of(found.final_state), expected.final_state.items, tolerance);
    CHECK(has_clean_gaps(found.y));
    CHECK(has_clean_gaps(found.final_state));
}

} // namespace

TEST_CASE("selective_scan_into: the definition, with any optional operands, in any layout")
{
    for (unsigned given = 0; given < 16; ++given)
        for (bool const delta_softplus : {false, true})
            for (placement const how : every_placement) {
                compare<double>({2, 7, 19, 5}, given, delta_softplus, how, 1e-14);
                compare<float>({2, 7, 19, 5}, given, delta_softplus, how, 2e-6);
            }
}

TEST_CASE("selective_scan_into: sizes around a vector, zero and one of each")
{
    using sizes = std::initializer_list<std::size_t>;
    for (std::size_t const N : sizes{0, 1, 3})
        for (std::size_t const T : sizes{0, 1, 9})
            for (std::size_t const K : sizes{0, 1, 15, 16, 17, 40})
                for (std::size_t const S : sizes{0, 1, 16})
                    compare<double>({N, T, K, S}, 15, false, placement::row_major, 1e-14);
}

TEST_CASE("selective_scan: without a batch axis, and into u and the initial state")
{
    selective_dims const dims{1, 6, 5, 3};
    auto const operands = random_selective(dims, 15, 3);
    auto const expected = textbook::selective_scan(operands, true);
    placed_selective<double> of(operands);
    auto u = without_batch(of.u), z = without_batch(of.z), state = without_batch(of.initial_state);
    auto const delta = without_batch(of.delta), B = without_batch(of.B), C = without_batch(of.C);
    auto const& [A, D, delta_bias] = std::tie(of.A, of.D, of.delta_bias);
    xloom::selective_scan_options const options{.delta_softplus = true};
    xloom::selective_scan_inputs<double> const inputs{.delta = delta,
        .A = A,
        .B = B,
        .C = C,
        .D = D,
        .z = z,
        .delta_bias = delta_bias,
        .initial_state = state};
    auto const [y, final_state] = xloom::selective_scan(u, inputs, options);
    CHECK(y.shape() == xt::dynamic_shape<std::size_t>{6, 5});
    CHECK(final_state.shape() == xt::dynamic_shape<std::size_t>{5, 3});
    check_close(std::vector<double>(y.begin(), y.end()), expected.y.items, 1e-14);
    check_close(
        std::vector<double>(final_state.begin(), final_state.end()), expected.final_state.items, 1e-14);
    xloom::recurrent_workspace<double> workspace;
    xloom::selective_scan_into(u, inputs, {.y = u, .final_state = state}, options, workspace);
    CHECK(items_of(u) == std::vector<double>(y.begin(), y.end()));
    CHECK(items_of(state) == std::vector<double>(final_state.begin(), final_state.end()));
}

TEST_CASE_TEMPLATE(
    "selective_scan_into: the same bits on several threads, in pieces, and alone", T, float, double)
{
    selective_dims const dims{3, 60, 40, 16};
    auto const operands = random_selective(dims, 15, 5);
    placed_selective<T> const of(operands);
    auto const whole = call_selective_scan(of, dims, true);
    for (std::size_t const threads : std::initializer_list<std::size_t>{2, 3, 7}) {
        auto const found =
            call_selective_scan(of, dims, true, placement::row_major, xloom::thread_policy(threads));
        CHECK(items_of(found.y) == items_of(whole.y));
        CHECK(items_of(found.final_state) == items_of(whole.final_state));
    }
    // The steps 0 .. 22, then the others, of the channels 3 .. 8 alone.
    using tensor = xt::xtensor<T, 3>;
    auto const tensor_of = [](placed_tensor<T> const& from) {
        auto const& dims_of = from.layout.dims;
        tensor to = tensor::from_shape({dims_of[0], dims_of[1], dims_of[2]});
        auto const items = items_of(from);
        std::copy(items.begin(), items.end(), to.begin());
        return to;
    };
    tensor const u = tensor_of(of.u), delta = tensor_of(of.delta), B = tensor_of(of.B), C = tensor_of(of.C);
    tensor const z = tensor_of(of.z), y = tensor_of(whole.y), final_state = tensor_of(whole.final_state);
    tensor state = xt::view(tensor_of(of.initial_state), xt::all(), xt::range(3, 9));
    tensor found = tensor::from_shape({3, 60, 6});
    xt::xtensor<T, 2> A = xt::adapt(of.A.memory, std::array<std::size_t, 2>{40, 16});
    xt::xtensor<T, 1> D = xt::adapt(of.D.memory), delta_bias = xt::adapt(of.delta_bias.memory);
    auto channels = xt::range(3, 9);
    auto const A_part = xt::view(A, channels);
    auto const D_part = xt::view(D, channels), bias_part = xt::view(delta_bias, channels);
    xloom::recurrent_workspace<T> workspace;
    for (auto const& [begin, end] : {std::pair(0, 23), std::pair(23, 60)}) {
        auto steps = xt::range(begin, end);
        auto const u_part = xt::view(u, xt::all(), steps, channels);
        auto const delta_part = xt::view(delta, xt::all(), steps, channels);
        auto const z_part = xt::view(z, xt::all(), steps, channels);
        auto const B_part = xt::view(B, xt::all(), steps), C_part = xt::view(C, xt::all(), steps);
        auto y_part = xt::view(found, xt::all(), steps);
        xloom::selective_scan_into(u_part,
            {.delta = delta_part,
                .A = A_part,
                .B = B_part,
                .C = C_part,
                .D = D_part,
                .z = z_part,
                .delta_bias = bias_part,
                .initial_state = state},
            {.y = y_part, .final_state = state}, {.delta_softplus = true}, workspace);
    }
    CHECK(found == xt::view(y, xt::all(), xt::all(), channels));
    CHECK(state == xt::view(final_state, xt::all(), channels));
}

TEST_CASE("selective_scan_into: storage floats, computed as float and rounded once")
{
    selective_dims const dims{2, 9, 20, 4};
    auto const operands = random_selective(dims, 15, 7);
    placed_selective<xloom::float16> const of(operands);
    placed_selective<float> wide(operands);
    auto const widen = [](placed_tensor<xloom::float16> const& from, placed_tensor<float>& to) {
        for (std::size_t i = 0; i < from.memory.size(); ++i)
            to.memory[i] = static_cast<float>(from.memory[i]);
    };
    widen(of.u, wide.u), widen(of.delta, wide.delta), widen(of.A, wide.A), widen(of.B, wide.B);
    widen(of.C, wide.C), widen(of.D, wide.D), widen(of.z, wide.z), widen(of.delta_bias, wide.delta_bias);
    widen(of.initial_state, wide.initial_state);
    auto const found = call_selective_scan(of, dims, true);
    auto const expected = call_selective_scan(wide, dims, true);
    for (std::size_t i = 0; i < found.y.memory.size(); ++i)
        REQUIRE(static_cast<float>(found.y.memory[i]) ==
                static_cast<float>(xloom::float16(expected.y.memory[i])));
    for (std::size_t i = 0; i < found.final_state.memory.size(); ++i)
        REQUIRE(static_cast<float>(found.final_state.memory[i]) ==
                static_cast<float>(xloom::float16(expected.final_state.memory[i])));
}

TEST_CASE("selective_scan_into: scalars that carry derivatives")
{
    using dual = boost::math::differentiation::autodiff_fvar<double, 1>;
    selective_dims const dims{1, 4, 3, 2};
    auto const operands = random_selective(dims, 15, 9);
    textbook::selective_operands<dual> carried;
    auto const carry = [](textbook::array<double> const& from) {
        return textbook::array<dual>{from.shape, std::vector<dual>(from.items.begin(), from.items.end())};
    };
    carried = {carry(operands.u), carry(operands.delta), carry(operands.A), carry(operands.B),
        carry(operands.C), carry(operands.D), carry(operands.z), carry(operands.delta_bias),
        carry(operands.initial_state)};
    carried.A.items[1] = boost::math::differentiation::make_fvar<double, 1>(operands.A.items[1]);
    auto const expected = textbook::selective_scan(carried, true);
    auto const found = call_selective_scan(placed_selective<dual>(carried), dims, true);
    auto const y = items_of(found.y);
    for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(y[i].derivative(0) == doctest::Approx(expected.y.items[i].derivative(0)).epsilon(1e-12));
        CHECK(y[i].derivative(1) == doctest::Approx(expected.y.items[i].derivative(1)).epsilon(1e-12));
    }
    CHECK(y[3].derivative(1) != 0);
}

TEST_CASE("selective_scan_into: steps of size 0 keep the states, NaN and infinity go through")
{
    matrix const u = {{1, 2}, {3, 4}, {5, 6}}, A = {{-1}, {-2}}, B = {{1}, {1}, {1}};
    matrix delta = {{0.5, 0.5}, {0, 0}, {0, 0}}, y = u, state = {{7}, {7}};
    xloom::recurrent_workspace<double> workspace;
    xloom::selective_scan_into(u, {.delta = delta, .A = A, .B = B, .C = B, .initial_state = state},
        {.y = y, .final_state = state}, workspace);
    CHECK(xt::view(y, 1) == xt::view(y, 0));
    CHECK(xt::view(y, 2) == xt::view(y, 0));
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    delta(1, 0) = nan;
    delta(1, 1) = inf; // exp(-inf) = 0
    xloom::selective_scan_into(u, {.delta = delta, .A = A, .B = B, .C = B}, {.y = y}, workspace);
    CHECK(y(0, 0) == 0.5);
    CHECK(std::isnan(y(1, 0)));
    CHECK(std::isnan(y(2, 0)));
    CHECK(y(1, 1) == inf);
    CHECK(y(2, 1) == inf);
}

TEST_CASE("selective_scan: states that decay end at 0, on any number of threads")
{
    std::size_t const T = 3000, K = 40, S = 3;
    xt::xtensor<float, 2> u = xt::zeros<float>({T, K});
    xt::view(u, 0, xt::all()) = 1;
    xt::xtensor<float, 2> const delta = 0.05f * xt::ones<float>({T, K}), A = -xt::ones<float>({K, S});
    xt::xtensor<float, 2> const B = xt::ones<float>({T, S}), C = B;
    auto const [y, state] = xloom::selective_scan(u, {.delta = delta, .A = A, .B = B, .C = C});
    CHECK(y(1000, 0) == doctest::Approx(3 * 0.05 * std::exp(-0.05 * 1000)).epsilon(1e-3));
    bool are_flushed = true;
    for (float const each : state)
        are_flushed =
            are_flushed &&
            (xloom::flush_subnormals::is_supported ? each == 0 : each < std::numeric_limits<float>::min());
    CHECK(are_flushed);
    auto const on_threads =
        xloom::selective_scan(u, {.delta = delta, .A = A, .B = B, .C = C}, {}, xloom::thread_policy(2));
    CHECK(on_threads.y == y);
}

TEST_CASE("selective_scan: errors, before anything is written")
{
    using xloom::overlap_error, xloom::shape_error;
    xt::xtensor<double, 3> const u = xt::zeros<double>({2, 3, 4});
    xt::xtensor<double, 3> const states = xt::zeros<double>({2, 3, 5}), wrong = xt::zeros<double>({2, 5, 3});
    matrix const A = xt::zeros<double>({4, 5});
    CHECK_THROWS_WITH_AS(xloom::selective_scan(u, {.delta = u, .A = A, .B = wrong, .C = states}),
        "xloom::selective_scan: the operands must have the shapes that N = 2, T = 3, K = 4 and S = 5 give "
        "them, "
        "but B is [2, 5, 3] instead of [N, T, S] = [2, 3, 5]. Transpose it.",
        shape_error);
    matrix const alone = xt::zeros<double>({3, 4}), C = xt::zeros<double>({5, 3}), B = xt::transpose(C);
    CHECK_THROWS_WITH_AS(xloom::selective_scan(alone, {.delta = alone, .A = A, .B = B, .C = C}),
        "xloom::selective_scan: the operands must have the shapes that T = 3, K = 4 and S = 5 give them, but "
        "C is [5, 3] instead of [T, S] = [3, 5]. Transpose it.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::selective_scan(u, {.delta = u, .A = A, .B = states}),
        "xloom::selective_scan: C must be given, but it is omitted. Give it 3 axes.", shape_error);
    vector const line = {1, 2};
    CHECK_THROWS_WITH_AS(xloom::selective_scan(line, {.delta = u, .A = A, .B = states, .C = states}),
        "xloom::selective_scan: u must have the shape [N, T, K], or [T, K] without a batch axis, but u is "
        "[2]. "
        "Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(xloom::selective_scan(u, {.delta = u, .A = A, .B = A, .C = states}), shape_error);
    CHECK_THROWS_AS(
        xloom::selective_scan(u, {.delta = u, .A = A, .B = states, .C = states, .D = line}), shape_error);
    xloom::recurrent_workspace<double> workspace;
    xt::xtensor<double, 3> y = xt::ones<double>({2, 3, 4}), state = xt::ones<double>({2, 4, 5});
    CHECK_THROWS_WITH_AS(
        xloom::selective_scan_into(u, {.delta = y, .A = A, .B = states, .C = states}, {.y = y}, workspace),
        "xloom::selective_scan_into: an operand that is written must have memory of its own, but y "
        "overlaps delta. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(xloom::selective_scan_into(u, {.delta = u, .A = A, .B = states, .C = states},
                             {.y = y, .final_state = y}, workspace),
        "xloom::selective_scan_into: the operands must have the shapes that N = 2, T = 3, K = 4 and S = 5 "
        "give "
        "them, but final_state is [2, 3, 4] instead of [N, K, S] = [2, 4, 5]. Give it that shape.",
        shape_error);
    CHECK(y == xt::ones<double>({2, 3, 4}));
    std::array<double, 1> const zero{};
    auto const huge = [&](std::size_t a, std::size_t b, std::size_t c) {
        return xloom::detail::strided_items<double const>{zero.data(), {{a, b, c}, {0, 0, 0}}};
    };
    constexpr int digits = std::numeric_limits<std::size_t>::digits;
    constexpr std::size_t long_axis = std::size_t{1} << (digits / 2 - 2);
    auto const large = huge(long_axis, long_axis, 4);
    auto const large_states = huge(long_axis, long_axis, 1 << 10);
    xloom::detail::strided_items<double const> const large_A{zero.data(), {{4, 1 << 10}, {0, 0}}};
    std::string const length = std::to_string(long_axis);
    CHECK_THROWS_WITH_AS(
        xloom::selective_scan(large, {.delta = large, .A = large_A, .B = large_states, .C = large_states}),
        ("xloom::selective_scan: operands and results must fit in memory, but N = " + length +
            ", T = " + length + ", K = 4 and S = 1024. Choose smaller sizes.")
            .c_str(),
        shape_error);

    // Two rows of S numbers.
    constexpr std::size_t S = std::size_t{1} << (digits - 5);
    xt::xtensor<double, 3> const one = xt::zeros<double>({1, 1, 1});
    xt::xtensor<double, 3> y_of_one = xt::ones<double>({1, 1, 1});
    auto const states_of_one = huge(1, 1, S);
    xloom::detail::strided_items<double const> const A_of_one{zero.data(), {{1, S}, {0, 0}}};
    CHECK_THROWS_WITH_AS(
        xloom::selective_scan_into(one, {.delta = one, .A = A_of_one, .B = states_of_one, .C = states_of_one},
            {.y = y_of_one}, workspace),
        "xloom: the buffers of an operator must fit in memory, but its sizes need more bytes than "
        "std::ptrdiff_t can count. Choose smaller sizes.",
        shape_error);
    CHECK(y_of_one(0, 0, 0) == 1);
}

} // namespace selective_scan_test
