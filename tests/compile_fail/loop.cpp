// Mistakes in a call of loop.
// clang-format off
// 1: xloom::loop: the body must be callable as body(iteration, cond, carried value const&...)
// 2: xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}
// 3: xloom::loop: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return xloom::loop_step{...} without template arguments, or a container
// 4: xloom::loop: the body must return as many carried values as init has
// 5: xloom::loop: a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence
// 6: xloom::loop: a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence
// 7: xloom::loop: a carried value may change its shape, but never its element type; convert what the body returns
// 8: xloom::loop: a carried value of a static rank must keep it; carry an xt::xarray to change the rank
// 9: xloom::loop: a carried value of a fixed shape must keep it; carry an xt::xtensor to change the shape
// 10: xloom::loop: a scan output must be a tensor or a scalar; carry a sequence as a state instead
// 11: xloom::loop: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return xloom::loop_step{...} without template arguments, or a container
// 12: xloom::loop: the body must return xloom::loop_step{cond, state, scan_outputs}
// 13: xloom::loop: a scan output must be a tensor or a scalar; carry a sequence as a state instead
// 14: xloom::loop: a pack is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 15: xloom::loop: a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence
// 60: xloom::loop: the body returned references, which could outlive the body's variables; return xloom::loop_step{...} without template arguments
// 61: xloom::loop: a carried value may change its shape, but never its element type; convert what the body returns
// 62: xloom::loop: a carried value may change its shape, but never its element type; convert what the body returns
// 63: xloom::loop: a carried value may change its shape, but never its element type; convert what the body returns
// 64: xloom::loop: a carried value of a static rank must keep it; carry an xt::xarray to change the rank
// 65: xloom::loop: a carried tensor must be replaced by a tensor, a scalar by a scalar, a sequence by a sequence
// 66: xloom::loop: the items of a scan output must be default-constructible, copyable and no more aligned than xtensor aligns items; hold others by std::shared_ptr
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
