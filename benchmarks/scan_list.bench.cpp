// The cost of numbers of states, inputs and outputs that are known at run time only: compares scan_list with
// scan on the same two of each, with hand-written loops, and with ONNX Runtime, which also knows them at run
// time only.

#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_list.hpp>

#include "list_operands.hpp"

namespace {

using namespace bench;
using lists = list_operands<matrix>;

void hand(lists& o)
{
    for (vector& state : o.h)
        state.fill(0.0f);
    for (std::size_t t = 0; t < o.iterations; ++t)
        for (std::size_t i = 0; i < o.h.size(); ++i)
            add_step(o.h[i].data(), &o.x[i](t, 0), &o.y[i](t, 0), o.h[i].size());
}

void xloom_scan(lists& o)
{
    o.returned.reset();
    auto [states, outputs] = xloom::scan(
        [](auto const& h, auto const& g, auto const& x_t, auto const& z_t) {
            return xloom::scan_step{std::tuple(h + x_t, g + z_t), std::tuple(h + x_t, g + z_t)};
        },
        std::tuple(o.h0[0], o.h0[1]), std::tie(o.x[0], o.x[1]));
    auto const list = [](auto&... each) { return std::vector{std::move(each)...}; };
    o.returned.emplace(std::apply(list, states), std::apply(list, outputs));
}

void xloom_pure_list(lists& o)
{
    o.returned.reset();
    auto result = xloom::scan_list(
        [](std::span<vector const> h, auto x_t) {
            std::vector<vector> next(h.size());
            for (std::size_t i = 0; i < h.size(); ++i)
                next[i] = h[i] + x_t[i];
            return xloom::scan_step{next, next};
        },
        o.h0, o.x, o.x.size());
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

/// The body uses the memory of its last step again.
void xloom_list(lists& o)
{
    o.returned.reset();
    auto result = xloom::scan_list(
        [](std::span<vector const> h, auto x_t, auto& next) {
            next.state.resize(h.size());
            for (std::size_t i = 0; i < h.size(); ++i) {
                next.state[i].resize(h[i].shape());
                xt::noalias(next.state[i]) = h[i] + x_t[i];
            }
            next.scan_outputs = next.state;
        },
        o.h0, o.x, o.x.size());
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

onnx_graph model(lists& o)
{
    onnx_graph const body{
        .inputs = {bound("h", o.h[0]), bound("g", o.h[1]), element("x_t", o.x[0]), element("z_t", o.x[1])},
        .outputs = {bound("next_h", o.h[0]), bound("next_g", o.h[1]), element("y_t", o.y[0]),
            element("w_t", o.y[1])},
        .nodes = {{"Add", {"h", "x_t"}, {"next_h"}}, {"Add", {"g", "z_t"}, {"next_g"}},
            {"Identity", {"next_h"}, {"y_t"}}, {"Identity", {"next_g"}, {"w_t"}}}};
    return model_of({.op = "Scan", .attributes = {subgraph("body", body), {"num_scan_inputs", 2}}},
        {bound("h0", o.h0[0]), bound("g0", o.h0[1]), bound("x", o.x[0]), bound("z", o.x[1])},
        {bound("final_h", o.h[0]), bound("final_g", o.h[1]), bound("y", o.y[0]), bound("w", o.y[1])});
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t T = 1'000;
    for (std::size_t const n : {16u, 256u, 4'096u})
        add_case("scan_list/f32/states:2/size:" + std::to_string(n) + "/iterations:1000",
            [=] {
                return lists(T, n, {T, n});
            },
            {{"hand", hand}, {"xloom_scan", xloom_scan}, {"xloom_pure", xloom_pure_list},
                {"xloom", xloom_list}, {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
