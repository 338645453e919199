// Mistakes in the operands of the recurrent operators and their cells.
// clang-format off
// 1: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 2: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 3: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 4: lengths must hold integers, of any integer type
// 5: an operand must be a tensor in memory: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 6: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 7: an operand must be a tensor in memory: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 8: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 9: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 10: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 11: a state or output of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 12: the input of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory
// 13: a state or output of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 14: an operand that is written must not be const
// 15: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 16: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 17: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 18: an operand must be a tensor in memory: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 19: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 20: lengths must hold integers, of any integer type
// 21: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 22: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 23: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 24: an operand must be a tensor in memory, but a lazy expression was passed; put its value into a variable first
// 25: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 26: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 27: a state or output of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 28: a state or output of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 29: a state or output of a cell must be a tensor, std::vector or std::span of the weights' element type, in memory that can be written
// 30: an operand must be a tensor in memory: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 31: lengths must hold integers, of any integer type
// 32: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 33: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 34: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 35: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 36: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 37: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 38: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 39: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 40: after the operands and outputs come the options, then a policy and a workspace of this operator, in any order, each at most once
// 41: lengths must hold integers, of any integer type
// 42: a recurrent operator computes with floating-point numbers or user-defined scalars, not with integers; convert its operands into variables first, by xt::cast<float> for example
// 43: a recurrent operator computes with floating-point numbers or user-defined scalars, not with integers; convert its operands into variables first, by xt::cast<float> for example
// 44: a recurrent operator computes with floating-point numbers or user-defined scalars, not with integers; convert its operands into variables first, by xt::cast<float> for example
// 45: x, y and cotangents must be contiguous ranges of one element type, such as std::vector or std::span, and what is written must be a variable that is not const
// 46: x, y and cotangents must be contiguous ranges of one element type, such as std::vector or std::span, and what is written must be a variable that is not const
// 47: x, y and cotangents must be contiguous ranges of one element type, such as std::vector or std::span, and what is written must be a variable that is not const
// clang-format on
#include <array>
#include <deque>

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/attn_lstm_cell.hpp>
#include <xloom/recurrent/gru.hpp>
#include <xloom/recurrent/lstm.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>
#include <xloom/recurrent/rnn.hpp>

int main()
{
    xt::xtensor<float, 3> const X = xt::zeros<float>({3, 1, 2}), W = xt::zeros<float>({1, 4, 2}),
                                R = xt::zeros<float>({1, 4, 1});
    [[maybe_unused]] xt::xtensor<double, 3> const wide = W;
    [[maybe_unused]] xt::xtensor<float, 1> const lengths = {3};
    [[maybe_unused]] xt::xtensor<int, 1> const lengths_of_rows = {3};
    xloom::lstm_weights<float> const weights({.W = W, .R = R});
    xloom::lstm_cell<float> cell(weights);
    std::vector<float> h(1), c(1), x_t(2), y_t(1);
    [[maybe_unused]] std::array<float, 1> const no_tensor{};
    cell(h, c, x_t, y_t);
    xloom::attn_lstm_weights<float> const attention({.W = W, .R = R});
    [[maybe_unused]] xloom::attn_lstm_cell<float> attending(attention, X);
    xloom::serial_policy const serial{};
    auto const score = [](auto const& step) { std::fill(step.scores.begin(), step.scores.end(), 0.0f); };
    xt::xtensor<float, 3> state = R;
    [[maybe_unused]] xloom::recurrent_workspace<float> workspace;
    [[maybe_unused]] xloom::attention_workspace<float> attention_memory;
#if CASE == 0
    xloom::lstm(X, {.W = W, .R = R});
    xloom::gru(X, {.W = W, .R = R});
    xloom::rnn(X, {.W = W, .R = R});
    xloom::lstm(X, {.W = W, .R = R}, {}, serial);
    xloom::lstm(X, {.W = W, .R = R}, serial);
    xloom::lstm(X, weights, {}, serial);
    xloom::lstm(X, weights, serial, workspace);
    xloom::lstm(X, weights, {lengths_of_rows});
    xloom::lstm_into(X, weights, {}, {.Y_h = state});
    xloom::lstm_into(X, weights, {}, {.Y_h = state}, workspace, serial);
    xloom::lstm_into(X, weights, {}, {.Y_h = state}, serial, workspace);
    xloom::attn_lstm(X, {.W = W, .R = R}, {}, serial);
    xloom::attn_lstm(X, {.W = W, .R = R}, serial, attention_memory);
    xloom::attn_lstm(score, X, {.W = W, .R = R}, {}, serial);
    xloom::attn_lstm(score, X, {.W = W, .R = R}, {.clip = 1});
    xloom::attn_lstm(X, attention, serial);
    xloom::attn_lstm(score, X, attention, {}, serial);
    xloom::attn_lstm(score, X, attention, attention_memory, serial);
    xloom::gru(X, {.W = W, .R = R}, workspace, serial);
    xloom::lstm_options const options{.clip = 1};
    xloom::lstm(X, {.W = W, .R = R}, options, workspace);
    xloom::lstm_start<float> start{.initial_h = state};
    xloom::lstm(X, weights, start, workspace, serial);
    xloom::attn_lstm_into(X, attention, {}, {.Y_h = state}, serial, attention_memory);
    xloom::attn_lstm_into(score, X, attention, {}, {.Y_h = state}, attention_memory, serial);
    attention_memory = xloom::attention_workspace(attention, {1, 1, 1}, serial);
    attention_memory = xloom::attention_workspace(score, attention, {1, 1, 1}, serial);
    xloom::activate(xloom::activation::relu, no_tensor, std::span(h));
#elif CASE == 1
    xloom::lstm(X, {.W = wide, .R = R});
#elif CASE == 2
    xloom::lstm(X, {.W = 2.0f * W, .R = R});
#elif CASE == 3
    xloom::lstm(X, {.W = xt::xtensor<float, 3>(W), .R = R});
#elif CASE == 4
    xloom::lstm(X, {.W = W, .R = R, .sequence_lens = lengths});
#elif CASE == 5
    xloom::lstm(X, {.W = W, .R = R, .sequence_lens = no_tensor});
#elif CASE == 6
    xloom::lstm(2.0f * X, {.W = W, .R = R});
#elif CASE == 7
    xloom::gru(no_tensor, {.W = W, .R = R});
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
    xt::xtensor<float, 4> const Y = xt::zeros<float>({3, 1, 1, 1});
    xloom::lstm_into(X, weights, {}, {.Y = Y}, workspace);
#elif CASE == 15
    xloom::lstm(wide, weights);
#elif CASE == 16
    xloom::gru(X, {.W = W, .R = R, .initial_h = wide});
#elif CASE == 17
    xloom::lstm(X, weights, {.initial_c = xt::xtensor<float, 3>(R)});
#elif CASE == 18
    xloom::rnn(X, {.W = W, .R = R, .B = no_tensor});
#elif CASE == 19
    xloom::lstm_weights<float> const packed({.W = W, .R = R, .P = 2.0f * X});
#elif CASE == 20
    xloom::attn_lstm(X, {.W = W, .R = R, .memory_seq_lens = lengths});
#elif CASE == 21
    xloom::attn_lstm_weights<float> const packed({.W = W, .R = R, .AW = wide});
#elif CASE == 22
    xt::xtensor<double, 3> Y_h = wide;
    xloom::lstm_into(X, weights, {}, {.Y_h = Y_h}, workspace);
#elif CASE == 23
    xloom::attn_lstm_cell<float> const other(attention, wide);
#elif CASE == 24
    attending.set_memory(X, 2 * lengths);
#elif CASE == 25
    xt::xtensor<float, 2> const B = xt::zeros<float>({2, 4});
    xloom::packed_matrix<float> const packed(B, wide);
#elif CASE == 26
    xloom::attn_lstm(X, attention, {.M = X, .initial_alignment = xt::xtensor<float, 3>(R)});
#elif CASE == 27
    cell(1.0f, c, x_t);
#elif CASE == 28
    attending(h, c, 1.0f, x_t);
#elif CASE == 29
    attending(h, c, h, 1.0f, x_t, y_t);
#elif CASE == 30
    xloom::tensor_ref<float const> const ref = no_tensor;
#elif CASE == 31
    xloom::lengths_ref const ref = lengths;
#elif CASE == 32
    xloom::lstm(X, {.W = W, .R = R}, serial, xloom::lstm_options());
#elif CASE == 33
    xloom::lstm(X, weights, {}, serial, serial);
#elif CASE == 34
    xloom::lstm_into(X, weights, {}, {.Y_h = state}, attention_memory, h);
#elif CASE == 35
    xloom::gru(X, {.W = W, .R = R}, 1);
#elif CASE == 36
    xloom::rnn_into(X, xloom::rnn_weights<float>({.W = W, .R = R}), {}, {.Y_h = state}, workspace, workspace);
#elif CASE == 37
    xloom::attn_lstm(X, attention, {.M = X}, score);
#elif CASE == 38
    xloom::attn_lstm_into(X, attention, {.M = X}, {.Y_h = state}, score, attention_memory);
#elif CASE == 39
    xloom::lstm(X, weights, serial, serial);
#elif CASE == 40
    xloom::rnn(X, xloom::rnn_weights<float>({.W = W, .R = R}), xloom::rnn_start<double>());
#elif CASE == 41 // bool is no integer
    xt::xtensor<bool, 1> const flags = {true};
    xloom::lstm(X, {.W = W, .R = R, .sequence_lens = flags});
#elif CASE == 42
    xt::xtensor<int, 3> const counts = xt::zeros<int>({3, 1, 2});
    xloom::lstm(counts, {.W = counts, .R = counts});
#elif CASE == 43
    xt::xtensor<std::int64_t, 3> const counts = xt::zeros<std::int64_t>({3, 1, 2});
    xloom::attn_lstm(counts, {.W = counts, .R = counts});
#elif CASE == 44
    xt::xtensor<short, 3> const counts = xt::zeros<short>({3, 1, 2});
    xloom::gru_weights<short> const packed({.W = counts, .R = counts});
#elif CASE == 45
    xloom::activate(xloom::activation::relu, std::vector<double>(1), h);
#elif CASE == 46
    xloom::activate("Relu", h, no_tensor);
#elif CASE == 47
    xloom::activate({xloom::activation::elu, 0.5}, std::deque<float>(1), h);
#endif
}
