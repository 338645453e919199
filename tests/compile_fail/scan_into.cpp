// Mistakes in a call of scan_into.
// clang-format off
// 1: the body must be callable as body(state&..., element const&..., output&...)
// 2: the body writes through its references and must return void
// 3: a state is a tensor or a scalar; carry sequences and optionals with loop or loop_into
// 4: a state is updated in place, so it must not be const
// 5: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 6: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 7: a scan input is a tensor with at least one axis; capture other values in the body
// 8: a scan output is a tensor in memory with at least one axis
// 9: a scan output is a tensor in memory with at least one axis
// 10: a scan output is written, so it must not be const
// 11: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 12: all scan inputs and outputs must have the same sequence length
// 13: all scan inputs and outputs must have the same sequence length
// 14: a state is a tensor or a scalar; carry sequences and optionals with loop or loop_into
// 15: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 16: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 17: strided_elements needs scan inputs and outputs whose rank is known at compile time, such as xt::xtensor
// 60: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 61: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 18: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 19: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 20: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 21: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// clang-format on
#include <xloom/control_flow/scan.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> h = xt::zeros<float>({4});
    xt::xtensor<float, 1> const constant_h = h;
    xt::xtensor<float, 2> const x = xt::ones<float>({3, 4});
    xt::xtensor<float, 2> y = x;
    xt::xtensor_fixed<float, xt::xshape<3, 4>> const fixed_x{};
    xt::xtensor_fixed<float, xt::xshape<5, 4>> fixed_y{};
    std::vector<xt::xtensor<float, 1>> sequence;
    auto const body = [](auto&...) {};
#if CASE == 0
    xloom::scan_into(body, h, x, y);
    xloom::scan_into(body, h, fixed_x, std::tie(y));
#elif CASE == 1
    xloom::scan_into([](auto&, auto const&) {}, h, x, y);
#elif CASE == 2
    xloom::scan_into([](auto& state, auto const& x_t, auto&) { return state + x_t; }, h, x, y);
#elif CASE == 3
    xloom::scan_into(body, sequence, x, y);
#elif CASE == 4
    xloom::scan_into(body, constant_h, x, y);
#elif CASE == 5
    xloom::scan_into(body, xt::xtensor<float, 1>(h), x, y);
#elif CASE == 6
    xloom::scan_into(body, std::tuple{h, h}, x, y);
#elif CASE == 7
    xloom::scan_into(body, h, std::tie(x, constant_h(0)), y);
#elif CASE == 8
    float last = 0;
    xloom::scan_into(body, h, x, last);
#elif CASE == 9
    xloom::scan_into(body, h, x, y + y);
#elif CASE == 10
    xloom::scan_into(body, h, x, x);
#elif CASE == 11
    xloom::scan_into(body, h, x, xt::xtensor<float, 2>(y));
#elif CASE == 12 // an output of a fixed shape that is longer than the inputs
    xloom::scan_into(body, h, fixed_x, fixed_y);
#elif CASE == 13 // two outputs of fixed shapes
    xt::xtensor_fixed<float, xt::xshape<3, 4>> short_y{};
    xloom::scan_into(body, h, x, std::tie(fixed_y, short_y));
#elif CASE == 14
    xloom::scan_into(body, h + 1.0f, x, y);
#elif CASE == 15
    xloom::scan_into(body, h, x, std::tuple<std::tuple<xt::xtensor<float, 2>&>>(std::tie(y)));
#elif CASE == 16
    xloom::scan_into(body, h, x, std::tuple{y, y});
#elif CASE == 17
    xt::xarray<float> dynamic_y = y;
    xloom::scan_into(xloom::strided_elements(body), h, x, dynamic_y);
#elif CASE == 60 // a view of a temporary
    xloom::scan_into(body, h, x, xt::view(xt::xtensor<float, 2>::from_shape({3, 4}), xt::all()));
#elif CASE == 61
    xloom::scan_into(body,
        std::tuple<xt::xtensor<float, 1>&, decltype(xt::transpose(xt::xtensor<float, 2>()))>(
            h, xt::transpose(xt::xtensor<float, 2>())),
        x, y);
#elif CASE == 18
    float last = 0;
    xloom::scan_into([](float state, float x_t) { state += x_t; }, last, constant_h);
#elif CASE == 19
    float last = 0;
    xloom::scan_into([](auto& state, auto x_t, auto y_t) { y_t = state += x_t; }, last, constant_h, h);
#elif CASE == 20
    xloom::scan_into([](auto state, auto const& x_t, auto& y_t) { y_t = state += x_t; }, h, x, y);
#elif CASE == 21
    float last = 0;
    xloom::scan_into(xloom::strided_elements([](float state, auto const& x_t) { state += x_t(0); }), last, x);
#endif
    static_cast<void>(body);
}
