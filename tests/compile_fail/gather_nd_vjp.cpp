// Mistakes in a call of gather_nd_vjp or gather_nd_vjp_into.
// clang-format off
// 1: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// 2: a gradient is one of real or complex numbers, which integers, bool, strings and float8_e8m0 are not
// 3: a gradient is one of real or complex numbers, which integers, bool, strings and float8_e8m0 are not
// 4: indices must hold integers
// 5: a container of a static rank that is not xtensor's is read, so name the rank of the result, as in gather_nd<Rank>(...) or gather_nd_vjp<Rank>(...)
// 6: after the operands and outputs come the options, then at most one policy
// 7: after the operands and outputs come the options, then at most one policy
// 8: the shape of data must be an xloom::shape or a range such as data.shape()
// 9: after the operands and outputs come the options, then at most one policy
// 10: what is written must be a tensor in memory
// 11: an output must have the element type of the tensor that is read
// 12: what is written must not be const
// 13: what is written must be a variable or a view of one; pass several as std::tie(y, z)
// 14: an operand must be a tensor: of xtensor, a std::vector, std::span or std::mdspan, of Eigen with <xloom/interop/eigen.hpp>, or of a type with xloom::enable_tensor
// clang-format on
#include <array>
#include <vector>

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/recurrent/storage_types.hpp>

#include "../support/grid.hpp"
#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 2> const ct = {{1, 2}, {3, 4}};
    xt::xtensor<int, 2> const integers = {{1, 2}, {3, 4}};
    xt::xtensor<xloom::float8_e8m0, 2> const powers = {{1, 2}, {4, 8}};
    xt::xtensor<std::int64_t, 2> const indices = {{0}, {1}};
    user::grid<float, 2> const grid({2, 2});
    xt::xtensor<float, 2> ct_data = ct;
    std::array<float, 2> const numbers = {1, 2};
    xloom::gather_nd_vjp_options const options{};
    xloom::serial_policy const serial{};
#if CASE == 0
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, 2.0f * ct);
    auto const own = xloom::gather_nd_vjp<2>(ct.shape(), indices, grid, {.batch_dims = 0}, serial);
    xloom::gather_nd_vjp_into(indices, ct, ct_data);
    xloom::gather_nd_vjp_into(indices, ct, xt::strided_view(ct_data, {xt::all(), xt::all()}), {});
    xloom::gather_nd_vjp_into(indices, ct, ct_data, serial);
    static_cast<void>(own);
#elif CASE == 1
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, numbers);
#elif CASE == 2
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, integers);
#elif CASE == 3
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, powers);
#elif CASE == 4
    auto const result = xloom::gather_nd_vjp({2, 2}, ct, ct);
#elif CASE == 5
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, grid);
#elif CASE == 6
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, ct, serial, serial);
#elif CASE == 7
    auto const result = xloom::gather_nd_vjp({2, 2}, indices, ct, serial, options);
#elif CASE == 8
    auto const result = xloom::gather_nd_vjp(2, indices, ct);
#elif CASE == 9
    int const result = 0;
    xloom::gather_nd_vjp_into(indices, ct, ct_data, serial, options);
#elif CASE == 10
    int const result = 0;
    xloom::gather_nd_vjp_into(indices, ct, ct_data + ct_data);
#elif CASE == 11
    int const result = 0;
    xt::xtensor<double, 2> wrong = ct;
    xloom::gather_nd_vjp_into(indices, ct, wrong);
#elif CASE == 12
    int const result = 0;
    xloom::gather_nd_vjp_into(indices, ct, ct);
#elif CASE == 13
    int const result = 0;
    xloom::gather_nd_vjp_into(indices, ct, xt::xtensor<float, 2>(ct_data));
#elif CASE == 14
    int const result = 0;
    xloom::gather_nd_vjp_into(indices, numbers, ct_data);
#endif
    static_cast<void>(result);
    static_cast<void>(ct_data), static_cast<void>(options), static_cast<void>(serial),
        static_cast<void>(numbers);
    static_cast<void>(grid), static_cast<void>(integers), static_cast<void>(powers);
}
