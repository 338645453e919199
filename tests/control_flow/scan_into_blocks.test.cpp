// Elements that are not contiguous pass through buffers of several, whose edges no result shows.

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/scan.hpp>

namespace scan_into_blocks_test {

using xloom::direction;
using xloom::scan_into;

namespace {

/// The sum of items 0 .. t of a row, or t .. T - 1 in reverse, of x(i, t) = 7 * i + t + 1; by its definition.
template <class T>
T sum_of(std::size_t i, std::size_t t, std::size_t length, bool reverse)
{
    std::size_t sum = 0;
    for (std::size_t s = reverse ? t : 0; s < (reverse ? length : t + 1); ++s)
        sum += 7 * i + s + 1;
    return static_cast<T>(sum);
}

template <class T>
xt::xtensor<T, 2> numbers(std::size_t size, std::size_t length)
{
    auto x = xt::xtensor<T, 2>::from_shape({size, length});
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t t = 0; t < length; ++t)
            x(i, t) = static_cast<T>(7 * i + t + 1);
    return x;
}

template <class T>
bool are_sums(xt::xtensor<T, 2> const& y, bool reverse)
{
    for (std::size_t i = 0; i < y.shape(0); ++i)
        for (std::size_t t = 0; t < y.shape(1); ++t)
            if (y(i, t) != sum_of<T>(i, t, y.shape(1), reverse))
                return false;
    return true;
}

xloom::scan_options along_axis_1(direction direction)
{
    return {.scan_input_axes = {1},
        .scan_output_axes = {1},
        .scan_input_directions = {direction},
        .scan_output_directions = {direction}};
}

/// A body without captures.
struct running_sum {
    void operator()(auto& h, auto const& x_t, auto& y_t) const
    {
        for (std::size_t i = 0; i < x_t.size(); ++i) {
            h(i) = static_cast<std::remove_cvref_t<decltype(h(i))>>(h(i) + x_t.data()[i]);
            y_t.data()[i] = h(i);
        }
    }
};

} // namespace

TEST_CASE_TEMPLATE("scan_into along the last axis, for lengths and sizes around those of a block", T, float,
    double, std::uint8_t)
{
    for (std::size_t const length : std::initializer_list<std::size_t>{0, 1, 2, 7, 8, 9, 16, 17, 33, 64, 130})
        for (std::size_t const size : std::initializer_list<std::size_t>{0, 1, 2, 3, 8, 17})
            for (auto const direction : {direction::forward, direction::reverse}) {
                CAPTURE(length);
                CAPTURE(size);
                bool const reverse = direction == direction::reverse;
                auto const x = numbers<T>(size, length);
                auto y = xt::xtensor<T, 2>::from_shape({size, length});
                xt::xtensor<T, 1> h = xt::zeros<T>({size});
                scan_into(running_sum(), h, x, y, along_axis_1(direction));
                CHECK(are_sums(y, reverse));

                int calls = 0;
                y.fill(0), h.fill(0);
                auto const counting = [&](auto& state, auto const& x_t, auto& y_t) {
                    ++calls;
                    running_sum()(state, x_t, y_t);
                };
                scan_into(counting, h, x, y, along_axis_1(direction));
                CHECK(are_sums(y, reverse));
                CHECK(static_cast<std::size_t>(calls) == length);

                y = x, h.fill(0);
                scan_into(running_sum(), h, y, y, along_axis_1(direction));
                CHECK(are_sums(y, reverse));
            }
}

TEST_CASE("items that own memory pass through the buffer, too")
{
    auto x = xt::xtensor<std::string, 2>::from_shape({2, 11});
    auto y = x;
    for (std::size_t t = 0; t < 11; ++t)
        x(0, t) = std::string(30, static_cast<char>('a' + t)), x(1, t) = "b";
    scan_into([](auto const& x_t, auto& y_t) { y_t(0) = x_t(0) + x_t(1), y_t(1) = x_t(1); }, std::tuple(), x,
        y, along_axis_1(direction::forward));
    CHECK(y(0, 10) == std::string(30, 'k') + "b");
    CHECK(y(1, 9) == "b");
}

TEST_CASE("what a body without captures throws leaves the elements of earlier iterations written")
{
    for (int const last : {0, 3, 16, 20}) {
        auto const x = numbers<float>(3, 25);
        auto y = xt::xtensor<float, 2>::from_shape({3, 25});
        y.fill(-1);
        int left = last;
        auto const body = [](int& iterations, auto const& x_t, auto& y_t) {
            if (iterations-- == 0)
                throw std::runtime_error("enough");
            xt::noalias(y_t) = 2 * x_t;
        };
        CHECK_THROWS_AS(scan_into(body, left, x, y, along_axis_1(direction::forward)), std::runtime_error);
        for (std::size_t t = 0; t < 25; ++t)
            CHECK(y(2, t) == (t < static_cast<std::size_t>(last) ? 2 * x(2, t) : -1));
    }
}

TEST_CASE("a body without captures reads earlier elements of an output that a state refers to")
{
    struct state {
        xt::xtensor<double, 2>* y;
        std::size_t t;
    };
    xt::xtensor<double, 2> y = xt::zeros<double>({3, 20});
    state fibonacci{&y, 0};
    auto const body = [](state& s, auto& y_t) {
        y_t(0) = s.t < 2 ? 1 : (*s.y)(0, s.t - 1) + (*s.y)(0, s.t - 2);
        y_t(1) = y_t(2) = 0;
        ++s.t;
    };
    scan_into(body, fibonacci, std::tuple(), y, {.scan_output_axes = {1}, .length = 20});
    CHECK(y(0, 19) == 6765);
}

TEST_CASE("loop_into with a body without captures fills the columns of an output")
{
    for (std::int64_t const trips : {0, 1, 15, 16, 17, 20}) {
        xt::xtensor<float, 2, xt::layout_type::column_major> y = -xt::ones<float>({20, 3});
        auto const body = [](std::int64_t t, auto& y_t) {
            y_t = static_cast<float>(t);
            return true;
        };
        xloom::loop_into(body, std::tuple(), y, {.max_trip_count = trips});
        for (std::size_t t = 0; t < 20; ++t)
            CHECK(y(t, 1) == (static_cast<std::int64_t>(t) < trips ? static_cast<float>(t) : -1));
    }
}

} // namespace scan_into_blocks_test
