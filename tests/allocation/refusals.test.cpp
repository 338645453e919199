// Every call with a policy, each of its allocations refused in turn: std::bad_alloc comes before the first
// write.

#include <functional>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/gradients/gru_vjp.hpp>
#include <xloom/gradients/linear_attention_vjp.hpp>
#include <xloom/gradients/linear_recurrence_vjp.hpp>
#include <xloom/gradients/lstm_vjp.hpp>
#include <xloom/gradients/rnn_vjp.hpp>
#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/gradients/selective_scan_vjp.hpp>
#include <xloom/indexing.hpp>
#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_elements.hpp>
#include <xloom/indexing/scatter_nd.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/parallel/segment_softmax.hpp>
#include <xloom/recurrent/attn_lstm.hpp>
#include <xloom/recurrent/causal_conv.hpp>
#include <xloom/recurrent/stack.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "../support/xtensor_extras.hpp"
#include "counting_new.hpp"

namespace allocation_refusals_test {

using namespace xloom;

namespace {

/// Runs eight parts one after the other, and allocates nothing.
struct eight_parts {
    static constexpr std::size_t concurrency() { return 8; }
    template <class F>
    static void for_each(std::size_t parts, F const& f)
    {
        for (std::size_t part = 0; part < parts; ++part)
            f(part);
    }
};
constexpr eight_parts threads{};

/// A call by its name, and the tensors that it writes.
struct written_call {
    std::string name;
    std::function<void()> check;
};

/// Returns the check that call() leaves `written` as it was if any of its allocations is refused.
template <class Call, class... Written>
written_call writing(std::string name, Call call, Written&... written)
{
    return {name, [=, outputs = std::tie(written...)]() mutable {
                std::tuple<Written...> const before = outputs;
                std::size_t granted = 0;
                for (bool is_done = false; !is_done; ++granted) {
                    REQUIRE(granted < 200);
                    outputs = before;
                    try {
                        refusal const later(granted);
                        call();
                        is_done = true;
                    } catch (std::bad_alloc const&) {
                        CAPTURE(name);
                        CAPTURE(granted);
                        CHECK(outputs == before);
                    }
                }
                CHECK_MESSAGE(outputs != before, name << " writes nothing");
                outputs = before;
            }};
}

void check_all(std::vector<written_call> const& calls)
{
    for (written_call const& each : calls)
        each.check();
}

using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

/// 0.5, 1.5, 2.5, 0.5, ...
template <class T = double, class... Dims>
auto numbers(Dims... dims)
{
    auto result = xt::xtensor<T, sizeof...(Dims)>::from_shape({std::size_t(dims)...});
    for (std::size_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<T>(0.5 + static_cast<double>(i % 3));
    return result;
}

/// -2, -1.25, ... 2.5, -2, ...: updates of numbers, which change every one of them in the end.
template <class T = double, class... Dims>
auto others(Dims... dims)
{
    auto result = numbers<T>(dims...);
    for (std::size_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<T>(0.75 * static_cast<double>(i % 7) - 2);
    return result;
}

constexpr std::size_t slots = 300, many = 140'000;

/// Indices of all slots, in no order.
template <std::size_t Rank>
xt::xtensor<int, Rank> named_slots(std::array<std::size_t, Rank> const& dims)
{
    auto result = xt::xtensor<int, Rank>::from_shape(dims);
    for (std::size_t i = 0; i < result.size(); ++i)
        result.data()[i] = static_cast<int>(i * 7919 % slots);
    return result;
}

} // namespace

TEST_CASE("scatters and gathers")
{
    auto const one = named_slots<1>({many});
    auto const tuples = named_slots<2>({many, 1});
    vector data = numbers(slots), updates = others(many), output = numbers<double>(many) - 1;
    matrix columns = others(slots, 2);
    auto column = xt::view(columns, xt::all(), 0);
    xt::xtensor<float16, 1> halves = numbers<float16>(slots);
    auto const half_updates = others<float16>(many);
    xt::xtensor<std::int8_t, 1> bytes = numbers<std::int8_t>(slots);
    auto const byte_updates = others<std::int8_t>(many);
    matrix const rows = numbers(slots, 700), row_updates = others(100, 700);
    matrix long_rows = rows;
    auto const few = named_slots<2>({100, 1});
    std::vector<written_call> calls;
    for (reduction const kind : {reduction::none, reduction::add, reduction::mean}) {
        std::string const name(name_of(kind));
        for (bool const include_self : {true, false}) {
            scatter_nd_options const options = {.bounds = bounds::drop, .include_self = include_self};
            calls.push_back(writing(
                "scatter_nd_into " + name,
                [&, kind, options] { scatter_nd_into(kind, data, tuples, updates, options, threads); },
                data));
            calls.push_back(writing(
                "scatter_nd_into, strided " + name,
                [&, kind, options] { scatter_nd_into(kind, column, tuples, updates, options, threads); },
                columns));
            calls.push_back(writing(
                "scatter_nd_into, integers " + name,
                [&, kind, options] { scatter_nd_into(kind, bytes, tuples, byte_updates, options, threads); },
                bytes));
        }
        calls.push_back(writing(
            "scatter_nd_into, long slices " + name,
            [&, kind] { scatter_nd_into(kind, long_rows, few, row_updates, {}, threads); }, long_rows));
        if (kind != reduction::none)
            calls.push_back(writing(
                "scatter_nd_into, in float " + name,
                [&, kind] {
                    scatter_nd_into(
                        kind, halves, tuples, half_updates, {.accumulate_in_float = true}, threads);
                },
                halves));
        calls.push_back(writing(
            "scatter_elements_into " + name,
            [&, kind] { scatter_elements_into(kind, data, one, updates, {}, threads); }, data));
        calls.push_back(writing(
            "at " + name, [&, kind] { at(kind, data, one, updates, {}, threads); }, data));
    }
    calls.push_back(writing(
        "scatter_nd_into, callable",
        [&] {
            scatter_nd_into([](double a, double b) { return a - b; }, data, tuples, updates, {}, threads);
        },
        data));
    calls.push_back(writing(
        "scatter_nd_into, first",
        [&] { scatter_nd_into(data, tuples, updates + 1, {.duplicates = duplicates::first}, threads); },
        data));
    calls.push_back(writing(
        "put_along_axis", [&] { put_along_axis(data, one, 7, {}, threads); }, data));
    calls.push_back(writing(
        "gather_nd_into", [&] { gather_nd_into(data, tuples, output, {}, threads); }, output));
    calls.push_back(writing(
        "gather_nd_into, strided",
        [&] {
            gather_nd_into(data, named_slots<2>({slots, 1}), column, {}, threads);
        },
        columns));
    calls.push_back(writing(
        "gather_elements_into", [&] { gather_elements_into(data, one, output, {}, threads); }, output));
    calls.push_back(writing(
        "gather_nd_vjp_into", [&] { gather_nd_vjp_into(tuples, updates, data, {}, threads); }, data));
    calls.push_back(writing(
        "gather_nd_vjp_into, strided", [&] { gather_nd_vjp_into(tuples, updates, column, {}, threads); },
        columns));
    calls.push_back(writing(
        "gather_nd_vjp_into, in float",
        [&] { gather_nd_vjp_into(tuples, half_updates, halves, {.accumulate_in_float = true}, threads); },
        halves));
    check_all(calls);
}

TEST_CASE("the derivative of scatters")
{
    auto const tuples = named_slots<2>({many, 1});
    vector const data = numbers(slots), updates = others(many), ct = numbers(slots);
    vector ct_data = numbers(slots) + 1, ct_updates = numbers(many) + 1;
    xt::xtensor<float16, 1> const halves = numbers<float16>(slots), half_updates = numbers<float16>(many);
    xt::xtensor<float16, 1> d_halves = halves, d_half_updates = half_updates;
    std::vector<written_call> calls;
    for (reduction const kind :
        {reduction::none, reduction::add, reduction::mul, reduction::max, reduction::min, reduction::mean})
        for (bool const include_self : {true, false})
            for (ties const rule : {ties::even, ties::first}) {
                if (rule == ties::first && kind != reduction::max)
                    continue;
                std::string const name = "scatter_nd_vjp_into " + std::string(name_of(kind));
                scatter_nd_vjp_options const options = {
                    .bounds = bounds::drop, .include_self = include_self, .ties = rule};
                calls.push_back(writing(
                    name,
                    [&, kind, options] {
                        scatter_nd_vjp_into(
                            kind, data, tuples, updates, ct, {ct_data, ct_updates}, options, threads);
                    },
                    ct_data, ct_updates));
                calls.push_back(writing(
                    name + ", ct_updates alone",
                    [&, kind, options] {
                        scatter_nd_vjp_into(
                            kind, data, tuples, updates, ct, {.updates = ct_updates}, options, threads);
                    },
                    ct_updates));
            }
    calls.push_back(writing(
        "scatter_nd_vjp_into, float16",
        [&] {
            scatter_nd_vjp_into(
                reduction::mul, halves, tuples, half_updates, halves, {d_halves, d_half_updates}, threads);
        },
        d_halves, d_half_updates));
    check_all(calls);
}

TEST_CASE("parallel scans and segments")
{
    std::vector<written_call> calls;
    auto const sum = [](double a, double b) { return a + b; };
    auto const both = [](auto const& a, auto const& b) {
        return std::tuple(std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b));
    };
    xt::xtensor<std::int32_t, 1> const splits = {0, 10'000, 10'000, 30'000};
    for (std::size_t const neighbours : {1U, 3U, 19U}) {
        matrix const x = numbers(30'000, neighbours);
        xt::xtensor<float16, 2> const halves = numbers<float16>(30'000, neighbours);
        matrix y = x, z = x, d_a = x, d_b = x, totals = numbers(3, neighbours);
        matrix rows = numbers(neighbours, 30'000);
        xt::xtensor<float16, 2> of_halves = halves;
        double d_h0 = 7;
        vector const start = numbers(neighbours);
        vector d_start = start + 1;
        calls = {
            writing(
                "cumulative_sum_into", [&] { cumulative_sum_into(y, y, {}, threads); }, y),
            writing(
                "cumulative_sum_into, along rows",
                [&] { cumulative_sum_into(rows, rows, {.axis = 1}, threads); }, rows),
            writing(
                "cumulative_prod_into", [&] { cumulative_prod_into(y, y, {.reverse = true}, threads); }, y),
            writing(
                "associative_scan_into", [&] { associative_scan_into(sum, y, y, {}, threads); }, y),
            writing(
                "associative_scan_into of tuples",
                [&] { associative_scan_into(both, std::tie(y, z), std::tie(y, z), {}, threads); }, y, z),
            writing(
                "linear_recurrence_into", [&] { linear_recurrence_into(x, y, 0.5, y, {}, threads); }, y),
            writing(
                "linear_recurrence_into, a start for each",
                [&] { linear_recurrence_into(x, y, start, y, {}, threads); }, y),
            writing(
                "linear_recurrence_into, float16",
                [&] { linear_recurrence_into(halves, halves, float16(0.5F), of_halves, {}, threads); },
                of_halves),
            writing(
                "linear_recurrence_vjp_into, one start",
                [&] {
                    linear_recurrence_vjp_into(x, x, 0.5, x, x, {.a = d_a, .b = d_b, .h0 = d_h0}, threads);
                },
                d_a, d_b, d_h0),
            writing(
                "linear_recurrence_vjp_into",
                [&] {
                    linear_recurrence_vjp_into(
                        x, x, start, x, x, {.a = d_a, .b = d_b, .h0 = d_start}, {.reverse = true}, threads);
                },
                d_a, d_b, d_start),
            writing(
                "segment_reduce_into",
                [&] { segment_reduce_into(reduction::add, x, splits, totals, threads); }, totals),
            writing(
                "segment_scan_into", [&] { segment_scan_into(reduction::add, y, splits, y, {}, threads); },
                y),
            writing(
                "segment_softmax_into", [&] { segment_softmax_into(y, splits, y, threads); }, y),
            writing(
                "segment_softmax_into, float16",
                [&] { segment_softmax_into(of_halves, splits, of_halves, threads); }, of_halves),
        };
        check_all(calls);
    }
}

TEST_CASE("recurrent operators and selective scans")
{
    using matrices = xt::xtensor<float, 3>;
    constexpr std::size_t T = 40, N = 200, I = 3, H = 4;
    matrices const X = numbers<float>(T, N, I), W = 0.1F * numbers<float>(1, 4 * H, I),
                   R = 0.1F * numbers<float>(1, 4 * H, H);
    auto const of_gates = [](matrices const& all, std::size_t gates) -> matrices {
        return xt::view(all, xt::all(), xt::range(0, gates * H));
    };
    matrices const W3 = of_gates(W, 3), R3 = of_gates(R, 3), W1 = of_gates(W, 1), R1 = of_gates(R, 1);
    xt::xtensor<std::int32_t, 1> lengths = 40 * xt::ones<std::int32_t>({N});
    lengths(7) = 3;
    matrices h = numbers<float>(1, N, H), c = h, ct_X = X, ct_W = W, ct_R = R, ct_h = h, ct_W3 = W3,
             ct_W1 = W1;
    xt::xtensor<float, 4> Y = numbers<float>(T, 1, N, H);
    matrices const ct_state = h;

    lstm_weights<float> const lstm({W, R}, {}, for_training);
    gru_weights<float> const gru({W3, R3}, {}, for_training);
    rnn_weights<float> const rnn({W1, R1}, {}, for_training);
    matrices const upper = 0.1F * numbers<float>(1, 4 * H, H);
    std::vector<lstm_weights<float>> const layers = {
        lstm, lstm_weights<float>({upper, R}), lstm_weights<float>({upper, R})};
    matrices of_layers = numbers<float>(3, N, H), c_of_layers = of_layers;
    recurrent_workspace<float> enough;
    lstm_residuals<float> of_lstm;
    gru_residuals<float> of_gru;
    rnn_residuals<float> of_rnn;
    lstm_forward_into(X, lstm, {.sequence_lens = lengths}, {}, of_lstm, enough);
    gru_forward_into(X, gru, {.sequence_lens = lengths}, {}, of_gru, enough);
    rnn_forward_into(X, rnn, {.sequence_lens = lengths}, {}, of_rnn, enough);

    constexpr std::size_t S = 5, E = 6, A = 3;
    matrices const M = numbers<float>(N, S, E), QW = numbers<float>(1, H, A), MW = numbers<float>(1, E, A),
                   wide = 0.1F * numbers<float>(1, 4 * H, I + E);
    xt::xtensor<float, 2> const V = numbers<float>(1, A);
    attn_lstm_weights<float> const attn({.W = wide, .R = R, .QW = QW, .MW = MW, .V = V});

    matrices const u = numbers<float>(2, T, 300), B = numbers<float>(2, T, 4);
    xt::xtensor<float, 2> const slopes = -numbers<float>(300, 4);
    matrices y = u, state = numbers<float>(2, 300, 4), d_u = u;
    xt::xtensor<float, 2> d_slopes = slopes;
    xt::xtensor<float, 4> const tokens = numbers<float>(2, 40, 2, 16);
    xt::xtensor<float, 4> attended = tokens, heads_state = numbers<float>(2, 2, 16, 16);
    matrices const signal = numbers<float>(2, 300, 64), taps = numbers<float>(300, 1, 4);
    matrices convolved = signal, conv_state = numbers<float>(2, 300, 3);
    linear_attention_options const linear{.update_rule = update_rule::linear};
    check_all({
        writing(
            "lstm_into",
            [&] {
                recurrent_workspace<float> workspace;
                lstm_into(X, lstm, {.sequence_lens = lengths, .initial_h = h, .initial_c = c}, {Y, h, c},
                    workspace, threads);
            },
            Y, h, c),
        writing(
            "gru_into",
            [&] {
                recurrent_workspace<float> workspace;
                gru_into(X, gru, {.sequence_lens = lengths, .initial_h = h}, {Y, h}, workspace, threads);
            },
            Y, h),
        writing(
            "rnn_into",
            [&] {
                recurrent_workspace<float> workspace;
                rnn_into(X, rnn, {.sequence_lens = lengths, .initial_h = h}, {Y, h}, workspace, threads);
            },
            Y, h),
        writing(
            "lstm_stack_into",
            [&] {
                stack_workspace<float> workspace;
                lstm_stack_into(X, layers, {.initial_h = of_layers, .initial_c = c_of_layers},
                    {Y, of_layers, c_of_layers}, workspace);
            },
            Y, of_layers, c_of_layers),
        writing(
            "lstm_stack_into, on threads",
            [&] {
                stack_workspace<float> workspace;
                lstm_stack_into(X, layers, {.initial_h = of_layers, .initial_c = c_of_layers},
                    {Y, of_layers, c_of_layers}, workspace, threads);
            },
            Y, of_layers, c_of_layers),
        writing(
            "attn_lstm_into",
            [&] {
                attention_workspace<float> workspace;
                attn_lstm_into(X, attn, {.initial_h = h, .initial_c = c, .M = M},
                    {.Y = Y, .Y_h = h, .Y_c = c}, workspace, threads);
            },
            Y, h, c),
        writing(
            "lstm_forward_into",
            [&] {
                recurrent_workspace<float> workspace;
                lstm_residuals<float> residuals;
                lstm_forward_into(X, lstm, {.sequence_lens = lengths, .initial_h = h, .initial_c = c},
                    {Y, h, c}, residuals, workspace, threads);
            },
            Y, h, c),
        writing(
            "gru_forward_into",
            [&] {
                recurrent_workspace<float> workspace;
                gru_residuals<float> residuals;
                gru_forward_into(X, gru, {.initial_h = h}, {Y, h}, residuals, workspace, threads);
            },
            Y, h),
        writing(
            "rnn_forward_into",
            [&] {
                recurrent_workspace<float> workspace;
                rnn_residuals<float> residuals;
                rnn_forward_into(X, rnn, {.initial_h = h}, {Y, h}, residuals, workspace, threads);
            },
            Y, h),
        writing(
            "lstm_vjp_into",
            [&] {
                recurrent_workspace<float> workspace;
                lstm_vjp_into(X, lstm, of_lstm, {.Y_h = ct_state},
                    {.X = ct_X, .W = ct_W, .R = ct_R, .initial_h = ct_h}, workspace, threads);
            },
            ct_X, ct_W, ct_R, ct_h),
        writing(
            "gru_vjp_into",
            [&] {
                recurrent_workspace<float> workspace;
                gru_vjp_into(X, gru, of_gru, {.Y_h = ct_state}, {.X = ct_X, .W = ct_W3, .initial_h = ct_h},
                    workspace, threads);
            },
            ct_X, ct_W3, ct_h),
        writing(
            "rnn_vjp_into",
            [&] {
                recurrent_workspace<float> workspace;
                rnn_vjp_into(X, rnn, of_rnn, {.Y_h = ct_state}, {.X = ct_X, .W = ct_W1, .initial_h = ct_h},
                    workspace, threads);
            },
            ct_X, ct_W1, ct_h),
        writing(
            "selective_scan_into",
            [&] {
                recurrent_workspace<float> workspace;
                selective_scan_into(u, {.delta = u, .A = slopes, .B = B, .C = B, .initial_state = state},
                    {.y = y, .final_state = state}, workspace, threads);
            },
            y, state),
        writing(
            "selective_scan_vjp_into",
            [&] {
                recurrent_workspace<float> workspace;
                selective_scan_vjp_into(u, {.delta = u, .A = slopes, .B = B, .C = B}, {.y = u},
                    {.u = d_u, .A = d_slopes}, workspace, threads);
            },
            d_u, d_slopes),
        writing(
            "causal_conv_into",
            [&] {
                recurrent_workspace<float> workspace;
                causal_conv_into(signal, taps, {}, {.output = convolved, .present_state = conv_state}, {},
                    workspace, threads);
            },
            convolved, conv_state),
        writing(
            "linear_attention_into",
            [&] {
                recurrent_workspace<float> workspace;
                linear_attention_into(tokens, tokens, tokens, {.past_state = heads_state},
                    {.output = attended, .present_state = heads_state}, linear, workspace, threads);
            },
            attended, heads_state),
        writing(
            "linear_attention_vjp_into",
            [&] {
                recurrent_workspace<float> workspace;
                linear_attention_vjp_into(tokens, tokens, tokens, {}, {.output = tokens},
                    {.query = attended, .past_state = heads_state}, linear, workspace, threads);
            },
            attended, heads_state),
    });
}

} // namespace allocation_refusals_test
