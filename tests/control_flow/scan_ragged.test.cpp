// scan_ragged and scan_ragged_into against loops over the segments.

#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <xloom/control_flow/scan_ragged.hpp>

#include "support/xtensor_extras.hpp"

namespace scan_ragged_test {

namespace {

using splits_tensor = xt::xtensor<std::int64_t, 1>;

splits_tensor const splits = {0, 0, 3, 4, 4, 9, 11, 11};

xt::xtensor<double, 1> numbers() { return {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}; }

/// Weights that make the order of the elements matter.
double next(double state, double x) { return 0.5 * state + x; }

} // namespace

TEST_CASE("scan_ragged: scalar states and elements")
{
    auto const x = numbers();
    xt::xtensor<double, 1> const init = {1, 2, 3, 4, 5, 6, 7};
    auto final_state = init;
    auto running = xt::xtensor<double, 1>::from_shape({11});
    for (std::size_t s = 0; s < 7; ++s)
        for (auto i = splits(s); i < splits(s + 1); ++i)
            running(i) = final_state(s) = next(final_state(s), x(i));

    auto const [state, y] = xloom::scan_ragged(
        [](double h, double x_i) {
            return xloom::scan_step{next(h, x_i), next(h, x_i)};
        },
        init, x, splits);
    CHECK(state == final_state);
    CHECK(y == running);

    auto h = init;
    auto z = xt::xtensor<double, 1>::from_shape({11});
    xloom::scan_ragged_into(
        [](double& h_s, double x_i, double& z_i) { z_i = h_s = next(h_s, x_i); }, h, x, splits, z);
    CHECK(h == final_state);
    CHECK(z == running);
}

TEST_CASE("scan_ragged: rows of states and elements, several operands, every layout")
{
    using array = xt::xtensor<double, 2, xt::layout_type::dynamic>;
    for (auto const layout : {xt::layout_type::row_major, xt::layout_type::column_major}) {
        array x({11, 2}, layout), init({7, 2}, layout);
        for (std::size_t i = 0; i < 11; ++i)
            x(i, 0) = static_cast<double>(i), x(i, 1) = -2.0 * static_cast<double>(i);
        for (std::size_t s = 0; s < 7; ++s)
            init(s, 0) = static_cast<double>(s), init(s, 1) = 1;
        auto const scale = numbers();
        xt::xtensor<double, 2> expected_state = init, expected = xt::zeros<double>({11, 2});
        for (std::size_t s = 0; s < 7; ++s)
            for (auto i = splits(s); i < splits(s + 1); ++i)
                for (std::size_t c = 0; c < 2; ++c)
                    expected(i, c) = expected_state(s, c) = next(expected_state(s, c), scale(i) * x(i, c));

        auto const [state, y] = xloom::scan_ragged(
            [](auto const& h, auto const& x_i, double k) {
                xt::xtensor<double, 1> const h_next = 0.5 * h + k * x_i;
                return xloom::scan_step{h_next, h_next};
            },
            init, std::tie(x, scale), splits);
        CHECK(state == expected_state);
        CHECK(y == expected);

        array h = init, z({11, 2}, layout);
        xloom::scan_ragged_into(
            [](auto& h_s, auto const& x_i, double k, auto& z_i) {
                for (std::size_t c = 0; c < 2; ++c)
                    z_i(c) = h_s(c) = next(h_s(c), k * x_i(c));
            },
            h, std::tie(x, scale), splits, z);
        CHECK(h == expected_state);
        CHECK(z == expected);
    }
}

TEST_CASE("scan_ragged: in place, without states, without rows")
{
    auto x = numbers();
    xloom::scan_ragged_into([](double x_i, double& y_i) { y_i = 2 * x_i; }, std::tuple(), x, splits, x);
    CHECK(x == 2 * numbers());

    auto const none = xt::xtensor<double, 1>::from_shape({0});
    xt::xtensor<double, 1> const init = {1, 2};
    auto const [state, y] = xloom::scan_ragged(
        [](double h, double) {
            return xloom::scan_step{h, h};
        },
        init, none, splits_tensor{0, 0, 0});
    CHECK(state == init);
    CHECK(y.size() == 0);
}

TEST_CASE("scan_ragged: a body's exception propagates, and results are written so far")
{
    auto const x = numbers();
    xt::xtensor<double, 1> h = xt::zeros<double>({7});
    auto y = xt::xtensor<double, 1>::from_shape({11});
    y.fill(-1);
    auto const faulty = [](double& h_s, double x_i, double& y_i) {
        if (x_i == 9)
            throw std::runtime_error("nine");
        y_i = h_s += x_i;
    };
    CHECK_THROWS_WITH_AS(xloom::scan_ragged_into(faulty, h, x, splits, y), "nine", std::runtime_error);
    CHECK(y(4) == 5);
    CHECK(y(10) == -1);
}

TEST_CASE("scan_ragged: errors")
{
    auto const x = numbers();
    xt::xtensor<double, 1> h = xt::zeros<double>({7});
    auto const add = [](double a, double b) { return xloom::scan_step{a + b, a + b}; };
    CHECK_THROWS_WITH_AS(xloom::scan_ragged(add, h, x, splits_tensor{0, 4, 3, 11}),
        "xloom::scan_ragged: row_splits must begin with 0, not decrease, and end with the number of rows of "
        "the "
        "values, 11, but row_splits[2] is 3 after 4. Correct it; for some of the rows pass a view of them, "
        "and "
        "row_splits less the first one. Ids of segments become row_splits by xloom::row_splits_of.",
        xloom::index_error);
    CHECK_THROWS_WITH_AS(xloom::scan_ragged(add, h, x, splits_tensor{0, 11}),
        "xloom::scan_ragged: axis 0 of a state must be the segments, of which row_splits has 1, but init[0] "
        "has "
        "the shape [7]. Give it a row for each segment.",
        xloom::shape_error);
    auto const keep = [](auto const& state, double) { return xloom::scan_step{state}; };
    CHECK_THROWS_WITH_AS(xloom::scan_ragged(keep, xt::xarray<double>(0), x, splits_tensor{0, 11}),
        "xloom::scan_ragged: axis 0 of a state must be the segments, of which row_splits has 1, but init[0] "
        "has "
        "the shape []. Give it a row for each segment.",
        xloom::shape_error);
    auto y = xt::xtensor<double, 1>::from_shape({10});
    auto const body = [](double& a, double b, double& c) { c = a += b; };
    CHECK_THROWS_AS(xloom::scan_ragged_into(body, h, x, splits, y), xloom::shape_error);
    CHECK_THROWS_AS(xloom::scan_ragged_into(body, h, x, splits, h), xloom::error);
    splits_tensor counts = {0, 1, 3};
    auto first = xt::view(counts, xt::range(0, 2));
    CHECK_THROWS_WITH_AS(xloom::scan_ragged_into([](std::int64_t& a, std::int64_t b) { a += b; }, first,
                             xt::xtensor<std::int64_t, 1>{1, 2, 3}, counts),
        "xloom::scan_ragged_into: an operand that is written must have memory of its own, but states[0] "
        "overlaps row_splits. Copy one of the two.",
        xloom::overlap_error);
    auto const reshaping = [](auto const& a, double) {
        return xloom::scan_step{xt::xtensor<double, 1>(xt::ones<double>({a.size() + 1})), 0.0};
    };
    xt::xtensor<double, 2> const rows = xt::zeros<double>({7, 2});
    CHECK_THROWS_WITH_AS(xloom::scan_ragged(reshaping, rows, x, splits),
        "xloom::scan_ragged: states must keep their shapes in every iteration, but states[0] was [2] and the "
        "body made it [3] at iteration 0 of row 1. Return a value of the original shape.",
        xloom::body_error);
}

} // namespace scan_ragged_test
