// Control flow inside control flow, as real graphs have it.

#include <doctest/doctest.h>

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>

#include "support/xtensor_extras.hpp"

namespace property_nesting_test {

TEST_CASE("If in Loop in Scan with two states, against plain C++")
{
    xt::xarray<float> const h0 = xt::zeros<float>({2});
    xt::xarray<float> const c0 = xt::ones<float>({2});
    xt::xarray<float> x = xt::ones<float>({3, 2});
    x(1, 0) = 2;

    auto const [states, outputs] = xloom::scan(
        [&](auto const& h, auto const& c, auto const& x_t) {
            auto const inner = xloom::loop(
                [&](std::int64_t i, bool, auto const& v, int n) {
                    auto const w = xloom::if_(
                        xt::sum(v)() > 5.f, [&] { return xt::eval(v - x_t); },
                        [&] { return xt::eval(v + c + static_cast<float>(i)); });
                    auto const [a, b] = xloom::if_(
                        i % 2 == 0,
                        [&, w = w] {
                            return std::tuple{xt::eval(w + c), n + 1};
                        },
                        [&, w = w] {
                            return std::tuple{w, n};
                        });
                    return xloom::loop_step{xt::sum(a)() < 12.f, std::tuple{a, b}, a};
                },
                std::tuple{h, 0}, {.max_trip_count = 4});
            auto const& [v, n] = inner.final_state;
            return xloom::scan_step{
                std::tuple{v, c + static_cast<float>(n)}, std::tuple{v, static_cast<int>(inner.trip_count)}};
        },
        std::tie(h0, c0), x);
    auto const& [h, c] = states;
    auto const& [values, trips] = outputs;

    std::array<float, 2> v = {0, 0};
    std::array<float, 2> c_plain = {1, 1};
    for (std::size_t t = 0; t < 3; ++t) {
        int n = 0;
        int i = 0;
        for (bool cond = true; cond && i < 4; ++i) {
            bool const large = v[0] + v[1] > 5;
            for (std::size_t k = 0; k < 2; ++k) {
                v[k] = large ? v[k] - x(t, k) : v[k] + c_plain[k] + static_cast<float>(i);
                if (i % 2 == 0)
                    v[k] += c_plain[k];
            }
            n += i % 2 == 0;
            cond = v[0] + v[1] < 12;
        }
        for (std::size_t k = 0; k < 2; ++k) {
            c_plain[k] += static_cast<float>(n);
            CHECK(values(t, k) == v[k]);
        }
        CHECK(trips(t) == i);
    }
    CHECK(h == xt::xarray<float>{v[0], v[1]});
    CHECK(c == xt::xarray<float>{c_plain[0], c_plain[1]});
}

TEST_CASE("a scan in place inside a scan in place: a summed-area table")
{
    // table(i, j) = sum of image[0..i][0..j].
    xt::xtensor<int, 2> const image = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<int, 2> table = xt::zeros<int>({2, 3});
    xt::xtensor<int, 1> column_sums = xt::zeros<int>({3});
    xloom::scan_into(
        [](auto& columns, auto const& row, auto& table_row) {
            xt::noalias(columns) = columns + row;
            int sum = 0;
            xloom::scan_into(
                [](int& left, int column, int& item) { item = left += column; }, sum, columns, table_row);
        },
        column_sums, image, table);
    CHECK(table == xt::xtensor<int, 2>{{1, 3, 6}, {5, 12, 21}});
}

TEST_CASE("a scan over the sequences that a loop makes")
{
    auto const lengths = xloom::loop(
        [](std::int64_t i, bool, xt::xtensor<double, 1> const& v) {
            auto const total =
                xloom::scan([](double s, double item) { return xloom::scan_step{s + item}; }, 0.0, v)
                    .final_state;
            xt::xtensor<double, 1> const next = xt::ones<double>({static_cast<std::size_t>(i) + 1}) * total;
            return xloom::loop_step{true, next, total};
        },
        xt::xtensor<double, 1>{1}, {.max_trip_count = 5});
    CHECK(lengths.scan_outputs == xt::xtensor<double, 1>{1, 1, 2, 6, 24});
}

} // namespace property_nesting_test
