// Mistakes in a call of associative_scan, cumulative_sum or their _into.
// clang-format off
// 1: after the operands and outputs come the options, then at most one policy
// 2: an operand must be a tensor with at least one axis, several of them a flat std::tuple
// 3: the operator must be a reduction that is defined for the elements, or callable as op(element, element) -> element
// 4: the operator must be a reduction that is defined for the elements, or callable as op(element, element) -> element
// 5: what is written must not be const
// 6: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 7: there must be one result for each operand, with its element type
// 8: an operand must be a tensor with at least one axis
// 9: there must be one result for each operand, with its element type
// 10: the first argument must be the operator, before the operands
// 11: after the operands and outputs come the options, then at most one policy
// 12: the first argument must be the operator, before the operands
// 13: after the operands and outputs come the options, then at most one policy
// 14: after the operands and outputs come the options, then at most one policy
// 15: after the operands and outputs come the options, then at most one policy
// 16: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 17: what is written must be a tensor in memory
// clang-format on
#include <array>

#include <xloom/parallel/cumulative.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> const x = {1, 2};
    xt::xtensor<float, 1> y = x;
    xt::xtensor<double, 1> z = {1, 2};
    auto const add = [](float a, float b) { return a + b; };
    using xloom::reduction;
#if CASE == 0
    xloom::associative_scan_into(add, 2.0f * x, y, {.axis = 0}, xloom::serial);
    xloom::associative_scan_into(add, x, y, xloom::serial);
    xloom::associative_scan(add, x, xloom::serial);
    xloom::cumulative_sum_into(x, y, {}, xloom::serial);
    xloom::cumulative_sum_into(x, y, xloom::serial);
    xloom::cumulative_prod(x, xloom::serial);
#elif CASE == 1
    xloom::associative_scan(add, x, xloom::serial, xloom::associative_scan_options());
#elif CASE == 2
    xloom::associative_scan(add, std::array<float, 2>{1, 2});
#elif CASE == 3
    xloom::associative_scan(add, std::tie(x, x));
#elif CASE == 4
    xloom::associative_scan(xloom::reduce_max, xt::xtensor<std::complex<float>, 1>{1, 2});
#elif CASE == 5
    xloom::associative_scan_into(add, x, x);
#elif CASE == 6
    xloom::associative_scan_into(add, x, xt::xtensor<float, 1>(y));
#elif CASE == 7
    xloom::associative_scan_into(add, x, z);
#elif CASE == 8
    xloom::cumulative_sum(1.0f);
#elif CASE == 9
    xloom::cumulative_sum_into(x, z);
#elif CASE == 10
    xloom::associative_scan(x, xloom::reduce_add);
#elif CASE == 11
    xloom::associative_scan(add, x, 0);
#elif CASE == 12
    xloom::associative_scan_into(x, add, y);
#elif CASE == 13
    xloom::cumulative_sum(x, 0);
#elif CASE == 14
    xloom::cumulative_prod(x, xloom::serial, xloom::serial);
#elif CASE == 15
    xloom::cumulative_sum_into(x, y, {}, 0);
#elif CASE == 16
    xloom::associative_scan_into(add, x, std::make_tuple(std::tie(y)));
#elif CASE == 17
    std::array<float, 2> into{};
    xloom::cumulative_sum_into(x, into);
#endif
    static_cast<void>(add), static_cast<void>(y), static_cast<void>(z);
}
