// The cost of numbers of carried values and outputs that are known at run time only: compares loop_list with
// loop on the same two of each, with hand-written loops, and with ONNX Runtime, which also knows them at run
// time only.

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/loop_list.hpp>

#include "list_operands.hpp"

namespace {

using namespace bench;
using lists = list_operands<vector>;

void hand(lists& o)
{
    for (vector& state : o.h)
        state.fill(0.0f);
    bool cond = true;
    for (std::size_t t = 0; t < o.iterations && cond; ++t) {
        for (std::size_t i = 0; i < o.h.size(); ++i)
            add_step(o.h[i].data(), o.x[i].data(), &o.y[i](t, 0), o.h[i].size());
        cond = o.h[0](0) < limit;
    }
}

void xloom_loop(lists& o)
{
    o.returned.reset();
    auto result = xloom::loop(
        [&x = o.x](std::int64_t, bool, auto const& h, auto const& g) {
            return xloom::loop_step{
                h(0) < limit, std::tuple(h + x[0], g + x[1]), std::tuple(h + x[0], g + x[1])};
        },
        std::tuple(o.h0[0], o.h0[1]), {.max_trip_count = o.trips()});
    auto const list = [](auto&... each) { return std::vector{std::move(each)...}; };
    o.returned.emplace(std::apply(list, result.final_state), std::apply(list, result.scan_outputs));
}

void xloom_pure_list(lists& o)
{
    o.returned.reset();
    auto result = xloom::loop_list(
        [&x = o.x](std::int64_t, bool, std::span<vector const> h) {
            std::vector<vector> next(h.size());
            for (std::size_t i = 0; i < h.size(); ++i)
                next[i] = h[i] + x[i];
            bool const cond = next[0](0) < limit;
            return xloom::loop_step{cond, next, next};
        },
        o.h0, o.x.size(), {.max_trip_count = o.trips()});
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

/// The body uses the memory of its last step again.
void xloom_list(lists& o)
{
    o.returned.reset();
    auto result = xloom::loop_list(
        [&x = o.x](std::int64_t, bool, std::span<vector const> h, auto& next) {
            next.state.resize(h.size());
            for (std::size_t i = 0; i < h.size(); ++i) {
                next.state[i].resize(h[i].shape());
                xt::noalias(next.state[i]) = h[i] + x[i];
            }
            next.scan_outputs = next.state;
            next.cond = next.state[0](0) < limit;
        },
        o.h0, o.x.size(), {.max_trip_count = o.trips()});
    o.returned.emplace(std::move(result.final_state), std::move(result.scan_outputs));
}

/// The body passes the condition through: less work than in the other series.
onnx_graph model(lists& o)
{
    onnx_graph const body{.inputs = {scalar<std::int64_t>("iteration"), scalar<bool>("cond"),
                              bound("h", o.h[0]), bound("g", o.h[1])},
        .outputs = {scalar<bool>("next_cond"), bound("next_h", o.h[0]), bound("next_g", o.h[1]),
            element("y_t", o.y[0]), element("w_t", o.y[1])},
        .nodes = {{"Identity", {"cond"}, {"next_cond"}}, {"Add", {"h", "x"}, {"next_h"}},
            {"Add", {"g", "z"}, {"next_g"}}, {"Identity", {"next_h"}, {"y_t"}},
            {"Identity", {"next_g"}, {"w_t"}}}};
    return {{bound("h0", o.h0[0]), bound("g0", o.h0[1]), bound("x", o.x[0]), bound("z", o.x[1])},
        {bound("final_h", o.h[0]), bound("final_g", o.h[1]), bound("y", o.y[0]), bound("w", o.y[1])},
        {constant("trips", o.trips()),
            {"Loop", {"trips", "", "h0", "g0"}, {"final_h", "final_g", "y", "w"}, {subgraph("body", body)}}}};
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t T = 1'000;
    for (std::size_t const n : {16u, 256u, 4'096u})
        add_case("loop_list/f32/states:2/size:" + std::to_string(n) + "/iterations:1000",
            [=] { return lists(T, n, {n}); },
            {{"hand", hand}, {"xloom_loop", xloom_loop}, {"xloom_pure", xloom_pure_list},
                {"xloom", xloom_list}, {.impl = "onnxruntime", .model = model}});
    return run_cases(argc, argv);
}
