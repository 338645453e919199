// Compares scan_into and scan with a hand-written time loop around the same body and with ONNX Runtime.

#include <optional>

#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_lanes.hpp>

#include "support.hpp"

namespace {

using namespace bench;
using matrix = xt::xtensor<float, 2>;
using cube = xt::xtensor<float, 3>;

/// x and y are [T, n].
using rows = operands<vector, matrix>;

void hand_rows(rows& o)
{
    o.h.fill(0.0f);
    std::size_t const n = o.h.size();
    float* const h = o.h.data();
    float const* const x = o.x.data();
    float* const y = o.y.data();
    for (std::size_t t = 0; t < o.iterations; ++t)
        add_step(h, x + t * n, y + t * n, n);
}

void xloom_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [](auto& h, auto const& x_t, auto& y_t) { add_step(h.data(), x_t.data(), y_t.data(), x_t.size()); },
        o.h, o.x, o.y);
}

void xloom_noalias_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [](auto& h, auto const& x_t, auto& y_t) {
            xt::noalias(h) = h + x_t;
            xt::noalias(y_t) = h;
        },
        o.h, o.x, o.y);
}

/// A body for scan, whose state and element are tensors, and for scan_lanes, which runs it for many items at
/// once.
auto const pure_step = [](auto const& h, auto const& x_t) { return xloom::scan_step{h + x_t, h + x_t}; };

void xloom_pure_rows(rows& o)
{
    o.returned.reset();
    o.h.fill(0.0f);
    auto result = xloom::scan(pure_step, o.h, o.x);
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

void xloom_lane_rows(rows& o)
{
    o.returned.reset();
    o.h.fill(0.0f);
    auto result = xloom::scan_lanes(pure_step, o.h, o.x, std::nullopt, {.batch_axis = 1});
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

/// x and y are [T], their elements are plain numbers.
using items = operands<float, vector>;

void hand_items(items& o)
{
    float h = 0.0f;
    float const* const x = o.x.data();
    float* const y = o.y.data();
    for (std::size_t t = 0; t < o.iterations; ++t)
        add_step(&h, x + t, y + t, 1);
    o.h = h;
}

void xloom_items(items& o)
{
    o.h = 0.0f;
    xloom::scan_into(
        [](float& h, float const& x_t, float& y_t) { add_step(&h, &x_t, &y_t, 1); }, o.h, o.x, o.y);
}

/// A call of so few iterations that what it costs to begin counts.
struct few_items : items {
    benchmark::UserCounters counters() const { return {{"call", seconds_each(1)}}; }
};

void hand_few_items(few_items& o) { hand_items(o); }

void xloom_few_items(few_items& o) { xloom_items(o); }

void xloom_pure_items(items& o)
{
    o.returned.reset();
    auto result = xloom::scan(
        [](float h, float x_t) {
            return xloom::scan_step{h + x_t, h + x_t};
        },
        0.0f, o.x);
    o.returned.emplace(result.final_state, std::move(result.scan_outputs));
}

/// x and y are [n, T], scanned along axis 1.
struct columns : rows {};

void hand_columns(columns& o)
{
    o.h.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t)
        add_step(o.h.data(), o.x.data() + t, o.y.data() + t, o.h.size(), o.iterations);
}

void xloom_columns(columns& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [](auto& h, auto const& x_t, auto& y_t) { add_step(h.data(), x_t.data(), y_t.data(), x_t.size()); },
        o.h, o.x, o.y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
}

/// The same sums, of one row after the other: the order that suits memory, which no body over columns has.
void hand_each_row(columns& o)
{
    std::size_t const T = o.iterations;
    for (std::size_t row = 0; row < o.h.size(); ++row) {
        float h = 0.0f;
        for (std::size_t t = 0; t < T; ++t)
            o.y.data()[row * T + t] = h += o.x.data()[row * T + t];
        o.h(row) = h;
    }
}

/// x and y are [8, T, n], scanned along axis 1.
using planes = operands<matrix, cube>;

void hand_planes(planes& o)
{
    o.h.fill(0.0f);
    std::size_t const n = o.h.shape(1);
    for (std::size_t t = 0; t < o.iterations; ++t)
        for (std::size_t row = 0; row < o.h.shape(0); ++row) {
            std::size_t const at = (row * o.iterations + t) * n;
            add_step(o.h.data() + row * n, o.x.data() + at, o.y.data() + at, n);
        }
}

void xloom_planes(planes& o)
{
    o.h.fill(0.0f);
    xloom::scan_into(
        [](auto& h, auto const& x_t, auto& y_t) { add_step(h.data(), x_t.data(), y_t.data(), x_t.size()); },
        o.h, o.x, o.y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
}

void xloom_strided_planes(planes& o)
{
    o.h.fill(0.0f);
    auto const body = [](auto& h, auto const& x_t, auto& y_t) {
        for (std::size_t row = 0; row < x_t.shape(0); ++row)
            add_step(&h(row, 0), &x_t(row, 0), &y_t(row, 0), x_t.shape(1));
    };
    xloom::scan_into(
        xloom::strided_elements(body), o.h, o.x, o.y, {.scan_input_axes = {1}, .scan_output_axes = {1}});
}

/// A Scan whose body is an Add, and an Identity because an output cannot have two names.
template <std::int64_t Axis, class Operands>
onnx_graph running_sum(Operands& o)
{
    onnx_graph body{.inputs = {bound("h", o.h), element("x_t", o.x, Axis)},
        .outputs = {bound("next_h", o.h), element("y_t", o.y, Axis)},
        .nodes = {{"Add", {"h", "x_t"}, {"next_h"}}, {"Identity", {"next_h"}, {"y_t"}}}};
    std::vector<std::int64_t> const axes{Axis};
    return model_of({.op = "Scan",
                        .attributes = {subgraph("body", body), {"num_scan_inputs", 1},
                            {"scan_input_axes", axes}, {"scan_output_axes", axes}}},
        {bound("h0", o.h0), bound("x", o.x)}, {bound("final_h", o.h), bound("y", o.y)});
}

} // namespace

int main(int argc, char** argv)
{
    add_case("scan_into_call/f32/size:scalar/iterations:4",
        [] {
            return few_items{{0.0f, made_up<vector>({4}), vector::from_shape({4}), 4}};
        },
        {series<few_items>{"hand", hand_few_items}, {"xloom", xloom_few_items}});
    add_case("scan_into_rows/f32/axis:1/shape:1000x1000",
        [] {
            return columns{{vector::from_shape({1'000}), made_up<matrix>({1'000, 1'000}),
                matrix::from_shape({1'000, 1'000}), 1'000}};
        },
        {series<columns>{"hand", hand_each_row}, {"xloom", xloom_columns}});
    for (std::size_t const T : lengths) {
        std::string const iterations = "/iterations:" + std::to_string(T);
        add_case("scan_into/f32/size:scalar" + iterations,
            [=] {
                return items{0.0f, made_up<vector>({T}), vector::from_shape({T}), T};
            },
            {{"hand", hand_items}, {"xloom", xloom_items}, {"xloom_pure", xloom_pure_items},
                {.impl = "onnxruntime", .model = running_sum<0>}});
        for (std::size_t const n : sizes_of(T))
            add_case("scan_into/f32/size:" + std::to_string(n) + iterations,
                [=] {
                    return rows{
                        vector::from_shape({n}), made_up<matrix>({T, n}), matrix::from_shape({T, n}), T};
                },
                {{"hand", hand_rows}, {"xloom", xloom_rows}, {"xloom_noalias", xloom_noalias_rows},
                    {"xloom_pure", xloom_pure_rows}, {"xloom_lanes", xloom_lane_rows},
                    {.impl = "onnxruntime", .model = running_sum<0>}});
        add_case("scan_into/f32/axis:1/shape:64xT" + iterations,
            [=] {
                return columns{
                    {vector::from_shape({64}), made_up<matrix>({64, T}), matrix::from_shape({64, T}), T}};
            },
            {{"hand", hand_columns}, {"xloom", xloom_columns},
                {.impl = "onnxruntime", .model = running_sum<1>}});
        add_case("scan_into/f32/axis:1/shape:8xTx64" + iterations,
            [=] {
                return planes{
                    matrix::from_shape({8, 64}), made_up<cube>({8, T, 64}), cube::from_shape({8, T, 64}), T};
            },
            {{"hand", hand_planes}, {"xloom", xloom_planes}, {"xloom_strided", xloom_strided_planes},
                {.impl = "onnxruntime", .model = running_sum<1>}});
    }
    return run_cases(argc, argv);
}
