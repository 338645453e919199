// Mistakes in a call of linear_attention, its _into or its derivative.
// clang-format off
// 1: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 2: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 3: the state of linear attention must have the element type of the other operands, or both must be float or storage floats such as float16
// 4: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 5: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 6: an operand that is written must not be const
// 7: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// clang-format on
#include <xloom/gradients/linear_attention_vjp.hpp>

int main()
{
    using tokens = xt::xtensor<float, 4>;
    tokens const x = xt::zeros<float>({1, 2, 1, 3});
    xt::xtensor<double, 4> wide = xt::zeros<double>({1, 1, 3, 3});
    xt::xtensor<xloom::float16, 4> narrow(std::array<std::size_t, 4>{1, 1, 3, 3});
    tokens y = x;
    xloom::recurrent_workspace<float> workspace;
    xloom::linear_attention_options const options{.update_rule = xloom::update_rule::linear};
#if CASE == 0
    xloom::linear_attention(x, x, x, {}, options, xloom::serial);
    xloom::linear_attention_into(x, x, x, {}, {.output = y}, options, workspace, xloom::serial);
    xloom::linear_attention_into<xloom::float16>(
        x, x, x, {.past_state = narrow}, {.output = y, .present_state = narrow}, options);
    xloom::linear_attention_vjp_into(
        x, x, x, {}, {.output = x}, {.key = y}, options, xloom::serial, workspace);
#elif CASE == 1
    xloom::linear_attention(x, x, x, {}, xloom::serial, options);
#elif CASE == 2
    xloom::linear_attention_vjp_into(x, x, x, {}, {.output = x}, {.key = y}, workspace, workspace);
#elif CASE == 3
    xloom::linear_attention_into<double>(x, x, x, {}, {.present_state = wide}, options);
#elif CASE == 4
    xloom::linear_attention(x + x, x, x, {}, options);
#elif CASE == 5
    xloom::linear_attention_into(x, x, x, {}, {.present_state = narrow}, options);
#elif CASE == 6
    xloom::linear_attention_into(x, x, x, {}, {.output = x}, options);
#elif CASE == 7
    xloom::linear_attention_vjp_into(x, x, x, {}, {.output = tokens(x)}, {.key = y}, options);
#endif
    static_cast<void>(y), static_cast<void>(wide), static_cast<void>(narrow), static_cast<void>(options);
}
