#pragma once
// Gradients of the recurrence by a pullback, beside those of forward mode.

#include <doctest/doctest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "recurrence.hpp"

namespace recurrence {

inline void check_close(double actual, std::vector<double> const& expected)
{
    CHECK(std::abs(actual - expected[0]) <= 1e-12 * (1 + std::abs(expected[0])));
}
template <class X>
void check_close(X const& actual, std::vector<double> const& expected)
{
    REQUIRE(actual.size() == expected.size());
    if (expected.empty())
        return;
    auto next = expected.begin();
    for (auto item = actual.template begin<xt::layout_type::row_major>();
         item != actual.template end<xt::layout_type::row_major>(); ++item, ++next)
        CHECK(std::abs(*item - *next) <= 1e-12 * (1 + std::abs(*next)));
}

/// Checks what the pullback of a scan over the recurrence returns; H is 3.
template <class Result>
void check_pullback(Result& result, sizes const& n, cotangents const& ct, operands<double> const& expected)
{
    using vec = xt::xtensor<double, 1>;
    using mat = xt::xtensor<double, 2>;
    // T = 0: the outputs have no element that would have their length.
    auto const ct_y = n.T == 0 ? mat(std::get<0>(result.scan_outputs)) : shaped<mat>(ct.y, {n.T, n.H});
    auto const [ct_init, ct_inputs, ct_params] = result.pullback(
        std::tuple(shaped<vec>(ct.h, {n.H}), ct.c[0]), std::tuple(ct_y, shaped<vec>(ct.z, {n.T})));
    check_close(std::get<0>(ct_init), expected.h);
    check_close(std::get<1>(ct_init), expected.c);
    check_close(std::get<0>(ct_inputs), expected.x);
    check_close(std::get<1>(ct_inputs), expected.u);
    check_close(std::get<0>(ct_params), expected.W);
    check_close(std::get<1>(ct_params), expected.V);
    check_close(std::get<2>(ct_params), expected.s);
}

} // namespace recurrence
