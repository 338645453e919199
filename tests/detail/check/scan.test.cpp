// Scan's rule on concrete shapes: what it accepts, in constant expressions too, and the text of every
// refusal.

#include <doctest/doctest.h>

#include <array>
#include <limits>

#include <xloom/detail/check/scan.hpp>

namespace check_scan_test {

using namespace xloom;
using namespace xloom::detail;
using enum direction;

namespace {

constexpr std::size_t huge = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

template <std::size_t N>
constexpr std::size_t length_of(
    std::array<shape, N> const& inputs, std::size_t outputs = 1, scan_options const& options = {})
{
    return check_scan("xloom::scan", inputs, outputs, options);
}

constexpr bool lengths_come_from_the_inputs()
{
    return length_of<1>({{{3, 4}}}) == 3 && length_of<2>({{{3, 4}, {3}}}) == 3 &&
           length_of<1>({{{0, 4}}}) == 0 && length_of<1>({{{3, 4}}}, 1, {.length = 3}) == 3;
}

constexpr bool lengths_come_from_the_named_axes()
{
    return length_of<1>({{{3, 4, 5}}}, 1, {.scan_input_axes = {1}}) == 4 &&
           length_of<1>({{{3, 4, 5}}}, 1, {.scan_input_axes = {2}}) == 5 &&
           length_of<1>({{{3, 4, 5}}}, 1, {.scan_input_axes = {-1}}) == 5 &&
           length_of<1>({{{3, 4, 5}}}, 1, {.scan_input_axes = {-3}}) == 3 &&
           length_of<2>({{{3, 4}, {4, 3}}}, 1, {.scan_input_axes = {0, -1}}) == 3;
}

constexpr bool lengths_come_from_the_option_without_inputs()
{
    return length_of<0>({}, 1, {.length = 7}) == 7 && length_of<0>({}, 0, {.length = 0}) == 0 &&
           length_of<0>({}, 1, {.length = huge}) == huge;
}

constexpr bool directions_do_not_change_a_length()
{
    return length_of<2>({{{3}, {3}}}, 2,
               {.scan_input_directions = {forward, reverse}, .scan_output_directions = {reverse, forward}}) ==
           3;
}

constexpr bool as_many_operands_as_allowed()
{
    std::array<shape, max_operands> inputs{};
    for (shape& input : inputs)
        input = {2};
    return length_of(inputs, max_operands, {.scan_input_axes = axes(max_operands, -1)}) == 2;
}

constexpr bool outputs_of_the_right_length()
{
    std::array<shape, 2> const outputs{{{3, 4}, {4, 3}}};
    check_scan_outputs("xloom::scan_into", outputs, 3, {.scan_output_axes = {0, -1}});
    check_scan_outputs("xloom::scan_into", std::array<shape, 1>{{{0, 4}}}, 0, {});
    check_scan_outputs("xloom::scan_into", {}, 3, {});
    return true;
}

constexpr shape stacked(
    shape const& element, std::size_t length, scan_options const& options = {}, std::size_t i = 0)
{
    return stacked_shape("xloom::scan", i, element, length, 4, options);
}

constexpr bool elements_are_stacked_along_a_new_axis()
{
    return stacked({}, 3) == shape{3} && stacked({4, 5}, 3) == shape{3, 4, 5} &&
           stacked({4, 5}, 3, {.scan_output_axes = {1}}) == shape{4, 3, 5} &&
           stacked({4, 5}, 3, {.scan_output_axes = {2}}) == shape{4, 5, 3} &&
           stacked({4, 5}, 3, {.scan_output_axes = {-1}}) == shape{4, 5, 3} &&
           stacked({4, 5}, 3, {.scan_output_axes = {-3}}) == shape{3, 4, 5} &&
           stacked({4}, 3, {.scan_output_axes = {0, 1}}, 1) == shape{4, 3} &&
           stacked({4}, 0) == shape{0, 4} && stacked(shape(max_rank - 1, 1), 3).size() == max_rank;
}

constexpr bool sizes_up_to_the_largest_are_stacked()
{
    return stacked({}, huge / 4) == shape{huge / 4} && stacked({huge / 8}, 2) == shape{2, huge / 8};
}

} // namespace

TEST_CASE("check_scan finds the number of iterations")
{
    static_assert(lengths_come_from_the_inputs());
    CHECK(lengths_come_from_the_inputs());
    static_assert(lengths_come_from_the_named_axes());
    CHECK(lengths_come_from_the_named_axes());
    static_assert(lengths_come_from_the_option_without_inputs());
    CHECK(lengths_come_from_the_option_without_inputs());
    static_assert(directions_do_not_change_a_length());
    CHECK(directions_do_not_change_a_length());
    static_assert(as_many_operands_as_allowed());
    CHECK(as_many_operands_as_allowed());
}

TEST_CASE("check_scan requires an entry for each operand, or none")
{
    CHECK_THROWS_WITH_AS(length_of<1>({{{3, 4}}}, 1, {.scan_input_axes = {0, 1}}),
        "xloom::scan: scan_input_axes must be empty or have one entry for each of the 1 scan inputs, but it "
        "has "
        "2. Leave it empty or give it "
        "one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(length_of<2>({{{3}, {3}}}, 1, {.scan_input_directions = {reverse}}),
        "xloom::scan: scan_input_directions must be empty or have one entry for each of the 2 scan inputs, "
        "but it "
        "has 1. Leave it empty or give "
        "it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(length_of<1>({{{3}}}, 0, {.scan_output_axes = {0}}),
        "xloom::scan: scan_output_axes must be empty or have one entry for each of the 0 scan outputs, but "
        "it has "
        "1. Leave it empty or give it "
        "one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(length_of<1>({{{3}}}, 3, {.scan_output_directions = {forward, reverse}}),
        "xloom::scan: scan_output_directions must be empty or have one entry for each of the 3 scan outputs, "
        "but "
        "it has 2. Leave it empty or "
        "give it one for each.",
        option_error);
}

TEST_CASE("check_scan names every direction that is none")
{
    CHECK_THROWS_WITH_AS(length_of<1>({{{3}}}, 1, {.scan_input_directions = {static_cast<direction>(2)}}),
        "xloom::scan: a direction must be forward (0) or reverse (1), but scan_input_directions[0] is 2. "
        "Name one "
        "of the two.",
        option_error);
    CHECK_THROWS_WITH_AS(
        length_of<1>({{{3}}}, 3,
            {.scan_output_directions = {static_cast<direction>(-1), forward, static_cast<direction>(7)}}),
        "xloom::scan: a direction must be forward (0) or reverse (1), but scan_output_directions[0] is -1 "
        "and "
        "scan_output_directions[2] is 7. Name "
        "one of the two.",
        option_error);
}

TEST_CASE("check_scan names every axis that its input lacks")
{
    CHECK_THROWS_WITH_AS(length_of<1>({{{3, 4}}}, 1, {.scan_input_axes = {2}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is 2 for "
        "scan_inputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(length_of<3>({{{3, 4}, {3}, {3}}}, 1, {.scan_input_axes = {-3, 0, 1}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is -3 for "
        "scan_inputs[0] of the shape [3, 4] and scan_input_axes[2] is 1 for scan_inputs[2] of the shape [3]. "
        "Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        length_of<1>({{{3}}}, 1, {.scan_input_axes = {std::numeric_limits<std::int64_t>::min()}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is "
        "-9223372036854775808 for scan_inputs[0] of the shape [3]. Name an axis that the tensor has.",
        shape_error);
}

TEST_CASE("check_scan names every input without an axis")
{
    CHECK_THROWS_WITH_AS(length_of<1>({{{}}}),
        "xloom::scan: each of scan_inputs must have at least one axis, but scan_inputs[0] has rank 0. Give "
        "it an axis for the iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(length_of<4>({{{}, {3}, {}, {}}}, 1, {.scan_input_axes = {0, 9, 0, 0}}),
        "xloom::scan: each of scan_inputs must have at least one axis, but scan_inputs[0] has rank 0, "
        "scan_inputs[2] has rank 0 and scan_inputs[3] has rank 0. Give it an axis for the iterations.",
        shape_error);
}

TEST_CASE("check_scan shows all lengths when they differ")
{
    CHECK_THROWS_WITH_AS(length_of<2>({{{3, 4}, {4, 4}}}),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 (axis 0 "
        "of [3, 4]) and scan_inputs[1] "
        "has 4 (axis 0 of [4, 4]). Cut them to one length, or name other axes.",
        shape_error);
    CHECK_THROWS_WITH_AS(length_of<3>({{{3, 4}, {4}, {3}}}, 1, {.scan_input_axes = {-1, 0, 0}}),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 4 (axis 1 "
        "of [3, 4]), scan_inputs[1] has "
        "4 (axis 0 of [4]) and scan_inputs[2] has 3 (axis 0 of [3]). Cut them to one length, or name other "
        "axes.",
        shape_error);
    // The last two agree.
    CHECK_THROWS_AS(length_of<3>({{{2}, {3}, {3}}}), shape_error);
}

TEST_CASE("check_scan requires a length where there are no inputs, and no other where there are")
{
    CHECK_THROWS_WITH_AS(length_of<0>({}),
        "xloom::scan: without scan inputs the number of iterations must be given, but options.length is "
        "empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(length_of<2>({{{3, 4}, {3}}}, 1, {.length = 5}),
        "xloom::scan: options.length must be the scan inputs' sequence length, but it is 5 and "
        "scan_inputs[0] has 3 (axis 0 of [3, 4]) and "
        "scan_inputs[1] has 3 (axis 0 of [3]). Leave it empty.",
        option_error);
}

TEST_CASE("check_scan counts the operands")
{
    std::array<shape, max_operands + 1> inputs{};
    for (shape& input : inputs)
        input = {2};
    CHECK_THROWS_WITH_AS(length_of(inputs),
        "xloom::scan: there may be at most 32 operands of one kind (max_operands), but there are 33 scan "
        "inputs. Stack some of them into "
        "one tensor.",
        option_error);
    CHECK_THROWS_WITH_AS(length_of<1>({{{2}}}, 40),
        "xloom::scan: there may be at most 32 operands of one kind (max_operands), but there are 40 scan "
        "outputs. Stack some of them into "
        "one tensor.",
        option_error);
}

TEST_CASE("check_scan_outputs requires an element for each iteration")
{
    static_assert(outputs_of_the_right_length());
    CHECK(outputs_of_the_right_length());
    CHECK_THROWS_WITH_AS(check_scan_outputs("xloom::scan_into", std::array<shape, 1>{{{4, 3}}}, 3, {}),
        "xloom::scan_into: every scan output must be as long as the scan, which has 3 iterations, but "
        "scan_outputs[0] has 4 (axis 0 of [4, "
        "3]). Give it an element for each iteration.",
        shape_error);
    CHECK_THROWS_WITH_AS(check_scan_outputs("xloom::scan_into", std::array<shape, 3>{{{2, 3}, {3}, {0}}}, 3,
                             {.scan_output_axes = {0, 0, -1}}),
        "xloom::scan_into: every scan output must be as long as the scan, which has 3 iterations, but "
        "scan_outputs[0] has 2 (axis 0 of [2, "
        "3]) and scan_outputs[2] has 0 (axis 0 of [0]). Give it an element for each iteration.",
        shape_error);
}

TEST_CASE("check_scan_outputs requires the axis")
{
    CHECK_THROWS_WITH_AS(check_scan_outputs("xloom::scan_into", std::array<shape, 2>{{{3}, {}}}, 3, {}),
        "xloom::scan_into: each of scan_outputs must have at least one axis, but scan_outputs[1] has rank 0. "
        "Give it an axis for the iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        check_scan_outputs("xloom::scan_into", std::array<shape, 1>{{{3, 4}}}, 3, {.scan_output_axes = {2}}),
        "xloom::scan_into: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is "
        "2 for scan_outputs[0] of the shape [3, 4]. Name an axis that the tensor has.",
        shape_error);
}

TEST_CASE("stacked_shape puts a new axis among those of an element")
{
    static_assert(elements_are_stacked_along_a_new_axis());
    CHECK(elements_are_stacked_along_a_new_axis());
    static_assert(sizes_up_to_the_largest_are_stacked());
    CHECK(sizes_up_to_the_largest_are_stacked());
}

TEST_CASE("stacked_shape counts axes on the rank of the result")
{
    CHECK_THROWS_WITH_AS(stacked({4, 5}, 3, {.scan_output_axes = {3}}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[0] is 3 for "
        "scan_outputs[0] of rank 3, with elements of the shape [4, 5]. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(stacked({}, 3, {.scan_output_axes = {0, -2}}, 1),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_output_axes[1] is -2 "
        "for scan_outputs[1] of rank 1, with elements of the shape []. Name an axis that the tensor has.",
        shape_error);
}

TEST_CASE("stacked_shape refuses what memory cannot hold")
{
    CHECK_THROWS_WITH_AS(stacked({}, huge / 4 + 1),
        "xloom::scan: the size of a result must fit in memory, but scan_outputs[0] would have the shape "
        "[2305843009213693952]. Run fewer "
        "iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(stacked({4, 5}, huge, {.scan_output_axes = {0, 2}}, 1),
        "xloom::scan: the size of a result must fit in memory, but scan_outputs[1] would have the shape [4, "
        "5, 9223372036854775807]. Run "
        "fewer iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(stacked({}, static_cast<std::size_t>(-1)),
        "xloom::scan: the size of a result must fit in memory, but scan_outputs[0] would have the shape "
        "[18446744073709551615]. Run fewer "
        "iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(stacked(shape(max_rank, 1), 3),
        "xloom::scan: a tensor may have at most 16 axes (max_rank), but scan_outputs[0] would stack elements "
        "of the shape [1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]. Return elements of a lower rank.",
        shape_error);
}

} // namespace check_scan_test
