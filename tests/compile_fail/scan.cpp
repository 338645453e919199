// Mistakes in a call of scan.
// clang-format off
// 1: the body must be callable as body(state const&..., element const&...)
// 2: the body must return xloom::scan_step{state, scan_outputs}
// 3: the body must return xloom::scan_step{state, scan_outputs}
// 4: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return the step without template arguments, or a container
// 5: the body returned a lazy xtensor expression or a view, which would refer to the body's dead local variables; return the step without template arguments, or a container
// 6: the body must return as many states as init has
// 7: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 8: a state, or the row of it that the body receives, must be replaced by its like: a tensor by a tensor, a scalar by a scalar, a sequence by a sequence
// 9: a state must keep its element type; convert what the body returns
// 10: a state must keep its element type; convert what the body returns
// 11: a state, or the row of it that the body receives, must keep its rank; in a loop an xt::xarray may change it
// 12: a state, or the row of it that the body receives, must keep its fixed shape; in a loop an xt::xtensor may change it
// 13: a state is a tensor or a scalar; carry sequences and optionals with loop or loop_into
// 14: a state is a tensor or a scalar; carry sequences and optionals with loop or loop_into
// 15: a scan input is a tensor with at least one axis; capture other values in the body
// 16: a scan input is a tensor with at least one axis; capture other values in the body
// 17: all scan inputs and outputs must have the same sequence length
// 18: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 19: the body must return xloom::scan_step{state, scan_outputs}
// 20: a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead
// 21: a scan output must be a tensor or a scalar; a loop carries a sequence as a state instead
// 60: the body returned references, which could outlive the body's variables; return the step without template arguments
// 61: the body returned references, which could outlive the body's variables; return the step without template arguments
// 62: the items of a scan output must be default-constructible, copyable and no more aligned than xtensor aligns items; hold others by std::shared_ptr
// 63: the items of a scan output must be default-constructible, copyable and no more aligned than xtensor aligns items; hold others by std::shared_ptr
// 64: after the operands and outputs come the options, and nothing else; several inputs are one operand, std::tie(a, b)
// clang-format on
#include <memory>

#include <xloom/control_flow/scan.hpp>

int main()
{
    using xloom::scan_step;
    xt::xtensor<float, 1> const h = xt::zeros<float>({4});
    xt::xtensor<float, 2> const x = xt::ones<float>({3, 4});
    xt::xtensor_fixed<float, xt::xshape<4>> const fixed_h{};
    xt::xtensor_fixed<float, xt::xshape<3, 4>> const fixed_x{};
    auto const body = [](auto const& state, auto const& x_t) { return scan_step{state + x_t, state + x_t}; };
#if CASE == 0
    auto [last, all] = xloom::scan(body, h, x);
    auto [fixed_last, fixed_all] = xloom::scan(body, fixed_h, fixed_x);
    static_cast<void>(fixed_last), static_cast<void>(fixed_all);
#elif CASE == 1
    auto [last, all] = xloom::scan([](auto const& state) { return scan_step{state, state}; }, h, x);
#elif CASE == 2
    auto [last, all] =
        xloom::scan([](auto const& state, auto const& x_t) { return xt::eval(state + x_t); }, h, x);
#elif CASE == 3 // a lazy expression that is no step
    auto [last, all] = xloom::scan([](auto const& state, auto const& x_t) { return state + x_t; }, h, x);
#elif CASE == 4
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const& x_t) {
            auto const sum = state + x_t;
            return scan_step<decltype(sum), xt::xtensor<float, 1>>{sum, sum};
        },
        h, x);
#elif CASE == 5 // a view as scan output
    auto [last, all] = xloom::scan(
        []<class X>(auto const& state, X const& x_t) {
            return scan_step<xt::xtensor<float, 1>, X>{state, x_t};
        },
        h, x);
#elif CASE == 6
    auto [last, all] = xloom::scan(
        [](auto const& a, auto const&, auto const& x_t) { return scan_step{a + x_t}; }, std::tie(h, h), x);
#elif CASE == 7
    auto [last, all] = xloom::scan([](auto const& state, auto const&) { return scan_step{state(0)}; }, h, x);
#elif CASE == 8
    auto [last, all] = xloom::scan([](float, auto const& x_t) { return scan_step{x_t}; }, 0.0f, x);
#elif CASE == 9
    auto [last, all] =
        xloom::scan([](auto const& state, auto const&) { return scan_step{1.0 * state}; }, h, x);
#elif CASE == 10
    auto [last, all] = xloom::scan([](float n, auto const&) { return scan_step{n + 1.0}; }, 0.0f, x);
#elif CASE == 11
    auto [last, all] =
        xloom::scan([](auto const&, auto const&) { return scan_step{xt::xtensor<float, 2>()}; }, h, x);
#elif CASE == 12
    auto [last, all] = xloom::scan(
        [](auto const&, auto const&) { return scan_step{xt::xtensor_fixed<float, xt::xshape<5>>()}; },
        fixed_h, x);
#elif CASE == 13
    auto [last, all] = xloom::scan(body, std::vector<xt::xtensor<float, 1>>{h}, x);
#elif CASE == 14
    auto [last, all] = xloom::scan(body, std::optional(h), x);
#elif CASE == 15
    auto [last, all] = xloom::scan(body, h, 1.0f);
#elif CASE == 16
    auto [last, all] = xloom::scan(body, h, xt::xtensor<float, 0>());
#elif CASE == 17
    xt::xtensor_fixed<float, xt::xshape<5, 4>> const longer{};
    auto [last, all] =
        xloom::scan([](auto const& state, auto const&, auto const&) { return scan_step{state}; }, h,
            std::tie(fixed_x, longer));
#elif CASE == 18
    auto [last, all] = xloom::scan(body, std::tuple{std::tuple{h, h}, h}, x);
#elif CASE == 19 // no step: nothing is returned
    auto [last, all] = xloom::scan([](auto const&, auto const&) {}, h, x);
#elif CASE == 20
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const&) {
            return scan_step{state, std::vector{xt::eval(state)}};
        },
        h, x);
#elif CASE == 21 // a tuple inside a tuple
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const&) {
            return scan_step{state, std::tuple{1, std::tuple{2}}};
        },
        h, x);
#elif CASE == 60
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const& x_t) {
            xt::xtensor<float, 1> const sum = state + x_t;
            return scan_step<xt::xtensor<float, 1> const&>{sum};
        },
        h, x);
#elif CASE == 61 // a tuple of references as scan outputs
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const& x_t) {
            xt::xtensor<float, 1> sum = state + x_t;
            return scan_step<xt::xtensor<float, 1>, std::tuple<float, xt::xtensor<float, 1>&>>{
                sum, {1.0f, sum}};
        },
        h, x);
#elif CASE == 62 // an output that cannot be copied
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const&) {
            return scan_step{state, std::make_unique<int>(1)};
        },
        h, x);
#elif CASE == 63 // an output that cannot be made before the body has returned one
    struct position {
        explicit position(float) {}
    };
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const&) {
            return scan_step{state, std::tuple{1, position(2)}};
        },
        h, x);
#elif CASE == 64 // two inputs that are not one std::tie
    auto [last, all] = xloom::scan(
        [](auto const& state, auto const& x_t, auto const&) {
            return scan_step{state, x_t};
        },
        h, x, x);
#endif
    static_cast<void>(last);
    static_cast<void>(all);
    static_cast<void>(body);
}
