// Mistakes in a call of loop_list.
// clang-format off
// 1: xloom::loop_list: the body must be callable as body(iteration, cond, std::span<carried value const>)
// 2: xloom::loop_list: the body must be callable as body(iteration, cond, std::span<carried value const>)
// 3: xloom::loop_list: the body must return xloom::loop_step{cond, std::vector of carried values, std::vector of outputs}
// 4: xloom::loop_list: the body must return xloom::loop_step{cond, std::vector of carried values, std::vector of outputs}
// 5: xloom::loop_list: the body must return xloom::loop_step{cond, std::vector of carried values, std::vector of outputs}
// 6: xloom::loop_list: the body must return xloom::loop_step{cond, std::vector of carried values, std::vector of outputs}
// 7: xloom::loop_list: the body must return xloom::loop_step{cond, std::vector of carried values, std::vector of outputs}
// clang-format on
#include <xloom/control_flow/loop_list.hpp>

#include "../support/xtensor_extras.hpp"

using array = xt::xarray<double>;
using list = std::vector<array>;

int main()
{
    auto const run = [](auto body) { xloom::loop_list(body, list(2), 1, {.max_trip_count = 3}); };
#if CASE == 0
    run([](std::int64_t, bool, std::span<array const> states) {
        return xloom::loop_step{true, list{states[0], states[1]}, list{states[0]}};
    });
#elif CASE == 1
    run([](std::int64_t, bool, array const& state, array const& other) {
        return xloom::loop_step{true, list{state, other}, list{state}};
    });
#elif CASE == 2 // states are only read
    run([](std::int64_t, bool, std::span<array> states) {
        return xloom::loop_step{true, list{states[0], states[1]}, list{states[0]}};
    });
#elif CASE == 3
    run([](std::int64_t, bool, auto states) { return list{states[0], states[1]}; });
#elif CASE == 4
    run([](std::int64_t, bool, auto states) { return xloom::loop_step{true, states[0], list{states[0]}}; });
#elif CASE == 5 // no outputs are an empty list
    run([](std::int64_t, bool, auto states) { return xloom::loop_step{true, list{states[0], states[1]}}; });
#elif CASE == 6
    run([](std::int64_t, bool, auto states) {
        return xloom::loop_step{true, list{states[0], states[1]}, std::tuple{states[0]}};
    });
#elif CASE == 7 // views of what may be gone when the loop ends
    run([](std::int64_t, bool, auto states) {
        return xloom::loop_step{
            true, list{states[0], states[1]}, std::vector{xt::view(states[0], xt::all())}};
    });
#endif
}
