// Compares scan_batched and scan_batched_into on rows of many lengths with hand-written loops, with one
// scan_into per row, and with ONNX Runtime's Scan-8.

#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>

#include "../tests/support/xtensor_extras.hpp"
#include "support.hpp"

namespace {

using namespace bench;
using matrix = xt::xtensor<float, 2>;
using cube = xt::xtensor<float, 3>;

/// h is [N, n], x and y are [N, T, n]; an iteration is one time step of a row.
struct batch : operands<matrix, cube> {
    xt::xtensor<std::int64_t, 1> lengths;

    std::size_t length(std::size_t row) const { return static_cast<std::size_t>(lengths(row)); }
};

/// The lengths are between 1 and T.
batch make_batch(std::size_t N, std::size_t T, std::size_t n)
{
    auto lengths = xt::xtensor<std::int64_t, 1>::from_shape({N});
    std::size_t steps = 0;
    for (std::size_t row = 0; row < N; ++row) {
        std::size_t const length = 1 + 37 * row % T;
        lengths(row) = static_cast<std::int64_t>(length);
        steps += length;
    }
    return {
        {matrix::from_shape({N, n}), made_up<cube>({N, T, n}), cube::from_shape({N, T, n}), steps}, lengths};
}

void hand(batch& o)
{
    o.h.fill(0.0f);
    std::size_t const T = o.y.shape(1), n = o.y.shape(2);
    for (std::size_t row = 0; row < o.h.shape(0); ++row) {
        for (std::size_t t = 0; t < o.length(row); ++t)
            add_step(&o.h(row, 0), &o.x(row, t, 0), &o.y(row, t, 0), n);
        std::fill_n(&o.y(row, 0, 0) + o.length(row) * n, (T - o.length(row)) * n, 0.0f);
    }
}

void xloom_batched(batch& o)
{
    o.returned.reset();
    auto result = xloom::scan_batched(
        [](auto const& h, auto const& x_t) {
            return xloom::scan_step{h + x_t, h + x_t};
        },
        o.h0, o.x, o.lengths);
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

void xloom_into(batch& o)
{
    o.h.fill(0.0f);
    xloom::scan_batched_into(
        [](auto& h, auto const& x_t, auto& y_t) { add_step(&h(0), x_t.data(), y_t.data(), x_t.size()); }, o.h,
        o.x, o.lengths, o.y);
}

void xloom_rows(batch& o)
{
    o.h.fill(0.0f);
    o.y.fill(0.0f);
    for (std::size_t row = 0; row < o.h.shape(0); ++row) {
        auto h_row = xt::view(o.h, row);
        auto const x_row = xt::view(o.x, row, xt::range(std::size_t{0}, o.length(row)));
        auto y_row = xt::view(o.y, row, xt::range(std::size_t{0}, o.length(row)));
        xloom::scan_into(
            [](auto& h, auto const& x_t, auto& y_t) { add_step(&h(0), x_t.data(), y_t.data(), x_t.size()); },
            h_row, x_row, y_row);
    }
}

onnx_graph model(batch& o)
{
    auto const row_of = [](onnx_operand operand) {
        operand.shape = {operand.shape.back()};
        return operand;
    };
    onnx_graph const body{.inputs = {row_of(bound("h", o.h)), row_of(bound("x_t", o.x))},
        .outputs = {row_of(bound("next_h", o.h)), row_of(bound("y_t", o.y))},
        .nodes = {{"Add", {"h", "x_t"}, {"next_h"}}, {"Identity", {"next_h"}, {"y_t"}}}};
    onnx_graph scan = model_of({.op = "Scan", .attributes = {subgraph("body", body), {"num_scan_inputs", 1}}},
        {bound("sequence_lens", o.lengths), bound("h0", o.h0), bound("x", o.x)},
        {bound("final_h", o.h), bound("y", o.y)});
    scan.opset = 8; // the last with a batch
    return scan;
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const n : {16u, 64u, 256u})
        add_case("scan_batched/f32/N:32/T:100/size:" + std::to_string(n),
            [=] { return make_batch(32, 100, n); },
            {{"hand", hand}, {"xloom", xloom_batched}, {"xloom_into", xloom_into}, {"xloom_rows", xloom_rows},
                {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
