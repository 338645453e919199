// Bodies that take elements where they are in their tensors.

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include <xloom/control_flow/scan.hpp>

#include "support/grid.hpp"
#include "support/recurrence.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_into_strided_test {

using xloom::direction;
using xloom::scan_into;
using xloom::strided_elements;

namespace {

constexpr auto decaying_sum = [](auto& h, auto const& x_t, auto& y_t) {
    for (std::size_t i = 0; i < x_t.shape(0); ++i)
        for (std::size_t j = 0; j < x_t.shape(1); ++j)
            y_t(i, j) = h(i, j) = h(i, j) / 2 + x_t(i, j);
};

} // namespace

TEST_CASE_TEMPLATE("strided elements: every axis and direction agrees with the textbook, whatever the layout",
    X, xt::xtensor<double, 3>, xt::xtensor<float, 3>, xt::xtensor<double, 3, xt::layout_type::column_major>,
    user::grid<double, 3>)
{
    auto const x = textbook::tensor::counting({2, 4, 3});
    for (std::size_t const input_axis : {0u, 1u, 2u})
        for (std::size_t const output_axis : {0u, 1u, 2u})
            for (bool const reverse : {false, true}) {
                textbook::tensor const element(x.slice(input_axis, 0).shape);
                auto const expected = textbook::scan(
                    textbook::decaying_sum, element, x, input_axis, reverse, output_axis, !reverse);
                auto h = to_tensor<xt::xtensor<typename xloom::enable_tensor<X>::value_type, 2>>(element);
                auto y = to_tensor<X>(textbook::tensor(expected.scan_outputs.shape));
                scan_into(strided_elements(decaying_sum), h, to_tensor<X>(x), y,
                    {.scan_input_axes = {static_cast<std::int64_t>(input_axis)},
                        .scan_output_axes = {static_cast<std::int64_t>(output_axis) - 3},
                        .scan_input_directions = {reverse ? direction::reverse : direction::forward},
                        .scan_output_directions = {reverse ? direction::forward : direction::reverse}});
                CHECK(equals(h, expected.final_state));
                CHECK(equals(y, expected.scan_outputs));
            }
}

TEST_CASE("strided elements are in the operands' memory, also along the leading axis")
{
    xt::xtensor<float, 3> const x = xt::ones<float>({3, 4, 5});
    xt::xtensor<float, 3> y = xt::zeros<float>({3, 4, 5});
    for (std::size_t const axis : {0u, 1u, 2u}) {
        std::size_t t = 0;
        auto const body = [&](auto const& x_t, auto& y_t) {
            std::size_t const first = axis == 0 ? t * 20 : axis == 1 ? t * 5 : t;
            CHECK(x_t.data() == x.data() + first);
            CHECK(y_t.data() == y.data() + first);
            std::size_t const rows = axis == 0 ? 1 : 0, columns = axis == 2 ? 1 : 2;
            CHECK(x_t.shape() == std::array{x.shape(rows), x.shape(columns)});
            CHECK(y_t.strides() == std::array{x.strides()[rows], x.strides()[columns]});
            CHECK(&y_t(1, 2) == y_t.data() + y_t.strides()[0] + 2 * y_t.strides()[1]);
            ++t;
        };
        auto const on_axis = static_cast<std::int64_t>(axis);
        scan_into(strided_elements(body), std::tuple(), x, y,
            {.scan_input_axes = {on_axis}, .scan_output_axes = {on_axis}});
        CHECK(t == x.shape(axis));
    }
    std::size_t calls = 0;
    scan_into(strided_elements([&](auto const& x_t) { CHECK(x_t.data() == x.data() + 20 * calls++); }),
        std::tuple(), x);
    CHECK(calls == 3);
}

TEST_CASE("strided elements: items of rank 1, fixed shapes, in place, no iterations, bodies with a state")
{
    xt::xtensor<float, 1> const items = {1, 2, 3};
    xt::xtensor_fixed<float, xt::xshape<3, 2>> const fixed = {{10, 20}, {30, 40}, {50, 60}};
    xt::xtensor<float, 2> y = {{1, 2, 3}, {4, 5, 6}};
    auto body = [calls = 0](float item, auto const& f_t, auto const& before, auto& y_t) mutable {
        ++calls;
        for (std::size_t i = 0; i < 2; ++i)
            y_t(i) = before(i) + f_t(i) + item * static_cast<float>(calls);
    };
    auto strided = strided_elements(body);
    scan_into(strided, std::tuple(), std::tie(items, fixed, y), y,
        {.scan_input_axes = {0, 0, 1}, .scan_output_axes = {1}});
    CHECK(y == xt::xtensor<float, 2>{{12, 36, 62}, {25, 49, 75}});

    xt::xtensor<float, 2> const empty = xt::zeros<float>({2, 0});
    bool is_called = false;
    scan_into(strided_elements([&](auto const&) { is_called = true; }), std::tuple(), empty, std::tuple(),
        {.scan_input_axes = {1}});
    CHECK(!is_called);

    xt::xtensor<float, 3> const no_items = xt::zeros<float>({0, 4, 5});
    std::size_t calls = 0;
    scan_into(strided_elements([&](auto const& x_t) { calls += 1 + x_t.shape(0); }), std::tuple(), no_items,
        std::tuple(), {.scan_input_axes = {1}});
    CHECK(calls == 4);
}

TEST_CASE("strided elements: an exception leaves what was written, errors come before the first write")
{
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 2> y = xt::zeros<float>({2, 3});
    auto const body = [](auto const& x_t, auto& y_t) {
        if (x_t(0) == 3)
            throw std::runtime_error("three");
        y_t(0) = x_t(1);
        y_t(1) = x_t(0);
    };
    CHECK_THROWS_WITH_AS(scan_into(strided_elements(body), std::tuple(), x, y,
                             {.scan_input_axes = {1}, .scan_output_axes = {1}}),
        "three", std::runtime_error);
    CHECK(y(0, 0) == 4);
    CHECK(y(1, 1) == 2);
    CHECK_THROWS_AS(
        scan_into(strided_elements(body), std::tuple(), x, y, {.scan_input_axes = {1}}), xloom::shape_error);
    auto shifted = xt::view(y, xt::all(), xt::range(0, 2));
    auto const over = xt::view(y, xt::all(), xt::range(1, 3));
    CHECK_THROWS_AS(scan_into(strided_elements(body), std::tuple(), over, shifted,
                        {.scan_input_axes = {1}, .scan_output_axes = {1}}),
        xloom::overlap_error);
#ifndef NDEBUG
    scan_into(strided_elements([](auto const&, auto& y_t) { y_t(0) = 7; }), std::tuple(), x, y,
        {.scan_input_axes = {1}, .scan_output_axes = {1}});
    CHECK(y(0, 2) == 7);
    CHECK(std::isnan(y(1, 2)));
#endif
}

} // namespace scan_into_strided_test
