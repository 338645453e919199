// What scan_batched refuses, word for word.

#include <doctest/doctest.h>

#include <array>

#include <xloom/control_flow/scan_batched.hpp>

namespace errors_scan_batched_test {

using namespace xloom;
using enum direction;

namespace {

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;
using lengths = xt::xtensor<int, 1>;

matrix const h = xt::zeros<float>({2, 4});
xt::xtensor<float, 3> const x = xt::ones<float>({2, 3, 4});

/// A body must not run.
constexpr auto never = [](vector const& state, auto const&...) {
    FAIL_CHECK("the body ran");
    return scan_step{state, state};
};

} // namespace

TEST_CASE("scan_batched refuses batches of unequal sizes")
{
    xt::xtensor<float, 3> const third = xt::ones<float>({3, 3, 4});
    CHECK_THROWS_WITH_AS(scan_batched(never, h, std::tie(x, third)),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of "
        "[2, 4]), scan_inputs[0] has 2 (axis 0 of [2, 3, 4]) and scan_inputs[1] has 3 (axis 0 of [3, 3, 4]). "
        "Cut them to the same rows.",
        shape_error);
}

TEST_CASE("scan_batched refuses sequences of unequal lengths")
{
    xt::xtensor<float, 3> const longer = xt::ones<float>({2, 5, 4});
    CHECK_THROWS_WITH_AS(scan_batched(never, h, std::tie(x, longer)),
        "xloom::scan_batched: all scan inputs must have the same sequence length, but scan_inputs[0] has 3 "
        "(axis 1 of [2, 3, 4]) and "
        "scan_inputs[1] has 5 (axis 1 of [2, 5, 4]). Pad them, and say in sequence_lens how long each row "
        "is.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, std::nullopt, {.length = 2}),
        "xloom::scan_batched: options.length must be the scan inputs' sequence length, but it is 2 and "
        "scan_inputs[0] has 3 (axis 1 of [2, "
        "3, 4]). Leave it empty.",
        option_error);
}

TEST_CASE("scan_batched refuses ranks without a batch and a sequence")
{
    xt::xarray<float> const flat = xt::ones<float>({2});
    CHECK_THROWS_WITH_AS(scan_batched(never, h, flat),
        "xloom::scan_batched: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but scan_inputs[0] has "
        "the shape [2]. Give it the axes, of size 1 if need be.",
        shape_error);
    xt::xarray<float> const scalar = 1.0f;
    auto const count = [](auto const& n, auto const&) { return scan_step{n}; };
    CHECK_THROWS_WITH_AS(scan_batched(count, scalar, x),
        "xloom::scan_batched: axis 0 of every operand must be the batch and axis 1 of a scan input its "
        "sequence, but init[0] has the shape "
        "[]. Give it the axes, of size 1 if need be.",
        shape_error);
}

TEST_CASE("scan_batched refuses wrong sequence_lens")
{
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, lengths{1, 2, 3}),
        "xloom::scan_batched: sequence_lens must have the shape [N] = [2], but it is [3]. Give a length for "
        "each row.",
        shape_error);
    xt::xarray<std::int64_t> const column = xt::ones<std::int64_t>({2, 1});
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, column),
        "xloom::scan_batched: sequence_lens must have the shape [N] = [2], but it is [2, 1]. Give a length "
        "for each row.",
        shape_error);
    xt::xarray<std::int64_t> const scalar = 1;
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, scalar),
        "xloom::scan_batched: sequence_lens must have the shape [N] = [2], but it is []. Give a length for "
        "each row.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, lengths{4, -1}),
        "xloom::scan_batched: lengths must be in [0, T] = [0, 3], but sequence_lens[0] is 4 and "
        "sequence_lens[1] is -1. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, xt::xtensor<std::uint8_t, 1>{3, 255}),
        "xloom::scan_batched: lengths must be in [0, T] = [0, 3], but sequence_lens[1] is 255. Correct it.",
        index_error);
    CHECK_THROWS_WITH_AS(scan_batched(never, h, x, xt::xtensor<std::uint64_t, 1>{18446744073709551615u, 3}),
        "xloom::scan_batched: lengths must be in [0, T] = [0, 3], but sequence_lens[0] is "
        "18446744073709551615. Correct it.",
        index_error);
}

TEST_CASE("scan_batched refuses wrong directions")
{
    CHECK_THROWS_WITH_AS(
        scan_batched(never, h, x, std::nullopt, {.scan_input_directions = {forward, reverse}}),
        "xloom::scan_batched: scan_input_directions must be empty or have one entry for each of the 1 scan "
        "inputs, but it has 2. Leave it empty "
        "or give it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(
        scan_batched(never, h, x, std::nullopt, {.scan_input_directions = {static_cast<direction>(2)}}),
        "xloom::scan_batched: a direction must be forward (0) or reverse (1), but scan_input_directions[0] "
        "is 2. "
        "Name one of the two.",
        option_error);
}

TEST_CASE("scan_batched needs a batch and a length")
{
    CHECK_THROWS_WITH_AS(scan_batched(never, h, std::tuple{}),
        "xloom::scan_batched: without scan inputs the sequence length must be given, but options.length is "
        "empty. Set it.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_batched(
                             [] {
                                 return scan_step{std::tuple{}, 1};
                             },
                             std::tuple{}, std::tuple{}, std::nullopt, {.length = 2}),
        "xloom::scan_batched: the batch size comes from the operands, but there are no states and no scan "
        "inputs. Give one of them.",
        option_error);
}

TEST_CASE("scan_batched refuses outputs that no memory can hold")
{
    auto const body = [](vector const& state) { return scan_step{state, state}; };
    CHECK_THROWS_WITH_AS(scan_batched(body, h, std::tuple{}, std::nullopt, {.length = std::size_t{1} << 58}),
        "xloom::scan_batched: the size of a result must fit in memory, but scan_outputs[0] would have the "
        "shape [2, 288230376151711744, "
        "4]. Run fewer iterations.",
        shape_error);
}

TEST_CASE("scan_batched says in which row a body changed a state's shape")
{
    int calls = 0;
    auto const body = [&](vector const&, auto const&) {
        return scan_step{vector(xt::zeros<float>({calls++ == 3 ? 5 : 4}))};
    };
    CHECK_THROWS_WITH_AS(scan_batched(body, h, x, lengths{2, 3}),
        "xloom::scan_batched: states must keep their shapes in every iteration, but states[0] was [4] and "
        "the body made it [5] at iteration 1 of row 1. Return a value of the original shape.",
        body_error);
}

TEST_CASE("scan_batched says in which row a body changed an output element's shape")
{
    int calls = 0;
    auto const body = [&](vector const& state, auto const&) {
        return scan_step{state, std::tuple{calls, vector(xt::zeros<float>({calls++ == 2 ? 5 : 4}))}};
    };
    CHECK_THROWS_WITH_AS(scan_batched(body, h, x, lengths{2, 3}),
        "xloom::scan_batched: scan_outputs must keep their shapes in every iteration, but scan_outputs[1] "
        "was [4] and the body made it [5] at iteration 0 of row 1. Return a value of the original shape.",
        body_error);
}

TEST_CASE("scan_batched walks batches without items in every layout")
{
    xt::xtensor<float, 3, xt::layout_type::column_major> const none({2, 3, 0});
    xt::xtensor<float, 2, xt::layout_type::column_major> const state({2, 0});
    auto const [last, all] = scan_batched(
        [](vector const& state_b, auto const& x_t) {
            return scan_step{state_b, x_t};
        },
        state, none);
    CHECK(last.shape() == state.shape());
    CHECK(all.shape() == none.shape());
}

TEST_CASE("scan_batched refuses more outputs than max_operands")
{
    auto const body = [](vector const& state, auto const&) {
        return scan_step{state, std::tuple_cat(std::array<int, max_operands + 1>{})};
    };
    CHECK_THROWS_WITH_AS(scan_batched(body, h, x),
        "xloom::scan_batched: there may be at most 32 operands of one kind (max_operands), but there are 33 "
        "scan outputs. Stack some of them into one tensor.",
        option_error);
}

} // namespace errors_scan_batched_test
