// Mistakes in a call of segment_reduce, segment_scan, segment_softmax, row_splits_of or their _into.
// clang-format off
// 1: after the operands and outputs come the options, then at most one policy
// 2: an operand must be a tensor with at least one axis, several of them a flat std::tuple
// 3: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 4: the operator must be a reduction that is defined for the elements, or callable as op(element, element) -> element
// 5: what is written must not be const
// 6: there must be one result for each operand, with its element type
// 7: after the operands and outputs come the options, then at most one policy
// 8: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 9: after the operands and outputs come the options, then at most one policy
// 10: an operand must be a tensor with at least one axis, several of them a flat std::tuple
// 11: the elements must be floating-point numbers
// 12: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 13: what is written must not be const
// 14: there must be one result for each operand, with its element type
// 15: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// 16: after the operands and outputs come the options, then at most one policy
// 17: the operands must have one element type; convert them first
// 18: what is written must not be const
// 19: the first argument must be the operator, before the operands
// 20: after the operands and outputs come the options, then at most one policy
// 21: the first argument must be the operator, before the operands
// 22: row_splits and segment_ids must be tensors of integers with one axis, row_splits after the inputs
// clang-format on
#include <array>

#include <xloom/gradients/segment_softmax_vjp.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> const x = {1, 2};
    xt::xtensor<float, 1> y = x;
    xt::xtensor<double, 1> z = {1, 2};
    xt::xtensor<int, 1> const splits = {0, 1, 2};
    auto const add = [](float a, float b) { return a + b; };
#if CASE == 0
    xloom::segment_reduce_into(add, 2.0f * x, splits, y, xloom::serial);
    xloom::segment_scan_into(add, x, splits, y, {.reverse = true}, xloom::serial);
    xloom::segment_softmax_into(x, splits, y, xloom::serial);
    xloom::segment_softmax_vjp_into(x, splits, 2.0f * x, y, xloom::serial);
    xloom::segment_scan(add, x, splits, xloom::serial);
#elif CASE == 1
    xloom::segment_reduce(add, x, splits, 3);
#elif CASE == 2
    xloom::segment_reduce(add, std::array<float, 2>{1, 2}, splits);
#elif CASE == 3
    xloom::segment_reduce(add, x, x);
#elif CASE == 4
    xloom::segment_reduce(add, std::tie(x, x), splits);
#elif CASE == 5
    xloom::segment_reduce_into(add, y, splits, x);
#elif CASE == 6
    xloom::segment_reduce_into(add, x, splits, z);
#elif CASE == 7
    xloom::segment_scan(add, x, splits, {}, 3);
#elif CASE == 8
    xloom::segment_scan(add, x, x);
#elif CASE == 9
    xloom::segment_softmax(x, splits, 3);
#elif CASE == 10
    xloom::segment_softmax(1.0f, splits);
#elif CASE == 11
    xloom::segment_softmax(splits, splits);
#elif CASE == 12
    xloom::segment_softmax(x, x);
#elif CASE == 13
    xloom::segment_softmax_into(y, splits, x);
#elif CASE == 14
    xloom::segment_softmax_into(x, splits, z);
#elif CASE == 15
    xloom::row_splits_of(x, 2);
#elif CASE == 16
    xloom::segment_softmax_vjp(x, splits, x, 3);
#elif CASE == 17
    xloom::segment_softmax_vjp(x, splits, z);
#elif CASE == 18
    xloom::segment_softmax_vjp_into(y, splits, y, x);
#elif CASE == 19
    xloom::segment_reduce(x, xloom::reduce_add, splits);
#elif CASE == 20
    xloom::segment_scan(add, x, splits, xloom::serial, xloom::segment_scan_options());
#elif CASE == 21
    xloom::segment_scan(x, add, splits);
#elif CASE == 22
    xloom::row_splits_of(std::array<int, 2>{0, 1}, 2);
#endif
    static_cast<void>(add), static_cast<void>(y), static_cast<void>(z), static_cast<void>(splits);
}
