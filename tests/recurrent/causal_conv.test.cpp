// causal_conv and causal_conv_into against the loops of the definition, in float64.

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#define BOOST_CSTDFLOAT_NO_LIBQUADMATH_SUPPORT // else its output of __float128 requires another library
#include <boost/math/differentiation/autodiff.hpp>

#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "support/causal_conv_calls.hpp"
#include "support/xtensor_extras.hpp"

namespace causal_conv_test {

namespace {

using sizes = std::initializer_list<std::size_t>;
using cube = xt::xtensor<double, 3>;
constexpr auto silu = xloom::conv_activation::silu;

template <class T>
void check_close(std::vector<T> const& found, std::vector<double> const& expected, double tolerance)
{
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        REQUIRE(std::abs(static_cast<double>(found[i]) - expected[i]) <= tolerance);
}

template <class T>
void compare(conv_dims const& dims, unsigned given, bool has_silu, placement how, double tolerance)
{
    CAPTURE(given);
    auto const operands = random_conv(dims, given, given + 1);
    auto const expected = textbook::causal_conv(operands, has_silu);
    auto const found = call_causal_conv(placed_conv<T>(operands, how), dims, has_silu, how);
    check_close(items_of(found.output), expected.output.items, tolerance);
    check_close(items_of(found.present_state), expected.present_state.items, tolerance);
    CHECK(has_clean_gaps(found.output));
    CHECK(has_clean_gaps(found.present_state));
}

} // namespace

TEST_CASE("causal_conv_into: the definition, with any optional operands, in any layout")
{
    for (unsigned given = 0; given < 4; ++given)
        for (bool const has_silu : {false, true})
            for (placement const how : every_placement)
                for (std::size_t const L : sizes{7, 41}) {
                    compare<double>({2, 19, L, 4}, given, has_silu, how, 1e-14);
                    compare<float>({2, 19, L, 4}, given, has_silu, how, 4e-6);
                }
}

TEST_CASE("causal_conv_into: sizes around a vector and a tile, zero and one of each")
{
    for (std::size_t const B : sizes{0, 1, 3})
        for (std::size_t const C : sizes{0, 1, 9, 16})
            for (std::size_t const L : sizes{0, 1, 2, 15, 16, 17})
                for (std::size_t const k : sizes{1, 2, 3, 4, 5, 9, 40})
                    for (placement const how : {placement::row_major, placement::column_major})
                        compare<double>({B, C, L, k}, 3, true, how, 1e-13);
    for (placement const how : every_placement)
        for (std::size_t const L : sizes{1, 511, 512, 513, 1100}) {
            compare<float>({1, 3, L, 4}, 3, false, how, 4e-6);
            compare<float>({1, 600, 9, 3}, 3, false, how, 4e-6);
        }
    for (placement const how : every_placement)
        compare<float>({1, 600, 9, 3}, 3, true, how, 4e-6);
    compare<double>({1, 350, 13, 1}, 3, true, placement::row_major, 1e-13); // fills the memory of a tile
}

TEST_CASE("causal_conv_into: outputs in another layout than the inputs, channels that share weight and bias")
{
    conv_dims const dims{2, 16, 21, 3};
    auto operands = random_conv(dims, 3, 15);
    auto expected = textbook::causal_conv(operands, true);
    for (placement const from : every_placement)
        for (placement const to : every_placement) {
            auto const found = call_causal_conv(placed_conv<double>(operands, from), dims, true, to);
            check_close(items_of(found.output), expected.output.items, 1e-14);
            check_close(items_of(found.present_state), expected.present_state.items, 0);
            CHECK(has_clean_gaps(found.output));
        }
    for (std::size_t i = 0; i < operands.weight.items.size(); ++i)
        operands.weight.items[i] = operands.weight.items[i % dims.k];
    std::fill(operands.bias.items.begin(), operands.bias.items.end(), 0.5);
    expected = textbook::causal_conv(operands, true);
    xloom::detail::strided_items<double const> const weight{
        operands.weight.items.data(), {{dims.C, 1, dims.k}, {0, 0, 1}}},
        bias{operands.bias.items.data(), {{dims.C}, {0}}};
    for (placement const how : every_placement) {
        placed_conv<double> const of(operands, how);
        auto const found = xloom::causal_conv(
            of.input, weight, {.bias = bias, .past_state = of.past_state}, {.activation = silu});
        check_close(
            std::vector<double>(found.output.begin(), found.output.end()), expected.output.items, 1e-14);
    }
}

TEST_CASE_TEMPLATE(
    "causal_conv_into: the same bits in any layout, on several threads, and channel by channel", T, float,
    double, xloom::float16)
{
    conv_dims const dims{2, 530, 40, 4};
    auto const operands = random_conv(dims, 3, 5);
    placed_conv<T> const of(operands);
    auto const whole = call_causal_conv(of, dims, true);
    auto const output = items_of(whole.output), state = items_of(whole.present_state);
    for (placement const how : every_placement) {
        auto const found = call_causal_conv(placed_conv<T>(operands, how), dims, true, how);
        CHECK(items_of(found.output) == output);
        CHECK(items_of(found.present_state) == state);
    }
    for (std::size_t const threads : sizes{2, 3, 7}) {
        auto const found =
            call_causal_conv(of, dims, true, placement::row_major, xloom::thread_policy(threads));
        CHECK(items_of(found.output) == output);
        CHECK(items_of(found.present_state) == state);
    }
    conv_dims const one{1, 1, 40, 4};
    auto const part = [](textbook::array<double> const& from, std::size_t row, textbook::dims const& shape) {
        auto const begin = from.items.begin() + static_cast<std::ptrdiff_t>(row * textbook::size_of(shape));
        return textbook::array<double>{
            shape, {begin, begin + static_cast<std::ptrdiff_t>(textbook::size_of(shape))}};
    };
    for (std::size_t const c : sizes{0, 17, 529}) {
        textbook::conv_operands<double> const alone{part(operands.input, 530 + c, {1, 1, 40}),
            part(operands.weight, c, {1, 1, 4}), part(operands.bias, c, {1}),
            part(operands.past_state, 530 + c, {1, 1, 3})};
        auto const found = items_of(call_causal_conv(placed_conv<T>(alone), one, true).output);
        CHECK(std::equal(
            found.begin(), found.end(), output.begin() + static_cast<std::ptrdiff_t>((530 + c) * 40)));
    }
}

TEST_CASE_TEMPLATE("causal_conv_into: the pieces of a stream, in place, have the bits of the whole", T, float,
    double, xloom::bfloat16)
{
    for (std::size_t const k : sizes{1, 2, 4, 7, 30})
        for (bool const is_channels_last : {false, true}) {
            CAPTURE(k);
            conv_dims const dims{2, 21, 300, k};
            auto const operands = random_conv(dims, 3, 9);
            placement const how = is_channels_last ? placement::column_major : placement::row_major;
            placed_conv<T> of(operands, how);
            auto const whole = call_causal_conv(of, dims, true, how);
            std::size_t begin = 0;
            for (std::size_t const length : sizes{1, 1, 2, 0, 3, 16, 17, 260}) {
                placed_tensor<T> piece = of.input;
                piece.layout.dims[2] = length;
                piece.origin += static_cast<std::ptrdiff_t>(begin) * piece.layout.strides[2];
                xloom::recurrent_workspace<T> workspace;
                xloom::causal_conv_into(piece, of.weight, of.inputs(),
                    {.output = piece, .present_state = of.past_state}, {.activation = silu}, workspace);
                of.input.memory = piece.memory;
                begin += length;
            }
            REQUIRE(begin == dims.L);
            CHECK(items_of(of.input) == items_of(whole.output));
            CHECK(items_of(of.past_state) == items_of(whole.present_state));
        }
}

TEST_CASE("causal_conv: returns containers, takes a weight without the unit axis")
{
    conv_dims const dims{2, 5, 6, 3};
    auto const operands = random_conv(dims, 3, 3);
    auto const expected = textbook::causal_conv(operands, false);
    placed_conv<double> const of(operands);
    xt::xtensor<double, 2> const weight = xt::adapt(operands.weight.items, std::array<std::size_t, 2>{5, 3});
    auto const [output, state] = xloom::causal_conv(of.input, weight, of.inputs());
    CHECK(output.shape() == std::array<std::size_t, 3>{2, 5, 6});
    CHECK(state.shape() == std::array<std::size_t, 3>{2, 5, 2});
    check_close(std::vector<double>(output.begin(), output.end()), expected.output.items, 1e-14);
    check_close(std::vector<double>(state.begin(), state.end()), expected.present_state.items, 0);
    cube const input = xt::ones<double>({1, 1, 2});
    xt::xtensor<double, 2> const one = {{2}};
    auto const found = xloom::causal_conv(input, one);
    CHECK(found.output == cube{{{2, 2}}});
    CHECK(found.present_state.size() == 0);
    cube state_alone = xt::ones<double>({1, 1, 1});
    xt::xtensor<double, 2> const two = {{1, 2}};
    xloom::causal_conv_into(input, two, {}, {.present_state = state_alone});
    CHECK(state_alone(0, 0, 0) == 1);
}

TEST_CASE_TEMPLATE("causal_conv_into: in storage floats the sum is rounded, then its SiLU", T, xloom::float16,
    xloom::bfloat16)
{
    for (std::size_t const L : sizes{1, 3, 40}) {
        conv_dims const dims{2, 20, L, 4};
        auto const rounded = [](textbook::array<double> from) {
            for (double& item : from.items)
                item = static_cast<double>(static_cast<float>(T(item)));
            return from;
        };
        auto const drawn = random_conv(dims, 3, 7);
        textbook::conv_operands<double> const operands{
            rounded(drawn.input), rounded(drawn.weight), rounded(drawn.bias), rounded(drawn.past_state)};
        auto const sums = items_of(call_causal_conv(placed_conv<float>(operands), dims, false).output);
        auto const plain = items_of(call_causal_conv(placed_conv<T>(operands), dims, false).output);
        auto const activated = items_of(call_causal_conv(placed_conv<T>(operands), dims, true).output);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            REQUIRE(static_cast<float>(plain[i]) == static_cast<float>(T(sums[i])));
            double const sum = static_cast<double>(static_cast<float>(plain[i])),
                         exact = sum / (1 + std::exp(-sum)); // floats of it differ by less than half a T
            REQUIRE(std::abs(static_cast<double>(static_cast<float>(activated[i])) - exact) <=
                    std::abs(exact) * 0.501 / (std::is_same_v<T, xloom::float16> ? 1024 : 128) + 1e-7);
        }
    }
}

TEST_CASE("causal_conv_into: scalars that carry derivatives")
{
    using dual = boost::math::differentiation::autodiff_fvar<double, 1>;
    conv_dims const dims{1, 3, 4, 2};
    auto const operands = random_conv(dims, 3, 9);
    textbook::conv_operands<dual> carried;
    auto const carry = [](textbook::array<double> const& from) {
        return textbook::array<dual>{from.shape, std::vector<dual>(from.items.begin(), from.items.end())};
    };
    carried = {
        carry(operands.input), carry(operands.weight), carry(operands.bias), carry(operands.past_state)};
    carried.weight.items[1] = boost::math::differentiation::make_fvar<double, 1>(operands.weight.items[1]);
    auto const expected = textbook::causal_conv(carried, true);
    auto const found = items_of(call_causal_conv(placed_conv<dual>(carried), dims, true).output);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(
            found[i].derivative(0) == doctest::Approx(expected.output.items[i].derivative(0)).epsilon(1e-12));
        CHECK(
            found[i].derivative(1) == doctest::Approx(expected.output.items[i].derivative(1)).epsilon(1e-12));
    }
    CHECK(found[1].derivative(1) != 0);
}

TEST_CASE("causal_conv: NaN and infinity go through, where they are multiplied")
{
    double const nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    cube const input = {{{1, nan, 1, 1}, {1, inf, 1, 1}, {1, -1, -inf, 1}}};
    xt::xtensor<double, 2> const weight = {{1, 1}, {1, 1}, {1, 1}};
    auto const output = xloom::causal_conv(input, weight, {}, {.activation = silu}).output;
    CHECK(output(0, 0, 0) == doctest::Approx(1 / (1 + std::exp(-1.0))));
    CHECK(std::isnan(output(0, 0, 1)));
    CHECK(std::isnan(output(0, 0, 2)));
    CHECK(!std::isnan(output(0, 0, 3)));
    CHECK(output(0, 1, 1) == inf);
    CHECK(output(0, 1, 2) == inf);
    CHECK(std::isnan(output(0, 2, 2)));
}

TEST_CASE("causal_conv: subnormal products are 0, on any number of threads, states are copied")
{
    std::size_t const C = 40, L = 2000;
    float const small = std::numeric_limits<float>::min();
    xt::xtensor<float, 3> const input = small * xt::ones<float>({std::size_t{1}, C, L});
    xt::xtensor<float, 2> const weight = 0.25f * xt::ones<float>({C, std::size_t{2}});
    auto const [output, state] = xloom::causal_conv(input, weight);
    float const expected = xloom::flush_subnormals::is_supported ? 0.0f : small / 2;
    bool are_flushed = true;
    for (std::size_t t = 1; t < L; ++t)
        are_flushed = are_flushed && output(0, 0, t) == expected;
    CHECK(are_flushed);
    CHECK(state(0, 0, 0) == small);
    CHECK(xloom::causal_conv(input, weight, {}, {}, xloom::thread_policy(2)).output == output);
}

TEST_CASE("causal_conv: errors, before anything is written")
{
    using xloom::option_error, xloom::overlap_error, xloom::shape_error;
    cube const input = xt::zeros<double>({2, 3, 4}), weight = xt::zeros<double>({3, 1, 3});
    xt::xtensor<double, 2> const matrix = xt::zeros<double>({3, 4}), no_taps = xt::zeros<double>({3, 0});
    xt::xtensor<double, 1> const line = {1, 2};
    CHECK_THROWS_WITH_AS(xloom::causal_conv(matrix, weight),
        "xloom::causal_conv: input must have the shape [B, C, L], but input is [3, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv(input, no_taps),
        "xloom::causal_conv: weight must have the shape [C, 1, k] or [C, k] with k >= 1, but weight is [3, "
        "0]. "
        "Give it that shape.",
        shape_error);
    CHECK_THROWS_AS(xloom::causal_conv(input, line), shape_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv(input, input),
        "xloom::causal_conv: the operands must have the shapes that B = 2, C = 3, L = 4 and k = 4 give them, "
        "but weight is [2, 3, 4] instead of [C, 1, k] = [3, 1, 4]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv(input, xt::view(matrix, xt::range(1, 3)), {.bias = line}),
        "xloom::causal_conv: the operands must have the shapes that B = 2, C = 3, L = 4 and k = 4 give them, "
        "but weight is [2, 4] instead of [C, k] = [3, 4] and bias is [2] instead of [C] = [3]. Give it that "
        "shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv(input, weight, {.past_state = input}),
        "xloom::causal_conv: the operands must have the shapes that B = 2, C = 3, L = 4 and k = 3 give them, "
        "but past_state is [2, 3, 4] instead of [B, C, k - 1] = [2, 3, 2]. Give it that shape.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        xloom::causal_conv(input, weight, {}, {.activation = static_cast<xloom::conv_activation>(7)}),
        "xloom::causal_conv: options.activation must be none or silu, but it is number 7. Choose one of the "
        "two.",
        option_error);
    cube output = xt::ones<double>({2, 3, 4}), state = xt::ones<double>({2, 3, 2});
    CHECK_THROWS_WITH_AS(
        xloom::causal_conv_into(input, weight, {}, {.output = output, .present_state = output}),
        "xloom::causal_conv_into: the operands must have the shapes that B = 2, C = 3, L = 4 and k = 3 give "
        "them, but present_state is [2, 3, 4] instead of [B, C, k - 1] = [2, 3, 2]. Give it that shape.",
        shape_error);
    cube const full = xt::zeros<double>({3, 1, 5});
    cube other = output;
    CHECK_THROWS_WITH_AS(xloom::causal_conv_into(
                             input, full, {.past_state = output}, {.output = output, .present_state = other}),
        "xloom::causal_conv_into: an operand that is written must have memory of its own, but output "
        "overlaps "
        "past_state. Copy one of the two.",
        overlap_error);
    CHECK_THROWS_WITH_AS(xloom::causal_conv_into(
                             other, full, {.past_state = output}, {.output = output, .present_state = other}),
        "xloom::causal_conv_into: an operand that is written must have memory of its own, but output "
        "overlaps "
        "past_state and present_state overlaps input. Copy one of the two.",
        overlap_error);
    auto shifted = xt::view(output, xt::all(), xt::all(), xt::range(1, 4));
    auto const begin = xt::view(output, xt::all(), xt::all(), xt::range(0, 3));
    CHECK_THROWS_WITH_AS(xloom::causal_conv_into(begin, weight, {}, {.output = shifted}),
        "xloom::causal_conv_into: an operand that is written must have memory of its own, but output "
        "overlaps "
        "input. Copy one of the two, or pass one tensor as both.",
        overlap_error);
    CHECK(output == xt::ones<double>({2, 3, 4}));
    std::array<double, 1> const zero{};
    constexpr std::size_t long_axis = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2 - 2);
    xloom::detail::strided_items<double const> const large{
        zero.data(), {{long_axis, 4, long_axis}, {0, 0, 0}}};
    xloom::detail::strided_items<double const> const taps{zero.data(), {{4, 2}, {0, 0}}};
    std::string const length = std::to_string(long_axis);
    CHECK_THROWS_WITH_AS(xloom::causal_conv(large, taps),
        ("xloom::causal_conv: operands and results must fit in memory, but B = " + length +
            ", C = 4, L = " + length + " and k = 2. Choose smaller sizes.")
            .c_str(),
        shape_error);
    xt::xarray<double> const deep = xt::zeros<double>(std::vector<std::size_t>(xloom::max_rank + 1, 1));
    CHECK_THROWS_AS(xloom::causal_conv(input, deep), shape_error);
}

} // namespace causal_conv_test
