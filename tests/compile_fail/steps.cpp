// Mistakes in steps and in the operands around them: what the sentence, or the note beside it, says of them.
// clang-format off
// 1: a step holds one state and one scan output, each a value or a std::tuple of values; return scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}
// 2: a step holds a condition, one state and one scan output, each a value or a std::tuple of values; return loop_step{cond, std::tuple{a, b}, y}, or loop_step{cond, a, std::tuple{y, z}}
// 3: the condition of a step must be a bool; of a tensor of rank 0 give the item, as in loop_step{cond(), state}
// 4: the condition of a step must be a bool; of a tensor of rank 0 give the item, as in loop_step{cond(), state}
// 5: a state must keep its element type; convert what the body returns, or give init that type (0.0, not 0, for a double)
// 6: carried_state<1, float, double
// 7: carried_state<0, int, double
// 8: carried_state<0, int, double
// 9: a scan input or output must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 10: a scan input or output must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 11: a scan input or output must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 12: a scan input or output must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 13: states come first after the body, std::tuple() where there are none
// 14: states come first after the body, std::tuple() where there are none
// 15: a step holds one state and one scan output, each a value or a std::tuple of values; return scan_step{std::tuple{a, b}, y}, or scan_step{a, std::tuple{y, z}}
// clang-format on
#include <array>
#include <tuple>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>

int main()
{
    using xloom::loop_step;
    using xloom::scan_step;
    [[maybe_unused]] xt::xtensor<float, 1> const h = xt::zeros<float>({4});
    [[maybe_unused]] xt::xtensor<float, 2> const x = xt::ones<float>({3, 4});
    [[maybe_unused]] xt::xtensor<float, 2> y = x, z = x;
    [[maybe_unused]] std::array<float, 3> plain{};
    [[maybe_unused]] auto const identity = [](auto const& state, auto const&) { return scan_step{state}; };
#if CASE == 0
    // Two returns that make different types of step name the common one.
    xloom::scan(
        [](auto const& state, auto const& x_t) -> scan_step<xt::xtensor<float, 1>> {
            if (x_t(0) > 0)
                return {state + x_t};
            return {state};
        },
        h, x);
    xloom::scan(
        [](float a, float b, auto const&) {
            return scan_step{std::tuple{a, b}, a};
        },
        std::tuple{0.0f, 0.0f}, x);
#elif CASE == 1
    xloom::scan([](float a, float b, auto const&) { return scan_step{a, b, a}; }, std::tuple{0.0f, 0.0f}, x);
#elif CASE == 2
    xloom::loop(
        [](std::int64_t, bool, float a, float b) {
            return loop_step{true, a, b, a};
        },
        std::tuple{0.0f, 0.0f});
#elif CASE == 3
    xloom::loop([](std::int64_t, bool, float a) { return loop_step{xt::xtensor<bool, 0>(true), a}; }, 0.0f);
#elif CASE == 4 // a lazy condition
    xloom::loop([](std::int64_t, bool, auto const& a) { return loop_step{xt::sum(a) < 3, a, a}; }, h);
#elif CASE == 5 || CASE == 7
    xloom::scan([](double sum, auto const& x_t) { return scan_step{sum + x_t(0)}; }, 0, x);
#elif CASE == 6
    xloom::scan(
        [](float a, auto const& b, auto const&) {
            return scan_step{std::tuple{a, 1.0 * b}};
        },
        std::tuple{0.0f, h}, x);
#elif CASE == 8
    xloom::loop([](std::int64_t, bool, double a) { return loop_step{true, a / 2}; }, 0);
#elif CASE == 9
    xloom::scan(identity, h, plain);
#elif CASE == 10
    xloom::scan_into([](auto&, float, auto&) {}, std::tuple(), plain, y);
#elif CASE == 11
    xloom::scan_into([](auto const&, float&) {}, std::tuple(), x, plain);
#elif CASE == 12
    xloom::scan_batched(identity, h, plain);
#elif CASE == 13 // the states are forgotten
    xloom::scan_into([](auto const& x_t, auto& y_t) { y_t = 2 * x_t; }, x, y);
#elif CASE == 14
    xloom::scan_into([](auto const&, auto&, auto&) {}, z, y);
#elif CASE == 15
    xt::xtensor<float, 1> const rows = xt::zeros<float>({3});
    xloom::scan_batched([](float a, float) { return scan_step{a, a, a}; }, rows, x);
#endif
}
