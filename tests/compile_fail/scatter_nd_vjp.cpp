// Mistakes in a call of scatter_nd_vjp or scatter_nd_vjp_into.
// clang-format off
// 1: xloom::scatter_nd_vjp: ct and data must be tensors
// 2: xloom::scatter_nd_vjp: ct and data must be tensors
// 3: xloom::scatter_nd_vjp: indices must hold integers
// 4: xloom::scatter_nd_vjp: indices must be a tensor, and a std::vector is none; pass xt::adapt(indices, {n, k}) for n tuples of k
// 5: xloom::scatter_nd_vjp: data must hold numbers that have a gradient, which integers, bool, strings and float8_e8m0 have not
// 6: xloom::scatter_nd_vjp: data must hold numbers that have a gradient, which integers, bool, strings and float8_e8m0 have not
// 7: xloom::scatter_nd_vjp: ct and updates must have data's element type; convert them first
// 8: xloom::scatter_nd_vjp: ct and updates must have data's element type; convert them first
// 9: xloom::scatter_nd_vjp: the arguments are scatter_nd_vjp(ct, data, indices, updates[, options][, policy])
// 10: xloom::scatter_nd_vjp: the arguments are scatter_nd_vjp(ct, data, indices, updates[, options][, policy])
// 11: xloom::scatter_nd_vjp: the reduction is one of xloom's, named as options.reduction; of a callable only you know the gradient
// 12: xloom::scatter_nd_vjp: the reduction is one of xloom's, named as options.reduction; of a callable only you know the gradient
// 13: and scatter_nd_vjp_into(ct, data, indices, updates, outputs[, options][, policy])
// 14: xloom: d_data is written, so it must not be const
// 15: xloom: d_updates must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 16: xloom: d_data must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 17: xloom::scatter_nd_vjp: ct and data must be tensors
// clang-format on
#include <string>
#include <vector>

#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/recurrent/storage_types.hpp>

int main()
{
    xt::xtensor<float, 1> const ct = {1, 2}, data = {3, 4}, updates = {5};
    xt::xtensor<double, 1> wrong = {1};
    xt::xtensor<int, 1> const integers = {1, 2};
    xt::xtensor<std::int64_t, 2> const indices = {{0}};
    xt::xtensor<float, 1> d_data = data, d_updates = updates;
    std::vector<float> const numbers = {1, 2};
    xloom::scatter_nd_vjp_options const options{};
    xloom::serial_policy const serial{};
#if CASE == 0
    auto const result =
        xloom::scatter_nd_vjp(1.0f * ct, data, indices, updates, {.reduction = xloom::reduction::max});
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {.d_data = d_data}, {}, {});
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {d_data, d_updates}, options, serial);
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {});
#elif CASE == 1
    auto const result = xloom::scatter_nd_vjp(ct, numbers, indices, updates);
#elif CASE == 2
    auto const result = xloom::scatter_nd_vjp(1.0f, data, indices, updates);
#elif CASE == 3
    auto const result = xloom::scatter_nd_vjp(ct, data, ct, updates);
#elif CASE == 4
    auto const result = xloom::scatter_nd_vjp(ct, data, std::vector<int>{0}, updates);
#elif CASE == 5
    auto const result = xloom::scatter_nd_vjp(integers, integers, indices, integers);
#elif CASE == 6
    xt::xtensor<std::string, 1> const names = {"a"};
    auto const result = xloom::scatter_nd_vjp(names, names, indices, names);
#elif CASE == 7
    auto const result = xloom::scatter_nd_vjp(ct, data, indices, wrong);
#elif CASE == 8
    auto const result = xloom::scatter_nd_vjp(wrong, data, indices, updates);
#elif CASE == 9
    auto const result = xloom::scatter_nd_vjp(ct, data, indices, updates, serial);
#elif CASE == 10
    auto const result = xloom::scatter_nd_vjp(ct, data, indices, updates, serial, options);
#elif CASE == 11
    auto const result =
        xloom::scatter_nd_vjp(ct, data, indices, updates, [](float a, float b) { return a + b; });
#elif CASE == 12
    auto const result = xloom::scatter_nd_vjp(ct, data, indices, updates, xloom::reduce_max, options);
#elif CASE == 13
    int const result = 0;
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {d_data, d_updates}, serial);
#elif CASE == 14
    int const result = 0;
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {.d_data = data});
#elif CASE == 15
    int const result = 0;
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {.d_updates = wrong});
#elif CASE == 16
    int const result = 0;
    xloom::scatter_nd_vjp_into(ct, data, indices, updates, {.d_data = xt::xtensor<float, 1>(data)});
#elif CASE == 17
    int const result = 0;
    xloom::scatter_nd_vjp_into(numbers, data, indices, updates, {.d_data = d_data});
#endif
    static_cast<void>(result);
    static_cast<void>(d_data), static_cast<void>(d_updates), static_cast<void>(numbers);
    static_cast<void>(options), static_cast<void>(serial), static_cast<void>(wrong);
}
