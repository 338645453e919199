// Mistakes in the operands of the recurrent operators and their cells.
// clang-format off
// 1: xloom: an operand must have the element type of the operator's other tensors; convert it first, as xt::cast<float>(W) does
// 2: xloom: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 3: xloom: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 4: xloom: lengths must be integers, of any integer type
// 5: xloom: lengths must be a tensor in memory: a container, adaptor or view of xtensor, or a type with xloom::enable_tensor
// 6: xloom: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 7: xloom: an operand must be a tensor in memory: a container, adaptor or view of xtensor, or a type with xloom::enable_tensor
// 8: xloom: an operand must have the element type of the operator's other tensors; convert it first, as xt::cast<float>(W) does
// 9: xloom: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 10: xloom: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 11: xloom: the state c of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 12: xloom: the input x_t of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory
// 13: xloom: the output y_t of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 14: xloom: an output is written, so it must not be const
// clang-format on
#include <xloom/attn_lstm.hpp>
#include <xloom/gru.hpp>
#include <xloom/lstm_cell.hpp>
#include <xloom/rnn.hpp>

int main()
{
    xt::xtensor<float, 3> const X = xt::zeros<float>({3, 1, 2}), W = xt::zeros<float>({1, 4, 2}), R = xt::zeros<float>({1, 4, 1});
    [[maybe_unused]] xt::xtensor<double, 3> const wide = W;
    [[maybe_unused]] xt::xtensor<float, 1> const lengths = {3};
    xloom::lstm_weights<float> const weights({.W = W, .R = R});
    xloom::lstm_cell<float> cell(weights);
    std::vector<float> h(1), c(1), x_t(2), y_t(1);
    cell(h, c, x_t, y_t);
#if CASE == 0
    xloom::lstm(X, {.W = W, .R = R});
    xloom::gru(X, {.W = W, .R = R});
    xloom::rnn(X, {.W = W, .R = R});
#elif CASE == 1
    xloom::lstm(X, {.W = wide, .R = R});
#elif CASE == 2
    xloom::lstm(X, {.W = 2.0f * W, .R = R});
#elif CASE == 3
    xloom::lstm(X, {.W = xt::xtensor<float, 3>(W), .R = R});
#elif CASE == 4
    xloom::lstm(X, {.W = W, .R = R, .sequence_lens = lengths});
#elif CASE == 5
    xloom::lstm(X, {.W = W, .R = R, .sequence_lens = h});
#elif CASE == 6
    xloom::lstm(2.0f * X, {.W = W, .R = R});
#elif CASE == 7
    xloom::gru(h, {.W = W, .R = R});
#elif CASE == 8
    xloom::rnn(X, {.W = wide, .R = R});
#elif CASE == 9
    xloom::lstm_weights<float> const packed({.W = W, .R = xt::xtensor<float, 3>(R)});
#elif CASE == 10
    xloom::attn_lstm(X, {.W = W, .R = R, .M = 2.0f * X});
#elif CASE == 11
    std::vector<double> double_c(1);
    cell(h, double_c, x_t);
#elif CASE == 12
    cell(h, c, 1.0f);
#elif CASE == 13
    std::vector<float> const constant(1);
    cell(h, c, x_t, constant);
#elif CASE == 14
    xloom::recurrent_workspace<float> workspace;
    xt::xtensor<float, 4> const Y = xt::zeros<float>({3, 1, 1, 1});
    xloom::lstm_into(X, weights, {}, {.Y = Y}, workspace);
#endif
}
