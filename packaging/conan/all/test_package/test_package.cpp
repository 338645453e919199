#include <xloom/xloom.hpp>

int main()
{
    xt::xtensor<double, 1> const x = {3, 1, 2};
    auto const add = [](double sum, double x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
    auto const [total, running] = xloom::scan(add, 0.0, x);
    return total == 6.0 && running(1) == 4.0 ? 0 : 1;
}
