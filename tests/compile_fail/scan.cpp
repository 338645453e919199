// Mistakes in a call of scan.
// 1: xloom::scan: the body must be callable as body(state const&..., element const&...)
// 2: xloom::scan: the body must return xloom::scan_step{state, scan_outputs}
#include <xloom/scan.hpp>

int main()
{
    xt::xtensor<float, 1> h = xt::zeros<float>({4});
    xt::xtensor<float, 2> x = xt::ones<float>({3, 4});
#if CASE == 0
    auto [last, all] = xloom::scan([](auto const& h, auto const& x_t) { return xloom::scan_step{h + x_t, h + x_t}; }, h, x);
#elif CASE == 1
    auto [last, all] = xloom::scan([](auto const& h) { return xloom::scan_step{h, h}; }, h, x);
#elif CASE == 2
    auto [last, all] = xloom::scan([](auto const& h, auto const& x_t) { return xt::eval(h + x_t); }, h, x);
#endif
    static_cast<void>(last);
    static_cast<void>(all);
}
