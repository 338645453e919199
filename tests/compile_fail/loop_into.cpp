// Mistakes in a call of loop_into.
// clang-format off
// 1: the body must be callable as body(iteration, state&..., output&...)
// 2: the body must return bool: whether to go on
// 3: a state is updated in place, so it must be a variable, but it is a lazy xtensor expression
// 4: a state is updated in place, so it must not be const
// 5: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 6: a state is updated in place, so it must be a variable or a view of one; pass several as std::tie(h, c)
// 7: a scan output is a tensor in memory with at least one axis
// 8: a scan output is a tensor in memory with at least one axis
// 9: a scan output is written, so it must not be const
// 10: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 11: the body must return bool: whether to go on
// 12: an argument is one value or a flat std::tuple of values, not a std::tuple inside a std::tuple
// 60: a scan output is written in place, so it must be a variable or a view of one; pass several as std::tie(y, z)
// 13: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// 14: a callable takes by value what it is to write, so that it is lost; take it by reference, as in double& h or auto& y_t
// clang-format on
#include <xloom/control_flow/loop.hpp>

#include "../support/xtensor_extras.hpp"

int main()
{
    xt::xtensor<float, 1> v = xt::zeros<float>({4});
    xt::xtensor<float, 1> const constant = v;
    xt::xtensor<float, 2> y = xt::zeros<float>({3, 4});
    xt::xtensor<float, 2> const constant_y = y;
    auto const body = [](std::int64_t, auto&...) { return false; };
#if CASE == 0
    xloom::loop_into(body, v, y);
    std::vector<xt::xtensor<float, 1>> sequence;
    xloom::loop_into(body, std::tie(v, sequence));
#elif CASE == 1
    xloom::loop_into([](auto&, auto&) { return false; }, v, y);
#elif CASE == 2
    xloom::loop_into([](std::int64_t, auto&, auto&) {}, v, y);
#elif CASE == 3
    xloom::loop_into(body, v + 1.0f, y);
#elif CASE == 4
    xloom::loop_into(body, constant, y);
#elif CASE == 5
    xloom::loop_into(body, xt::xtensor<float, 1>(v), y);
#elif CASE == 6
    xloom::loop_into(body, std::tuple{v, 1}, y);
#elif CASE == 7
    float last = 0;
    xloom::loop_into(body, v, last);
#elif CASE == 8
    xloom::loop_into(body, v, y + y);
#elif CASE == 9
    xloom::loop_into(body, v, constant_y);
#elif CASE == 10
    xloom::loop_into(body, v, std::tuple{y});
#elif CASE == 11
    xloom::loop_into([](std::int64_t, auto&, auto&) { return 1; }, v, y);
#elif CASE == 12
    xloom::loop_into(body, std::tuple<std::tuple<xt::xtensor<float, 1>&>>(std::tie(v)), y);
#elif CASE == 60 // a view of a temporary
    xloom::loop_into(body, v, xt::strided_view(xt::xtensor<float, 2>(y), {xt::all(), xt::all()}));
#elif CASE == 13
    double number = 1;
    xloom::loop_into([](std::int64_t, double value) { return (value /= 2) > 1; }, number);
#elif CASE == 14
    xloom::loop_into([](auto, auto& value, auto y_t) { return (value = y_t = 1) > 1; }, y(0, 0), v);
#endif
    static_cast<void>(body);
}
