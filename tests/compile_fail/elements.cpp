// Mistakes in a call of gather_elements, scatter_elements or a function with NumPy's name.
// clang-format off
// 1: xloom::gather_elements: data must be a tensor
// 2: xloom::gather_elements: indices must hold integers
// 3: xloom::gather_elements: indices must be a tensor, and a std::vector is none; pass xt::adapt(indices)
// 4: xloom::gather_elements: the arguments are gather_elements(data, indices[, options][, policy])
// 5: xloom::gather_elements_into: output must have data's element type
// 6: xloom::gather_elements_into: output is written, so it must not be const
// 7: xloom::scatter_elements: updates must have data's element type; convert them first
// 8: xloom::scatter_elements: the arguments are scatter_elements(data, indices, updates[, reduce][, options][, policy])
// 9: xloom::scatter_elements_into: data is updated in place, so it must not be const
// 10: xloom::scatter_elements_into: data is updated in place, so it must be a variable or a view of one
// 11: xloom::scatter_elements: the reduction must be callable as reduce(old item, update item) -> new item for data's elements
// 12: xloom::take: indices must hold integers
// 13: xloom::compress: mask must be a tensor of bool
// 14: xloom::take_along_axis: indices must hold integers
// 15: xloom::put_along_axis: x is written, so it must not be const
// 16: xloom::put_along_axis: values must have x's element type; convert them first
// 17: xloom::at: x is updated in place, so it must not be const
// 18: xloom::at: the operation must be callable as op(old item, update item) -> new item for x's elements
// 19: xloom::bincount: x must be a tensor of integers
// 20: xloom::bincount: weights must be a tensor of numbers
// 21: xloom::take: the arguments are take(x, indices[, options][, policy])
// 22: xloom::take: the arguments are take(x, indices[, options][, policy])
// 23: xloom::compress: the arguments are compress(mask, x[, options][, policy])
// 24: xloom::take_along_axis: the arguments are take_along_axis(x, indices[, options][, policy])
// 25: xloom::put_along_axis: the arguments are put_along_axis(x, indices, values[, options][, policy])
// 26: xloom::at: the arguments are at(x, op, indices, updates[, options][, policy])
// 27: xloom::at: the arguments are at(x, op, indices, updates[, options][, policy])
// 28: xloom::at: the arguments are at(x, op, indices, updates[, options][, policy])
// 29: xloom::bincount: the arguments are bincount(x[, weights][, options][, policy])
// clang-format on
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
    xloom::at(output, xloom::reduce_add, 0, xloom::take(data, 1, {.axis = 0}));
    xloom::put_along_axis(output, indices, xloom::take_along_axis(data, indices));
#elif CASE == 1
    xloom::gather_elements(std::vector<float>{1}, indices);
#elif CASE == 2
    xloom::gather_elements(data, data);
#elif CASE == 3
    xloom::gather_elements(data, std::vector<int>{1});
#elif CASE == 4
    xloom::gather_elements(data, indices, serial);
#elif CASE == 5
    xloom::gather_elements_into(data, indices, doubles);
#elif CASE == 6
    xloom::gather_elements_into(data, indices, data);
#elif CASE == 7
    xloom::scatter_elements(data, indices, doubles);
#elif CASE == 8
    xloom::scatter_elements(data, indices, data, serial);
#elif CASE == 9
    xloom::scatter_elements_into(data, indices, data);
#elif CASE == 10
    xloom::scatter_elements_into(xt::xtensor<float, 2>(data), indices, data);
#elif CASE == 11
    xloom::scatter_elements(data, indices, data, [](std::string const&) { return 0; });
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
    xloom::at(data, xloom::reduce_add, 0, 1);
#elif CASE == 18
    xloom::at(
        output, [](std::string const&) { return 0; }, 0, 1);
#elif CASE == 19
    xloom::bincount(data);
#elif CASE == 20
    xloom::bincount(indices, std::vector<double>{1});
#elif CASE == 21
    xloom::take(data, indices, 1);
#elif CASE == 22
    xloom::take(data, indices, serial);
#elif CASE == 23
    xloom::compress(data > 1, data, 0);
#elif CASE == 24
    xloom::take_along_axis(data, indices, 1);
#elif CASE == 25
    xloom::put_along_axis(output, indices, 1, serial);
#elif CASE == 26
    xloom::at(output, indices, data);
#elif CASE == 27
    xloom::at(output, indices, data, xloom::reduce_add);
#elif CASE == 28
    xloom::at(output, xloom::reduce_add, 0, 1, serial);
#elif CASE == 29
    xloom::bincount(indices, serial);
#endif
    static_cast<void>(output), static_cast<void>(doubles), static_cast<void>(serial);
}
