// The caps on ranks and on the number of operands, word for word.

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/gradients/if_vjp.hpp>
#include <xloom/gradients/loop_vjp.hpp>
#include <xloom/gradients/scan_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/infer/indexing.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/scan.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/parallel/segment_softmax.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

namespace errors_limits_test {

using namespace xloom;

namespace {

/// One item with more axes than a shape has room for.
xt::xarray<float> deep() { return xt::ones<float>(std::vector<std::size_t>(max_rank + 1, 1)); }

/// What an operator says of an operand with more axes than max_rank.
std::string too_deep(std::string const& op, std::string const& operand)
{
    return "xloom::" + op + ": a tensor may have at most 16 axes (max_rank), but " + operand +
           " has 17. Merge some of them.";
}

#define CHECK_TOO_DEEP(call, op, operand)                                                                    \
    CHECK_THROWS_WITH_AS(static_cast<void>(call), too_deep(op, operand).c_str(), shape_error)

} // namespace

TEST_CASE("scan, scan_into and scan_batched name the operand that has more axes than max_rank")
{
    xt::xarray<float> x = deep();
    xt::xtensor<float, max_rank + 1> const deep_static = deep();
    xt::xtensor<float, 1> const row{1, 2};
    xt::xtensor<float, 2> const batch{{1, 2}};
    float n = 0;
    auto const count = [](float k, auto const&...) { return scan_step{k, k}; };
    CHECK_TOO_DEEP(scan(count, 0.0f, x), "scan", "scan_inputs[0]");
    CHECK_TOO_DEEP(scan(count, 0.0f, std::tie(row, x)), "scan", "scan_inputs[1]");
    CHECK_TOO_DEEP(scan(count, 0.0f, 2 * x), "scan", "scan_inputs[0]");
    CHECK_TOO_DEEP(scan(count, 0.0f, deep_static), "scan", "scan_inputs[0]");
    CHECK_TOO_DEEP(scan([](auto const& h, float) { return scan_step{h}; }, x, row), "scan", "init[0]");
    CHECK_TOO_DEEP(scan(
                       [&](float k, float) {
                           return scan_step{k, x};
                       },
                       0.0f, row),
        "scan", "scan_outputs[0]");

    CHECK_TOO_DEEP(scan_into([](float&, auto const&) {}, n, x), "scan_into", "scan_inputs[0]");
    CHECK_TOO_DEEP(scan_into([](auto&, float) {}, x, row), "scan_into", "states[0]");
    CHECK_TOO_DEEP(
        scan_into([](float& k, float, auto const&) { ++k; }, n, row, x), "scan_into", "scan_outputs[0]");
    CHECK(n == 0);

    CHECK_TOO_DEEP(scan_batched(count, row, x), "scan_batched", "scan_inputs[0]");
    CHECK_TOO_DEEP(
        scan_batched([](auto const& h, float) { return scan_step{h}; }, x, batch), "scan_batched", "init[0]");
    xt::xarray<int> const lens = xt::cast<int>(x);
    CHECK_TOO_DEEP(
        scan_batched(count, xt::xtensor<float, 1>{0}, batch, lens), "scan_batched", "sequence_lens");
    CHECK_TOO_DEEP(scan_batched(
                       [&](float k, float) {
                           return scan_step{k, x};
                       },
                       xt::xtensor<float, 1>{0}, batch),
        "scan_batched", "scan_outputs[0]");
}

TEST_CASE("loop, loop_into and if_ name the operand that has more axes than max_rank")
{
    xt::xarray<float> x = deep();
    xt::xarray<float> row{1, 2};
    auto const once = loop_options{.max_trip_count = 1};
    auto const keep = [](std::int64_t, bool, auto const& v) { return loop_step{true, v}; };
    CHECK_TOO_DEEP(loop(keep, x, once), "loop", "init[0]");
    CHECK_TOO_DEEP(loop(
                       [&](std::int64_t, bool, auto const&) {
                           return loop_step{true, 2 * x};
                       },
                       row, once),
        "loop", "states[0]");
    CHECK_TOO_DEEP(loop(
                       [&](std::int64_t, bool, auto const& v) {
                           return loop_step{true, v, x};
                       },
                       row, once),
        "loop", "scan_outputs[0]");
    CHECK_TOO_DEEP(
        loop_into([](std::int64_t, auto&) { return true; }, x, std::tuple(), once), "loop_into", "states[0]");
    CHECK_TOO_DEEP(loop_into([](std::int64_t, auto&, auto const&) { return true; }, row, x, once),
        "loop_into", "scan_outputs[0]");

    CHECK_TOO_DEEP(if_(
                       x > 0, [] { return 1; }, [] { return 2; }),
        "if_", "cond");
}

TEST_CASE("scan_vjp, loop_vjp and if_vjp name the operand that has more axes than max_rank")
{
    xt::xarray<float> const w = deep();
    xt::xtensor<float, 1> const x = {1, 2};
    CHECK_TOO_DEEP(scan_vjp([](float h, float, float, auto const&) { return scan_step{h}; },
                       [](float, float, float, auto const&, float, float&, float&, float&, auto&) {}, 0.0f, x,
                       std::tuple(1.0f, w)),
        "scan_vjp", "params[1]");
    CHECK_TOO_DEEP(
        loop_vjp(
            [](std::int64_t, bool, float v, auto const&) {
                return loop_step{true, v};
            },
            [](std::int64_t, float, auto const&, float, float&, auto&) {}, 0.0f, w, {.max_trip_count = 1}),
        "loop_vjp", "params[0]");
    auto const branch = [](auto const&) { return 1.0f; };
    auto const branch_vjp = [](auto const&, float, auto&) {};
    CHECK_TOO_DEEP(if_vjp(true, branch, branch_vjp, branch, branch_vjp, w), "if_vjp", "operands[0]");
}

TEST_CASE("scatter_nd and gather_nd name the operand that has more axes than max_rank")
{
    xt::xarray<float> x = deep();
    xt::xarray<int> const deep_indices = xt::cast<int>(x);
    xt::xtensor<int, 2> const indices{{0}};
    xt::xarray<float> data{1, 2};
    xt::xtensor<float, 1> const updates{1};
    CHECK_TOO_DEEP(scatter_nd(x, indices, updates), "scatter_nd", "data");
    CHECK_TOO_DEEP(scatter_nd(data, deep_indices, updates), "scatter_nd", "indices");
    CHECK_TOO_DEEP(scatter_nd(data, indices, x), "scatter_nd", "updates");
    CHECK_TOO_DEEP(scatter_nd_into(x, indices, updates), "scatter_nd_into", "data");
    CHECK_TOO_DEEP(gather_nd(x, indices), "gather_nd", "data");
    CHECK_TOO_DEEP(gather_nd(data, deep_indices), "gather_nd", "indices");
    CHECK_TOO_DEEP(gather_nd_into(data, indices, x), "gather_nd_into", "output");
}

TEST_CASE("parallel scans name the operand that has more axes than max_rank")
{
    xt::xarray<float> x = deep(), y{1, 2};
    xt::xtensor<int, 1> const row_splits{0, 2};
    CHECK_TOO_DEEP(cumulative_sum(x), "cumulative_sum", "x");
    CHECK_TOO_DEEP(cumulative_sum_into(x, y), "cumulative_sum_into", "x");
    CHECK_TOO_DEEP(associative_scan_into(reduction::add, y, x), "associative_scan_into", "y");
    auto const first = [](auto const& a, auto const&) { return a; };
    CHECK_TOO_DEEP(associative_scan(first, std::tie(y, x)), "associative_scan", "xs[1]");
    CHECK_TOO_DEEP(linear_recurrence(y, x, 0.0f), "linear_recurrence", "b");
    CHECK_TOO_DEEP(segment_reduce(reduction::add, x, row_splits), "segment_reduce", "values");
    CHECK_TOO_DEEP(segment_reduce_into(reduction::add, x, row_splits, y), "segment_reduce_into", "values");
    CHECK_TOO_DEEP(segment_reduce_into(reduction::add, y, row_splits, x), "segment_reduce_into", "y");
    CHECK_TOO_DEEP(segment_scan_into(reduction::add, y, row_splits, x), "segment_scan_into", "y");
    CHECK_TOO_DEEP(segment_softmax_into(x, row_splits, y), "segment_softmax_into", "x");
    CHECK_TOO_DEEP(segment_softmax_into(y, row_splits, x), "segment_softmax_into", "y");
}

TEST_CASE("recurrent operators name the operand that has more axes than max_rank")
{
    xt::xarray<float> x = deep();
    xt::xarray<int> const lens = xt::cast<int>(x);
    xt::xtensor<float, 3> const X = xt::zeros<float>({2, 1, 1}), W = xt::zeros<float>({1, 4, 1}),
                                W3 = xt::zeros<float>({1, 3, 1}), W1 = xt::zeros<float>({1, 1, 1});
    xt::xtensor<float, 2> const V{{1}};
    lstm_weights<float> const weights({.W = W, .R = W});
    CHECK_TOO_DEEP(lstm(x, {.W = W, .R = W}), "lstm", "X");
    CHECK_TOO_DEEP(lstm(X, {.W = x, .R = W}), "lstm", "W");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = x}), "lstm", "R");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = W, .B = x}), "lstm", "B");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = W, .sequence_lens = lens}), "lstm", "sequence_lens");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = W, .initial_h = x}), "lstm", "initial_h");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = W, .initial_c = x}), "lstm", "initial_c");
    CHECK_TOO_DEEP(lstm(X, {.W = W, .R = W, .P = x}), "lstm", "P");
    recurrent_workspace<float> workspace;
    CHECK_TOO_DEEP(lstm_into(X, weights, {}, {.Y = x}, workspace), "lstm_into", "Y");
    CHECK_TOO_DEEP(lstm_into(X, weights, {}, {.Y_c = x}, workspace), "lstm_into", "Y_c");
    CHECK_TOO_DEEP(gru(x, {.W = W3, .R = W3}), "gru", "X");
    CHECK_TOO_DEEP(gru(X, {.W = W3, .R = W3, .B = x}), "gru", "B");
    CHECK_TOO_DEEP(gru(X, {.W = W3, .R = W3, .initial_h = x}), "gru", "initial_h");
    CHECK_TOO_DEEP(rnn(X, {.W = x, .R = W1}), "rnn", "W");
    CHECK_TOO_DEEP(rnn(X, {.W = W1, .R = W1, .sequence_lens = lens}), "rnn", "sequence_lens");
    rnn_weights<float> const simple({.W = W1, .R = W1});
    CHECK_TOO_DEEP(rnn_into(X, simple, {}, {.Y_h = x}, workspace), "rnn_into", "Y_h");

    CHECK_TOO_DEEP(
        attn_lstm_weights<float>({.W = W, .R = W, .QW = W1, .MW = x, .V = V}), "attn_lstm_weights", "MW");
    CHECK_TOO_DEEP(
        attn_lstm_weights<float>({.W = W, .R = x, .QW = W1, .MW = W1, .V = V}), "attn_lstm_weights", "R");
    xt::xtensor<float, 3> const wide = xt::zeros<float>({1, 4, 2});
    attn_lstm_weights<float> const attention({.W = wide, .R = W, .QW = W1, .MW = W1, .V = V});
    xt::xtensor<float, 3> const M = xt::zeros<float>({1, 2, 1});
    CHECK_TOO_DEEP(attn_lstm(X, attention, {.M = x}), "attn_lstm", "M");
    CHECK_TOO_DEEP(
        attn_lstm(X, attention, {.M = M, .memory_seq_lens = lens}), "attn_lstm", "memory_seq_lens");
    CHECK_TOO_DEEP(
        attn_lstm(X, attention, {.M = M, .initial_alignment = x}), "attn_lstm", "initial_alignment");
    CHECK_TOO_DEEP(attn_lstm(x, attention, {.M = M}), "attn_lstm", "X");
    attention_workspace<float> memory;
    CHECK_TOO_DEEP(
        attn_lstm_into(X, attention, {.M = M}, {.alignments = x}, memory), "attn_lstm_into", "alignments");
    CHECK_TOO_DEEP(attn_lstm_cell<float>(attention, x), "attn_lstm_cell", "M");
    CHECK_TOO_DEEP(attn_lstm_cell<float>(attention, M, lens), "attn_lstm_cell", "memory_seq_lens");

    lstm_cell<float> cell(weights);
    std::vector<float> h(1, 3.0f), c(1, 4.0f);
    CHECK_TOO_DEEP(cell(x, c, h), "lstm_cell", "h");
    CHECK_TOO_DEEP(cell(h, c, x), "lstm_cell", "x_t");
    CHECK(h[0] == 3);
    CHECK_TOO_DEEP(packed_matrix<float>(x), "packed_matrix", "B");
    CHECK_TOO_DEEP(packed_matrix<float>(V, x), "packed_matrix", "bias");
}

TEST_CASE("what a body makes of an operand may have more axes than max_rank: its shape is told all the same")
{
    xt::xarray<float> const x = deep();
    xt::xarray<float> const row{1, 2};
    xt::xtensor<float, 1> const steps{1, 2};
    std::string const ones = "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
    CHECK_THROWS_WITH_AS(scan([&](auto const&, float) { return scan_step{x}; }, row, steps),
        ("xloom::scan: states must keep their shapes in every iteration, but states[0] was [2] and the body "
         "made it " +
            ones + " at iteration 0. Return a value of the original shape.")
            .c_str(),
        body_error);
    xt::xarray<float> y{{1, 2}, {3, 4}};
    CHECK_THROWS_WITH_AS(scan_into([&](float, auto& y_t) { y_t = x; }, std::tuple(), steps, y),
        ("xloom::scan_into: scan_outputs must keep their shapes in every iteration, but scan_outputs[0] was "
         "[2] and the body made it " +
            ones + " at iteration 0. Return a value of the original shape.")
            .c_str(),
        body_error);
}

TEST_CASE("inference names the output that would have more axes than max_rank")
{
    partial_shape full;
    for (std::size_t axis = 0; axis < max_rank; ++axis)
        full.insert(axis, 1);
    partial_type const deepest = tensor_type(element_type::float_, full),
                       row = tensor_type(element_type::float_, {2});
    auto const text = [](std::string const& function, std::string const& operand) {
        return "xloom::" + function + ": a tensor may have at most 16 axes (max_rank), but " + operand +
               " has 17. Merge some of them.";
    };
    CHECK_THROWS_WITH_AS(infer_scan({row}, [&](type_list const&) { return type_list{deepest}; }, {untyped},
                             {.num_scan_inputs = 1}),
        text("infer_scan", "output[0]").c_str(), shape_error);
    CHECK_THROWS_WITH_AS(infer_scan({untyped, deepest, tensor_type(element_type::float_, {1, 2, 3})},
                             [&](type_list const&) { return type_list{deepest}; }, {untyped},
                             {.opset = 8, .num_scan_inputs = 1}),
        text("infer_scan", "output[0]").c_str(), shape_error);
    CHECK_THROWS_WITH_AS(infer_scan({row}, [&](type_list const&) { return type_list{row}; }, {untyped},
                             {.num_scan_inputs = 1, .scan_input_axes = axes(33, 0)}),
        "xloom::infer_scan: scan_input_axes may have at most 32 axes (max_operands), but it has 33. Omit "
        "the attribute for axis 0.",
        option_error);
    CHECK_THROWS_WITH_AS(infer_loop({untyped, untyped},
                             [&](type_list const&) {
                                 return type_list{untyped, deepest};
                             },
                             {untyped}),
        text("infer_loop", "output[0]").c_str(), shape_error);
}

TEST_CASE("scan refuses outputs of more axes than max_rank")
{
    xt::xarray<float> const deepest = xt::ones<float>(std::vector<std::size_t>(max_rank, 1));
    CHECK_THROWS_WITH_AS(scan(
                             [&](float n, float) {
                                 return scan_step{n, deepest};
                             },
                             0.0f, xt::xtensor<float, 1>{1, 2}),
        "xloom::scan: a tensor may have at most 16 axes (max_rank), but scan_outputs[0] would stack elements "
        "of the shape [1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]. Return elements of a lower rank.",
        shape_error);
}

TEST_CASE("scan refuses more inputs than max_operands")
{
    xt::xtensor<int, 1> const row{1, 2, 3};
    auto const inputs = []<std::size_t... I>(auto const& input, std::index_sequence<I...>) {
        return std::tie((void(I), input)...);
    };
    auto const total = [](int n, auto... x_t) { return scan_step{(n + ... + x_t)}; };
    CHECK(scan(total, 0, inputs(row, std::make_index_sequence<max_operands>())).final_state == 6 * 32);
    CHECK_THROWS_WITH_AS(scan(total, 0, inputs(row, std::make_index_sequence<max_operands + 1>())),
        "xloom::scan: there may be at most 32 operands of one kind (max_operands), but there are 33 scan "
        "inputs. Stack some of them into "
        "one tensor.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(total, 0, row, {.scan_input_axes = axes(max_operands + 1, 0)}),
        "xloom::scan: scan_input_axes must be empty or have one entry for each of the 1 scan inputs, but it "
        "has "
        "33. Leave it empty or give it "
        "one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan(total, 0, inputs(row, std::make_index_sequence<max_operands>()),
                             {.scan_input_axes = axes(max_operands + 1, 0)}),
        "xloom::scan: scan_input_axes must be empty or have one entry for each of the 32 scan inputs, but it "
        "has "
        "33. Leave it empty or give it "
        "one for each.",
        option_error);
    directions const many(max_operands + 2, direction::forward);
    CHECK_THROWS_WITH_AS(scan(total, 0, row, {.scan_output_directions = many}),
        "xloom::scan: scan_output_directions must be empty or have one entry for each of the 0 scan outputs, "
        "but "
        "it has 34. Leave it empty or "
        "give it one for each.",
        option_error);
    CHECK_THROWS_WITH_AS(scan_batched(total, xt::xtensor<int, 1>{0}, xt::xtensor<int, 2>{{1}}, std::nullopt,
                             {.scan_input_directions = many}),
        "xloom::scan_batched: scan_input_directions must be empty or have one entry for each of the 1 scan "
        "inputs, but it has 34. Leave it "
        "empty or give it one for each.",
        option_error);
}

TEST_CASE("texts list four facts at most, and count the rest")
{
    xt::xtensor<int, 1> const h = xt::zeros<int>({20'000});
    xt::xtensor<int, 2> const x = xt::zeros<int>({20'000, 1});
    xt::xtensor<int, 1> const lens = 2 * xt::ones<int>({20'000});
    auto const body = [](int n, int) { return scan_step{n}; };
    CHECK_THROWS_WITH_AS(scan_batched(body, h, x, lens),
        "xloom::scan_batched: lengths must be in [0, T] = [0, 1], but sequence_lens[0] is 2, "
        "sequence_lens[1] is 2, sequence_lens[2] is 2, sequence_lens[3] is 2 and 19996 more. Correct it.",
        index_error);

    auto const step = [](auto const&...) { return scan_step{std::tuple()}; };
    xt::xarray<float> const scalar = 1.0f, row{1, 2};
    CHECK_THROWS_WITH_AS(scan(step, std::tuple(), std::tie(scalar, scalar, scalar, scalar, scalar, scalar)),
        "xloom::scan: each of scan_inputs must have at least one axis, but scan_inputs[0] has rank 0, "
        "scan_inputs[1] has rank 0, scan_inputs[2] has rank 0, scan_inputs[3] has rank 0 and 2 more. Give it "
        "an axis for the iterations.",
        shape_error);
    CHECK_THROWS_WITH_AS(
        scan(step, std::tuple(), std::tie(row, row, row, row, row), {.scan_input_axes = axes(5, 1)}),
        "xloom::scan: an axis of a tensor of rank r must be in [-r, r - 1], but scan_input_axes[0] is 1 "
        "for scan_inputs[0] of the shape [2], scan_input_axes[1] is 1 for scan_inputs[1] of the shape [2], "
        "scan_input_axes[2] is 1 for scan_inputs[2] of the shape [2], scan_input_axes[3] is 1 for "
        "scan_inputs[3] of the shape [2] and 1 more. Name an axis that the tensor has.",
        shape_error);
    CHECK_THROWS_WITH_AS(scan(step, std::tuple(), std::tie(row, row, row, row, row, row),
                             {.scan_input_directions = directions(6, static_cast<direction>(7))}),
        "xloom::scan: a direction must be forward (0) or reverse (1), but scan_input_directions[0] is "
        "7, "
        "scan_input_directions[1] is 7, "
        "scan_input_directions[2] is 7, scan_input_directions[3] is 7 and 2 more. Name one of "
        "the two.",
        option_error);
}

TEST_CASE("of more than four operands that must agree, those unlike the first are listed")
{
    auto const step = [](auto const&...) { return scan_step{std::tuple()}; };
    xt::xarray<float> const row{1, 2}, longer{1, 2, 3};
    CHECK_THROWS_WITH_AS(scan(step, std::tuple(), std::tie(row, row, row, row, row, longer, row)),
        "xloom::scan: all scan inputs must have the same sequence length, but scan_inputs[0] has 2 "
        "(axis 0 of [2]) and "
        "scan_inputs[5] has 3 (axis 0 of [3]). Cut them to one length, or name other axes.",
        shape_error);
    xt::xtensor<int, 1> const h{0, 0}, other{0, 0, 0};
    xt::xtensor<int, 2> const x{{1}, {1}};
    auto const body = [](int a, int b, int c, int d, int) { return scan_step{std::tuple{a, b, c, d}}; };
    CHECK_THROWS_WITH_AS(scan_batched(body, std::tie(h, h, h, other), x),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of [2]) "
        "and init[3] has 3 (axis 0 of [3]). Cut them to the same rows.",
        shape_error);
    xt::xtensor<int, 2> const y{{1}};
    auto const sixth = [](int a, int b, int c, int d, int, int) { return scan_step{std::tuple{a, b, c, d}}; };
    CHECK_THROWS_WITH_AS(scan_batched(sixth, std::tie(h, h, h, h), std::tie(x, y)),
        "xloom::scan_batched: all operands must have the same batch size, but init[0] has 2 (axis 0 of [2]) "
        "and scan_inputs[1] has 1 (axis 0 of [1, 1]). Cut them to the same rows.",
        shape_error);
}

} // namespace errors_limits_test
