// Mistakes in calls of scan_lanes_vjp.
// clang-format off
// 1: the body's VJP must follow the body, but an operand stands in its place
// 2: after sequence_lens come the cotangents of the results, as in xloom::cotangents().states(ct_h).outputs(ct_y)
// 3: the VJP must be callable, while it is const, as body_vjp(state const&..., element const&..., state cotangent const&..., output cotangent const&..., state cotangent&..., element cotangent&...), of lanes, where the first state cotangents are those after the iteration
// 4: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 5: states and scan inputs that have a gradient are floats or doubles, and their ranks are known at compile time; capture other values in the body
// 6: states and scan inputs that have a gradient are floats or doubles, and their ranks are known at compile time; capture other values in the body
// 7: there is a cotangent [N] for each state, with items of the state's type, or none
// 8: there is a cotangent [N, T] for each output of the body, with items of the output's type
// 9: there is a cotangent [N, T] for each output of the body, with items of the output's type
// 10: after the operands and outputs come the options, then at most one policy
// 11: a state of scan_lanes is a tensor [N]; scan_lanes_into takes [N, K], too
// 12: sequence_lens is a tensor of integers of rank 1, or std::nullopt; it comes after the scan inputs, before outputs and options
// 13: after sequence_lens come the cotangents of the results, as in xloom::cotangents().states(ct_h).outputs(ct_y)
// clang-format on
#include <xloom/gradients/scan_lanes_vjp.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> const h = xt::zeros<float>({2});
    xt::xtensor<float, 2> const x = xt::ones<float>({2, 3});
    auto const body = [](auto const& s, auto const& x_t) { return xloom::scan_step{s + x_t, s}; };
    auto const vjp = [](auto const&, auto const&, auto const& ct_next, auto const& ct_y, auto& ct_s,
                         auto& ct_x) {
        ct_s += ct_next + ct_y;
        ct_x += ct_next;
    };
    auto const cts = xloom::cotangents().outputs(x);
#if CASE == 0
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, cts);
    xloom::scan_lanes_vjp(
        body, vjp, h, x + x, std::nullopt, xloom::cotangents().states(h).outputs(x + x), {.batch_axis = 0});
    xt::xtensor<int, 1> const lengths = {1, 3};
    xloom::scan_lanes_vjp(body, vjp, h, x, lengths, cts);
#elif CASE == 1
    xloom::scan_lanes_vjp(body, h, x, std::nullopt, cts);
#elif CASE == 2
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, x);
#elif CASE == 3
    xloom::scan_lanes_vjp(
        body, [](auto const&, auto const&) {}, h, x, std::nullopt, cts);
#elif CASE == 4
    xloom::scan_lanes_vjp(
        body, [](auto const&, auto const&, auto const&, auto const&, auto, auto&) {}, h, x, std::nullopt,
        cts);
#elif CASE == 5
    xt::xtensor<int, 1> const integers = {1, 2};
    auto const same = [](auto const& s, auto const& x_t) { return xloom::scan_step{s, x_t}; };
    xloom::scan_lanes_vjp(same, vjp, integers, x, std::nullopt, cts);
#elif CASE == 6
    xt::xarray<float> const dynamic = x;
    xloom::scan_lanes_vjp(body, vjp, h, dynamic, std::nullopt, cts);
#elif CASE == 7
    xt::xtensor<double, 1> const doubles = h;
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, xloom::cotangents().states(doubles).outputs(x));
#elif CASE == 8
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, xloom::cotangents());
#elif CASE == 9
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, xloom::cotangents().outputs(h));
#elif CASE == 10
    xloom::scan_lanes_vjp(body, vjp, h, x, std::nullopt, cts, 7);
#elif CASE == 11
    xloom::scan_lanes_vjp(body, vjp, x, x, std::nullopt, cts);
#elif CASE == 12
    xloom::scan_lanes_vjp(body, vjp, h, x, cts);
#elif CASE == 13
    xloom::scan_lanes_vjp(body, vjp, h, x);
#endif
}
