#pragma once
// A call that is wrong: two scan inputs of different lengths.

#include <xloom/control_flow/scan.hpp>

struct sum_of_products {
    xloom::scan_step<double> operator()(double sum, double a, double b) const { return {sum + a * b, {}}; }
};

/// Static: the two files' functions are two.
static void make_mistake()
{
    xt::xtensor<double, 1> const longer = {1, 2, 3}, shorter = {1, 2};
    xloom::scan(sum_of_products(), 0.0, std::tie(longer, shorter));
}
