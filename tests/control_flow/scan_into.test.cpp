#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <xloom/control_flow/scan.hpp>

#include "support/grid.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_into_test {

using xloom::direction;
using xloom::scan_into;

namespace {

constexpr auto decaying_sum = [](auto& h, auto const& x_t, auto& y_t) {
    xt::noalias(h) = h / 2 + x_t;
    xt::noalias(y_t) = h;
};

} // namespace

TEST_CASE("Scan-9's sample, in place")
{
    xt::xtensor<float, 1> sum = {0, 0};
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<float, 2> y = xt::zeros<float>({3, 2});
    scan_into(
        [](auto& h, auto const& x_t, auto& y_t) {
            xt::noalias(h) = h + x_t;
            xt::noalias(y_t) = h;
        },
        sum, x, y);
    CHECK(sum == xt::xtensor<float, 1>{9, 12});
    CHECK(y == xt::xtensor<float, 2>{{1, 2}, {4, 6}, {9, 12}});
}

TEST_CASE_TEMPLATE(
    "every axis and direction agrees with the textbook, whatever the layout of input and output", X,
    xt::xtensor<double, 3>, xt::xarray<double>, xt::xtensor<double, 3, xt::layout_type::column_major>,
    xt::xarray<double, xt::layout_type::dynamic>)
{
    auto const x = textbook::tensor::counting({2, 4, 3});
    for (std::size_t const input_axis : {0u, 1u, 2u})
        for (std::size_t const output_axis : {0u, 1u, 2u})
            for (bool const input_reverse : {false, true})
                for (bool const output_reverse : {false, true}) {
                    auto const expected =
                        textbook::scan(textbook::decaying_sum, textbook::tensor(x.slice(input_axis, 0).shape),
                            x, input_axis, input_reverse, output_axis, output_reverse);
                    auto const direction = [](bool reverse) {
                        return reverse ? direction::reverse : direction::forward;
                    };
                    auto h = to_tensor<xt::xarray<double>>(textbook::tensor(x.slice(input_axis, 0).shape));
                    auto y = to_tensor<X>(textbook::tensor(expected.scan_outputs.shape));
                    scan_into(decaying_sum, h, to_tensor<X>(x), y,
                        {.scan_input_axes = {static_cast<std::int64_t>(input_axis)},
                            .scan_output_axes = {static_cast<std::int64_t>(output_axis) - 3},
                            .scan_input_directions = {direction(input_reverse)},
                            .scan_output_directions = {direction(output_reverse)}});
                    CHECK(equals(h, expected.final_state));
                    CHECK(equals(y, expected.scan_outputs));
                }
}

TEST_CASE("statically rank-1 operands hand the body their items")
{
    xt::xtensor<float, 1> const x = {1, 2, 3};
    xt::xtensor<double, 1> y = {0, 0, 0};
    float sum = 10;
    scan_into([](float& h, float const& x_t, double& y_t) { y_t = static_cast<double>(h += x_t) / 2; }, sum,
        x, y, {.scan_output_directions = {direction::reverse}});
    CHECK(sum == 16);
    CHECK(y == xt::xtensor<double, 1>{8, 6.5, 5.5});
}

TEST_CASE("no states, no outputs, no inputs")
{
    xt::xtensor<float, 1> const x = {1, 2, 3};
    xt::xtensor<float, 1> y = {0, 0, 0};
    scan_into([](float x_t, float& y_t) { y_t = -x_t; }, std::tuple{}, x, y);
    CHECK(y == xt::xtensor<float, 1>{-1, -2, -3});

    int count = 0;
    scan_into([](int& n, float) { ++n; }, count, x);
    CHECK(count == 3);

    scan_into(
        [](int& n, float& y_t) { y_t = static_cast<float>(n++); }, count, std::tuple{}, y, {.length = 3});
    CHECK(y == xt::xtensor<float, 1>{3, 4, 5});
}

TEST_CASE("length 0 touches nothing")
{
    xt::xtensor<float, 1> h = {7, 8};
    xt::xtensor<float, 2> y = xt::xtensor<float, 2>::from_shape({0, 2});
    bool called = false;
    scan_into(
        [&](auto&, auto const&, auto&) { called = true; }, h, xt::xtensor<float, 2>::from_shape({0, 2}), y);
    CHECK(!called);
    CHECK(h == xt::xtensor<float, 1>{7, 8});
}

TEST_CASE("an output may have another element shape than the input")
{
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 3> outer = xt::zeros<float>({2, 3, 3});
    xt::xtensor<float, 1> sum = {0, 0};
    scan_into(
        [](auto const& x_t, auto& outer_t, float& sum_t) {
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 3; ++j)
                    outer_t(i, j) = x_t(i) * x_t(j);
            sum_t = xt::sum(x_t)();
        },
        std::tuple{}, x, std::tie(outer, sum));
    CHECK(outer(1, 2, 0) == 24);
    CHECK(sum == xt::xtensor<float, 1>{6, 15});
}

TEST_CASE("states and outputs may be adaptors, views, fixed tensors and a user's own containers")
{
    xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    xt::xtensor<double, 1> expected_h = {0, 0};
    xt::xtensor<double, 2> expected = xt::zeros<double>({3, 2});
    scan_into(decaying_sum, expected_h, x, expected);

    SUBCASE("adaptors over plain memory")
    {
        std::vector<double> h = {0, 0};
        std::vector<double> y(6);
        auto h_view = xt::adapt(h, std::array<std::size_t, 1>{2});
        auto y_view = xt::adapt(y, std::array<std::size_t, 2>{3, 2});
        scan_into(decaying_sum, h_view, x, y_view);
        CHECK(h == std::vector<double>{6.75, 8.5});
        CHECK(xt::adapt(y, std::array<std::size_t, 2>{3, 2}) == expected);
    }
    SUBCASE("views by value, into the middle of a larger tensor")
    {
        xt::xtensor<double, 3> y = xt::ones<double>({3, 4, 2});
        xt::xtensor<double, 2> h = xt::zeros<double>({2, 2});
        scan_into(decaying_sum, xt::view(h, 1, xt::all()), x, xt::view(y, xt::all(), 2, xt::all()));
        CHECK(xt::view(y, xt::all(), 2, xt::all()) == expected);
        CHECK(xt::sum(y)() == xt::sum(expected)() + 18);
        CHECK(xt::view(h, 1, xt::all()) == expected_h);
        CHECK(h(0, 0) == 0);
    }
    SUBCASE("fixed shapes")
    {
        xt::xtensor_fixed<double, xt::xshape<3, 2>> const fixed_x = x;
        xt::xtensor_fixed<double, xt::xshape<3, 2>> y;
        xt::xtensor_fixed<double, xt::xshape<2>> h = {0, 0};
        scan_into([](xt::xtensor_fixed<double, xt::xshape<2>>& state,
                      xloom::fixed_element_view<double const, 2> const& x_t,
                      xloom::fixed_element_view<double, 2>& y_t) { decaying_sum(state, x_t, y_t); },
            h, fixed_x, y);
        CHECK(y == expected);

        // Options change neither the types that the body receives nor a bit.
        xt::xtensor_fixed<double, xt::xshape<3, 2>> with_options;
        h = {0, 0};
        scan_into([](xt::xtensor_fixed<double, xt::xshape<2>>& state,
                      xloom::fixed_element_view<double const, 2> const& x_t,
                      xloom::fixed_element_view<double, 2>& y_t) { decaying_sum(state, x_t, y_t); },
            h, fixed_x, with_options, xloom::scan_options{});
        CHECK(with_options == y);
        h = {0, 0};
        scan_into(decaying_sum, h, with_options, with_options,
            {.scan_input_axes = {-2},
                .scan_output_axes = {0},
                .scan_input_directions = {direction::reverse},
                .scan_output_directions = {direction::reverse}});
        xt::xtensor<double, 2> reversed = y;
        xt::xtensor<double, 1> state = {0, 0};
        scan_into(decaying_sum, state, reversed, reversed,
            {.scan_input_directions = {direction::reverse}, .scan_output_directions = {direction::reverse}});
        CHECK(with_options == reversed);
        CHECK(h == state);
    }
    SUBCASE("a user's own containers")
    {
        auto const grid_x = to_tensor<user::grid<double, 2>>(textbook::tensor::counting({3, 2}));
        auto y = to_tensor<user::grid<double, 2>>(textbook::tensor({3, 2}));
        auto h = to_tensor<user::grid<double, 1>>(textbook::tensor({2}));
        scan_into(
            [](user::grid<double, 1>& state, auto const& x_t, auto& y_t) {
                for (std::size_t i = 0; i < 2; ++i)
                    y_t(i) = state.items[i] = state.items[i] / 2 + x_t(i);
            },
            h, grid_x, y);
        CHECK(h.items == std::vector<double>{6.75, 8.5});
        CHECK(equals(y, textbook::scan(textbook::decaying_sum, textbook::tensor({2}),
                            textbook::tensor::counting({3, 2}), 0, false, 0, false)
                            .scan_outputs));
    }
}

TEST_CASE("an output may be the input's own tensor")
{
    xt::xtensor<double, 2> const x = {{1, 2}, {3, 4}, {5, 6}};
    for (std::int64_t const axis : {0, 1}) {
        xt::xtensor<double, 1> h = axis == 0 ? xt::xtensor<double, 1>{0, 0} : xt::xtensor<double, 1>{0, 0, 0};
        xt::xtensor<double, 1> h_in_place = h;
        xt::xtensor<double, 2> y = xt::zeros_like(x);
        xt::xtensor<double, 2> in_place = x;
        xloom::scan_options const options{.scan_input_axes = {axis}, .scan_output_axes = {axis}};
        scan_into(decaying_sum, h, x, y, options);
        scan_into(decaying_sum, h_in_place, in_place, in_place, options);
        CHECK(in_place == y);
        CHECK(h_in_place == h);
    }
}

TEST_CASE("assigning by = and += works as everywhere in xtensor, and a scalar fills")
{
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}};
    xt::xtensor<float, 2> y = xt::zeros<float>({2, 2});
    scan_into(
        [](auto const& x_t, auto& y_t) {
            y_t = 1;
            y_t = y_t + x_t;
            y_t += x_t;
        },
        std::tuple{}, x, y);
    CHECK(y == xt::xtensor<float, 2>{{3, 5}, {7, 9}});
}

#ifndef NDEBUG
TEST_CASE("in debug builds an output that the body does not write is NaN")
{
    xt::xtensor<float, 2> const x = {{1, 2}, {3, 4}};
    xt::xtensor<float, 2> y = xt::zeros<float>({2, 2});
    xt::xtensor<double, 1> z = {0, 0};
    xt::xtensor<int, 1> n = {5, 5};
    scan_into([](auto const& x_t, auto& y_t, double&, int&) { y_t(0) = x_t(0); }, std::tuple{}, x,
        std::tie(y, z, n));
    CHECK(y(1, 0) == 3);
    CHECK(std::isnan(y(0, 1)));
    CHECK(std::isnan(y(1, 1)));
    CHECK(std::isnan(z(1)));
    CHECK(n(1) == 5);
}
#endif

TEST_CASE("the items of an output may be tensors")
{
    using items = std::vector<double>;
    xt::xtensor<double, 1> const x = {1, 2, 3};
    auto y = xt::xtensor<items, 1>::from_shape({3});
    double h = 0;
    scan_into(
        [](double& sum, double x_t, items& y_t) {
            sum += x_t;
            y_t = {sum, x_t};
        },
        h, x, y);
    CHECK(y(2) == items{6, 3});
}

} // namespace scan_into_test
