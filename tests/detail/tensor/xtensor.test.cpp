// What the one header that includes xtensor repairs in it.

#include <doctest/doctest.h>

#include <type_traits>

#include <xloom/detail/tensor/xtensor.hpp>

namespace tensor_xtensor_test {

TEST_CASE("the sum of two xarrays is evaluated to an xarray with the right values")
{
    xt::xarray<float> const a{{1, 2, 3}, {4, 5, 6}};
    xt::xarray<float> const b{{10, 20, 30}, {40, 50, 60}};
    auto const sum = xt::eval(a + b);
    static_assert(std::is_same_v<std::remove_const_t<decltype(sum)>, xt::xarray<float>>);
    CHECK(sum.dimension() == 2);
    CHECK(sum == xt::xarray<float>{{11, 22, 33}, {44, 55, 66}});
}

TEST_CASE("sums of mixed ranks are evaluated to what holds them")
{
    xt::xarray<double> const a{{1, 2}, {3, 4}};
    xt::xtensor<double, 1> const row{10, 20};
    xt::xtensor_fixed<double, xt::xshape<2, 2>> const fixed{{100, 200}, {300, 400}};
    auto const dynamic = xt::eval(a + row);
    static_assert(std::is_same_v<std::remove_const_t<decltype(dynamic)>, xt::xarray<double>>);
    CHECK(dynamic == xt::xarray<double>{{11, 22}, {13, 24}});
    auto const ranked = xt::eval(row + row);
    static_assert(std::is_same_v<std::remove_const_t<decltype(ranked)>, xt::xtensor<double, 1>>);
    CHECK(ranked == xt::xtensor<double, 1>{20, 40});
    auto const all = xt::eval(a * fixed);
    static_assert(std::is_same_v<std::remove_const_t<decltype(all)>, xt::xarray<double>>);
    CHECK(all == xt::xarray<double>{{100, 400}, {900, 1600}});
}

} // namespace tensor_xtensor_test
