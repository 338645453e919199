// Mistakes in a call of loop_lanes_into.
// clang-format off
// 1: a body of lanes computes with many sequences at once, so that it cannot branch on their values
// 2: the body of loop_lanes_into must return a comparison of lanes: whether each loop goes on
// 3: the body of loop_lanes_into must return a comparison of lanes: whether each loop goes on
// 4: the body must take lanes of the states
// 5: a callable takes by value what it is to write, so that it is lost
// 6: loop_lanes_into has at least one state
// 7: loop_lanes_into has at least one state
// 8: a state is updated in place, so it must not be const
// 9: a body of lanes is called while it is const
// 10: after the operands and outputs come the options, then at most one policy
// 11: trip_counts is a variable [N] of std::int64_t
// 12: trip_counts is a variable [N] of std::int64_t
// 13: trip_counts is a variable [N] of std::int64_t
// clang-format on
#include <xloom/control_flow/loop_lanes.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> x = {1, 2};
    xt::xtensor<float, 1> const a = {4, 9};
    auto const body = [](auto& h, auto const& d) {
        h = h / d;
        return h > 1.0f;
    };
#if CASE == 0
    xt::xtensor<std::int64_t, 1> counts = {0, 0};
    xloom::loop_lanes_into(body, x, a, counts, {.max_trip_count = 3});
    xloom::loop_lanes_into(body, std::tie(x), a + a);
#elif CASE == 1
    xloom::loop_lanes_into(
        [](auto& h, auto const& d) {
            if (h > d)
                h = d;
            return h > 1.0f;
        },
        x, a);
#elif CASE == 2
    xloom::loop_lanes_into([](auto& h, auto const& d) { h = h / d; }, x, a);
#elif CASE == 3
    xloom::loop_lanes_into([](auto& h, auto const& d) { return h = h / d; }, x, a);
#elif CASE == 4
    xloom::loop_lanes_into([](auto& h) { return h > 1.0f; }, x, a);
#elif CASE == 5
    xloom::loop_lanes_into([](auto h, auto const& d) { return h > d; }, x, a);
#elif CASE == 6
    xloom::loop_lanes_into([](auto const& d) { return d > 1.0f; }, std::tuple(), a);
#elif CASE == 7
    xt::xtensor<float, 2> rows = {{1, 2}};
    xloom::loop_lanes_into(body, rows, a);
#elif CASE == 8
    xloom::loop_lanes_into(body, a, a);
#elif CASE == 9
    int calls = 0;
    xloom::loop_lanes_into(
        [calls](auto& h, auto const& d) mutable {
            ++calls;
            h = h / d;
            return h > 1.0f;
        },
        x, a);
#elif CASE == 10
    xloom::loop_lanes_into(body, x, a, std::tuple(), 3);
#elif CASE == 11
    xt::xtensor<int, 1> counts = {0, 0};
    xloom::loop_lanes_into(body, x, a, counts);
#elif CASE == 12
    xloom::loop_lanes_into(body, x, a, xt::xtensor<std::int64_t, 1>{0, 0});
#elif CASE == 13
    xloom::loop_lanes_into(body, x, a, xloom::loop_lanes_options{});
#endif
}
