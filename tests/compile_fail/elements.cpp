// Mistakes in a call of gather_elements, scatter_elements or a function with NumPy's name.
// clang-format off
// 1: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 2: indices must hold integers
// 3: indices must be a tensor of integers, or one integer
// 4: after the operands and outputs come the options, then at most one policy
// 5: an output must have the element type of the tensor that is read
// 6: what is written must not be const
// 7: updates must have the element type of what they are written to; convert them first
// 8: after the operands and outputs come the options, then at most one policy
// 9: what is written must not be const
// 10: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 11: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 12: indices must hold integers
// 13: a mask must be a tensor of bool
// 14: indices must hold integers
// 15: what is written must not be const
// 16: updates must have the element type of what they are written to; convert them first
// 17: what is written must not be const
// 18: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 19: what is counted must be a tensor of integers
// 20: weights must be a tensor of numbers
// 21: after the operands and outputs come the options, then at most one policy
// 22: after the operands and outputs come the options, then at most one policy
// 23: after the operands and outputs come the options, then at most one policy
// 24: after the operands and outputs come the options, then at most one policy
// 25: after the operands and outputs come the options, then at most one policy
// 26: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 27: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 28: after the operands and outputs come the options, then at most one policy
// 29: after the operands and outputs come the options, then at most one policy
// clang-format on
#include <array>
#include <string>
#include <vector>

#include <xloom/indexing.hpp>
#include <xloom/indexing/gather_elements.hpp>
#include <xloom/indexing/scatter_elements.hpp>

int main()
{
    xt::xtensor<float, 2> const data = {{1, 2}, {3, 4}};
    xt::xtensor<std::int64_t, 2> const indices = {{0, 1}, {1, 0}};
    xt::xtensor<double, 2> doubles = {{1, 2}, {3, 4}};
    xt::xtensor<float, 2> output = data;
    xloom::serial_policy const serial{};
#if CASE == 0
    xloom::gather_elements_into(xloom::gather_elements(data, indices, {.axis = 1}, serial), indices, output);
    xloom::scatter_elements_into(output, indices, xloom::scatter_elements(data, indices, data));
    xloom::at(xloom::reduce_add, output, 0, xloom::take(data, 1, {.axis = 0}));
    xloom::at(xloom::reduce_add, output, 0, 1, serial);
    xloom::take(data, indices, serial);
    xloom::bincount(xt::xtensor<int, 1>{1}, serial);
    xloom::put_along_axis(output, indices, xloom::take_along_axis(data, indices));
#elif CASE == 1
    xloom::gather_elements(std::array<float, 1>{1}, indices);
#elif CASE == 2
    xloom::gather_elements(data, data);
#elif CASE == 3
    xloom::gather_elements(data, std::array<int, 1>{1});
#elif CASE == 4
    xloom::gather_elements(data, indices, serial, serial);
#elif CASE == 5
    xloom::gather_elements_into(data, indices, doubles);
#elif CASE == 6
    xloom::gather_elements_into(data, indices, data);
#elif CASE == 7
    xloom::scatter_elements(data, indices, doubles);
#elif CASE == 8
    xloom::scatter_elements(data, indices, data, serial, serial);
#elif CASE == 9
    xloom::scatter_elements_into(data, indices, data);
#elif CASE == 10
    xloom::scatter_elements_into(xt::xtensor<float, 2>(data), indices, data);
#elif CASE == 11
    xloom::scatter_elements([](std::string const&) { return 0; }, data, indices, data);
#elif CASE == 12
    xloom::take(data, data);
#elif CASE == 13
    xloom::compress(indices, data);
#elif CASE == 14
    xloom::take_along_axis(data, data);
#elif CASE == 15
    xloom::put_along_axis(data, indices, 1);
#elif CASE == 16
    xloom::put_along_axis(output, indices, doubles);
#elif CASE == 17
    xloom::at(xloom::reduce_add, data, 0, 1);
#elif CASE == 18
    xloom::at([](std::string const&) { return 0; }, output, 0, 1);
#elif CASE == 19
    xloom::bincount(data);
#elif CASE == 20
    xloom::bincount(indices, std::array<double, 1>{1});
#elif CASE == 21
    xloom::take(data, indices, 1);
#elif CASE == 22
    xloom::take(data, indices, serial, 1);
#elif CASE == 23
    xloom::compress(data > 1, data, 0);
#elif CASE == 24
    xloom::take_along_axis(data, indices, 1);
#elif CASE == 25
    xloom::put_along_axis(output, indices, 1, serial, serial);
#elif CASE == 26
    xloom::at(output, output, indices, data);
#elif CASE == 27
    xloom::at(indices, output, data, xloom::reduce_add);
#elif CASE == 28
    xloom::at(xloom::reduce_add, output, 0, 1, serial, serial);
#elif CASE == 29
    xloom::bincount(indices, serial, serial);
#endif
    static_cast<void>(output), static_cast<void>(doubles), static_cast<void>(serial);
}
