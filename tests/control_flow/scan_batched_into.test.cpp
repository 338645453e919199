#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include <xloom/control_flow/scan_batched.hpp>

#include "support/placed_tensor.hpp"
#include "support/tensors.hpp"
#include "support/xtensor_extras.hpp"

namespace scan_batched_into_test {

using xloom::scan_batched_into;
using enum xloom::direction;

namespace {

/// textbook::decaying_sum. It captures nothing, so that outputs are written in blocks.
constexpr auto decaying_sum = [](auto& h, auto const& x_t, auto& y_t) {
    for (std::size_t i = 0; i < h.size(); ++i)
        y_t.data()[i] = h.data()[i] = h.data()[i] / 2 + x_t.data()[i];
};

placed_tensor<double> place(textbook::tensor const& from, placement how)
{
    return place<double>(textbook::array<double>{from.shape, from.items}, how);
}

xt::xtensor<std::int64_t, 1> lengths_of(std::vector<std::size_t> const& lens)
{
    auto result = xt::xtensor<std::int64_t, 1>::from_shape({lens.size()});
    std::copy(lens.begin(), lens.end(), result.begin());
    return result;
}

/// A body that throws in call `last`.
struct sum_until {
    int last;
    int calls = 0;

    void operator()(auto& h, auto const& x_t, auto& y_t)
    {
        decaying_sum(h, x_t, y_t);
        if (++calls == last)
            throw std::runtime_error("enough");
    }
};

} // namespace

TEST_CASE("rows of every length agree with the textbook, whatever the layout of each operand")
{
    for (auto const& size : {std::pair<std::size_t, std::size_t>{3, 2}, {37, 3}}) {
        std::size_t const T = size.first, width = size.second;
        std::vector<std::size_t> const lens = {2, 0, T, 1, T - 1, 0};
        auto const x = textbook::tensor::counting({lens.size(), T, width});
        auto const h = textbook::tensor::counting({lens.size(), width});
        for (bool const is_reverse : {false, true}) {
            auto const expected = textbook::scan_batched(textbook::decaying_sum, h, x, lens, is_reverse);
            for (placement const of_h : every_placement)
                for (placement const of_x : every_placement)
                    for (placement const of_y : every_placement) {
                        auto state = place(h, of_h);
                        auto y = place(textbook::tensor({lens.size(), T, width}, -1), of_y);
                        INFO("T = ", T, ", reverse: ", is_reverse, ", placements ", static_cast<int>(of_h),
                            ", ", static_cast<int>(of_x), ", ", static_cast<int>(of_y));
                        scan_batched_into(decaying_sum, state, place(x, of_x), lengths_of(lens), y,
                            {.scan_input_directions = {is_reverse ? reverse : forward}});
                        CHECK(equals(state, expected.final_state));
                        CHECK(equals(y, expected.scan_outputs));
                    }
        }
    }
}

TEST_CASE_TEMPLATE("ragged rows of static ranks and of fixed shapes agree with the textbook", Kind,
    xt::xtensor<double, 3>, xt::xtensor<double, 3, xt::layout_type::column_major>,
    xt::xtensor_fixed<double, xt::xshape<4, 3, 2>>)
{
    auto const x = textbook::tensor::counting({4, 3, 2});
    auto const h = textbook::tensor::counting({4, 2});
    auto const expected = textbook::scan_batched(textbook::decaying_sum, h, x, {2, 0, 3, 1}, false);
    xt::xtensor<double, 2> state = to_tensor<xt::xtensor<double, 2>>(h);
    auto y = to_tensor<Kind>(textbook::tensor({4, 3, 2}, -1));
    scan_batched_into(decaying_sum, state, to_tensor<Kind>(x), xt::xtensor<short, 1>{2, 0, 3, 1}, y);
    CHECK(equals(state, expected.final_state));
    CHECK(equals(y, expected.scan_outputs));
}

TEST_CASE("rows of scalars; several states, inputs and outputs of several types, lazy inputs")
{
    xt::xtensor<int, 1> count = {0, 10};
    xt::xtensor<float, 2> sum = {{0.5f}, {0}};
    xt::xtensor<float, 2> const x = {{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 2> y = {{-1, -1, -1}, {-1, -1, -1}};
    xt::xtensor<double, 3> z = -xt::ones<double>({2, 3, 2});
    scan_batched_into(
        [](int& n, auto& s, float x_t, float w_t, float& y_t, auto& z_t) {
            ++n;
            s(0) += x_t;
            y_t = x_t;
            z_t = double{w_t};
        },
        std::tie(count, sum), std::tuple(x, 2 * x), xt::xtensor<unsigned char, 1>{2, 3}, std::tie(y, z),
        {.scan_input_directions = {reverse, forward}});
    CHECK(count == xt::xtensor<int, 1>{2, 13});
    CHECK(sum == xt::xtensor<float, 2>{{3.5f}, {15}});
    CHECK(y == xt::xtensor<float, 2>{{2, 1, 0}, {6, 5, 4}});
    CHECK(z == xt::xtensor<double, 3>{{{2, 2}, {4, 4}, {0, 0}}, {{8, 8}, {10, 10}, {12, 12}}});
}

TEST_CASE("without sequence_lens every row has T iterations; without inputs options.length tells T")
{
    xt::xtensor<int, 1> n = {1, 10};
    auto y = xt::xtensor<int, 2>::from_shape({2, 3});
    scan_batched_into([](int& k, int& y_t) { y_t = k++; }, n, std::tuple(), std::nullopt, y, {.length = 3});
    CHECK(n == xt::xtensor<int, 1>{4, 13});
    CHECK(y == xt::xtensor<int, 2>{{1, 2, 3}, {10, 11, 12}});
    scan_batched_into([](int& k, int x_t) { k += x_t; }, n, y);
    CHECK(n == xt::xtensor<int, 1>{10, 46});
    scan_batched_into([](int x_t, int& y_t) { y_t = 2 * x_t; }, std::tuple(), y, std::nullopt, y);
    CHECK(y == xt::xtensor<int, 2>{{2, 4, 6}, {20, 22, 24}});
}

TEST_CASE("nothing to do: no rows, no steps, all lengths 0")
{
    auto const never = [](auto&...) { FAIL_CHECK("the body ran"); };
    auto no_states = xt::xtensor<float, 2>::from_shape({0, 2});
    auto no_rows = xt::xtensor<float, 3>::from_shape({0, 3, 2});
    scan_batched_into(never, no_states, no_rows, xt::xtensor<int, 1>::from_shape({0}), no_rows);

    float const nan = std::numeric_limits<float>::quiet_NaN();
    xt::xtensor<float, 2, xt::layout_type::column_major> h = {{-0.0f, nan}, {3, 4}};
    auto no_steps = xt::xtensor<float, 3>::from_shape({2, 0, 2});
    scan_batched_into(never, h, no_steps, std::nullopt, no_steps);
    xt::xtensor<float, 3> y = xt::ones<float>({2, 3, 1});
    scan_batched_into(never, h, xt::xtensor<float, 2>(xt::ones<float>({2, 3})), xt::xtensor<int, 1>{0, 0}, y);
    CHECK(y == xt::zeros<float>({2, 3, 1}));
    CHECK(std::signbit(h(0, 0)));
    CHECK(std::isnan(h(0, 1)));
    CHECK(h(1, 1) == 4);

    xt::xtensor<float, 3, xt::layout_type::column_major> none({2, 3, 0});
    int calls = 0;
    scan_batched_into([&](auto&, auto const&, auto&) { ++calls; }, h, none, std::nullopt, none);
    CHECK(calls == 6);
}

TEST_CASE("an output may be the tensor of a forward input, in every layout; its tail is zeros")
{
    std::vector<std::size_t> const lens = {2, 0, 3, 1};
    auto const x = textbook::tensor::counting({4, 3, 2});
    auto const h = textbook::tensor::counting({4, 2});
    auto const expected = textbook::scan_batched(textbook::decaying_sum, h, x, lens, false);
    auto const captured = [&](auto& state, auto const& x_t, auto& y_t) { decaying_sum(state, x_t, y_t); };
    for (placement const how : every_placement) {
        CAPTURE(static_cast<int>(how));
        auto state = place(h, how);
        auto x_and_y = place(x, how);
        scan_batched_into(decaying_sum, state, x_and_y, lengths_of(lens), x_and_y);
        CHECK(equals(state, expected.final_state));
        CHECK(equals(x_and_y, expected.scan_outputs));

        state = place(h, how);
        x_and_y = place(x, how);
        scan_batched_into(captured, state, x_and_y, lengths_of(lens), x_and_y);
        CHECK(equals(state, expected.final_state));
        CHECK(equals(x_and_y, expected.scan_outputs));
    }
}

TEST_CASE("a body that captures an output reads the elements of earlier iterations and rows")
{
    xt::xtensor<int, 3, xt::layout_type::column_major> y = xt::zeros<int>({2, 3, 2});
    xt::xtensor<int, 1> n = {0, 3};
    scan_batched_into(
        [&](int& k, auto& y_t) {
            int sum = 1;
            for (std::size_t b = 0, i = 0; b < 2; ++b)
                for (std::size_t t = 0; t < 3 && i < static_cast<std::size_t>(k); ++t, ++i)
                    sum += y(b, t, 1);
            y_t(0) = 0;
            y_t(1) = sum;
            ++k;
        },
        n, std::tuple(), std::nullopt, y, {.length = 3});
    CHECK(xt::view(y, xt::all(), xt::all(), 1) == xt::xtensor<int, 2>{{1, 2, 4}, {8, 16, 32}});
}

TEST_CASE("what a body throws passes through; states and outputs hold what was written")
{
    xt::xtensor<double, 3> const x = xt::ones<double>({3, 2, 2});
    auto const check = [&](auto h, auto y) {
        CHECK_THROWS_WITH_AS(scan_batched_into(sum_until{.last = 3}, h, x, xt::xtensor<int, 1>{1, 2, 2}, y),
            "enough", std::runtime_error);
        CHECK(xt::view(h, 0) == xt::xtensor<double, 1>{1, 1});
        CHECK(xt::view(h, 2) == xt::xtensor<double, 1>{0, 0});
        CHECK(xt::view(y, 0) == xt::xtensor<double, 2>{{1, 1}, {0, 0}});
        CHECK(xt::view(y, 1, 0) == xt::xtensor<double, 1>{1, 1});
        CHECK(xt::view(y, 2) == xt::xtensor<double, 2>{{7, 7}, {7, 7}});
        return h(1, 0);
    };
    xt::xtensor<double, 2> const h = xt::zeros<double>({3, 2});
    xt::xtensor<double, 3> const y = 7 * xt::ones<double>({3, 2, 2});
    CHECK(check(h, y) == 1.5);
    check(xt::xtensor<double, 2, xt::layout_type::column_major>(h),
        xt::xtensor<double, 3, xt::layout_type::column_major>(y));

    xt::xtensor<int, 1> n = {0, 0};
    auto const throws = [](int& k) {
        if (++k == 2)
            throw std::runtime_error("two");
    };
    CHECK_THROWS_WITH_AS(
        scan_batched_into(throws, n, std::tuple(), xt::xtensor<int, 1>{1, 3}, std::tuple(), {.length = 3}),
        "two", std::runtime_error);
    CHECK(n == xt::xtensor<int, 1>{1, 2});
}

#ifndef NDEBUG
TEST_CASE("in debug builds an output that the body does not write is NaN")
{
    xt::xtensor<double, 2> const x = {{1, 2}};
    xt::xtensor<double, 2> y = {{5, 5}};
    scan_batched_into([](double, double&) {}, std::tuple(), x, xt::xtensor<int, 1>{1}, y);
    CHECK(std::isnan(y(0, 0)));
    CHECK(y(0, 1) == 0);
}
#endif

} // namespace scan_batched_into_test
