// What scan_lanes and scan_lanes_into refuse, word for word, and that they write nothing before.

#include <array>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/control_flow/scan_lanes.hpp>

#include "../support/xtensor_extras.hpp"

namespace errors_scan_lanes_test {

using namespace xloom;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
using dynamic = xt::xarray<float>;
using lengths = xt::xtensor<int, 1>;

/// Bodies must not run.
constexpr auto never = [](auto&...) { FAIL_CHECK("the body ran"); };
constexpr auto no_step = [](auto const& h, auto const&...) {
    FAIL_CHECK("the body ran");
    return scan_step{h, h};
};

vector ones(std::size_t n) { return xt::ones<float>({n}); }
matrix ones(std::size_t n, std::size_t m) { return xt::ones<float>({n, m}); }

template <std::size_t N, std::size_t M, std::size_t K>
constexpr bool are_sizes(std::array<shape, N> const& states, std::array<shape, M> const& inputs,
    std::array<shape, K> const& outputs, scan_lanes_options const& options, std::size_t batch,
    std::size_t length, std::size_t batch_axis)
{
    auto const found = detail::check_scan_lanes("op", {"states", states, inputs, outputs}, options);
    return found.extent.batch == batch && found.extent.length == length && found.batch_axis == batch_axis;
}

constexpr bool sizes_come_from_the_operands()
{
    return are_sizes<2, 2, 1>({{{2}, {2, 9}}}, {{{2, 3}, {2}}}, {{{2, 3}}}, {}, 2, 3, 0) &&
           are_sizes<2, 2, 1>({{{2}, {9, 2}}}, {{{3, 2}, {2}}}, {{{3, 2}}}, {.batch_axis = 1}, 2, 3, 1) &&
           are_sizes<0, 0, 1>({}, {}, {{{2, 3}}}, {.batch_axis = -1}, 3, 2, 1) &&
           are_sizes<1, 1, 0>({{{2}}}, {{{2}}}, {}, {.length = 5}, 2, 5, 0) &&
           are_sizes<0, 1, 0>({}, {{{0, 0}}}, {}, {.batch_axis = -2, .length = 0}, 0, 0, 0);
}

} // namespace

TEST_CASE("check_scan_lanes accepts valid shapes, in constant expressions too")
{
    static_assert(sizes_come_from_the_operands());
    CHECK(sizes_come_from_the_operands());
}

TEST_CASE("scan_lanes_into refuses other axes of the sequences than 0 and 1")
{
    vector h = ones(2);
    matrix y = ones(2, 3);
    matrix const x = y;
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x, std::nullopt, y, {.batch_axis = 2}),
        "xloom::scan_lanes_into: batch_axis must be an axis of operands of rank 2, in [-2, 1], but it is 2. "
        "Name one of the two axes.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, x, std::nullopt, {.batch_axis = -3}),
        "xloom::scan_lanes: batch_axis must be an axis of operands of rank 2, in [-2, 1], but it is -3. "
        "Name one of the two axes.",
        option_error);
    CHECK(h == ones(2));
    CHECK(y == ones(2, 3));
}

TEST_CASE("scan_lanes_into refuses unequal numbers of sequences")
{
    vector h = ones(2), gain = ones(4);
    matrix cascade = ones(4, 5), y = ones(5, 3);
    matrix const x = ones(3, 3);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x),
        "xloom::scan_lanes_into: all operands must have the same number of sequences, but states[0] has 2 "
        "(axis 0 of [2]) and scan_inputs[0] has 3 (axis 0 of [3, 3]). Cut them to the same sequences, or "
        "name another batch_axis.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, cascade, gain, std::nullopt, y),
        "xloom::scan_lanes_into: all operands must have the same number of sequences, but states[0] has 4 "
        "(axis 0 of [4, 5]), scan_inputs[0] has 4 (axis 0 of [4]) and scan_outputs[0] has 5 (axis 0 of [5, "
        "3]). Cut them to the same sequences, or name another batch_axis.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, cascade, gain, std::nullopt, y, {.batch_axis = 1}),
        "xloom::scan_lanes_into: all operands must have the same number of sequences, but states[0] has 5 "
        "(axis 1 of [4, 5]), scan_inputs[0] has 4 (axis 0 of [4]) and scan_outputs[0] has 3 (axis 1 of [5, "
        "3]). Cut them to the same sequences, or name another batch_axis.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, std::tie(gain, x)),
        "xloom::scan_lanes: all operands must have the same number of sequences, but init[0] has 2 (axis 0 "
        "of [2]), scan_inputs[0] has 4 (axis 0 of [4]) and scan_inputs[1] has 3 (axis 0 of [3, 3]). Cut them "
        "to the same sequences, or name another batch_axis.",
        shape_error);
    vector g = ones(2), f = ones(2);
    matrix const four = ones(2, 4);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, std::tie(f, g, h), std::tie(four, x, gain)),
        "xloom::scan_lanes_into: all operands must have the same number of sequences, but states[0] has 2 "
        "(axis 0 of [2]), scan_inputs[1] has 3 (axis 0 of [3, 3]) and scan_inputs[2] has 4 (axis 0 of [4]). "
        "Cut them to the same sequences, or name another batch_axis.",
        shape_error);
    CHECK(h == ones(2));
    CHECK(cascade == ones(4, 5));
    CHECK(y == ones(5, 3));
}

TEST_CASE("scan_lanes_into refuses unequal lengths")
{
    vector h = ones(2), gain = ones(2);
    matrix const x = ones(2, 3), longer = ones(2, 4);
    matrix y = ones(2, 5), turned = ones(5, 2);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tie(gain, x, longer), std::nullopt, y),
        "xloom::scan_lanes_into: all inputs and outputs must have the same sequence length, but "
        "scan_inputs[1] has 3 (axis 1 of [2, 3]), scan_inputs[2] has 4 (axis 1 of [2, 4]) and "
        "scan_outputs[0] has 5 (axis 1 of [2, 5]). Cut them to one length.",
        shape_error);
    matrix const x_turned = ones(3, 2);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x_turned, std::nullopt, turned, {.batch_axis = 1}),
        "xloom::scan_lanes_into: all inputs and outputs must have the same sequence length, but "
        "scan_inputs[0] has 3 (axis 0 of [3, 2]) and scan_outputs[0] has 5 (axis 0 of [5, 2]). Cut them to "
        "one length.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, std::tie(x, longer)),
        "xloom::scan_lanes: all inputs and outputs must have the same sequence length, but scan_inputs[0] "
        "has 3 (axis 1 of [2, 3]) and scan_inputs[1] has 4 (axis 1 of [2, 4]). Cut them to one length.",
        shape_error);
    CHECK(h == ones(2));
    CHECK(y == ones(2, 5));
}

TEST_CASE("scan_lanes_into refuses a call without sequences or without a length")
{
    vector h = ones(2);
    CHECK_THROWS_WITH_AS(
        scan_lanes_into(never, std::tuple(), std::tuple(), std::nullopt, std::tuple(), {.length = 3}),
        "xloom::scan_lanes_into: the number of sequences comes from the operands, but there are none. Give "
        "one.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, ones(2)),
        "xloom::scan_lanes_into: without operands along time the sequence length must be given, but "
        "options.length is empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, std::tuple()),
        "xloom::scan_lanes: without operands along time the sequence length must be given, but "
        "options.length is empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, ones(2, 3), std::nullopt, {.length = 4}),
        "xloom::scan_lanes: options.length must be the operands' sequence length, but it is 4 and they have "
        "3. Leave it empty.",
        option_error);
    matrix y = ones(2, 3);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tuple(), std::nullopt, y, {.length = 0}),
        "xloom::scan_lanes_into: options.length must be the operands' sequence length, but it is 0 and they "
        "have 3. Leave it empty.",
        option_error);
    CHECK(h == ones(2));
    CHECK(y == ones(2, 3));
}

TEST_CASE("scan_lanes_into refuses inputs and outputs of a wrong rank")
{
    vector h = ones(2);
    matrix good = ones(2, 3);
    dynamic const scalar = 1.0f, cube = xt::ones<float>({2, 3, 4});
    dynamic flat = ones(2), deep = cube;
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tie(scalar, good, cube)),
        "xloom::scan_lanes_into: a scan input must have rank 2, or rank 1 as a parameter of each sequence, "
        "but scan_inputs[0] has the shape [] and scan_inputs[2] has the shape [2, 3, 4]. Give it one or two "
        "axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tuple(), std::nullopt, std::tie(flat, good, deep)),
        "xloom::scan_lanes_into: a scan output must have rank 2, but scan_outputs[0] has the shape [2] and "
        "scan_outputs[2] has the shape [2, 3, 4]. Give it two axes.",
        shape_error);
    dynamic deepest = xt::ones<float>(std::vector<std::size_t>(max_rank + 1, 1));
    auto const too_deep = [](std::string const& op, std::string const& operand) {
        return "xloom::" + op + ": a tensor may have at most 16 axes (max_rank), but " + operand +
               " has 17. Merge some of them.";
    };
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, deepest),
        too_deep("scan_lanes_into", "scan_inputs[0]").c_str(), shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tuple(), std::nullopt, deepest),
        too_deep("scan_lanes_into", "scan_outputs[0]").c_str(), shape_error);
    CHECK_THROWS_WITH_AS(
        scan_lanes(no_step, h, deepest), too_deep("scan_lanes", "scan_inputs[0]").c_str(), shape_error);
    CHECK(h == ones(2));
    CHECK(good == ones(2, 3));
}

TEST_CASE("scan_lanes_into counts its inputs and outputs")
{
    std::array<matrix, max_operands + 1> y;
    y.fill(ones(2, 3));
    std::apply(
        [&](auto&... each) {
            CHECK_THROWS_WITH_AS(
                scan_lanes_into(never, std::tuple(), std::tuple(), std::nullopt, std::tie(each...)),
                "xloom::scan_lanes_into: there may be at most 32 operands of one kind (max_operands), but "
                "there are 33 scan outputs. Stack some of them into one tensor.",
                option_error);
            CHECK_THROWS_WITH_AS(scan_lanes_into(never, std::tuple(), std::tie(each...)),
                "xloom::scan_lanes_into: there may be at most 32 operands of one kind (max_operands), but "
                "there are 33 scan inputs. Stack some of them into one tensor.",
                option_error);
        },
        y);
}

TEST_CASE("scan_lanes_into refuses sequence_lens of a wrong shape, and lengths outside [0, T]")
{
    vector h = ones(2);
    matrix y = ones(2, 3);
    matrix const x = y;
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x, lengths{1, 2, 3}, y),
        "xloom::scan_lanes_into: sequence_lens must have the shape [N] = [2], but it is [3]. Give a length "
        "for each row.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x, xt::xarray<int>{{1, 2}}, y),
        "xloom::scan_lanes_into: sequence_lens must have the shape [N] = [2], but it is [1, 2]. Give a "
        "length for each row.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, x, lengths{4, -1}, y),
        "xloom::scan_lanes_into: lengths must be in [0, T] = [0, 3], but sequence_lens[0] is 4 and "
        "sequence_lens[1] is -1. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, h, x, lengths{0, 4}),
        "xloom::scan_lanes: lengths must be in [0, T] = [0, 3], but sequence_lens[1] is 4. Correct it.",
        index_error);
    CHECK(h == ones(2));
    CHECK(y == ones(2, 3));
}

TEST_CASE("scan_lanes refuses outputs that do not fit in memory")
{
    constexpr std::size_t quarter = std::size_t{1} << (std::numeric_limits<std::size_t>::digits - 2);
    std::string const items = std::to_string(quarter);
    std::string const rule =
        "xloom::scan_lanes: the size of a result must fit in memory, but scan_outputs[0] would have the "
        "shape ";
    CHECK_THROWS_WITH_AS(scan_lanes(no_step, ones(2), std::tuple(), std::nullopt, {.length = quarter}),
        (rule + "[2, " + items + "]. Run fewer iterations.").c_str(), shape_error);
    CHECK_THROWS_WITH_AS(
        scan_lanes(no_step, ones(2), std::tuple(), std::nullopt, {.batch_axis = 1, .length = quarter}),
        (rule + "[" + items + ", 2]. Run fewer iterations.").c_str(), shape_error);
}

TEST_CASE("scan_lanes_into refuses memory that is shared, but for an output that is an input")
{
    matrix memory = ones(2, 4);
    vector h = ones(2);
    std::string const rule =
        "xloom::scan_lanes_into: an operand that is written must have memory of its own, but ";
    auto first = xt::view(memory, xt::all(), xt::range(0, 3));
    auto const last = xt::view(memory, xt::all(), xt::range(1, 4));
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, last, std::nullopt, first),
        (rule + "scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or pass one tensor as both.")
            .c_str(),
        overlap_error);
    auto column = xt::view(memory, xt::all(), 0);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, column, std::tuple(), std::nullopt, memory),
        (rule + "states[0] overlaps scan_outputs[0]. Copy one of the two.").c_str(), overlap_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, column, memory),
        (rule + "states[0] overlaps scan_inputs[0]. Copy one of the two.").c_str(), overlap_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, std::tie(column, column), ones(2, 3)),
        (rule + "states[0] overlaps states[1]. Copy one of the two.").c_str(), overlap_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tuple(), std::nullopt, std::tie(memory, memory)),
        (rule + "scan_outputs[0] overlaps scan_outputs[1]. Copy one of the two.").c_str(), overlap_error);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, column, std::nullopt, memory),
        (rule + "scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or pass one tensor as both.")
            .c_str(),
        overlap_error);
    matrix square = ones(2, 2);
    auto const turned = xt::transpose(square);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, turned, std::nullopt, square),
        (rule + "scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or pass one tensor as both.")
            .c_str(),
        overlap_error);
    CHECK(memory == ones(2, 4));
    CHECK(square == ones(2, 2));
    CHECK(h == ones(2));
}

TEST_CASE("scan_lanes_into refuses to write its sequence_lens, and an item twice")
{
    lengths lens = {3, 1};
    std::string const rule =
        "xloom::scan_lanes_into: an operand that is written must have memory of its own, but ";
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, lens, ones(2, 3), lens),
        (rule + "states[0] overlaps sequence_lens. Copy one of the two.").c_str(), overlap_error);
    xt::xtensor<int, 2> y = {{3, 1, 0}, {0, 0, 0}};
    auto const first = xt::view(y, xt::all(), 0);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, std::tuple(), ones(2, 3), first, y),
        (rule + "scan_outputs[0] overlaps sequence_lens. Copy one of the two.").c_str(), overlap_error);
    CHECK(lens == lengths{3, 1});
    CHECK(y == xt::xtensor<int, 2>{{3, 1, 0}, {0, 0, 0}});

    std::array<float, 6> memory{};
    auto repeated = xt::adapt(memory.data(), 6, xt::no_ownership(), std::array<std::size_t, 2>{2, 3},
        std::array<std::ptrdiff_t, 2>{0, 1});
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, std::tuple(), ones(2, 3), std::nullopt, repeated),
        "xloom::scan_lanes_into: every item of scan_outputs[0] must have memory of its own, but "
        "scan_outputs[0] has the shape [2, 3] and the strides [0, 1]. Write to a container.",
        overlap_error);
    CHECK(memory == std::array<float, 6>{});
}

TEST_CASE("scan_lanes refuses a negative number of steps")
{
    auto h = ones(2);
    CHECK_THROWS_WITH_AS(scan_lanes_into(never, h, std::tuple(), std::nullopt, std::tuple(), {.length = -2}),
        "xloom::scan_lanes_into: options.length must be from 0 to 9223372036854775807, but it is -2. Choose "
        "a "
        "number of iterations.",
        option_error);
}

TEST_CASE("scan_lanes refuses more outputs than max_operands")
{
    auto const body = [](auto const& h, auto const&) {
        auto const outputs = [&](auto... each) { return std::tuple((static_cast<void>(each), h)...); };
        return scan_step{h, std::apply(outputs, std::array<int, max_operands + 1>{})};
    };
    CHECK_THROWS_WITH_AS(scan_lanes(body, ones(2), ones(2, 3)),
        "xloom::scan_lanes: there may be at most 32 operands of one kind (max_operands), but there are 33 "
        "scan outputs. Stack some of them into one tensor.",
        option_error);
}

} // namespace errors_scan_lanes_test
