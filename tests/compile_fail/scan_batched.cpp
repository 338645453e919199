// Mistakes in a call of scan_batched.
// clang-format off
// 1: the body must be callable as body(state const&..., element const&...)
// 2: the body must return xloom::scan_step{state, scan_outputs}
// 3: a state is a tensor whose axis 0 is the batch, or the segments
// 4: a state is a tensor whose axis 0 is the batch, or the segments
// 5: a scan input is a tensor whose axes 0 and 1 are batch and sequence
// 6: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 7: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 8: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 9: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return the step without template arguments, or a container
// 10: the body must return as many states as init has
// 11: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 12: a state must keep its element type; convert what the body returns
// 13: a state, or the row of it that the body receives, must keep its rank; in a loop an xt::xarray may change it
// 14: a state, or the row of it that the body receives, must keep its fixed shape; in a loop an xt::xtensor may change it
// 15: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 16: a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead
// 17: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 18: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 60: the body returned references, which could outlive the body's variables; return the step without template arguments
// 61: the items of a scan output must be default-constructible, copyable and no more aligned than xtensor aligns items; hold others by std::shared_ptr
// 62: the items of a state must be default-constructible, because a copy of its row is carried; scan_batched_into and scan_ragged_into carry the row itself
// clang-format on
#include <memory>
#include <vector>

#include <xloom/control_flow/scan_batched.hpp>

int main()
{
    using xloom::scan_step;
    xt::xtensor<float, 2> const h = xt::zeros<float>({2, 4});
    xt::xtensor<float, 3> const x = xt::ones<float>({2, 3, 4});
    xt::xtensor<int, 1> const lens{3, 1};
    auto const body = [](auto const& state, auto const& x_t) { return scan_step{state + x_t, state + x_t}; };
#if CASE == 0
    auto [last, all] = xloom::scan_batched(body, h, x, lens);
#elif CASE == 1
    auto [last, all] = xloom::scan_batched([](auto const& state) { return scan_step{state}; }, h, x, lens);
#elif CASE == 2
    auto [last, all] =
        xloom::scan_batched([](auto const& state, auto const& x_t) { return state + x_t; }, h, x, lens);
#elif CASE == 3
    auto [last, all] = xloom::scan_batched(body, 0.0f, x, lens);
#elif CASE == 4
    auto [last, all] = xloom::scan_batched(body, std::vector{h}, x, lens);
#elif CASE == 5
    auto [last, all] = xloom::scan_batched(body, h, xt::xtensor<float, 1>{1, 2}, lens);
#elif CASE == 6
    auto [last, all] = xloom::scan_batched(body, h, x, std::array<int, 2>{3, 1});
#elif CASE == 7
    auto [last, all] = xloom::scan_batched(body, h, x, xt::xtensor<float, 1>{3, 1});
#elif CASE == 8
    auto [last, all] = xloom::scan_batched(body, h, x, xt::xtensor<int, 2>{{3, 1}});
#elif CASE == 9
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const& x_t) {
            auto const sum = state + x_t;
            return scan_step<decltype(sum)>{sum};
        },
        h, x, lens);
#elif CASE == 10
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const&) {
            return scan_step{std::tuple{state, state}};
        },
        h, x, lens);
#elif CASE == 11
    auto [last, all] =
        xloom::scan_batched([](auto const& state, auto const&) { return scan_step{state(0)}; }, h, x, lens);
#elif CASE == 12
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const&) { return scan_step{1.0 * state}; }, h, x, lens);
#elif CASE == 13 // the body gives a batch back, but gets a row
    auto [last, all] =
        xloom::scan_batched([&](auto const&, auto const&) { return scan_step{h}; }, h, x, lens);
#elif CASE == 14
    xt::xtensor_fixed<float, xt::xshape<2, 4>> const fixed{};
    auto [last, all] = xloom::scan_batched(
        [](auto const&, auto const&) { return scan_step{xt::xtensor_fixed<float, xt::xshape<5>>()}; }, fixed,
        x, lens);
#elif CASE == 15
    auto [last, all] = xloom::scan_batched(
        [](float, auto const& x_t) { return scan_step{x_t}; }, xt::xtensor<float, 1>{0, 0}, x, lens);
#elif CASE == 16
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const&) {
            return scan_step{state, std::optional(1)};
        },
        h, x, lens);
#elif CASE == 17
    auto [last, all] = xloom::scan_batched(body, h, std::tuple{std::tuple{x, x}, x}, lens);
#elif CASE == 18 // bool is no integer
    auto [last, all] = xloom::scan_batched(body, h, x, xt::xtensor<bool, 1>{true, true});
#elif CASE == 60
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const& x_t) {
            xt::xtensor<float, 1> const sum = state + x_t;
            return scan_step<xt::xtensor<float, 1> const&>{sum};
        },
        h, x, lens);
#elif CASE == 61 // an output that cannot be copied
    auto [last, all] = xloom::scan_batched(
        [](auto const& state, auto const&) {
            return scan_step{state, std::make_unique<int>(1)};
        },
        h, x, lens);
#elif CASE == 62 // a row that cannot be constructed
    struct number {
        explicit number(float) {}
    };
    std::vector<number> const numbers{number(1), number(2)};
    auto [last, all] = xloom::scan_batched(
        [](number const& state, auto const&) {
            return scan_step{state, 1};
        },
        numbers, x, lens);
#endif
    static_cast<void>(last);
    static_cast<void>(all);
    static_cast<void>(body);
}
