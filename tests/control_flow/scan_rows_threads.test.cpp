// scan_batched, scan_ragged and their forms in place on threads: the same bits as on one, and exceptions.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_ragged.hpp>
#include <xloom/interop/threads.hpp>

#include "support/xtensor_extras.hpp"

namespace scan_rows_threads_test {

namespace {

using xloom::direction;
using xloom::scan_step;

constexpr std::size_t N = 9, T = 6, n = 3;

template <class X>
X made_up(typename X::shape_type const& shape)
{
    X x = X::from_shape(shape);
    std::size_t i = 0;
    for (auto& item : x)
        item = 1.0 / static_cast<double>(3 + i++ % 17);
    return x;
}

auto const pure = [](auto const& h, auto const& x_t) {
    auto const next = xt::eval(0.3 * h + x_t);
    return scan_step{next, next};
};
auto const in_place = [](auto& h, auto const& x_t, auto& y_t) {
    for (std::size_t i = 0; i < n; ++i)
        y_t(i) = h(i) = 0.3 * h(i) + x_t(i);
};

xt::xtensor<int, 1> const lens = {0, 6, 1, 0, 3, 6, 0, 2, 5};
xt::xtensor<std::int64_t, 1> const splits = {0, 0, 4, 4, 5, 11, 12, 12, 20, 20};

} // namespace

TEST_CASE_TEMPLATE("scan_batched: any number of threads gives the same bits", Layout,
    std::integral_constant<xt::layout_type, xt::layout_type::row_major>,
    std::integral_constant<xt::layout_type, xt::layout_type::column_major>)
{
    using rows = xt::xtensor<double, 2, Layout::value>;
    using cube = xt::xtensor<double, 3, Layout::value>;
    auto const h0 = made_up<rows>({N, n});
    auto const x = made_up<cube>({N, T, n});
    for (auto const direction : {direction::forward, direction::reverse}) {
        auto const expected = xloom::scan_batched(pure, h0, x, lens, {.scan_input_directions = {direction}});
        for (std::size_t const threads : {1U, 2U, 3U, 7U}) {
            CAPTURE(threads);
            auto const [last, all] = xloom::scan_batched(
                pure, h0, x, lens, {.scan_input_directions = {direction}}, xloom::thread_policy{threads});
            CHECK(last == expected.final_state);
            CHECK(all == expected.scan_outputs);

            auto h = h0;
            cube y = xt::ones<double>({N, T, n});
            xloom::scan_batched_into(in_place, h, x, lens, y, {.scan_input_directions = {direction}},
                xloom::thread_policy{threads});
            CHECK(h == expected.final_state);
            CHECK(y == expected.scan_outputs);
        }
    }
}

TEST_CASE("scan_batched: threads without lengths, without options, and without elements")
{
    auto const h0 = made_up<xt::xtensor<double, 2>>({N, n});
    auto const x = made_up<xt::xtensor<double, 3>>({N, T, n});
    auto const expected = xloom::scan_batched(pure, h0, x);
    CHECK(xloom::scan_batched(pure, h0, x, std::nullopt, xloom::thread_policy{4}).scan_outputs ==
          expected.scan_outputs);
    auto in_same_memory = x;
    auto h = h0;
    xloom::scan_batched_into(
        in_place, h, in_same_memory, std::nullopt, in_same_memory, xloom::thread_policy{4});
    CHECK(in_same_memory == expected.scan_outputs);
    CHECK(h == expected.final_state);

    xt::xtensor<int, 1> const none = xt::zeros<int>({N});
    auto const [last, all] = xloom::scan_batched(pure, h0, x, none, xloom::thread_policy{3});
    CHECK(last == h0);
    CHECK(xloom::shape(all.shape().begin(), all.shape().end()) == xloom::shape{N, T, 0});
}

TEST_CASE_TEMPLATE("scan_ragged: any number of threads gives the same bits", Layout,
    std::integral_constant<xt::layout_type, xt::layout_type::row_major>,
    std::integral_constant<xt::layout_type, xt::layout_type::column_major>)
{
    using rows = xt::xtensor<double, 2, Layout::value>;
    auto const h0 = made_up<rows>({N, n});
    auto const x = made_up<rows>({20, n});
    auto const expected = xloom::scan_ragged(pure, h0, x, splits);
    for (std::size_t const threads : {1U, 2U, 3U, 7U, 40U}) {
        CAPTURE(threads);
        auto const [last, all] = xloom::scan_ragged(pure, h0, x, splits, xloom::thread_policy{threads});
        CHECK(last == expected.final_state);
        CHECK(all == expected.scan_outputs);

        auto h = h0;
        rows y = xt::ones<double>({20, 3});
        xloom::scan_ragged_into(in_place, h, x, splits, y, xloom::thread_policy{threads});
        CHECK(h == expected.final_state);
        CHECK(y == expected.scan_outputs);
    }
}

TEST_CASE("scan_batched_into, scan_ragged_into: of several exceptions that of the first row passes on")
{
    xt::xtensor<int, 2> x = xt::zeros<int>({N, T});
    for (std::size_t b = 0; b < N; ++b)
        for (std::size_t t = 0; t < T; ++t)
            x(b, t) = static_cast<int>(10 * b + t);
    auto const body = [](int& h, int x_t) {
        if (x_t == 25 || x_t == 52 || x_t == 81)
            throw std::runtime_error(std::to_string(x_t));
        h += x_t;
    };
    xt::xtensor<int, 1> const each = {0, 6, 12, 18, 24, 30, 36, 42, 48, 54};
    auto const flat = xt::eval(xt::flatten(x));
    for (std::size_t const threads : {1U, 2U, 3U, 7U}) {
        CAPTURE(threads);
        xt::xtensor<int, 1> h = xt::zeros<int>({N});
        CHECK_THROWS_WITH_AS(
            xloom::scan_batched_into(body, h, x, std::nullopt, std::tuple(), xloom::thread_policy{threads}),
            "25", std::runtime_error);
        CHECK(h(0) == 15);
        h.fill(0);
        CHECK_THROWS_WITH_AS(
            xloom::scan_ragged_into(body, h, flat, each, std::tuple(), xloom::thread_policy{threads}), "25",
            std::runtime_error);
        CHECK_THROWS_WITH_AS(xloom::scan_batched(
                                 [](int, int x_t) {
                                     if (x_t == 25 || x_t == 81)
                                         throw std::runtime_error(std::to_string(x_t));
                                     return scan_step{x_t};
                                 },
                                 h, x, std::nullopt, xloom::thread_policy{threads}),
            "25", std::runtime_error);
    }
}

} // namespace scan_rows_threads_test
