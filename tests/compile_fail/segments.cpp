// Mistakes in a call of segment_reduce, segment_scan, segment_softmax, row_splits_of or their _into.
// clang-format off
// 1: xloom::segment_reduce: the arguments are segment_reduce(op, values, row_splits[, policy])
// 2: xloom::segment_reduce: the values must be a tensor with at least one axis, several of them a flat std::tuple
// 3: xloom::segment_reduce: row_splits must be a tensor of integers, [S + 1]
// 4: xloom::segment_reduce: the operator must be a reduction that is defined for the elements, or callable as op(element, element) -> element
// 5: xloom::segment_reduce_into: a result is written in place, so it must be a tensor that is a variable, not const
// 6: xloom::segment_reduce_into: there must be one result for each operand, with its element type
// 7: xloom::segment_scan: the arguments are segment_scan(op, xs, row_splits[, options][, policy])
// 8: xloom::segment_scan: row_splits must be a tensor of integers, [S + 1]
// 9: xloom::segment_softmax: the arguments are segment_softmax(x, row_splits[, policy])
// 10: xloom::segment_softmax: x must be a tensor with at least one axis
// 11: xloom::segment_softmax: the elements must be floating-point numbers
// 12: xloom::segment_softmax: row_splits must be a tensor of integers, [S + 1]
// 13: xloom::segment_softmax_into: y is written, so it must be a tensor that is a variable, not const
// 14: xloom::segment_softmax_into: y must have x's element type
// 15: xloom::row_splits_of: segment_ids must be a tensor of integers, [N]
// 16: xloom::segment_softmax_vjp: the arguments are segment_softmax_vjp(ct, y, row_splits[, policy])
// 17: xloom::segment_softmax_vjp: ct and y must hold floating-point numbers of one type
// 18: xloom::segment_softmax_vjp_into: d_x is written, so it must be a tensor of y's element type that is a variable, not const
// 19: xloom::segment_reduce: the arguments are segment_reduce(op, values, row_splits[, policy])
// 20: xloom::segment_scan: the arguments are segment_scan(op, xs, row_splits[, options][, policy])
// 21: xloom::segment_scan: the arguments are segment_scan(op, xs, row_splits[, options][, policy])
// clang-format on
#include <vector>

#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/parallel/segment_softmax.hpp>

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
    xloom::segment_softmax_vjp_into(x, 2.0f * x, splits, y, xloom::serial);
#elif CASE == 1
    xloom::segment_reduce(add, x, splits, 3);
#elif CASE == 2
    xloom::segment_reduce(add, std::vector<float>{1, 2}, splits);
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
    xloom::segment_softmax_vjp(x, x, splits, 3);
#elif CASE == 17
    xloom::segment_softmax_vjp(z, x, splits);
#elif CASE == 18
    xloom::segment_softmax_vjp_into(y, y, splits, x);
#elif CASE == 19
    xloom::segment_reduce(x, xloom::reduce_add, splits);
#elif CASE == 20
    xloom::segment_scan(add, x, splits, xloom::serial);
#elif CASE == 21
    xloom::segment_scan(x, add, splits);
#endif
    static_cast<void>(add), static_cast<void>(y), static_cast<void>(z), static_cast<void>(splits);
}
