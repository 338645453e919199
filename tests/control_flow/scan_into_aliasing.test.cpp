// What a body sees of memory that it reaches in two ways does not depend on the layout.

#include <doctest/doctest.h>

#include <span>
#include <stdexcept>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>

#include "support/xtensor_extras.hpp"

namespace scan_into_aliasing_test {

using xloom::direction;
using xloom::loop_into;
using xloom::scan_into;

namespace {

/// Calls f(tensor, axis) with zeros of `length` elements of 3 items along that axis, in every layout that
/// elements can have.
template <class F>
void for_each_layout(std::size_t length, F const& f)
{
    xt::xtensor<double, 2> rows = xt::zeros<double>({length, std::size_t{3}});
    xt::xtensor<double, 2> columns = xt::zeros<double>({std::size_t{3}, length});
    xt::xtensor<double, 2, xt::layout_type::column_major> column_major =
        xt::zeros<double>({length, std::size_t{3}});
    xt::xarray<double, xt::layout_type::dynamic> dynamic(
        std::vector<std::size_t>{length, 3}, xt::layout_type::column_major);
    dynamic.fill(0);
    xt::xtensor<double, 3> room = xt::zeros<double>({length, std::size_t{2}, std::size_t{6}});
    auto view = xt::view(room, xt::all(), 1, xt::range(0, 6, 2));
    auto strided = xt::strided_view(room, {xt::all(), 0, xt::range(1, 6, 2)});
    f(rows, std::size_t{0});
    f(columns, std::size_t{1});
    f(column_major, std::size_t{0});
    f(dynamic, std::size_t{0});
    f(view, std::size_t{0});
    f(strided, std::size_t{0});
}

/// Item i of element t.
template <class X>
auto& item(X& x, std::size_t axis, std::size_t t, std::size_t i)
{
    return axis == 0 ? x(t, i) : x(i, t);
}

template <class X>
void count(X& x, std::size_t axis)
{
    for (std::size_t t = 0; t < x.shape()[axis]; ++t)
        for (std::size_t i = 0; i < 3; ++i)
            item(x, axis, t, i) = static_cast<double>(3 * t + i);
}

/// The options of a walk along `axis` in one direction, for as many operands as there are.
xloom::scan_options along(std::size_t axis, std::size_t inputs, direction direction)
{
    xloom::scan_options options{
        .scan_output_axes = {static_cast<std::int64_t>(axis)}, .scan_output_directions = {direction}};
    for (std::size_t m = 0; m < inputs; ++m) {
        options.scan_input_axes.push_back(static_cast<std::int64_t>(axis));
        options.scan_input_directions.push_back(direction);
    }
    return options;
}

/// item(t, i) == scale * (3 * t + i) + offset for all of them.
template <class X>
bool is_count(X& x, std::size_t axis, double scale, double offset)
{
    for (std::size_t t = 0; t < x.shape()[axis]; ++t)
        for (std::size_t i = 0; i < 3; ++i)
            if (item(x, axis, t, i) != scale * static_cast<double>(3 * t + i) + offset)
                return false;
    return true;
}

} // namespace

TEST_CASE("of an output that is the input's own tensor, the body sees its writes through the input")
{
    for (direction const direction : {direction::forward, direction::reverse})
        for_each_layout(11, [&](auto& x, std::size_t axis) {
            CAPTURE(axis);
            count(x, axis);
            auto const body = [](auto const& x_t, auto& y_t) {
                xt::noalias(y_t) = 10 * x_t;
                xt::noalias(y_t) = 10 * x_t;
            };
            scan_into(body, std::tuple(), x, x, along(axis, 1, direction));
            CHECK(is_count(x, axis, 100, 0));
        });
}

TEST_CASE("of an output that is two inputs' own tensor, the body sees its writes through both")
{
    for_each_layout(11, [&](auto& x, std::size_t axis) {
        count(x, axis);
        auto const body = [](auto const& a_t, auto const& b_t, auto& y_t) {
            xt::noalias(y_t) = a_t + 1;
            xt::noalias(y_t) = a_t + b_t;
        };
        scan_into(body, std::tuple(), std::tie(x, x), x, along(axis, 2, direction::reverse));
        CHECK(is_count(x, axis, 2, 2));
    });
}

TEST_CASE("an output that is an input's own tensor holds the input's element at first")
{
    for_each_layout(11, [&](auto& x, std::size_t axis) {
        count(x, axis);
        auto const body = [](auto const&, auto& y_t) { y_t(1) += 5; };
        scan_into(body, std::tuple(), x, x, along(axis, 1, direction::forward));
        for (std::size_t t = 0; t < 11; ++t)
            item(x, axis, t, 1) -= 5;
        CHECK(is_count(x, axis, 1, 0));
    });
}

TEST_CASE("a body may read the output elements of earlier iterations from the tensor")
{
    SUBCASE("scan_into")
    {
        for_each_layout(11, [&](auto& y, std::size_t axis) {
            auto const fibonacci = [&](std::size_t& t, auto& y_t) {
                for (std::size_t i = 0; i < 3; ++i)
                    y_t(i) =
                        t < 2 ? static_cast<double>(t) : item(y, axis, t - 1, i) + item(y, axis, t - 2, i);
                ++t;
            };
            std::size_t t = 0;
            auto options = along(axis, 0, direction::forward);
            options.length = 11;
            scan_into(fibonacci, t, std::tuple(), y, options);
            CHECK(item(y, axis, 10, 0) == 55);
            CHECK(item(y, axis, 10, 2) == 55);
        });
    }
    SUBCASE("scan_into, from the last element to the first")
    {
        for_each_layout(11, [&](auto& y, std::size_t axis) {
            auto const fibonacci = [&](std::size_t& t, auto& y_t) {
                for (std::size_t i = 0; i < 3; ++i)
                    y_t(i) =
                        t < 2 ? static_cast<double>(t) : item(y, axis, 11 - t, i) + item(y, axis, 12 - t, i);
                ++t;
            };
            std::size_t t = 0;
            auto options = along(axis, 0, direction::reverse);
            options.length = 11;
            scan_into(fibonacci, t, std::tuple(), y, options);
            CHECK(item(y, axis, 0, 0) == 55);
        });
    }
    SUBCASE("loop_into")
    {
        for_each_layout(11, [&](auto& y, std::size_t axis) {
            if (axis != 0)
                return;
            auto const fibonacci = [&](std::int64_t iteration, auto& y_t) {
                auto const t = static_cast<std::size_t>(iteration);
                for (std::size_t i = 0; i < 3; ++i)
                    y_t(i) = t < 2 ? static_cast<double>(t) : y(t - 1, i) + y(t - 2, i);
                return true;
            };
            loop_into(fibonacci, std::tuple(), y, {.max_trip_count = 11});
            CHECK(y(10, 0) == 55);
            CHECK(y(10, 2) == 55);
        });
    }
}

TEST_CASE("a tensor without items may be an input and an output along different axes")
{
    auto x = xt::xtensor<double, 4>::from_shape({2, 0, 4, 2});
    int calls = 0;
    auto const body = [&](auto const& x_t, auto const& y_t) {
        CHECK(xloom::shape(x_t.shape().begin(), x_t.shape().end()) == xloom::shape{0, 4, 2});
        CHECK(xloom::shape(y_t.shape().begin(), y_t.shape().end()) == xloom::shape{2, 0, 4});
        ++calls;
    };
    scan_into(
        body, std::tuple(), x, x, {.scan_output_axes = {3}, .scan_output_directions = {direction::reverse}});
    CHECK(calls == 2);
}

TEST_CASE("an output in the input's memory is its own tensor, however long it is")
{
    for (std::size_t length = 0; length < 3; ++length) { // xtensor's stride of an axis of length 1 is 0
        xt::xtensor<float, 1> x = xt::ones<float>({length});
        float sum = 0;
        scan_into(
            [](float& s, float x_t, float& y_t) { y_t = s += x_t; }, sum, x, std::span(x.data(), length));
        CHECK(sum == static_cast<float>(length));
        CHECK((length == 0 || x(length - 1) == sum));
    }
}

TEST_CASE("what a body throws leaves the elements of earlier iterations written")
{
    for_each_layout(5, [&](auto& x, std::size_t axis) {
        count(x, axis);
        auto const body = [](int& t, auto const& x_t, auto& y_t) {
            if (t++ == 3)
                throw std::runtime_error("enough");
            xt::noalias(y_t) = -x_t;
        };
        int t = 0;
        CHECK_THROWS_AS(scan_into(body, t, x, x, along(axis, 1, direction::forward)), std::runtime_error);
        CHECK(item(x, axis, 2, 2) == -8);
        CHECK(item(x, axis, 3, 0) == 9);
        CHECK(item(x, axis, 4, 0) == 12);
    });
}

} // namespace scan_into_aliasing_test
