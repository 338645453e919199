// What scan_batched_into refuses, word for word, and that it writes nothing before.

#include <doctest/doctest.h>

#include <xloom/control_flow/scan_batched.hpp>

#include "../support/xtensor_extras.hpp"

namespace errors_scan_batched_into_test {

using namespace xloom;
using enum direction;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
using cube = xt::xtensor<float, 3>;
using lengths = xt::xtensor<int, 1>;

/// A body must not run.
constexpr auto never = [](auto&...) { FAIL_CHECK("the body ran"); };

matrix ones(std::size_t n, std::size_t m) { return xt::ones<float>({n, m}); }
cube ones(std::size_t n, std::size_t m, std::size_t k) { return xt::ones<float>({n, m, k}); }

} // namespace

TEST_CASE("scan_batched_into refuses what scan_batched refuses of states, inputs and options")
{
    matrix h = ones(2, 4);
    cube const x = ones(2, 3, 4), third = ones(3, 3, 4);
    cube y = ones(2, 3, 4);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, std::tie(x, third), std::nullopt, y),
        "xloom::scan_batched_into: all operands must have the same batch size, but states[0] has 2 (axis 0 "
        "of [2, 4]), scan_inputs[0] has 2 (axis 0 of [2, 3, 4]) and scan_inputs[1] has 3 (axis 0 of "
        "[3, 3, 4]). Cut them to the same rows.",
        shape_error);
    xt::xarray<float> scalar = 2.0f;
    CHECK_THROWS_WITH_AS(scan_batched_into(never, scalar, x, std::nullopt, y),
        "xloom::scan_batched_into: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but states[0] has the shape []. Give it the axes, of size 1 if need be.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, std::tuple(), std::nullopt, y),
        "xloom::scan_batched_into: without scan inputs the sequence length must be given, but "
        "options.length is empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(
        scan_batched_into(never, h, x, std::nullopt, y, {.scan_input_directions = {forward, reverse}}),
        "xloom::scan_batched_into: scan_input_directions must be empty or have one entry for each of the 1 "
        "scan "
        "inputs, but it has 2. Leave it empty or give it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, x, lengths{4, -1}, y),
        "xloom::scan_batched_into: lengths must be in [0, T] = [0, 3], but sequence_lens[0] is 4 and "
        "sequence_lens[1] is -1. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, x, lengths{1, 2, 3}, y),
        "xloom::scan_batched_into: sequence_lens must have the shape [N] = [2], but it is [3]. Give a length "
        "for each row.",
        shape_error);
    CHECK(h == ones(2, 4));
    CHECK(y == ones(2, 3, 4));
}

TEST_CASE("scan_batched_into refuses outputs of other batches or lengths")
{
    matrix h = ones(2, 4);
    cube const x = ones(2, 3, 4);
    cube good = ones(2, 3, 1), swapped = ones(3, 2, 4), longer = ones(2, 4, 4);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, x, std::nullopt, std::tie(swapped, good, longer)),
        "xloom::scan_batched_into: axes 0 and 1 of every scan output must be the batch and the sequence, "
        "[N, T] = [2, 3], but scan_outputs[0] has the shape [3, 2, 4] and scan_outputs[2] has the shape [2, "
        "4, 4]. Give it an element for each iteration of each row.",
        shape_error);
    xt::xarray<float> flat = xt::ones<float>({2});
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, x, std::nullopt, flat),
        "xloom::scan_batched_into: axes 0 and 1 of every scan output must be the batch and the sequence, "
        "[N, T] = [2, 3], but scan_outputs[0] has the shape [2]. Give it an element for each iteration of "
        "each row.",
        shape_error);
    CHECK(good == ones(2, 3, 1));
}

TEST_CASE("scan_batched_into counts its outputs")
{
    std::array<matrix, max_operands + 1> y;
    y.fill(ones(2, 3));
    CHECK_THROWS_WITH_AS(std::apply(
                             [&](auto&... each) {
                                 scan_batched_into(
                                     never, std::tuple(), ones(2, 3), std::nullopt, std::tie(each...));
                             },
                             y),
        "xloom::scan_batched_into: there may be at most 32 operands of one kind (max_operands), but there "
        "are "
        "33 scan outputs. Stack some of them into one tensor.",
        option_error);
}

TEST_CASE("scan_batched_into refuses memory that is shared, but for an output on a forward input")
{
    cube x = ones(2, 3, 4);
    matrix h = ones(2, 4);
    CHECK_THROWS_WITH_AS(
        scan_batched_into(never, h, x, std::nullopt, x, {.scan_input_directions = {reverse}}),
        "xloom::scan_batched_into: an operand that is written must have memory of its own, but "
        "scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or give both the same axis and "
        "direction.",
        overlap_error);
    auto first = xt::view(x, xt::all(), xt::range(0, 2));
    auto const last = xt::view(x, xt::all(), xt::range(1, 3));
    CHECK_THROWS_WITH_AS(scan_batched_into(never, h, last, std::nullopt, first),
        "xloom::scan_batched_into: an operand that is written must have memory of its own, but "
        "scan_outputs[0] overlaps scan_inputs[0]. Copy one of the two, or pass one tensor as both.",
        overlap_error);
    auto state = xt::view(x, xt::all(), 0);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, state, x),
        "xloom::scan_batched_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps scan_inputs[0]. Copy one of the two.",
        overlap_error);
    CHECK(x == ones(2, 3, 4));
}

TEST_CASE("scan_batched_into refuses to write its sequence_lens")
{
    matrix const x = ones(2, 3);
    lengths lens = {3, 1};
    CHECK_THROWS_WITH_AS(scan_batched_into(never, lens, x, lens, std::tuple()),
        "xloom::scan_batched_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps sequence_lens. Copy one of the two.",
        overlap_error);
    xt::xtensor<int, 2> y = {{3, 1, 0}, {0, 0, 0}};
    auto const first = xt::view(y, xt::all(), 0);
    CHECK_THROWS_WITH_AS(scan_batched_into(never, std::tuple(), x, first, y),
        "xloom::scan_batched_into: an operand that is written must have memory of its own, but "
        "scan_outputs[0] overlaps sequence_lens. Copy one of the two.",
        overlap_error);
    CHECK(lens == lengths{3, 1});
}

TEST_CASE("scan_batched_into says in which row a body assigned another shape")
{
    matrix n = ones(2, 1), h = ones(2, 4);
    cube const x = ones(2, 3, 4);
    cube y = ones(2, 3, 4);
    int calls = 0;
    CHECK_THROWS_WITH_AS(
        scan_batched_into([&](auto&, auto& state,
                              auto const&) { state = vector(xt::zeros<float>({calls++ == 3 ? 5 : 4})); },
            std::tie(n, h), x, lengths{2, 3}, std::tuple()),
        "xloom::scan_batched_into: states must keep their shapes in every iteration, but states[1] was [4] "
        "and the body made it [5] at iteration 1 of row 1. Return a value of the original shape.",
        body_error);
    calls = 0;
    CHECK_THROWS_WITH_AS(
        scan_batched_into(
            [&](auto&, auto const&, auto& y_t) { y_t = vector(xt::zeros<float>({calls++ == 2 ? 5 : 4})); }, h,
            x, lengths{2, 3}, y),
        "xloom::scan_batched_into: scan_outputs must keep their shapes in every iteration, but "
        "scan_outputs[0] was [4] and the body made it [5] at iteration 0 of row 1. Return a value of the "
        "original shape.",
        body_error);
}

} // namespace errors_scan_batched_into_test
