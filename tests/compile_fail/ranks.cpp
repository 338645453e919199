// Mistakes in calls over ranks.
// clang-format off
// 1: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 2: what is written must not be const
// 3: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 4: the operands must have one element type; convert them first
// 5: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 6: updates over ranks must be a tensor; broadcast() is not distributed
// 7: elements are sent to other ranks as bytes, so their type must be trivially copyable
// 8: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 9: an operand must be a tensor with at least one axis
// 10: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 11: there must be one result for each operand, with its element type
// 12: there must be one result for each operand, with its element type
// 13: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 14: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 15: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 16: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 17: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 18: after the operands, outputs and options of an operator over ranks come a distributed_axis and at most one policy, in any order
// 19: the elements must have a sum and a zero
// clang-format on
#include <array>
#include <string>

#include <xloom/ranks/distributed_associative_scan.hpp>
#include <xloom/ranks/distributed_gather_nd.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>
#include <xloom/ranks/distributed_sum.hpp>

/// A scalar with the operations of a number, which cannot be sent as bytes.
struct counted {
    double value = 0;

    counted() = default;
    explicit counted(double v) : value(v) {}
    counted(counted const& other) : value(other.value) {}
    counted& operator=(counted const&) = default;

    friend counted operator+(counted const& a, counted const& b) { return counted(a.value + b.value); }
    friend counted operator*(counted const& a, counted const& b) { return counted(a.value * b.value); }
    friend counted operator/(counted const& a, counted const& b) { return counted(a.value / b.value); }
};

int main()
{
    using namespace xloom;
    xt::xtensor<float, 1> const x = {1, 2, 3};
    xt::xtensor<float, 1> y = x;
    xt::xtensor<double, 1> wide = {1, 2, 3};
    xt::xtensor<float, 2> const dW = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<float, 1> sum = {0, 0};
    xt::xtensor<double, 1> wide_sum = {0, 0};
    xt::xtensor<std::string, 1> words = {"a", "b", "c"};
    [[maybe_unused]] auto const join = [](std::string const& a, std::string const& b) { return a + b; };
    xt::xtensor<counted, 1> numbers = xt::xtensor<counted, 1>::from_shape({3});
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {2}, {1}};
    single_rank const alone;
    distributed_axis const axis(alone, 3);
#if CASE == 0
    distributed_associative_scan_into(reduction::add, x, y, {}, axis, serial);
    distributed_linear_recurrence_into(x, x, 0.0f, y, {}, axis, serial);
    distributed_gather_nd_into(x, indices, y, {}, axis, serial);
    distributed_gather_nd_into(x, indices, y, serial, axis);
    distributed_scatter_nd_into(y, indices, x, {}, axis, serial);
    distributed_scatter_nd_into(reduce_add, y, indices, x, serial, axis);
    distributed_scatter_nd_into(reduction::max, y, indices, x, {}, distributed_axis(alone, 3));
    distributed_sum_into(dW, sum, axis, serial);
#elif CASE == 1
    distributed_associative_scan_into(join, words, words, axis);
#elif CASE == 2
    distributed_associative_scan_into(reduction::add, x, x, axis);
#elif CASE == 3
    distributed_linear_recurrence_into(numbers, numbers, counted(), numbers, axis);
#elif CASE == 4
    distributed_linear_recurrence_into(x, x, 0.0f, wide, axis);
#elif CASE == 5
    distributed_gather_nd_into(words, indices, words, axis);
#elif CASE == 6
    distributed_scatter_nd_into(y, indices, broadcast(1.0f), axis);
#elif CASE == 7
    distributed_scatter_nd_into(words, indices, words, axis);
#elif CASE == 8
    distributed_sum_into(dW, sum, axis, 2);
#elif CASE == 9
    distributed_sum_into(std::array<float, 1>{1}, sum, axis);
#elif CASE == 10
    distributed_sum_into(dW, xt::xtensor<float, 1>(sum), axis);
#elif CASE == 11
    distributed_sum_into(dW, wide_sum, axis);
#elif CASE == 12
    distributed_sum_into(std::tie(dW, dW), sum, axis);
#elif CASE == 13
    distributed_associative_scan_into(reduction::add, x, y);
#elif CASE == 14
    distributed_linear_recurrence_into(x, x, 0.0f, y, serial);
#elif CASE == 15
    distributed_gather_nd_into(x, indices, y, axis, axis);
#elif CASE == 16
    distributed_scatter_nd_into(reduce_add, y, indices, x, serial);
#elif CASE == 17
    distributed_scatter_nd_into(y, indices, x, axis, scatter_nd_options());
#elif CASE == 18
    distributed_sum_into(dW, sum, serial);
#elif CASE == 19
    struct point {};
    xt::xtensor<point, 1> points;
    xt::xtensor<point, 0> point_sum;
    distributed_sum_into(points, point_sum, axis);
#endif
    static_cast<void>(y), static_cast<void>(wide), static_cast<void>(sum);
    static_cast<void>(wide_sum), static_cast<void>(words), static_cast<void>(numbers);
}
