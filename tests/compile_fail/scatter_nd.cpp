// Mistakes in a call of scatter_nd or scatter_nd_into.
// clang-format off
// 1: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 2: what is written must be a tensor in memory
// 3: what is written must be a tensor in memory
// 4: what is written must not be const
// 5: what is written must not be const
// 6: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 7: indices must hold integers
// 8: indices must hold integers
// 9: updates must have the element type of what they are written to; convert them first
// 10: updates must have the element type of what they are written to; convert them first
// 11: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 12: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 13: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 14: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 15: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 16: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 60: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 17: indices must be a tensor of integers, or one integer
// 18: after the operands and outputs come the options, then at most one policy
// 19: after the operands and outputs come the options, then at most one policy
// 20: after the operands and outputs come the options, then at most one policy
// 21: after the operands and outputs come the options, then at most one policy
// 22: after the operands and outputs come the options, then at most one policy
// 23: after the operands and outputs come the options, then at most one policy
// 24: after the operands and outputs come the options, then at most one policy
// 25: after the operands and outputs come the options, then at most one policy
// 29: after the operands and outputs come the options, then at most one policy
// 30: after the operands and outputs come the options, then at most one policy
// 31: after the operands and outputs come the options, then at most one policy
// 32: after the operands and outputs come the options, then at most one policy
// 33: updates must have the element type of what they are written to; convert them first
// 34: updates must have the element type of what they are written to; convert them first
// 35: updates must have the element type of what they are written to; convert them first
// 61: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// clang-format on
#include <array>
#include <complex>
#include <string>
#include <vector>

#include <xloom/indexing/scatter_nd.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> data = {1, 2, 3};
    xt::xtensor<float, 1> const constant = data;
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {2}};
    xt::xtensor<float, 1> const updates = {4, 5};
    xt::xtensor<std::string, 1> const words = {"a", "b"};
    xt::xtensor<std::complex<float>, 1> const plane = {{1, 2}, {3, 4}};
    xloom::scatter_nd_options const options{};
    xloom::serial_policy const serial{};
    auto const reduce = [](float old, float update) { return old - update; };
#if CASE == 0
    auto const result = xloom::scatter_nd(data, indices, updates);
    auto const joined = xloom::scatter_nd(xloom::reduce_add, words, indices, words);
    xloom::scatter_nd_into(
        [](float old, float update) { return old - update; }, data, indices, 2.0f * updates);
    xloom::scatter_nd_into(data, indices, updates, options, serial);
    xloom::scatter_nd_into(data, indices, updates, {});
    xloom::scatter_nd_into(data, indices, updates, serial);
    xloom::scatter_nd_into(reduce, data, indices, updates, serial);
    xloom::scatter_nd_into(reduce, data, indices, updates, options, serial);
    xloom::scatter_nd_into(xloom::reduction::add, data, indices, updates, {}, serial);
    xloom::scatter_nd_into(xloom::reduction::add, data, indices, xloom::broadcast(1), {}, serial);
    static_cast<void>(joined);
#elif CASE == 1
    auto const result = xloom::scatter_nd(std::array<float, 3>{1, 2, 3}, indices, updates);
#elif CASE == 2
    float result = 1;
    xloom::scatter_nd_into(result, indices, updates);
#elif CASE == 3
    int const result = 0;
    xloom::scatter_nd_into(data + 1.0f, indices, updates);
#elif CASE == 4
    int const result = 0;
    xloom::scatter_nd_into(constant, indices, updates);
#elif CASE == 5 // a variable view of a constant
    int const result = 0;
    auto view = xt::strided_view(constant, {xt::all()});
    xloom::scatter_nd_into(view, indices, updates);
#elif CASE == 6
    int const result = 0;
    xloom::scatter_nd_into(xt::xtensor<float, 1>(data), indices, updates);
#elif CASE == 7
    auto const result = xloom::scatter_nd(data, updates, updates);
#elif CASE == 8
    auto const result = xloom::scatter_nd(data, xt::xtensor<bool, 2>{{true}, {false}}, updates);
#elif CASE == 9
    auto const result = xloom::scatter_nd(data, indices, xt::xtensor<double, 1>{4, 5});
#elif CASE == 10 // a number of another type
    auto const result = xloom::scatter_nd(data, xt::xtensor<std::int64_t, 1>{0}, 4);
#elif CASE == 11
    auto const result = xloom::scatter_nd([](float old) { return old; }, data, indices, updates);
#elif CASE == 12
    auto const result = xloom::scatter_nd(xloom::reduce_max, words, indices, words);
#elif CASE == 13
    auto const result = xloom::scatter_nd(xloom::reduce_min, plane, indices, plane);
#elif CASE == 14 // ONNX's name of a reduction as a string
    auto const result = xloom::scatter_nd("add", data, indices, updates);
#elif CASE == 15 // written through a reference
    auto const result =
        xloom::scatter_nd([](float& old, float update) { old += update; }, data, indices, updates);
#elif CASE == 16 // nothing is returned
    auto const result = xloom::scatter_nd([](auto const&, auto const&) {}, data, indices, updates);
#elif CASE == 60 // a view of a temporary
    int const result = 0;
    xloom::scatter_nd_into(xt::view(xt::xtensor<float, 1>(data), xt::all()), indices, updates);
#elif CASE == 17
    auto const result = xloom::scatter_nd(data, std::array<int, 2>{0, 2}, updates);
#elif CASE == 18
    auto const result = xloom::scatter_nd(data, indices, updates, serial, serial);
#elif CASE == 19
    auto const result = xloom::scatter_nd(data, indices, updates, serial, options);
#elif CASE == 20
    auto const result = xloom::scatter_nd(data, indices, updates, reduce);
#elif CASE == 21
    auto const result = xloom::scatter_nd(data, indices, updates, options, reduce);
#elif CASE == 22
    auto const result =
        xloom::scatter_nd(data, indices, updates, {.bounds = xloom::bounds::drop}, xloom::reduction::add);
#elif CASE == 23
    auto const result = xloom::scatter_nd(reduce, data, indices, updates, serial, serial);
#elif CASE == 24
    auto const result = xloom::scatter_nd(reduce, data, indices, updates, serial, options);
#elif CASE == 25
    auto const result = xloom::scatter_nd(reduce, data, indices, updates, updates);
#elif CASE == 29
    auto const result = xloom::scatter_nd(data, indices, updates, options, options);
#elif CASE == 30
    auto const result = xloom::scatter_nd(reduce, data, indices, updates, options, 2);
#elif CASE == 31
    int const result = 0;
    xloom::scatter_nd_into(data, indices, updates, serial, options);
#elif CASE == 32
    int const result = 0;
    xloom::scatter_nd_into(reduce, data, indices, updates, serial, serial);
#elif CASE == 33 // a tensor of another type
    auto const result = xloom::scatter_nd(data, indices, xloom::broadcast(xt::xtensor<int, 1>{4}));
#elif CASE == 34 // no number
    auto const result = xloom::scatter_nd(plane, indices, xloom::broadcast(4));
#elif CASE == 35
    auto const result = xloom::scatter_nd(words, indices, xloom::broadcast(4));
#elif CASE == 61
    auto const result = xloom::scatter_nd(1, data, indices, updates);
#endif
    static_cast<void>(result);
    static_cast<void>(constant), static_cast<void>(words), static_cast<void>(plane);
    static_cast<void>(options), static_cast<void>(serial), static_cast<void>(reduce);
}
