// Mistakes in a call of linear_recurrence, its _into or its derivative.
// clang-format off
// 1: after the operands and outputs come the options, then at most one policy
// 2: an operand must be a tensor with at least one axis, several of them a flat std::tuple
// 3: the operands must have one element type; convert them first
// 4: h0 must be a number, or a tensor, of the element type of a; convert it first
// 5: the elements must be floating-point or complex numbers, or user-defined scalars with + and *
// 6: what is written must not be const
// 7: the operands must have one element type; convert them first
// 8: after the operands and outputs come the options, then at most one policy
// 9: after the operands and outputs come the options, then at most one policy
// 10: the operands must have one element type; convert them first
// 11: an operand must be a tensor with at least one axis, several of them a flat std::tuple
// 12: an operand that is written must not be const
// 13: an operand must have the element type of the operator's other tensors
// clang-format on
#include <array>

#include <xloom/gradients/linear_recurrence_vjp.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> const x = {1, 2};
    xt::xtensor<float, 1> y = x;
    xt::xtensor<double, 1> wide = {1, 2};
    xt::xtensor<int, 1> const integers = {1, 2};
    float number = 0;
#if CASE == 0
    xloom::linear_recurrence(x, 2.0f * x, 1, xloom::serial);
    xloom::linear_recurrence_into(x, x, 0.0f, y, {.reverse = true}, xloom::serial);
    xloom::linear_recurrence_vjp(x, x, 0.0f, x, x, xloom::serial);
    xloom::linear_recurrence_vjp_into(x, x, 0.0f, x, x, {.b = y, .h0 = number}, {}, xloom::serial);
#elif CASE == 1
    xloom::linear_recurrence(x, x, 0.0f, xloom::serial, xloom::linear_recurrence_options());
#elif CASE == 2
    xloom::linear_recurrence(x, std::array<float, 2>{1, 2}, 0.0f);
#elif CASE == 3
    xloom::linear_recurrence(x, wide, 0.0f);
#elif CASE == 4
    xloom::linear_recurrence(x, x, wide);
#elif CASE == 5
    xloom::linear_recurrence(integers, integers, 0);
#elif CASE == 6
    xloom::linear_recurrence_into(x, x, 0.0f, x);
#elif CASE == 7
    xloom::linear_recurrence_into(x, x, 0.0f, wide);
#elif CASE == 8
    xloom::linear_recurrence_into(x, x, 0.0f, y, 3);
#elif CASE == 9
    xloom::linear_recurrence_vjp(x, x, 0.0f, x, x, {}, 3);
#elif CASE == 10
    xloom::linear_recurrence_vjp(x, x, 0.0f, x, wide);
#elif CASE == 11
    xloom::linear_recurrence_vjp(x, x, 0.0f, x, 1.0f);
#elif CASE == 12
    xloom::linear_recurrence_vjp_into(x, x, 0.0f, x, x, {.b = x});
#elif CASE == 13
    xloom::linear_recurrence_vjp_into(x, x, 0.0f, x, x, {.b = y, .h0 = wide});
#endif
    static_cast<void>(y), static_cast<void>(wide), static_cast<void>(number), static_cast<void>(integers);
}
