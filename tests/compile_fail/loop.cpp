// Mistakes in a call of loop.
// clang-format off
// 1: the body must be callable as body(iteration, cond, state const&...)
// 2: the body must return xloom::loop_step{cond, state, scan_outputs}
// 3: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return the step without template arguments, or a container
// 4: the body must return as many states as init has
// 5: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 6: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 7: a state must keep its element type; convert what the body returns
// 8: a state, or the row of it that the body receives, must keep its rank; in a loop an xt::xarray may change it
// 9: a state, or the row of it that the body receives, must keep its fixed shape; in a loop an xt::xtensor may change it
// 10: a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead
// 11: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return the step without template arguments, or a container
// 12: the body must return xloom::loop_step{cond, state, scan_outputs}
// 13: a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead
// 14: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 15: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 60: the body returned references, which could outlive the body's variables; return the step without template arguments
// 61: a state must keep its element type; convert what the body returns
// 62: a state must keep its element type; convert what the body returns
// 63: a state must keep its element type; convert what the body returns
// 64: a state, or the row of it that the body receives, must keep its rank; in a loop an xt::xarray may change it
// 65: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 66: the items of a scan output must be default-constructible, copyable and no more aligned than xtensor aligns items; hold others by std::shared_ptr
// clang-format on
#include <memory>

#include <xloom/control_flow/loop.hpp>

int main()
{
    using xloom::loop_step;
    xt::xtensor<float, 1> const v = xt::zeros<float>({4});
    auto const body = [](std::int64_t, bool, auto const& state) { return loop_step{true, state, state}; };
    xloom::loop_options const twice{.max_trip_count = 2};
#if CASE == 0
    auto result = xloom::loop(body, v, twice);
    auto sequence = xloom::loop(
        [](std::int64_t, bool, auto const& s) {
            return loop_step{true, s};
        },
        std::vector{v}, twice);
    static_cast<void>(sequence);
#elif CASE == 1
    auto result = xloom::loop([](bool, auto const& state) { return loop_step{true, state}; }, v, twice);
#elif CASE == 2
    auto result = xloom::loop([](std::int64_t, bool, auto const& state) { return 2.0f * state; }, v, twice);
#elif CASE == 3
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            auto const sum = state + state;
            return loop_step<decltype(sum)>{true, sum};
        },
        v, twice);
#elif CASE == 4
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& a, auto const&) {
            return loop_step{true, a};
        },
        std::tie(v, v), twice);
#elif CASE == 5
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            return loop_step{true, state(0)};
        },
        v, twice);
#elif CASE == 6
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& s) {
            return loop_step{true, s.size()};
        },
        std::vector{v}, twice);
#elif CASE == 7
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            return loop_step{true, 1.0 * state};
        },
        v, twice);
#elif CASE == 8
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, xt::xtensor<float, 2>()};
        },
        v, twice);
#elif CASE == 9
    xt::xtensor_fixed<float, xt::xshape<4>> const fixed{};
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, xt::xtensor_fixed<float, xt::xshape<5>>()};
        },
        fixed, twice);
#elif CASE == 10
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            return loop_step{true, state, std::vector{state}};
        },
        v, twice);
#elif CASE == 11 // a lazy expression in an optional
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            auto const sum = *state + *state;
            return loop_step{true, std::optional(sum)};
        },
        std::optional(v), twice);
#elif CASE == 12 // no step: nothing is returned
    auto result = xloom::loop([](std::int64_t, bool, auto const&) {}, v, twice);
#elif CASE == 13
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            return loop_step{true, state, std::tuple{1, std::optional(state)}};
        },
        v, twice);
#elif CASE == 14
    auto result = xloom::loop(body, std::tuple{std::tuple{v}, v}, twice);
#elif CASE == 15
    auto result = xloom::loop(
        [](std::int64_t, bool, float) {
            return loop_step{true, std::vector{1.0f}};
        },
        1.0f, twice);
#elif CASE == 60 // a tuple of references
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            xt::xtensor<float, 1> const sum = state + state;
            return loop_step<std::tuple<xt::xtensor<float, 1> const&>>{true, sum};
        },
        std::tuple{v}, twice);
#elif CASE == 61 // a double for an optional int
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, 2.5};
        },
        std::optional<int>(1), twice);
#elif CASE == 62
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, std::optional(2.5)};
        },
        std::optional<int>(1), twice);
#elif CASE == 63 // doubles for an optional tensor of floats
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& o) {
            return loop_step{true, 1.0 * *o};
        },
        std::optional(v), twice);
#elif CASE == 64
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, xt::xtensor<float, 2>()};
        },
        std::optional(v), twice);
#elif CASE == 65 // a tensor of the items for a sequence of them
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const&) {
            return loop_step{true, 2.5};
        },
        std::vector<int>{1}, twice);
#elif CASE == 66 // an output that cannot be copied
    auto result = xloom::loop(
        [](std::int64_t, bool, auto const& state) {
            return loop_step{true, state, std::make_unique<int>(1)};
        },
        v, twice);
#endif
    static_cast<void>(result);
    static_cast<void>(body);
}
