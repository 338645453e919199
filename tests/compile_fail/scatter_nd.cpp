// Mistakes in a call of scatter_nd or scatter_nd_into.
// clang-format off
// 1: xloom::scatter_nd: data must be a tensor, and for scatter_nd_into a tensor in memory
// 2: xloom::scatter_nd: data must be a tensor, and for scatter_nd_into a tensor in memory
// 3: xloom::scatter_nd: data must be a tensor, and for scatter_nd_into a tensor in memory
// 4: xloom::scatter_nd_into: data is updated in place, so it must not be const
// 5: xloom::scatter_nd_into: data is updated in place, so it must not be const
// 6: xloom::scatter_nd_into: data is updated in place, so it must be a variable or a view of one
// 7: xloom::scatter_nd: indices must hold integers
// 8: xloom::scatter_nd: indices must hold integers
// 9: xloom::scatter_nd: updates must have data's element type; convert them first
// 10: xloom::scatter_nd: updates must have data's element type; convert them first
// 11: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 12: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 13: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 14: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 15: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 16: xloom::scatter_nd: the reduction must be callable as reduce(old item, update item) -> new item for data's elements; strings can be joined only (reduce_add), complex numbers have no order
// 60: xloom::scatter_nd_into: data is updated in place, so it must be a variable or a view of one
// 17: xloom::scatter_nd: indices must be a tensor, and a std::vector is none; pass xt::adapt(indices, {n, k}) for n tuples of k
// 18: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 19: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 20: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 21: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 22: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 23: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 24: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 25: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 29: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 30: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 31: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 32: xloom::scatter_nd: the arguments are scatter_nd(data, indices, updates[, reduce][, options][, policy])
// 33: xloom::scatter_nd: updates must have data's element type; convert them first
// 34: xloom::scatter_nd: updates must have data's element type; convert them first
// 35: xloom::scatter_nd: updates must have data's element type; convert them first
// clang-format on
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
    auto const joined = xloom::scatter_nd(words, indices, words, xloom::reduce_add);
    xloom::scatter_nd_into(
        data, indices, 2.0f * updates, [](float old, float update) { return old - update; });
    xloom::scatter_nd_into(data, indices, updates, options, serial);
    xloom::scatter_nd_into(data, indices, updates, {}, {});
    xloom::scatter_nd_into(data, indices, updates, reduce, options, serial);
    xloom::scatter_nd_into(data, indices, updates, xloom::reduction::add, {}, serial);
    xloom::scatter_nd_into(data, indices, xloom::broadcast(1), xloom::reduction::add, {}, serial);
    static_cast<void>(joined);
#elif CASE == 1
    auto const result = xloom::scatter_nd(std::vector<float>{1, 2, 3}, indices, updates);
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
    auto const result = xloom::scatter_nd(data, indices, updates, [](float old) { return old; });
#elif CASE == 12
    auto const result = xloom::scatter_nd(words, indices, words, xloom::reduce_max);
#elif CASE == 13
    auto const result = xloom::scatter_nd(plane, indices, plane, xloom::reduce_min);
#elif CASE == 14 // ONNX's name of a reduction as a string
    auto const result = xloom::scatter_nd(data, indices, updates, "add");
#elif CASE == 15 // written through a reference
    auto const result =
        xloom::scatter_nd(data, indices, updates, [](float& old, float update) { old += update; });
#elif CASE == 16 // nothing is returned
    auto const result = xloom::scatter_nd(data, indices, updates, [](auto const&, auto const&) {});
#elif CASE == 60 // a view of a temporary
    int const result = 0;
    xloom::scatter_nd_into(xt::view(xt::xtensor<float, 1>(data), xt::all()), indices, updates);
#elif CASE == 17
    auto const result = xloom::scatter_nd(data, std::vector<int>{0, 2}, updates);
#elif CASE == 18
    auto const result = xloom::scatter_nd(data, indices, updates, serial);
#elif CASE == 19
    auto const result = xloom::scatter_nd(data, indices, updates, serial, options);
#elif CASE == 20
    auto const result = xloom::scatter_nd(data, indices, updates, serial, {.bounds = xloom::bounds::drop});
#elif CASE == 21
    auto const result = xloom::scatter_nd(data, indices, updates, options, reduce);
#elif CASE == 22
    auto const result =
        xloom::scatter_nd(data, indices, updates, {.bounds = xloom::bounds::drop}, xloom::reduction::add);
#elif CASE == 23
    auto const result = xloom::scatter_nd(data, indices, updates, reduce, serial);
#elif CASE == 24
    auto const result = xloom::scatter_nd(data, indices, updates, reduce, serial, options);
#elif CASE == 25
    auto const result = xloom::scatter_nd(data, indices, updates, reduce, serial, {.include_self = false});
#elif CASE == 29
    auto const result = xloom::scatter_nd(data, indices, updates, options, options);
#elif CASE == 30
    auto const result = xloom::scatter_nd(data, indices, updates, reduce, options, 2);
#elif CASE == 31
    int const result = 0;
    xloom::scatter_nd_into(data, indices, updates, serial, options);
#elif CASE == 32
    int const result = 0;
    xloom::scatter_nd_into(data, indices, updates, reduce, serial);
#elif CASE == 33 // a tensor of another type
    auto const result = xloom::scatter_nd(data, indices, xloom::broadcast(xt::xtensor<int, 1>{4}));
#elif CASE == 34 // no number
    auto const result = xloom::scatter_nd(plane, indices, xloom::broadcast(4));
#elif CASE == 35
    auto const result = xloom::scatter_nd(words, indices, xloom::broadcast(4));
#endif
    static_cast<void>(result);
    static_cast<void>(constant), static_cast<void>(words), static_cast<void>(plane);
    static_cast<void>(options), static_cast<void>(serial), static_cast<void>(reduce);
}
