// Mistakes in a call of gather_nd or gather_nd_into.
// clang-format off
// 1: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 2: indices must hold integers
// 3: indices must hold integers
// 4: a container of a static rank that is not xtensor's is read, so name the rank of the result, as in gather_nd<Rank>(...) or gather_nd_vjp<Rank>(...)
// 5: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 6: indices must hold integers
// 7: what is written must be a tensor in memory
// 8: what is written must be a tensor in memory
// 9: an output must have the element type of the tensor that is read
// 10: what is written must not be const
// 11: what is written must not be const
// 12: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 60: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 13: indices must be a tensor of integers, or one integer
// 14: indices must be a tensor of integers, or one integer
// 15: after the operands and outputs come the options, then at most one policy
// 16: after the operands and outputs come the options, then at most one policy
// 17: after the operands and outputs come the options, then at most one policy
// 18: after the operands and outputs come the options, then at most one policy
// 19: after the operands and outputs come the options, then at most one policy
// 20: after the operands and outputs come the options, then at most one policy
// clang-format on
#include <array>

#include <xloom/indexing/gather_nd.hpp>

#include "../support/grid.hpp"
#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 2> const data = {{1, 2}, {3, 4}};
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {1}};
    user::grid<float, 2> const grid({2, 2});
    xt::xtensor<float, 2> output = data;
    xt::xtensor<float, 2> const constant = data;
    xloom::gather_nd_options const options{};
    xloom::serial_policy const serial{};
#if CASE == 0
    auto const result = xloom::gather_nd(2.0f * data, indices);
    auto const rows = xloom::gather_nd<2>(grid, indices);
    xloom::gather_nd_into(data, indices, output);
    xloom::gather_nd_into(data, indices, xt::strided_view(output, {xt::all(), xt::all()}));
    xloom::gather_nd_into(data, indices, output, {.batch_dims = 0}, serial);
    xloom::gather_nd_into(data, indices, output, {});
    xloom::gather_nd_into(data, indices, output, serial);
    static_cast<void>(rows);
#elif CASE == 1
    auto const result = xloom::gather_nd(std::array<float, 2>{1, 2}, indices);
#elif CASE == 2
    auto const result = xloom::gather_nd(data, data);
#elif CASE == 3
    auto const result = xloom::gather_nd(data, xt::xtensor<bool, 2>{{true}});
#elif CASE == 4
    auto const result = xloom::gather_nd(grid, indices);
#elif CASE == 5
    int const result = 0;
    xloom::gather_nd_into(result, indices, output);
#elif CASE == 6
    int const result = 0;
    xloom::gather_nd_into(data, 1.0f * data, output);
#elif CASE == 7
    float result = 0;
    xloom::gather_nd_into(data, indices, result);
#elif CASE == 8
    int const result = 0;
    xloom::gather_nd_into(data, indices, output + output);
#elif CASE == 9
    xt::xtensor<double, 2> result = data;
    xloom::gather_nd_into(data, indices, result);
#elif CASE == 10
    int const result = 0;
    xloom::gather_nd_into(data, indices, constant);
#elif CASE == 11 // a variable view of a constant
    int const result = 0;
    auto view = xt::strided_view(constant, {xt::all(), xt::all()});
    xloom::gather_nd_into(data, indices, view);
#elif CASE == 12
    int const result = 0;
    xloom::gather_nd_into(data, indices, xt::xtensor<float, 2>(output));
#elif CASE == 60 // a view of a temporary
    int const result = 0;
    xloom::gather_nd_into(data, indices, xt::transpose(xt::xtensor<float, 2>(output)));
#elif CASE == 13
    auto const result = xloom::gather_nd(data, std::array<int, 2>{0, 2});
#elif CASE == 14
    int const result = 0;
    xloom::gather_nd_into(data, std::array<int, 2>{0, 2}, output);
#elif CASE == 15
    auto const result = xloom::gather_nd(data, indices, serial, serial);
#elif CASE == 16
    auto const result = xloom::gather_nd<2>(data, indices, serial, options);
#elif CASE == 17
    auto const result = xloom::gather_nd(data, indices, options, 2);
#elif CASE == 18
    auto const result = xloom::gather_nd(data, indices, options, options);
#elif CASE == 19
    int const result = 0;
    xloom::gather_nd_into(data, indices, output, serial, options);
#elif CASE == 20
    int const result = 0;
    xloom::gather_nd_into(data, indices, output, options, 2);
#endif
    static_cast<void>(result);
    static_cast<void>(output), static_cast<void>(options), static_cast<void>(serial);
}
