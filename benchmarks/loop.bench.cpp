// Compares loop_into and loop with a hand-written loop around the same body and with ONNX Runtime.

#include <xloom/control_flow/loop.hpp>

#include "loop_model.hpp"

namespace {

using namespace bench;
using matrix = xt::xtensor<float, 2>;

/// Each iteration adds x [n] to h and writes h as a row of y [T, n].
using rows = operands<vector, vector, matrix>;

void hand_rows(rows& o)
{
    o.h.fill(0.0f);
    std::size_t const n = o.h.size();
    float* const h = o.h.data();
    float const* const x = o.x.data();
    float* const y = o.y.data();
    bool cond = true;
    for (std::size_t t = 0; t < o.iterations && cond; ++t) {
        add_step(h, x, y + t * n, n);
        cond = h[0] < limit;
    }
}

void xloom_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::loop_into(
        [x = o.x.data()](std::int64_t, auto& h, auto& y_t) {
            add_step(h.data(), x, y_t.data(), y_t.size());
            return *h.data() < limit;
        },
        o.h, o.y, {.max_trip_count = o.trips()});
}

void xloom_noalias_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::loop_into(
        [&x = o.x](std::int64_t, auto& h, auto& y_t) {
            xt::noalias(h) = h + x;
            xt::noalias(y_t) = h;
            return h(0) < limit;
        },
        o.h, o.y, {.max_trip_count = o.trips()});
}

void xloom_pure_rows(rows& o)
{
    o.returned.reset();
    o.h.fill(0.0f);
    auto result = xloom::loop(
        [&x = o.x](std::int64_t, bool, auto const& h) {
            return xloom::loop_step{h(0) < limit, h + x, h + x};
        },
        o.h, {.max_trip_count = o.trips()});
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

/// Each iteration adds the number x to the number h.
using items = operands<float, float>;

void hand_add(items& o)
{
    float h = 0.0f;
    for (std::size_t t = 0; t < o.iterations; ++t)
        h += o.x;
    o.h = h;
}

void xloom_add(items& o)
{
    o.h = 0.0f;
    xloom::loop_into(
        [x = o.x](std::int64_t, float& h) {
            h += x;
            return true;
        },
        o.h, {}, {.max_trip_count = o.trips(), .cond = std::nullopt});
}

void xloom_pure_add(items& o)
{
    o.h = xloom::loop(
        [x = o.x](std::int64_t, bool cond, float h) {
            return xloom::loop_step{cond, h + x};
        },
        0.0f, {.max_trip_count = o.trips(), .cond = std::nullopt})
              .final_state;
}

void hand_add_less(items& o)
{
    float h = 0.0f;
    bool cond = true;
    for (std::size_t t = 0; t < o.iterations && cond; ++t) {
        h += o.x;
        cond = h < limit;
    }
    o.h = h;
}

void xloom_add_less(items& o)
{
    o.h = 0.0f;
    xloom::loop_into(
        [x = o.x](std::int64_t, float& h) {
            h += x;
            return h < limit;
        },
        o.h, {}, {.max_trip_count = o.trips()});
}

void xloom_pure_add_less(items& o)
{
    o.h = xloom::loop(
        [x = o.x](std::int64_t, bool, float h) {
            return xloom::loop_step{h + x < limit, h + x};
        },
        0.0f, {.max_trip_count = o.trips()})
              .final_state;
}

/// The body passes the condition through: less work than in the other series.
onnx_graph rows_model(rows& o)
{
    return loop_model(o,
        {.inputs = {bound("h", o.h)},
            .outputs = {bound("next_h", o.h), element("y_t", o.y)},
            .nodes = {{"Identity", {"cond"}, {"next_cond"}}, {"Add", {"h", "x"}, {"next_h"}},
                {"Identity", {"next_h"}, {"y_t"}}}},
        {bound("x", o.x)}, {bound("final_h", o.h), bound("y", o.y)});
}

onnx_graph add_model(items& o)
{
    return loop_model(o,
        {.inputs = {bound("h", o.h)},
            .outputs = {bound("next_h", o.h)},
            .nodes = {{"Identity", {"cond"}, {"next_cond"}}, {"Add", {"h", "x"}, {"next_h"}}}},
        {bound("x", o.x)}, {bound("final_h", o.h)});
}

onnx_graph add_less_model(items& o)
{
    return loop_model(o,
        {.inputs = {bound("h", o.h)},
            .outputs = {bound("next_h", o.h)},
            .nodes = {constant("limit", limit), {"Add", {"h", "x"}, {"next_h"}},
                {"Less", {"next_h", "limit"}, {"next_cond"}}}},
        {bound("x", o.x)}, {bound("final_h", o.h)});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const T : lengths) {
        std::string const iterations = "/iterations:" + std::to_string(T);
        auto const make_items = [=] { return items{0.0f, 0.5f, 0.0f, T}; };
        add_case("loop_into/f32/body:add" + iterations, make_items,
            {{"hand", hand_add}, {"xloom", xloom_add}, {"xloom_pure", xloom_pure_add},
                {.impl = "onnxruntime", .model = add_model}});
        add_case("loop_into/f32/body:add_less" + iterations, make_items,
            {{"hand", hand_add_less}, {"xloom", xloom_add_less}, {"xloom_pure", xloom_pure_add_less},
                {.impl = "onnxruntime", .model = add_less_model}});
        for (std::size_t const n : sizes_of(T))
            add_case("loop_into/f32/size:" + std::to_string(n) + iterations,
                [=] {
                    return rows{vector::from_shape({n}), made_up<vector>({n}), matrix::from_shape({T, n}), T};
                },
                {{"hand", hand_rows}, {"xloom", xloom_rows}, {"xloom_noalias", xloom_noalias_rows},
                    {"xloom_pure", xloom_pure_rows}, {.impl = "onnxruntime", .model = rows_model}});
    }
    return run_cases(argc, argv);
}
