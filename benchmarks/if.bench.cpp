// Compares if_ inside a loop with C++'s if statement and with ONNX Runtime.

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>

#include "loop_model.hpp"

namespace {

using namespace bench;

/// Each iteration adds x to h or subtracts it, depending on x, so that no compiler can resolve the branch.
struct rows : operands<vector, vector> {
    bool is_up(std::size_t t) const { return x(t % x.size()) > 0.0f; }
};

void hand_rows(rows& o)
{
    o.h.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t) {
        if (o.is_up(t))
            o.h = vector(o.h + o.x);
        else
            o.h = vector(o.h - o.x);
    }
}

void xloom_rows(rows& o)
{
    o.h.fill(0.0f);
    xloom::loop_into(
        [&o](std::int64_t t, vector& h) {
            h = xloom::if_(
                o.is_up(static_cast<std::size_t>(t)), [&] { return vector(h + o.x); },
                [&] { return vector(h - o.x); });
            return true;
        },
        o.h, {}, {.max_trip_count = o.trips()});
}

/// Scalar case: h decreases by x where it is above 0, else increases by 1, so that the branch depends on the
/// previous iteration.
using items = operands<float, float>;

void hand_items(items& o)
{
    float h = 0.0f;
    for (std::size_t t = 0; t < o.iterations; ++t) {
        if (h > 0.0f)
            h = h - o.x;
        else
            h = h + 1.0f;
    }
    o.h = h;
}

void xloom_items(items& o)
{
    o.h = 0.0f;
    xloom::loop_into(
        [x = o.x](std::int64_t, float& h) {
            h = xloom::if_(
                h > 0.0f, [&] { return h - x; }, [&] { return h + 1.0f; });
            return true;
        },
        o.h, {}, {.max_trip_count = o.trips()});
}

onnx_graph items_model(items& o)
{
    onnx_graph const down{.outputs = {scalar<float>("lower")}, .nodes = {{"Sub", {"h", "x"}, {"lower"}}}};
    onnx_graph const up{.outputs = {scalar<float>("higher")},
        .nodes = {constant("one", 1.0f), {"Add", {"h", "one"}, {"higher"}}}};
    onnx_node const branch{
        "If", {"is_above"}, {"next_h"}, {subgraph("then_branch", down), subgraph("else_branch", up)}};
    return loop_model(o,
        {.inputs = {bound("h", o.h)},
            .outputs = {bound("next_h", o.h)},
            .nodes = {{"Identity", {"cond"}, {"next_cond"}}, constant("zero", 0.0f),
                {"Greater", {"h", "zero"}, {"is_above"}}, branch}},
        {bound("x", o.x)}, {bound("final_h", o.h)});
}

} // namespace

int main(int argc, char** argv)
{
    for (std::size_t const T : lengths) {
        std::string const iterations = "/iterations:" + std::to_string(T);
        add_case("if_/f32/size:scalar" + iterations,
            [=] {
                return items{0.0f, 0.625f, 0.0f, T};
            },
            {{"hand", hand_items}, {"xloom", xloom_items}, {.impl = "onnxruntime", .model = items_model}});
        for (std::size_t const n : sizes_of(T))
            add_case("if_/f32/size:" + std::to_string(n) + iterations,
                [=] {
                    return rows{{vector::from_shape({n}), made_up<vector>({n}), vector{0.0f}, T}};
                },
                {{"hand", hand_rows}, {"xloom", xloom_rows}});
    }
    return run_cases(argc, argv);
}
