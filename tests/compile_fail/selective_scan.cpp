// Mistakes in a call of selective_scan, its _into or its derivative.
// clang-format off
// 1: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 2: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 3: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 4: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 5: an operand must be a tensor in memory: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 6: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 7: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 8: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 9: an operand that is written must not be const
// 10: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 11: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 12: an operand that is written must not be const
// 13: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 14: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// clang-format on
#include <array>

#include <xloom/gradients/selective_scan_vjp.hpp>

int main()
{
    using matrix = xt::xtensor<float, 2>;
    matrix const u = xt::zeros<float>({3, 2}), A = u, B = u;
    xt::xtensor<double, 1> const bias = {1, 2};
    matrix y = u;
    xt::xtensor<double, 2> wide = xt::zeros<double>({3, 2});
    xloom::recurrent_workspace<float> workspace;
    xloom::selective_scan_inputs<float> const inputs{.delta = u, .A = A, .B = B, .C = B};
    xloom::selective_scan_options const options;
#if CASE == 0
    xloom::selective_scan(u, {.delta = u, .A = A, .B = B, .C = B}, {.delta_softplus = true}, xloom::serial);
    xloom::selective_scan_into(u, inputs, {.y = y}, options, workspace, xloom::serial);
    xloom::selective_scan_into(u, inputs, {.y = y}, xloom::serial, workspace);
    xloom::selective_scan_into(u, inputs, {.y = y});
    xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.u = y}, options, xloom::serial, workspace);
#elif CASE == 1
    xloom::selective_scan(u, inputs, xloom::serial, options);
#elif CASE == 2
    xloom::selective_scan_into(u, inputs, {.y = y}, workspace, options);
#elif CASE == 3
    xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.u = y}, workspace, workspace);
#elif CASE == 4
    xloom::selective_scan(u + u, inputs);
#elif CASE == 5
    xloom::selective_scan(std::array<float, 1>{1}, inputs);
#elif CASE == 6
    xloom::selective_scan(u, {.delta = wide, .A = A, .B = B, .C = B});
#elif CASE == 7
    xloom::selective_scan(u, {.delta = u, .A = matrix(A), .B = B, .C = B});
#elif CASE == 8
    xloom::selective_scan(u, {.delta = u, .A = A, .B = B, .C = B, .delta_bias = bias});
#elif CASE == 9
    xloom::selective_scan_into(u, inputs, {.y = A}, workspace);
#elif CASE == 10
    xloom::selective_scan_into(u, inputs, {.final_state = wide}, workspace);
#elif CASE == 11
    xloom::selective_scan_vjp_into(u, inputs, {.y = u + u}, {.u = y}, workspace);
#elif CASE == 12
    xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.B = B}, workspace);
#elif CASE == 13
    xloom::selective_scan_vjp_into(u, inputs, {.y = u}, {.A = matrix(A)}, workspace);
#elif CASE == 14
    xloom::recurrent_workspace<double> of_another;
    xloom::selective_scan_into(u, inputs, {.y = y}, of_another);
#endif
    static_cast<void>(y), static_cast<void>(wide), static_cast<void>(bias), static_cast<void>(options);
}
