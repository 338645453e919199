#include <cstdio>
#include <xloom/control_flow/scan.hpp>

int main()
{
    xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<double, 1> const zero = {0, 0};
    auto const add = [](auto const& sum, auto const& x_t) { return xloom::scan_step{sum + x_t, sum + x_t}; };
    auto const [total, running] = xloom::scan(add, zero, x);
    std::printf("total: %g %g; after two rows: %g %g\n", total(0), total(1), running(1, 0), running(1, 1));
}
