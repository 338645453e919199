// Mistakes in a call of scatter_nd_vjp or scatter_nd_vjp_into.
// clang-format off
// 1: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 2: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 3: indices must hold integers
// 4: indices must be a tensor of integers, or one integer
// 5: a gradient is one of real or complex numbers, which integers, bool, strings and float8_e8m0 are not
// 6: a gradient is one of real or complex numbers, which integers, bool, strings and float8_e8m0 are not
// 7: a cotangent and updates must have data's element type; convert them first
// 8: a cotangent and updates must have data's element type; convert them first
// 9: after the operands and outputs come the options, then at most one policy
// 10: after the operands and outputs come the options, then at most one policy
// 11: the reduction is one of xloom's, such as reduction::add; of a callable only you know the gradient
// 12: after the operands and outputs come the options, then at most one policy
// 13: after the operands and outputs come the options, then at most one policy
// 14: an operand that is written must not be const
// 15: an operand must have the element type of the operator's other tensors; convert it into a variable first, by xt::cast<float> for example
// 16: an operand must be a variable or a view of one, but a temporary was passed, which is gone when it is used
// 17: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// clang-format on
#include <array>
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
    xt::xtensor<float, 1> ct_data = data, ct_updates = updates;
    std::array<float, 2> const numbers = {1, 2};
    xloom::scatter_nd_vjp_options const options{};
    xloom::serial_policy const serial{};
#if CASE == 0
    auto const result = xloom::scatter_nd_vjp(xloom::reduction::max, data, indices, updates, 1.0f * ct);
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {.data = ct_data}, {});
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {ct_data, ct_updates}, serial);
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {ct_data, ct_updates}, options, serial);
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {});
#elif CASE == 1
    auto const result = xloom::scatter_nd_vjp(numbers, indices, updates, ct);
#elif CASE == 2
    auto const result = xloom::scatter_nd_vjp(data, indices, updates, 1.0f);
#elif CASE == 3
    auto const result = xloom::scatter_nd_vjp(data, ct, updates, ct);
#elif CASE == 4
    auto const result = xloom::scatter_nd_vjp(data, std::array<int, 1>{0}, updates, ct);
#elif CASE == 5
    auto const result = xloom::scatter_nd_vjp(integers, indices, integers, integers);
#elif CASE == 6
    xt::xtensor<std::string, 1> const names = {"a"};
    auto const result = xloom::scatter_nd_vjp(names, indices, names, names);
#elif CASE == 7
    auto const result = xloom::scatter_nd_vjp(data, indices, wrong, ct);
#elif CASE == 8
    auto const result = xloom::scatter_nd_vjp(data, indices, updates, wrong);
#elif CASE == 9
    auto const result = xloom::scatter_nd_vjp(data, indices, updates, ct, serial, serial);
#elif CASE == 10
    auto const result = xloom::scatter_nd_vjp(data, indices, updates, ct, serial, options);
#elif CASE == 11
    auto const result =
        xloom::scatter_nd_vjp([](float a, float b) { return a + b; }, data, indices, updates, ct);
#elif CASE == 12
    auto const result = xloom::scatter_nd_vjp(data, indices, updates, ct, xloom::reduce_max);
#elif CASE == 13
    int const result = 0;
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {ct_data, ct_updates}, serial, serial);
#elif CASE == 14
    int const result = 0;
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {.data = data});
#elif CASE == 15
    int const result = 0;
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {.updates = wrong});
#elif CASE == 16
    int const result = 0;
    xloom::scatter_nd_vjp_into(data, indices, updates, ct, {.data = xt::xtensor<float, 1>(data)});
#elif CASE == 17
    int const result = 0;
    xloom::scatter_nd_vjp_into(data, indices, updates, numbers, {.data = ct_data});
#endif
    static_cast<void>(result);
    static_cast<void>(ct_data), static_cast<void>(ct_updates), static_cast<void>(numbers);
    static_cast<void>(options), static_cast<void>(serial), static_cast<void>(wrong);
}
