// The rule of Scan-8 on concrete shapes: what it accepts, in constant expressions too, and the text of every
// refusal.

#include <doctest/doctest.h>

#include <array>

#include <xloom/detail/check/scan_batched.hpp>

namespace check_scan_batched_test {

using namespace xloom;
using namespace xloom::detail;
using enum direction;

namespace {

template <std::size_t N, std::size_t M>
constexpr batch_extent extent_of(std::array<shape, N> const& states, std::array<shape, M> const& inputs,
    scan_batched_options const& options = {})
{
    return check_scan_batched("xloom::scan_batched", "init", states, inputs, options);
}

constexpr bool is_extent(batch_extent extent, std::size_t batch, std::size_t length)
{
    return extent.batch == batch && extent.length == length;
}

constexpr bool extents_come_from_the_operands()
{
    return is_extent(extent_of<1, 1>({{{2, 4}}}, {{{2, 3, 4}}}), 2, 3) &&
           is_extent(extent_of<0, 2>({}, {{{2, 3}, {2, 3, 5}}}), 2, 3) &&
           is_extent(extent_of<1, 0>({{{2}}}, {}, {.length = 5}), 2, 5) &&
           is_extent(extent_of<0, 1>({}, {{{0, 0}}}), 0, 0) &&
           is_extent(
               extent_of<1, 1>({{{2}}}, {{{2, 3}}}, {.scan_input_directions = {reverse}, .length = 3}), 2, 3);
}

} // namespace

TEST_CASE("check_scan_batched finds batch and length")
{
    static_assert(extents_come_from_the_operands());
    CHECK(extents_come_from_the_operands());
}

TEST_CASE("check_scan_batched names every operand without a batch or sequence axis")
{
    CHECK_THROWS_WITH_AS((extent_of<1, 1>({{{2}}}, {{{2}}})),
        "xloom::scan_batched: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but scan_inputs[0] has "
        "the shape [2]. Give it the axes, of size 1 if need be.",
        shape_error);
    CHECK_THROWS_WITH_AS((extent_of<2, 2>({{{2}, {}}}, {{{}, {2, 3}}})),
        "xloom::scan_batched: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but init[1] has the shape "
        "[] and scan_inputs[0] has the shape []. Give it the axes, of size 1 if need be.",
        shape_error);
    CHECK_THROWS_WITH_AS((extent_of<3, 0>({{{}, {}, {2}}}, {}, {.length = 3})),
        "xloom::scan_batched: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but init[0] has the shape "
        "[] and init[1] has the shape []. Give it the axes, of size 1 if need be.",
        shape_error);
}

TEST_CASE("check_scan_batched shows all batch sizes when they differ")
{
    CHECK_THROWS_WITH_AS((extent_of<1, 2>({{{2, 4}}}, {{{3, 3}, {2, 3}}})),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of "
        "[2, 4]), scan_inputs[0] has 3 (axis 0 of [3, 3]) and scan_inputs[1] has 2 (axis 0 of [2, 3]). Cut "
        "them to the same rows.",
        shape_error);
    CHECK_THROWS_WITH_AS((extent_of<2, 0>({{{2}, {3}}}, {}, {.length = 3})),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of [2]) "
        "and init[1] has 3 (axis 0 of [3]). Cut them to the same rows.",
        shape_error);
}

TEST_CASE("check_scan_batched shows of more than four batch sizes the first and those that differ")
{
    CHECK_THROWS_WITH_AS((extent_of<0, 5>({}, {{{2, 3}, {2, 3}, {3, 3}, {2, 3}, {2, 3}}})),
        "xloom::scan_batched: all operands must have the same batch size, but scan_inputs[0] has 2 (axis 0 "
        "of [2, 3]) and scan_inputs[2] has 3 (axis 0 of [3, 3]). Cut them to the same rows.",
        shape_error);
    CHECK_THROWS_WITH_AS((extent_of<3, 2>({{{2}, {2}, {4}}}, {{{2, 3}, {3, 3}}})),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of [2]), "
        "init[2] has 4 (axis 0 of [4]) and scan_inputs[1] has 3 (axis 0 of [3, 3]). Cut them to the same "
        "rows.",
        shape_error);
}

TEST_CASE("check_scan_batched shows all lengths when they differ")
{
    CHECK_THROWS_WITH_AS((extent_of<1, 2>({{{2}}}, {{{2, 3}, {2, 4, 5}}})),
        "xloom::scan_batched: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 "
        "(axis 1 of [2, 3]) and "
        "scan_inputs[1] has 4 (axis 1 of [2, 4, 5]). Pad them, and say in sequence_lens how long each row "
        "is.",
        shape_error);
    CHECK_THROWS_WITH_AS((extent_of<0, 3>({}, {{{2, 3}, {2, 4}, {2, 4}}})),
        "xloom::scan_batched: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 "
        "(axis 1 of [2, 3]), "
        "scan_inputs[1] has 4 (axis 1 of [2, 4]) and scan_inputs[2] has 4 (axis 1 of [2, 4]). Pad them, and "
        "say in sequence_lens how long "
        "each row is.",
        shape_error);
}

TEST_CASE("check_scan_batched requires what it cannot find")
{
    CHECK_THROWS_WITH_AS((extent_of<0, 0>({}, {}, {.length = 3})),
        "xloom::scan_batched: the batch size comes from the operands, but there are no states and no scan "
        "inputs. Give one of them.",
        option_error);
    CHECK_THROWS_WITH_AS((extent_of<1, 0>({{{2}}}, {})),
        "xloom::scan_batched: without scan inputs the sequence length must be given, but options.length is "
        "empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS((extent_of<0, 1>({}, {{{2, 3}}}, {.length = 4})),
        "xloom::scan_batched: options.length must be the scan inputs' sequence length, but it is 4 and "
        "scan_inputs[0] has 3 (axis 1 of [2, "
        "3]). Leave it empty.",
        option_error);
}

TEST_CASE("check_scan_batched requires good directions")
{
    CHECK_THROWS_WITH_AS((extent_of<0, 1>({}, {{{2, 3}}}, {.scan_input_directions = {forward, reverse}})),
        "xloom::scan_batched: scan_input_directions must be empty or have one entry for each of the 1 scan "
        "inputs, but it has 2. Leave it empty "
        "or give it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(
        (extent_of<0, 1>({}, {{{2, 3}}}, {.scan_input_directions = {static_cast<direction>(3)}})),
        "xloom::scan_batched: a direction must be forward (0) or reverse (1), but scan_input_directions[0] "
        "is 3. "
        "Name one of the two.",
        option_error);
}

TEST_CASE("check_scan_batched counts the operands")
{
    std::array<shape, max_operands + 1> inputs{};
    for (shape& input : inputs)
        input = {2, 3};
    CHECK_THROWS_WITH_AS((extent_of<0>({}, inputs)),
        "xloom::scan_batched: there may be at most 32 operands of one kind (max_operands), but there are 33 "
        "scan inputs. Stack some of "
        "them into one tensor.",
        option_error);
}

} // namespace check_scan_batched_test
