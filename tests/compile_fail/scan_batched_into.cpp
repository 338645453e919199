// Mistakes in a call of scan_batched_into.
// clang-format off
// 1: the body must be callable as body(state&..., element const&..., output&...)
// 2: the body writes through its references and must return void
// 3: a state is a tensor whose axis 0 is the batch, or the segments
// 4: a state is a tensor whose axis 0 is the batch, or the segments
// 5: a state is updated in place, so it must not be const
// 6: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 7: a scan input is a tensor whose axes 0 and 1 are batch and sequence
// 8: a scan output is a tensor in memory whose axes 0 and 1 are batch and sequence
// 9: a scan output is a tensor in memory whose axes 0 and 1 are batch and sequence
// 10: a scan output is written, so it must not be const
// 11: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 12: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 13: sequence_lens is a tensor of integers of rank 1, or std::nullopt
// 14: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 15: a scan input or output must be a tensor: of xtensor, a std::vector
// 16: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 17: with a policy several threads call the body at once, so it must be callable while it is const; it is not if it is a mutable lambda
// 18: after the operands and outputs come the options, then at most one policy
// clang-format on
#include <array>

#include <xloom/control_flow/scan_batched.hpp>

#include "../support/xtensor_extras.hpp"

struct tbb_like : xloom::serial_policy {
    static std::size_t concurrency() { return 2; }
};

int main()
{
    xt::xtensor<float, 2> h = xt::zeros<float>({2, 4});
    xt::xtensor<float, 2> const constant_h = h;
    xt::xtensor<float, 3> const x = xt::ones<float>({2, 3, 4});
    xt::xtensor<float, 3> y = x;
    xt::xtensor<int, 1> const lens{3, 1};
    auto const body = [](auto&...) {};
#if CASE == 0
    xloom::scan_batched_into(body, h, x, lens, y);
    xloom::scan_batched_into(body, std::tie(h), x + x, std::nullopt, xt::view(y, xt::all()));
#elif CASE == 1
    xloom::scan_batched_into([](auto&, auto const&) {}, h, x, lens, y);
#elif CASE == 2
    xloom::scan_batched_into([](auto& state, auto const& x_t, auto&) { return state + x_t; }, h, x, lens, y);
#elif CASE == 3
    float scalar = 0;
    xloom::scan_batched_into(body, scalar, x, lens, y);
#elif CASE == 4
    xloom::scan_batched_into(body, h + h, x, lens, y);
#elif CASE == 5
    xloom::scan_batched_into(body, constant_h, x, lens, y);
#elif CASE == 6
    xloom::scan_batched_into(body, std::tuple{h, h}, x, lens, y);
#elif CASE == 7
    xloom::scan_batched_into(body, h, xt::xtensor<float, 1>{1, 2}, lens, y);
#elif CASE == 8
    xt::xtensor<float, 1> flat{1, 2};
    xloom::scan_batched_into(body, h, x, lens, flat);
#elif CASE == 9
    xloom::scan_batched_into(body, h, x, lens, y + y);
#elif CASE == 10
    xloom::scan_batched_into(body, h, x, lens, x);
#elif CASE == 11
    xloom::scan_batched_into(body, h, x, lens, xt::xtensor<float, 3>(y));
#elif CASE == 12
    xloom::scan_batched_into(body, h, x, std::array<int, 2>{3, 1}, y);
#elif CASE == 13
    xloom::scan_batched_into(body, h, x, xt::xtensor<float, 1>{3, 1}, y);
#elif CASE == 14
    xloom::scan_batched_into(body, h, std::tuple{std::tuple{x, x}, x}, lens, y);
#elif CASE == 15
    xloom::scan_batched_into(body, h, std::array<float, 2>{1, 2}, lens, y);
#elif CASE == 16
    xt::xtensor<float, 1> sums{1, 2};
    xt::xtensor<float, 2> const rows{{1, 2}, {3, 4}};
    xloom::scan_batched_into([](float sum, float x_t) { sum += x_t; }, sums, rows);
#elif CASE == 17
    int calls = 0;
    xloom::scan_batched_into([calls](auto&...) mutable { ++calls; }, h, x, lens, y, tbb_like());
#elif CASE == 18
    xloom::scan_batched_into(body, h, x, lens, y, {}, xloom::serial, xloom::serial);
#endif
    static_cast<void>(body);
}
