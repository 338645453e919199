// Mistakes in a call of gather_nd_vjp or gather_nd_vjp_into.
// clang-format off
// 1: xloom::gather_nd_vjp: ct must be a tensor
// 2: xloom::gather_nd_vjp: ct must hold numbers that have a gradient, which integers, bool, strings and float8_e8m0 have not
// 3: xloom::gather_nd_vjp: ct must hold numbers that have a gradient, which integers, bool, strings and float8_e8m0 have not
// 4: xloom::gather_nd_vjp: indices must hold integers
// 5: xloom::gather_nd_vjp: ct is a container of your own with a static rank, so name the result's: gather_nd_vjp<Rank>(...)
// 6: xloom::gather_nd_vjp: the arguments are gather_nd_vjp(ct, data's shape, indices[, options][, policy])
// 7: xloom::gather_nd_vjp: the arguments are gather_nd_vjp(ct, data's shape, indices[, options][, policy])
// 8: xloom::gather_nd_vjp: the arguments are gather_nd_vjp(ct, data's shape, indices[, options][, policy])
// 9: xloom::gather_nd_vjp_into: the arguments are gather_nd_vjp_into(ct, indices, d_data[, options][, policy])
// 10: xloom::gather_nd_vjp_into: d_data must be a tensor in memory
// 11: xloom::gather_nd_vjp_into: d_data must have ct's element type
// 12: xloom::gather_nd_vjp_into: d_data is written, so it must not be const
// 13: xloom::gather_nd_vjp_into: d_data is written in place, so it must be a variable or a view of one
// 14: xloom::gather_nd_vjp: ct must be a tensor
// clang-format on
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
    xt::xtensor<float, 2> d_data = ct;
    std::vector<float> const numbers = {1, 2};
    xloom::gather_nd_vjp_options const options{};
    xloom::serial_policy const serial{};
#if CASE == 0
    auto const result = xloom::gather_nd_vjp(2.0f * ct, {2, 2}, indices);
    auto const own = xloom::gather_nd_vjp<2>(grid, ct.shape(), indices, {.batch_dims = 0}, serial);
    xloom::gather_nd_vjp_into(ct, indices, d_data);
    xloom::gather_nd_vjp_into(ct, indices, xt::strided_view(d_data, {xt::all(), xt::all()}), {}, {});
    static_cast<void>(own);
#elif CASE == 1
    auto const result = xloom::gather_nd_vjp(numbers, {2, 2}, indices);
#elif CASE == 2
    auto const result = xloom::gather_nd_vjp(integers, {2, 2}, indices);
#elif CASE == 3
    auto const result = xloom::gather_nd_vjp(powers, {2, 2}, indices);
#elif CASE == 4
    auto const result = xloom::gather_nd_vjp(ct, {2, 2}, ct);
#elif CASE == 5
    auto const result = xloom::gather_nd_vjp(grid, {2, 2}, indices);
#elif CASE == 6
    auto const result = xloom::gather_nd_vjp(ct, {2, 2}, indices, serial);
#elif CASE == 7
    auto const result = xloom::gather_nd_vjp(ct, {2, 2}, indices, serial, {.batch_dims = 1});
#elif CASE == 8
    auto const result = xloom::gather_nd_vjp(ct, 2, indices);
#elif CASE == 9
    int const result = 0;
    xloom::gather_nd_vjp_into(ct, indices, d_data, serial);
#elif CASE == 10
    int const result = 0;
    xloom::gather_nd_vjp_into(ct, indices, d_data + d_data);
#elif CASE == 11
    int const result = 0;
    xt::xtensor<double, 2> wrong = ct;
    xloom::gather_nd_vjp_into(ct, indices, wrong);
#elif CASE == 12
    int const result = 0;
    xloom::gather_nd_vjp_into(ct, indices, ct);
#elif CASE == 13
    int const result = 0;
    xloom::gather_nd_vjp_into(ct, indices, xt::xtensor<float, 2>(d_data));
#elif CASE == 14
    int const result = 0;
    xloom::gather_nd_vjp_into(numbers, indices, d_data);
#endif
    static_cast<void>(result);
    static_cast<void>(d_data), static_cast<void>(options), static_cast<void>(serial),
        static_cast<void>(numbers);
    static_cast<void>(grid), static_cast<void>(integers), static_cast<void>(powers);
}
