// Mistakes in a call of scan_batched_into.
// clang-format off
// 1: xloom::scan_batched_into: the body must be callable as body(state&..., element const&..., output&...)
// 2: xloom::scan_batched_into: the body writes through its references and must return void
// 3: xloom::scan_batched_into: a state is a tensor whose axis 0 is the batch
// 4: xloom::scan_batched_into: a state is a tensor whose axis 0 is the batch
// 5: xloom::scan_batched_into: a state is updated in place, so it must not be const
// 6: xloom::scan_batched_into: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 7: xloom::scan_batched_into: a scan input is a tensor whose axes 0 and 1 are batch and sequence
// 8: xloom::scan_batched_into: a scan output is a tensor in memory whose axes 0 and 1 are batch and sequence
// 9: xloom::scan_batched_into: a scan output is a tensor in memory whose axes 0 and 1 are batch and sequence
// 10: xloom::scan_batched_into: a scan output is written, so it must not be const
// 11: xloom::scan_batched_into: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 12: xloom::scan_batched_into: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 13: xloom::scan_batched_into: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 14: xloom::scan_batched_into: a pack is one value or a flat std::tuple of values, but a std::tuple is inside a std::tuple
// 15: xloom::scan_batched_into: a scan input or output must be a tensor of xtensor
// 16: xloom::scan_batched_into: the body takes a state or an output by value, so that what it writes is lost; take it by reference, as in double& h or auto& y_t
// clang-format on
#include <xloom/control_flow/scan_batched_into.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 2> h = xt::zeros<float>({2, 4});
    xt::xtensor<float, 2> const constant_h = h;
    xt::xtensor<float, 3> const x = xt::ones<float>({2, 3, 4});
    xt::xtensor<float, 3> y = x;
    xt::xtensor<int, 1> const lens{3, 1};
    auto const body = [](auto&...) {};
#if CASE == 0
    xloom::scan_batched_into(body, h, x, y, lens);
    xloom::scan_batched_into(body, std::tie(h), x + x, xt::view(y, xt::all()));
#elif CASE == 1
    xloom::scan_batched_into([](auto&, auto const&) {}, h, x, y, lens);
#elif CASE == 2
    xloom::scan_batched_into([](auto& state, auto const& x_t, auto&) { return state + x_t; }, h, x, y, lens);
#elif CASE == 3
    float scalar = 0;
    xloom::scan_batched_into(body, scalar, x, y, lens);
#elif CASE == 4
    xloom::scan_batched_into(body, h + h, x, y, lens);
#elif CASE == 5
    xloom::scan_batched_into(body, constant_h, x, y, lens);
#elif CASE == 6
    xloom::scan_batched_into(body, std::tuple{h, h}, x, y, lens);
#elif CASE == 7
    xloom::scan_batched_into(body, h, xt::xtensor<float, 1>{1, 2}, y, lens);
#elif CASE == 8
    xt::xtensor<float, 1> flat{1, 2};
    xloom::scan_batched_into(body, h, x, flat, lens);
#elif CASE == 9
    xloom::scan_batched_into(body, h, x, y + y, lens);
#elif CASE == 10
    xloom::scan_batched_into(body, h, x, x, lens);
#elif CASE == 11
    xloom::scan_batched_into(body, h, x, xt::xtensor<float, 3>(y), lens);
#elif CASE == 12
    xloom::scan_batched_into(body, h, x, y, std::vector<int>{3, 1});
#elif CASE == 13
    xloom::scan_batched_into(body, h, x, y, xt::xtensor<float, 1>{3, 1});
#elif CASE == 14
    xloom::scan_batched_into(body, h, std::tuple{std::tuple{x, x}, x}, y, lens);
#elif CASE == 15
    xloom::scan_batched_into(body, h, std::vector<float>{1, 2}, y, lens);
#elif CASE == 16
    xt::xtensor<float, 1> sums{1, 2};
    xt::xtensor<float, 2> const rows{{1, 2}, {3, 4}};
    xloom::scan_batched_into([](float sum, float x_t) { sum += x_t; }, sums, rows);
#endif
    static_cast<void>(body);
}
